#include "hone/jobs/bench.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hone/base/cpu.h"
#include "hone/base/text.h"
#include "hone/compiler/compiled.h"
#include "hone/cuda/gpu_peaks.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/paired_times.h"
#include "hone/kernels/peak.h"
#include "hone/models/adapter.h"
#include "hone/passes/quantize.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/study/result.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// On a quiet machine, median and minimum differ by less than this factor.
constexpr double kBusy = 1.25;

// Names, units and result fields of a kind of native products.
struct NativeKind {
  PeakKind kind;
  std::string_view name;  // in keys
  std::string_view products, unit;
  double (*measure)(ThreadPool&);
  std::optional<double> BenchTimesResult::*peak;
  std::optional<double> BenchTimesResult::*share;
};

// CPUs without bfloat16 products use fp32 multiply-adds instead.
double measure_bf16_products(ThreadPool& pool) {
  const double gflops = kernels::measure_bf16_gflops(pool);
  return gflops > 0 ? gflops : kernels::measure_fma_gflops(pool);
}

constexpr NativeKind kNativeKinds[] = {
    {PeakKind::int8_gops, "int8", "products of bytes", "GOP/s", kernels::measure_int8_gops,
     &BenchTimesResult::peak_int8_gops, &BenchTimesResult::share_of_int8_peak},
    {PeakKind::bf16_gflops, "bf16", "products of bfloat16", "GFLOP/s", measure_bf16_products,
     &BenchTimesResult::peak_bf16_gflops, &BenchTimesResult::share_of_bf16_peak},
    {PeakKind::sign_gops, "sign", "products of signs", "GOP/s", kernels::measure_sign_gops,
     &BenchTimesResult::peak_sign_gops, &BenchTimesResult::share_of_sign_peak}};

// Peak in fp32 multiply-adds on the host's threads, or in large products on a GPU.
double products_peak_gflops(const Session& session) {
  cuda::CudaDevice* const gpu = gpu_of(session.device);
  return gpu != nullptr ? cuda::measure_products_gflops(*gpu, session.values)
                        : kernels::measure_fma_gflops(session.pool);
}

// Operations of a run as its kernels compute them: in total, and in native products of each kind.
struct ComputedGop {
  double all = 0;
  std::map<PeakKind, double> native;
};
ComputedGop computed_gop(const Graph& graph, const Bindings& bindings, const Session& session) {
  ComputedGop gop;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    const double computed = computed_flops(kernel, *node, bindings) / 1e9;
    gop.all += computed;
    if (kernel != nullptr && kernel->native) gop.native[*kernel->native] += computed;
  }
  return gop;
}

// The slowest kernels come first.
std::vector<KernelTimeResult> kernel_results(const BenchTimes& times) {
  double total = 0;
  for (const auto& [name, time] : times.kernels) total += time.seconds;
  const std::int64_t runs = faster_half(times.runs);
  std::vector<KernelTimeResult> rows;
  for (const auto& [name, time] : times.kernels)
    rows.push_back({.kernel = name,
                    .calls = time.calls / runs,
                    .ms = time.seconds * 1e3 / static_cast<double>(runs),
                    .share = time.seconds / total});
  std::ranges::sort(rows, std::ranges::greater(), &KernelTimeResult::ms);
  return rows;
}

Table times_table(const BenchTimes& times) {
  std::vector<Column> columns = {{"first_ms", "First call (ms per batch)"},
                                 {"min_ms", "Minimum (ms per batch)"},
                                 {"median_ms", "Median (ms per batch)"},
                                 {"runs", "Runs"},
                                 {"gflop", "GFLOP"},
                                 {"computed_gflop", "Computed GFLOP"}};
  std::vector<Cell> row = {
      real(times.first_ms, 2),
      real(times.min_ms, 3),
      times.median_interval
          ? number_within(times.median_ms, times.median_interval->low, times.median_interval->high)
          : real(times.median_ms, 3),
      times.runs,
      real(times.gflop, 3),
      real(times.computed_gflop, 3)};
  const auto add = [&](std::string_view name, const Peak& peak, std::string_view unit,
                       double share) {
    columns.push_back({fmt::format("share_of_{}peak", name),
                       fmt::format("Share of {:.0f} {}", peak.value, unit)});
    row.push_back(percent(share));
  };
  if (times.native.empty()) add("", times.peak, "GFLOP/s", times.share_of_peak());
  for (const NativeKind& kind : kNativeKinds)
    if (const auto some = times.native.find(kind.kind); some != times.native.end())
      add(fmt::format("{}_", kind.name), some->second.peak, kind.unit,
          times.share_of(some->second));
  Table table(columns);
  table.add_row(std::move(row));
  return table;
}

// "31.2% of 1,234 GFLOP/s of fp32 multiply-adds on 2 threads, measured now"
std::string peak_share_text(double share, const Peak& peak, std::string_view unit,
                            std::string_view work) {
  return fmt::format("{} of {:.0f} {} of {}, {}", share_text(share), peak.value, unit, work,
                     provenance(peak));
}

std::vector<Fact> bench_figures(const BenchTimes& times, std::int64_t batch) {
  const auto per_example = [&](double ms) { return three_digits(ms / static_cast<double>(batch)); };
  std::string latency = fmt::format("{} ms", per_example(times.median_ms));
  if (const auto& interval = times.median_interval)
    latency +=
        fmt::format(" (95% CI {} to {})", per_example(interval->low), per_example(interval->high));
  std::vector<Fact> figures = {
      {latency_title(batch, times.of_images ? 0 : static_cast<double>(times.tokens)),
       latency + fmt::format(", minimum {} ms", per_example(times.min_ms))},
      {"Throughput", fmt::format("{} examples/s", three_digits(1e3 * static_cast<double>(batch) /
                                                               times.median_ms))}};
  const std::string of_what = !times.on_host ? "large products on " + times.device
                              : times.threads == 1
                                  ? "fp32 multiply-adds on one thread"
                                  : fmt::format("fp32 multiply-adds on {} threads", times.threads);
  if (times.native.empty())
    figures.push_back(
        {"Share of peak", peak_share_text(times.share_of_peak(), times.peak, "GFLOP/s", of_what)});
  for (const NativeKind& kind : kNativeKinds)
    if (const auto some = times.native.find(kind.kind); some != times.native.end())
      figures.push_back(
          {"Share of peak", peak_share_text(times.share_of(some->second), some->second.peak,
                                            kind.unit, kind.products)});
  figures.push_back(
      {"Memory", fmt::format("{} of weights and activations; peak resident {}",
                             human_bytes(times.needed_bytes),
                             human_bytes(static_cast<double>(times.resident_bytes)))});
  return figures;
}

Section bench_reading_notes(const BenchTimes& times) {
  Section section{"How to read this", {}, /*folded=*/true};
  const auto add = [&](std::string text) {
    section.blocks.emplace_back(Paragraph{std::move(text)});
  };
  add("GFLOP counts the products of the model by definition, two operations for a multiply-add. "
      "Computed GFLOP counts all operations as the kernels run them. Shares of the peak use "
      "computed GFLOP and the fastest run.");
  for (const NativeKind& kind : kNativeKinds)
    if (const auto some = times.native.find(kind.kind); some != times.native.end())
      add(
          fmt::format("{:.2f} of the {:.2f} computed GFLOP are {}. The other operations count only "
                      "in the time.",
                      some->second.gop, times.computed_gflop, kind.products));
  if (!times.native.empty() && times.of_images)
    add("Convolutions run in fp32: there are no other kernels for them.");
  add("The confidence interval is of the runs of this process; a repeat can differ by more. `hone "
      "bench` with several models measures their speedups.");
  add("Memory of weights and activations is predicted; the resident memory is that of the whole "
      "process.");
  return section;
}

void describe_bench(const BenchTimes& times, const BenchFields& fields, const BenchJob& job,
                    Document& document) {
  const std::int64_t batch = times.batch;
  document.title = times.what;
  document.headline = fmt::format(
      "{} of {}: {} ms per example ({})", job.options.train ? "Training step" : "Inference",
      job.model, three_digits(times.median_ms / static_cast<double>(batch)),
      batch_text(batch, times.of_images ? 0 : static_cast<double>(times.tokens)));
  document.key_figures = bench_figures(times, batch);
  document.evidence = fmt::format("Median of {} runs of {} on {}.", times.runs, times.what,
                                  !times.on_host       ? times.device
                                  : times.threads == 1 ? "one thread"
                                                       : fmt::format("{} threads", times.threads));
  if (times.median_ms > kBusy * times.min_ms)
    document.evidence += fmt::format(
        " The median is {}× the minimum: other programs were running, or there are more threads "
        "than cores.",
        three_digits(times.median_ms / times.min_ms));
  document.sections = {{"", {PageTable{times_table(times)}}}};
  if (fields.kernels)
    document.sections.push_back(
        {"Time by kernel",
         {PageTable{headed_table(*fields.kernels),
                    fmt::format("Time per run, mean of the faster {} of {}.",
                                faster_half(times.runs), times.runs)}}});
  document.sections.push_back(bench_reading_notes(times));
}

}  // namespace

const Fields& fields_of(const BenchTimesResult*) {
  using B = BenchTimesResult;
  static constexpr std::string_view kOfPeak =
      "Share of the fastest run's time that these products would take at that peak; null where the "
      "peak is null.";
  static const Fields fields = describe<B>(
      "model_times", "How long runs of a model take.", field<&B::model>("model", kModelMeaning),
      field<&B::adapter>("adapter", "The adapter as it was named; null: none."),
      field<&B::what>("what", kTimedMeaning),
      field<&B::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&B::device>("device", kDeviceMeaning),
      field<&B::format>("format", "Of its quantizers; null: it has none."),
      field<&B::batch>("batch", Unit::examples, kBatchMeaning),
      field<&B::tokens>("tokens", Unit::tokens, kTokensMeaning),
      field<&B::first_ms>("first_ms", Unit::milliseconds, kFirstRunMeaning),
      field<&B::min_ms>("min_ms", Unit::milliseconds, "Fastest run."),
      field<&B::median_ms>("median_ms", Unit::milliseconds, "Median run."),
      field<&B::median_interval>("median_interval", Unit::milliseconds,
                                 "Its interval of at least 95%; null: of fewer than 6 runs."),
      field<&B::timed_runs>("timed_runs", "Counted runs, after two warm-up runs."),
      field<&B::gflop>("gflop", Unit::gflop,
                       "Products of one run by definition, two operations for a multiply-add."),
      field<&B::computed_gflop>("computed_gflop", Unit::gflop,
                                "All operations of one run, as their kernels compute them."),
      field<&B::peak_gflops>(
          "peak_gflops", Unit::gflop_per_second,
          "Peak of this machine in fp32 multiply-adds; of a GPU in large products "
          "of its arithmetic."),
      field<&B::peak_gflops_now>("peak_gflops_now", Unit::gflop_per_second,
                                 "The same, measured before and after the runs."),
      field<&B::peak_date>("peak_date", Unit::utc, "When the peak was measured."),
      field<&B::share_of_peak>("share_of_peak", Unit::ratio,
                               "Rate of the fastest run by that peak; null: some products are "
                               "native."),
      field<&B::native_gop>("native_gop",
                            "Of `computed_gflop`, 10^9 operations in products of codes; null: none "
                            "is native."),
      field<&B::peak_int8_gops>(
          "peak_int8_gops", Unit::gop_per_second,
          "Peak of this machine in products of bytes; null: the run has none."),
      field<&B::share_of_int8_peak>("share_of_int8_peak", Unit::ratio, kOfPeak),
      field<&B::peak_bf16_gflops>("peak_bf16_gflops", Unit::gflop_per_second,
                                  "Peak of this machine in products of bf16, or of fp32 where it "
                                  "has no such products; null: the run has none."),
      field<&B::share_of_bf16_peak>("share_of_bf16_peak", Unit::ratio, kOfPeak),
      field<&B::peak_sign_gops>(
          "peak_sign_gops", Unit::gop_per_second,
          "Peak of this machine in products of signs; null: the run has none."),
      field<&B::share_of_sign_peak>("share_of_sign_peak", Unit::ratio, kOfPeak),
      field<&B::needed_bytes>("needed_bytes", Unit::bytes,
                              "Predicted for runs: parameters, activations, workspace, and "
                              "copies of weights that kernels keep."),
      field<&B::resident_bytes>("resident_bytes", Unit::bytes,
                                "Peak resident memory of the process."),
      field<&B::threads>("threads", kThreadsMeaning));
  return fields;
}

const Fields& fields_of(const KernelTimeResult*) {
  using K = KernelTimeResult;
  static const Fields fields =
      describe<K>("kernel_time", "The time of a kernel.",
                  field<&K::kernel>("kernel", "Operation / kernel.", "Operation / kernel"),
                  field<&K::calls>("calls", "Calls of one run.", "Calls per run"),
                  field<&K::ms>("ms", Unit::milliseconds, "Time of one run.", "ms per run"),
                  field<&K::share>("share", Unit::share, "Of the time of all kernels.", "Share"));
  return fields;
}

const Fields& fields_of(const TimedWork*) {
  using T = TimedWork;
  static const Fields fields = describe<T>(
      "timed_work", "What is timed.", field<&T::model>("model", kModelMeaning),
      field<&T::adapter>("adapter", "The adapter as it was named; null: none."),
      field<&T::what>("what", kTimedMeaning), field<&T::device>("device", kDeviceMeaning),
      field<&T::threads>("threads", kThreadsMeaning),
      field<&T::batch>("batch", Unit::examples, kBatchMeaning),
      field<&T::tokens>("tokens", Unit::tokens, kTokensMeaning));
  return fields;
}

TimedWork timed_work(const BenchJob& job, const BenchOptions& options, std::string text,
                     Context& context) {
  TimedWork work{.model = job.model,
                 .what = std::move(text),
                 .device = device_text(context.session()),
                 .threads = context.pool.threads(),
                 .batch = options.batch,
                 .tokens = options.tokens};
  if (!job.adapter.empty()) work.adapter = job.adapter;
  return work;
}

const Fields& fields_of(const BenchFields*) {
  using B = BenchFields;
  static const Fields fields =
      describe<B>("bench", "How long runs of a model take.", inlined<&B::times>(),
                  field<&B::kernels>(
                      "kernels", "The time by kernel, the longest first; null without --profile."));
  return fields;
}

BenchTimesResult bench_times_result(const BenchTimes& times, const BenchJob& job) {
  BenchTimesResult result{.model = job.model,
                          .what = times.what,
                          .arithmetic = std::string(times.arithmetic),
                          .device = times.device,
                          .format = times.format,
                          .batch = times.batch,
                          .tokens = times.tokens,
                          .first_ms = times.first_ms,
                          .min_ms = times.min_ms,
                          .median_ms = times.median_ms,
                          .median_interval = times.median_interval,
                          .timed_runs = times.runs,
                          .gflop = times.gflop,
                          .computed_gflop = times.computed_gflop,
                          .peak_gflops = times.peak.value,
                          .peak_gflops_now = times.peak.measured_now,
                          .peak_date = times.peak.date,
                          .needed_bytes = static_cast<std::int64_t>(times.needed_bytes),
                          .resident_bytes = static_cast<std::int64_t>(times.resident_bytes),
                          .threads = times.threads};
  if (!job.adapter.empty()) result.adapter = job.adapter;
  if (times.native.empty()) result.share_of_peak = times.share_of_peak();
  for (const NativeKind& kind : kNativeKinds) {
    const auto some = times.native.find(kind.kind);
    if (some == times.native.end()) continue;
    result.native_gop = result.native_gop.value_or(0) + some->second.gop;
    result.*kind.peak = some->second.peak.value;
    result.*kind.share = times.share_of(some->second);
  }
  return result;
}

std::string native_peaks_text(const BenchTimes& times) {
  std::string text;
  for (const NativeKind& kind : kNativeKinds) {
    const auto some = times.native.find(kind.kind);
    if (some == times.native.end()) continue;
    const Peak& peak = some->second.peak;
    text += fmt::format(", {:.0f} {} of {} ({})", peak.value, kind.unit, kind.products,
                        provenance(peak));
  }
  return text;
}

Model bench_model(const BenchJob& job, Context& context) {
  // Unlike `train tiny`, this keeps BERT's vocabulary: embeddings dominate the training step of a small model.
  user_check(!is_new_model(job.model) || job.adapter.empty(),
             "`adapter`: {} has fresh weights, and an adapter needs the model it was trained on",
             job.model);
  return is_new_model(job.model)
             ? new_model(new_model_facts(job.model), context.library.ops, job.seed, &context.pool)
             : open_with_adapter(job.model, job.adapter, context, job.seed).model;
}

std::optional<std::string> bench_format(const Model& model, const BenchOptions& options) {
  if (options.format) return to_string(*options.format);
  if (model.quantization) return summary(model.quantization->plan);
  return std::nullopt;
}

std::string_view bench_arithmetic(const Model& model, const BenchOptions& options,
                                  const Session& session) {
  return options.format ? kSimulated : arithmetic_of_run(forward_graph(model), session);
}

std::string bench_text(const Model& model, const std::string& name, const BenchOptions& options,
                       std::string_view how, std::string_view arithmetic) {
  const std::optional<std::string> format = bench_format(model, options);
  const std::optional<ImageSize>& image = model.facts.limits.image;
  const std::string size =
      image ? fmt::format("{}x{}x{}", image->channels, image->height, image->width)
            : std::to_string(options.tokens);
  return fmt::format("hone {} {}, {}{}{}, {}{} {}x{}", how,
                     options.train ? "training step" : "inference", arithmetic, format ? " " : "",
                     format.value_or(""), name,
                     adapters(model.graph).empty() ? "" : " with adapters", options.batch, size);
}

Peak native_peak(PeakKind kind, Context& context, std::vector<std::string>& notes) {
  if (cuda::CudaDevice* const gpu = gpu_of(context.session().device)) {
    HONE_ASSERT(kind == PeakKind::int8_gops, "GPUs support native products of bytes only");
    const double now = cuda::measure_byte_products_gops(*gpu);
    return {now, now, ""};
  }
  const NativeKind& row = *std::ranges::find(kNativeKinds, kind, &NativeKind::kind);
  return keep_highest(kind, context.pool.threads(), row.measure(context.pool), peaks_file(), notes);
}

BenchTimes bench(Model given, const std::string& name, const BenchOptions& asked,
                 Context& context) {
  BenchOptions options = asked;
  options.batch = bench_batch(asked);
  Model model = model_to_time(std::move(given), name, options, context);
  const Session session = context.session();
  const bool on_host = session.device.host_accessible();
  BenchTimes result;
  result.on_host = on_host;
  result.batch = options.batch;
  result.tokens = options.tokens;
  result.format = bench_format(model, options);
  result.arithmetic = bench_arithmetic(model, options, session);
  const ExecutionMode& mode = mode_of(session);
  result.what =
      bench_text(model, name, options, on_host ? std::string(mode.name) : to_string(session.device),
                 result.arithmetic);
  // Moved out of the model: training would copy parameters that are held twice.
  ParameterStore parameters = std::exchange(model.parameters, {});
  BenchWork work = bench_work(model, std::move(parameters), options, mode, session);
  const Bindings& bindings = work.bindings;
  const ComputedGop gop = computed_gop(work.graph, bindings, session);
  result.gflop = work.flops / 1e9;
  result.computed_gflop = gop.all;
  result.of_images = model.facts.limits.image.has_value();
  result.device = device_text(session);
  const double peak_before = products_peak_gflops(session);
  const std::unique_ptr<Executable> executable = work.executable(mode, session);
  const auto run = [&] { work.run(*executable, session.device); };
  result.first_ms = run_ms(run);
  double warm_ms = run_ms(run);
  for (int i = 1; i < preparation_runs(session.device); ++i) warm_ms = run_ms(run);
  result.runs = options.runs > 0 ? options.runs : (warm_ms > 200 ? 12 : 60);
  // Recording waits for a GPU after each operation, so its timed runs are not recorded.
  std::vector<double> times;
  if (!on_host) times = runs_ms(run, result.runs);
  const RunRecorder recorder(*executable, /*threads=*/options.records);
  const std::vector<double> recorded = runs_ms(run, result.runs);
  if (on_host) times = recorded;
  if (options.records) result.recorded = recorder.profile(bindings, session, result.runs);
  result.min_ms = times.front();
  result.median_ms = median_of_sorted(times);
  if (times.size() >= kFewestForMedianInterval) result.median_interval = median_interval(times);
  result.kernels = kernel_times(of_faster_half(recorder.spans(), result.runs));
  result.resident_bytes = peak_resident_bytes();
  // Comes after the runs because it reads the weights, and the first run has to include that.
  result.needed_bytes = needed_bytes(work.graph, bindings, session, work.parameters);
  result.threads = context.pool.threads();
  const double peak_now = std::max(peak_before, products_peak_gflops(session));
  result.peak = on_host ? keep_highest(PeakKind::fp32_gflops, result.threads, peak_now,
                                       peaks_file(), result.notes)
                        : Peak{peak_now, peak_now, ""};
  for (const auto& [kind, computed] : gop.native)
    if (computed > 0) result.native[kind] = {computed, native_peak(kind, context, result.notes)};
  return result;
}

BenchResult bench(const BenchJob& job, Context& context) {
  Model model = bench_model(job, context);
  BenchResult result;
  result.times = bench(std::move(model), job.model, job.options, context);
  print_notes(context, result.times.notes);
  BenchFields fields{.times = bench_times_result(result.times, job)};
  if (job.profile) fields.kernels = kernel_results(result.times);
  result.fields = to_json(fields);
  describe_bench(result.times, fields, job, result.document);
  return result;
}

}  // namespace hone
