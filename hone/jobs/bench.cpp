#include "hone/jobs/bench.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hone/base/cpu.h"
#include "hone/base/text.h"
#include "hone/compiler/compiled.h"
#include "hone/cuda/card_peaks.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/kernels/peak.h"
#include "hone/models/adapter.h"
#include "hone/passes/quantize.h"
#include "hone/report/table.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// Times of a quiet machine differ by less than this factor.
constexpr double kBusy = 1.25;

// How products of codes are spoken of.
struct NativeKind {
  PeakKind kind;
  std::string_view name;  // in keys
  std::string_view products, unit;
  double (*measure)(ThreadPool&);
};

// Where the processor has no products of bfloat16, they are multiply-adds of fp32.
double measure_bf16_products(ThreadPool& pool) {
  const double gflops = kernels::measure_bf16_gflops(pool);
  return gflops > 0 ? gflops : kernels::measure_fma_gflops(pool);
}

constexpr NativeKind kNativeKinds[] = {
    {PeakKind::int8_gops, "int8", "products of bytes", "GOP/s", kernels::measure_int8_gops},
    {PeakKind::bf16_gflops, "bf16", "products of bfloat16", "GFLOP/s", measure_bf16_products},
    {PeakKind::sign_gops, "sign", "products of signs", "GOP/s", kernels::measure_sign_gops}};

// Of fp32 multiply-adds on the host's threads; of products as a card computes them.
double products_peak_gflops(const Session& session) {
  cuda::CudaDevice* const card = card_of(session.device);
  return card != nullptr ? cuda::measure_products_gflops(*card, session.values)
                         : kernels::measure_fma_gflops(session.pool);
}

// Operations of a run as its kernels compute them: all, and of native products of each kind.
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

Table profile_table(const BenchTimes& result) {
  Table table({{"kernel", "Operation / kernel"},
               {"calls", "Calls per run"},
               {"ms", "ms per run"},
               {"share", "Share"}});
  std::vector<std::pair<std::string, KernelTime>> rows(result.kernels.begin(),
                                                       result.kernels.end());
  std::ranges::sort(
      rows, [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double total = 0;
  for (const auto& [name, time] : rows) total += time.seconds;
  const std::int64_t runs = faster_half(result.runs);
  for (const auto& [name, time] : rows) {
    table.add_row({name, time.calls / runs, real(time.seconds * 1e3 / static_cast<double>(runs), 3),
                   percent(time.seconds / total)});
  }
  return table;
}

Table times_table(const BenchTimes& times) {
  std::vector<Column> columns = {
      {"first_ms", "First (ms)"}, {"min_ms", "Minimum (ms)"}, {"median_ms", "Median (ms)"},
      {"runs", "Runs"},           {"gflop", "GFLOP"},         {"computed_gflop", "Computed GFLOP"}};
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

Json to_json(const BenchTimes& times, const BenchJob& job) {
  Json fields = {{"model", job.model},
                 {"what", times.what},
                 {"arithmetic", times.arithmetic},
                 {"device", times.device},
                 {"batch", job.options.batch},
                 {"tokens", times.tokens},
                 {"first_ms", times.first_ms},
                 {"min_ms", times.min_ms},
                 {"median_ms", times.median_ms},
                 {"median_interval", times.median_interval ? Json({times.median_interval->low,
                                                                   times.median_interval->high})
                                                           : Json()},
                 {"timed_runs", times.runs},
                 {"gflop", times.gflop},
                 {"computed_gflop", times.computed_gflop},
                 {"peak_gflops", times.peak.value},
                 {"peak_gflops_now", times.peak.measured_now},
                 {"peak_date", times.peak.date},
                 {"needed_bytes", static_cast<std::int64_t>(times.needed_bytes)},
                 {"resident_bytes", times.resident_bytes},
                 {"threads", times.threads}};
  if (!job.adapter.empty()) fields["adapter"] = job.adapter;
  if (!times.format.empty()) fields["format"] = times.format;
  if (times.native.empty()) fields["share_of_peak"] = times.share_of_peak();
  double all = 0;
  for (const NativeKind& kind : kNativeKinds) {
    const auto some = times.native.find(kind.kind);
    if (some == times.native.end()) continue;
    all += some->second.gop;
    fields["native_gop"] = all;
    fields[fmt::format("peak_{}", to_string(kind.kind))] = some->second.peak.value;
    fields[fmt::format("share_of_{}_peak", kind.name)] = times.share_of(some->second);
  }
  if (job.profile) fields["kernels"] = to_json(profile_table(times));
  return fields;
}

// "31.2% of 1,234 GFLOP/s of fp32 multiply-adds on 2 threads, measured now"
std::string peak_share_text(double share, const Peak& peak, std::string_view unit,
                            std::string_view work) {
  return fmt::format("{} of {:.0f} {} of {}, {}", share_text(share), peak.value, unit, work,
                     provenance(peak));
}

std::vector<Fact> bench_figures(const BenchTimes& times, std::int64_t batch) {
  std::string latency = fmt::format("{} ms", three_digits(times.median_ms));
  if (const auto& interval = times.median_interval)
    latency += fmt::format(" (95% CI {} to {})", three_digits(interval->low),
                           three_digits(interval->high));
  std::vector<Fact> figures = {
      {"Latency", latency + fmt::format(", minimum {} ms", three_digits(times.min_ms))},
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
  add("Memory of weights and activations is predicted; the resident memory is that of the whole "
      "process.");
  return section;
}

void describe_bench(const BenchTimes& times, const BenchJob& job, Document& document) {
  const std::int64_t batch = job.options.batch;
  document.title = times.what;
  document.headline = fmt::format("{} of {}: {} ms at batch size {} ({} examples/s)",
                                  job.options.train ? "Training step" : "Inference", job.model,
                                  three_digits(times.median_ms), batch,
                                  three_digits(1e3 * static_cast<double>(batch) / times.median_ms));
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
  if (job.profile)
    document.sections.push_back(
        {"Time by kernel",
         {PageTable{profile_table(times), fmt::format("Time per run, mean of the faster {} of {}.",
                                                      faster_half(times.runs), times.runs)}}});
  document.sections.push_back(bench_reading_notes(times));
}

}  // namespace

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
  // Unlike `train tiny`, with BERT's vocabulary: the embeddings are most of a small model's training
  // step.
  user_check(!is_fresh(job.model) || job.adapter.empty(),
             "`adapter`: {} has fresh weights, and an adapter needs the model it was trained on",
             job.model);
  return is_fresh(job.model)
             ? new_model(fresh_facts(job.model), context.library.ops, job.seed, &context.pool)
             : open_with_adapter(job.model, job.adapter, context, job.seed).model;
}

std::string bench_format(const Model& model, const BenchOptions& options) {
  if (options.format) return to_string(*options.format);
  return model.quantization ? summary(model.quantization->plan) : "";
}

std::string_view bench_arithmetic(const Model& model, const BenchOptions& options,
                                  const Session& session) {
  return options.format ? kSimulated : arithmetic_of_run(forward_graph(model), session);
}

std::string bench_text(const Model& model, const std::string& name, const BenchOptions& options,
                       std::string_view how, std::string_view arithmetic) {
  const std::string format = bench_format(model, options);
  const std::optional<ImageSize>& image = model.facts.limits.image;
  const std::string size =
      image ? fmt::format("{}x{}x{}", image->channels, image->height, image->width)
            : std::to_string(options.tokens);
  return fmt::format("hone {} {}, {}{}{}, {}{} {}x{}", how,
                     options.train ? "training step" : "inference", arithmetic,
                     format.empty() ? "" : " ", format, name,
                     adapters(model.graph).empty() ? "" : " with adapters", options.batch, size);
}

Peak native_peak(PeakKind kind, Context& context, std::vector<std::string>& notes) {
  if (cuda::CudaDevice* const card = card_of(context.session().device)) {
    HONE_ASSERT(kind == PeakKind::int8_gops, "cards have native products of bytes alone");
    const double now = cuda::measure_byte_products_gops(*card);
    return {now, now, ""};
  }
  const NativeKind& row = *std::ranges::find(kNativeKinds, kind, &NativeKind::kind);
  return keep_highest(kind, context.pool.threads(), row.measure(context.pool), peaks_file(), notes);
}

BenchTimes bench(Model given, const std::string& name, const BenchOptions& asked,
                 Context& context) {
  BenchOptions options = asked;
  Model model = bench_subject(std::move(given), name, options, context);
  const Session session = context.session();
  const bool on_host = session.device.host_accessible();
  BenchTimes result;
  result.on_host = on_host;
  result.tokens = options.tokens;
  result.format = bench_format(model, options);
  result.arithmetic = bench_arithmetic(model, options, session);
  result.what = bench_text(model, name, options,
                           !on_host                                 ? to_string(session.device)
                           : session.executor == compiler::compiled ? "compiled"
                                                                    : "interpreter",
                           result.arithmetic);
  const ExecutionWay& way = find_execution_way("interpreter");
  // Not kept twice: what is trained would be copied.
  ParameterStore parameters = std::exchange(model.parameters, {});
  BenchWork work = bench_work(model, std::move(parameters), options, way, session);
  const Bindings& bindings = work.bindings;
  const ComputedGop gop = computed_gop(work.graph, bindings, session);
  result.gflop = work.flops / 1e9;
  result.computed_gflop = gop.all;
  result.of_images = model.facts.limits.image.has_value();
  result.needed_bytes = needed_bytes(work.graph, bindings, session);
  result.device = device_text(session);
  const double peak_before = products_peak_gflops(session);
  const std::unique_ptr<Executable> executable = work.executable(way, session);
  const auto run = [&] { work.run(*executable, session.device); };
  result.first_ms = run_ms(run);
  // A device may make itself ready in the runs after the first, too (cuda/captured.h).
  constexpr int kWarmRuns = 3;
  double warm_ms = run_ms(run);
  for (int i = 1; !on_host && i < kWarmRuns; ++i) warm_ms = run_ms(run);
  result.runs = options.runs > 0 ? options.runs : (warm_ms > 200 ? 12 : 60);
  // Another device is waited for behind each operation that is recorded, so its runs are timed without.
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
  tell_notes(context, result.times.notes);
  result.fields = to_json(result.times, job);
  describe_bench(result.times, job, result.document);
  return result;
}

}  // namespace hone
