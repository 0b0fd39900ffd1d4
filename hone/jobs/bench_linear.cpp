#include "hone/jobs/bench_linear.h"

#include <algorithm>
#include <cmath>

#include "hone/base/cpu.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/cuda/card_peaks.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/packing.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/kernels/peak.h"
#include "hone/report/table.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

constexpr std::int64_t kLinearRuns = 20, kCachesOfCopies = 4;
constexpr std::int64_t kMostDenseBytes = std::int64_t{2} << 30;

bool is_dense(ProductWay way) { return way == ProductWay::fp32 || way == ProductWay::bf16; }
DType values_of(ProductWay way) { return way == ProductWay::bf16 ? DType::bf16 : DType::f32; }

Shape weight_shape(const LinearJob& job) { return {Dim(job.outputs), Dim(job.inputs)}; }

// Normal, any number by its place alone.
Tensor random_normal(const char* name, const Sizes& sizes, double deviation, std::uint64_t seed,
                     ThreadPool& pool) {
  constexpr std::int64_t kGrain = 1 << 14;
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  const std::span<float> values = tensor.values<float>();
  const std::uint64_t stream = stream_of(fmt::format("bench linear {}", name));
  parallel_ranges(pool, tensor.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    RandomSequence random(seed, stream, static_cast<std::uint64_t>(begin));
    for (std::int64_t i = begin; i < end; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>(deviation * random.normal());
  });
  return tensor;
}

// ---- the ways

/// A way with its weight on the host.
struct LinearVariant {
  ProductWay way = ProductWay::fp32;
  std::optional<Format> format = {}, input_format = {};
  std::string objection = {};  // why there is no such linear; empty: there is
  // As the product reads them: weight and bias, or codes, shared codes, bias and states.
  std::vector<std::pair<std::string, Tensor>> operands = {};
  std::int64_t weight_bytes = 0;

  std::int64_t bytes(const LinearJob& job, std::int64_t rows) const {
    const auto value_bytes = static_cast<std::int64_t>(info(values_of(way)).size_bytes);
    return weight_bytes + value_bytes * (job.outputs + rows * (job.inputs + job.outputs));
  }
};

LinearVariant dense_variant(ProductWay way, const Tensor& weight, const Tensor& bias) {
  const DType dtype = values_of(way);
  LinearVariant variant{.way = way};
  variant.operands = {{"weight", weight.cast(dtype)}, {"bias", bias.cast(dtype)}};
  variant.weight_bytes = static_cast<std::int64_t>(variant.operands[0].second.size_bytes());
  return variant;
}

LinearVariant coded_variant(ProductWay way, const Format& format, const Tensor& weight,
                            const Tensor& bias, Context& context) {
  LinearVariant variant{.way = way, .format = format};
  variant.objection = packing_objection(format, weight.sizes());
  if (variant.objection.empty() && way == ProductWay::native)
    variant.objection = native_objection(format);
  if (!variant.objection.empty()) return variant;
  if (way == ProductWay::native)
    variant.input_format = native_input(format, context.library.formats);
  const std::vector<Tensor> state =
      calibrate_tensor(format, weight.sizes(), weight.values<float>());
  const PackedLayout layout = packed_layout(format, weight.sizes(), Arrangement::panels);
  PackedCodes packed =
      pack({format, weight.sizes(), weight.values<float>(), state}, layout, context.pool);
  variant.operands = {
      {"codes", std::move(packed.codes)}, {"shared", std::move(packed.shared)}, {"bias", bias}};
  variant.weight_bytes = layout.bytes_without_padding();
  for (std::size_t i = 0; i < state.size(); ++i) {
    variant.operands.emplace_back(fmt::format("state.{}", i), state[i]);
    variant.weight_bytes += static_cast<std::int64_t>(state[i].size_bytes());
  }
  return variant;
}

std::vector<LinearVariant> variants_of(const LinearJob& job, const Tensor& weight,
                                       const Tensor& bias, Context& context) {
  std::vector<LinearVariant> variants;
  for (const ProductWay way : job.ways) {
    if (is_dense(way)) {
      variants.push_back(dense_variant(way, weight, bias));
      continue;
    }
    for (const Format& format : job.formats)
      variants.push_back(coded_variant(way, format, weight, bias, context));
  }
  return variants;
}

// ---- the graphs

Value add_linear(Graph& graph, const LinearVariant& variant, const LinearJob& job, Value x,
                 const std::vector<Value>& operands, const Session& session) {
  std::vector<Value> inputs = {x};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  if (is_dense(variant.way)) return graph.add("linear", std::move(inputs));
  Attributes attributes = {{"format", *variant.format}, {"shape", weight_shape(job)}};
  if (variant.way == ProductWay::packed)
    return graph.add("packed_linear", std::move(inputs), std::move(attributes));
  attributes.set("input_format", *variant.input_format);
  // Products round values themselves where nothing encodes such formats.
  const Attributes of_encoder = {{"format", *variant.input_format}};
  if (has_fast_kernel("encode_rows", of_encoder, {x.type()}, {x.type()}, session))
    inputs[0] = graph.add("encode_rows", {x}, of_encoder);
  return graph.add("native_linear", std::move(inputs), std::move(attributes));
}

// Linears of one x, each with parameters of its own. x is a parameter, since a device copies inputs in every run. Nothing is an
// output unless `gives_y`: a device would copy it likewise.
Graph linears_graph(const LinearVariant& variant, const LinearJob& job, std::int64_t count,
                    bool gives_y, const Session& session) {
  Graph graph(session.library.ops);
  const Value x =
      graph.add_parameter("x", {values_of(variant.way), {Dim::of_symbol('B'), Dim(job.inputs)}},
                          ParameterRole::buffer, false);
  Value y;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Value> operands;
    for (const auto& [name, tensor] : variant.operands) {
      Type type{tensor.dtype(), {}};
      for (const std::int64_t size : tensor.sizes()) type.shape.emplace_back(size);
      operands.push_back(graph.add_parameter(fmt::format("{}.{}", name, i), std::move(type),
                                             ParameterRole::buffer, false));
    }
    y = add_linear(graph, variant, job, x, operands, session);
  }
  if (gives_y) graph.set_output("y", y);
  return graph;
}

// Copies of the operands on a device. On the host one weight in a file is enough: what is laid out anew is a copy.
ParameterStore linears_store(const LinearVariant& variant, std::int64_t count, Device& device) {
  ParameterStore store;
  for (std::int64_t i = 0; i < count; ++i)
    for (const auto& [name, tensor] : variant.operands)
      store.set(fmt::format("{}.{}", name, i),
                tensor.storage()->mapped ? tensor.on(device) : tensor.copy_to(device));
  return store;
}

// Why the device has no kernel of an operation of the graph; "" where it has of all.
std::string refusal_of(const Graph& graph, const Session& session) {
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::vector<KernelAnswer> answers =
        kernel_answers(session.library.kernels, call_site(*node), session.device);
    if (!answers.empty() && answers.back().refusal.empty()) continue;
    std::string text =
        fmt::format("no kernel of {} on {}", node->op().name, to_string(session.device));
    for (const KernelAnswer& answer : answers)
      text += fmt::format("; {}: {}", answer.kernel->name, answer.refusal);
    return text;
  }
  return "";
}

// Of the product.
std::string kernel_text(const Graph& graph, const Session& session) {
  const Node& product = *graph.of_kind(NodeKind::operation).back();
  return fmt::format("{} / {}", product.op().name,
                     find_kernel(session.library.kernels, product, session.device)->name);
}

// ---- runs

/// Linears that one run computes, one after the other.
struct LinearPart {
  Graph graph;
  ParameterStore parameters;
  std::unique_ptr<Executable> executable = nullptr;
};

/// A way made ready: `parts` take turns.
struct LinearRunner {
  std::vector<std::unique_ptr<LinearPart>> parts = {};  // what an executable refers to stays
  std::size_t next = 0;

  void run() {
    LinearPart& part = *parts[next];
    next = (next + 1) % parts.size();
    part.executable->run({}, part.parameters);
  }
  void set_x(const Tensor& x) {
    for (const auto& part : parts) part->parameters.set("x", x);
  }
};

/// How copies of the weight are shared out among runs. Starting a run costs a card much, so it has all of them in one; of the
/// host a run is one linear.
struct LinearCopies {
  std::int64_t copies = 1, together = 1;
  std::uint64_t cache_bytes = 0;

  bool in_cache(const LinearVariant& variant) const {
    return static_cast<std::uint64_t>(copies * variant.weight_bytes) <= cache_bytes;
  }
};

LinearCopies copies_for(const std::vector<LinearVariant>& variants, const LinearJob& job,
                        Device& device) {
  LinearCopies result;
  const cuda::CudaDevice* const card = card_of(device);
  result.cache_bytes = card == nullptr ? last_level_cache_bytes() : card->card().cache_bytes;
  std::int64_t smallest = 4 * job.inputs * job.outputs;
  for (const LinearVariant& variant : variants)
    if (variant.objection.empty()) smallest = std::min(smallest, variant.weight_bytes);
  // A run keeps the results of all of its linears until it ends.
  const std::int64_t dense =
      4 * job.outputs * (job.inputs + (device.host_accessible() ? 0 : std::ranges::max(job.rows)));
  const std::int64_t most = std::min(kMostLinearCopies, kMostDenseBytes / dense);
  const auto wanted = static_cast<std::int64_t>(
      kCachesOfCopies * static_cast<std::int64_t>(result.cache_bytes) / smallest + 1);
  result.copies = std::max<std::int64_t>(1, std::min(wanted, most));
  result.together = device.host_accessible() ? 1 : result.copies;
  return result;
}

// Weights in bf16 stand in memory twice on the host: kernels lay them out anew.
void check_copies_fit(const std::vector<LinearVariant>& variants, const LinearCopies& copies,
                      const LinearJob& job, Device& device) {
  double needed = 0;
  for (const LinearVariant& variant : variants)
    needed += static_cast<double>(copies.copies) *
              static_cast<double>(variant.bytes(job, std::ranges::max(job.rows)) +
                                  (variant.way == ProductWay::bf16 ? variant.weight_bytes : 0));
  const std::optional<std::size_t> of_device = device.free_bytes();
  const double available = of_device ? static_cast<double>(*of_device) : available_bytes();
  user_check(needed <= available,
             "not enough memory: {} copies of a linear of {} inputs and {} outputs in {} variants "
             "take {}, and {} are available; take fewer formats or rows, or a smaller shape",
             copies.copies, job.inputs, job.outputs, variants.size(), human_bytes(needed),
             human_bytes(available));
}

LinearRunner runner_of(const LinearVariant& variant, const LinearCopies& copies,
                       const LinearJob& job, const Session& session) {
  LinearRunner runner;
  for (std::int64_t begin = 0; begin < copies.copies; begin += copies.together) {
    runner.parts.push_back(std::make_unique<LinearPart>(
        LinearPart{linears_graph(variant, job, copies.together, /*gives_y=*/false, session),
                   linears_store(variant, copies.together, session.device)}));
    LinearPart& part = *runner.parts.back();
    part.executable = session.executable(part.graph);
  }
  return runner;
}

// All of y on the host, in fp32.
Tensor linear_result(const LinearVariant& variant, const LinearJob& job, const Tensor& x,
                     const Session& session) {
  const Graph graph = linears_graph(variant, job, 1, /*gives_y=*/true, session);
  ParameterStore store = linears_store(variant, 1, session.device);
  store.set("x", x.cast(values_of(variant.way)).on(session.device));
  return dense_on(interpreted(graph, session)->run({}, store).at("y"), cpu()).cast(DType::f32);
}

void set_differences(LinearTimes& times, const Tensor& result, const Tensor& exact) {
  double largest = 0;
  const std::span<const float> ours = result.values<float>(), its = exact.values<float>();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double distance = std::abs(static_cast<double>(ours[i]) - its[i]);
    HONE_ASSERT(!std::isnan(distance), "{} gives {} where {} is right", times.name(), ours[i],
                its[i]);
    times.max_difference = std::max(times.max_difference, distance);
    largest = std::max(largest, std::abs(static_cast<double>(its[i])));
  }
  times.relative_difference = largest == 0 ? 0 : times.max_difference / largest;
}

/// A way that is timed, and where its times go.
struct TimedLinear {
  const LinearVariant* variant;
  LinearRunner* runner;
  LinearTimes* times;
};

// The ways take turns, for all to see the same machine.
void time_linears(const std::vector<TimedLinear>& all, const Tensor& x, const LinearCopies& copies,
                  std::int64_t runs, Device& device) {
  const auto count = static_cast<double>(copies.together);
  for (const TimedLinear& one : all) {
    one.runner->set_x(x.cast(values_of(one.variant->way)).on(device));
    const auto run = [&] {
      one.runner->run();
      device.wait();
    };
    one.times->first_ms = run_ms(run) / count;
    // Every part prepares its weight in its second run, and a device may make itself ready behind that (cuda/captured.h).
    constexpr std::size_t kWarmTurns = 4;
    const std::size_t turns = device.host_accessible() ? 2 : kWarmTurns;
    for (std::size_t i = 1; i < turns * one.runner->parts.size(); ++i) run();
  }
  std::vector<std::function<void()>> works;
  for (const TimedLinear& one : all) works.emplace_back([runner = one.runner] { runner->run(); });
  const auto rounds = rounds_in_turn(works, runs, {}, clock_of(device));
  for (std::size_t i = 0; i < all.size(); ++i) {
    LinearTimes& times = *all[i].times;
    for (const double ms : rounds[i]) times.rounds_ms.push_back(ms / count);
    std::vector<double> sorted = times.rounds_ms;
    std::ranges::sort(sorted);
    times.min_ms = sorted.front();
    times.median_ms = median_of_sorted(sorted);
  }
}

void compare_with_fp32(std::span<LinearTimes> all) {
  const auto fp32 = std::ranges::find(all, ProductWay::fp32, &LinearTimes::way);
  if (fp32 == all.end() || !fp32->was_run()) return;
  for (LinearTimes& times : all) {
    if (!times.was_run()) continue;
    times.speedup = &times == &*fp32 ? Speedup() : speedup_of(fp32->rounds_ms, times.rounds_ms);
  }
}

// ---- what memory allows

double bandwidth_now(Context& context) {
  if (cuda::CudaDevice* const card = card_of(*context.device))
    return cuda::measure_copy_gbps(*card);
  return kernels::measure_read_gbps(context.pool);
}

// The highest of this run's and what is known of the processor.
Peak highest_bandwidth(double measured_now, Context& context) {
  if (card_of(*context.device) != nullptr) return {measured_now, measured_now, ""};
  std::vector<std::string> notes;
  Peak peak =
      keep_highest(PeakKind::read_gbps, context.pool.threads(), measured_now, peaks_file(), notes);
  tell_notes(context, notes);
  return peak;
}

// ---- told

LinearTimesResult linear_times_result(const LinearTimes& times) {
  LinearTimesResult result{.rows = times.rows,
                           .impl = times.way,
                           .timed_runs = std::ssize(times.rounds_ms),
                           .rounds_ms = times.rounds_ms,
                           .speedup = times.speedup};
  if (times.format) result.format = to_string(*times.format);
  if (times.input_format) result.input_format = to_string(*times.input_format);
  if (!times.was_run()) {
    result.not_run = times.not_run;
    return result;
  }
  result.kernel = times.kernel;
  result.weight_bytes = times.weight_bytes;
  result.bytes = times.bytes;
  result.in_cache = times.in_cache;
  result.first_ms = times.first_ms;
  result.min_ms = times.min_ms;
  result.median_ms = times.median_ms;
  result.gflops = times.gflops();
  result.gb_per_s = times.gbps();
  result.share_of_bandwidth = times.share_of_bandwidth();
  result.max_difference = times.max_difference;
  result.relative_difference = times.relative_difference;
  return result;
}

Table linear_table(const std::vector<LinearTimes>& all) {
  Table table({{"rows", "Rows"},
               {"way", "Implementation"},
               {"kernel", "Kernel"},
               {"first_ms", "First (ms)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"speedup", "Speedup"},
               {"weight_bytes", "Weight"},
               {"gb_per_s", "GB/s"},
               {"share_of_bandwidth", "Share of bandwidth"},
               {"in_cache", "In cache"},
               {"gflops", "GFLOP/s"},
               {"relative_difference", "Relative difference"}});
  for (const LinearTimes& t : all) {
    const auto when_run = [&](auto&& cell) { return t.was_run() ? cell() : Cell(absent); };
    table.add_row({t.rows, t.name(), t.was_run() ? Cell(t.kernel) : Cell("not run"),
                   when_run([&] { return real(t.first_ms, 3); }),
                   when_run([&] { return real(t.min_ms, 4); }),
                   when_run([&] { return real(t.median_ms, 4); }), speedup_cell(t.speedup),
                   when_run([&] { return bytes(t.weight_bytes); }),
                   when_run([&] { return real(t.gbps(), 1); }),
                   when_run([&] { return percent(t.share_of_bandwidth()); }),
                   when_run([&] { return Cell(t.in_cache ? "yes" : "no"); }),
                   when_run([&] { return real(t.gflops(), 1); }),
                   when_run([&] { return significant(t.relative_difference); })});
  }
  return table;
}

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : fmt::format("{} rows", grouped(rows));
}

/// The fastest variant of each number of rows; null where nothing was run.
struct FastestLinear {
  std::int64_t rows = 0;
  const LinearTimes* times = nullptr;
};

std::vector<FastestLinear> fastest_linears(const std::vector<LinearTimes>& all) {
  std::vector<FastestLinear> fastest;
  for (const LinearTimes& one : all) {
    if (fastest.empty() || fastest.back().rows != one.rows) fastest.push_back({one.rows});
    const LinearTimes*& best = fastest.back().times;
    if (one.was_run() && (best == nullptr || one.median_ms < best->median_ms)) best = &one;
  }
  return fastest;
}

// "packed int(bits=4), 0.0412 ms, 5.10× faster (95% CI 4.90 to 5.30), 61.0% of the bandwidth of memory"
std::string linear_text(const LinearTimes& one) {
  std::string text = fmt::format("{}, {} ms", one.name(), three_digits(one.median_ms));
  if (one.speedup && one.way != ProductWay::fp32) text += ", " + speedup_text(*one.speedup);
  if (!one.in_cache)
    text += fmt::format(", {} of the bandwidth of memory", share_text(one.share_of_bandwidth()));
  return text;
}

std::string linear_headline(const FastestLinear& fastest, const std::string& what) {
  if (fastest.times == nullptr) return fmt::format("{}: nothing was run", what);
  const LinearTimes& one = *fastest.times;
  const bool compares = one.speedup && one.way != ProductWay::fp32;
  return fmt::format("{}: fastest with {} is {}{} ({} ms)", what, rows_text(fastest.rows),
                     one.name(), compares ? ", " + speedup_headline(*one.speedup, "fp32") : "",
                     three_digits(one.median_ms));
}

// Why some variants were not run, each reason once.
std::vector<Block> not_run_blocks(const std::vector<LinearTimes>& all) {
  std::vector<Block> blocks;
  for (const LinearTimes& times : all)
    if (!times.was_run() && times.rows == all.front().rows)
      blocks.emplace_back(Paragraph{fmt::format("Not run: {}: {}.", times.name(), times.not_run)});
  return blocks;
}

std::string copies_text(const std::vector<LinearTimes>& all, const LinearCopies& copies) {
  const std::string taken =
      copies.copies == 1
          ? "Every run uses the same weight"
          : fmt::format("Runs use {} copies of the weight in turn", grouped(copies.copies));
  const std::string cache = human_bytes(static_cast<double>(copies.cache_bytes));
  if (std::ranges::none_of(all, &LinearTimes::in_cache))
    return fmt::format("{}, which exceed the cache of {}, so it is read from memory.", taken,
                       cache);
  return fmt::format(
      "{}. Those marked \"in cache\" fit into the cache of {} together: their GB/s say nothing "
      "about memory.",
      taken, cache);
}

void describe_linear(const LinearResult& result, const LinearCopies& copies, const Peak& bandwidth,
                     const std::string& what, const std::string& where, std::int64_t runs,
                     bool on_host, Document& document) {
  const std::vector<LinearTimes>& all = result.times;
  const std::vector<FastestLinear> fastest = fastest_linears(all);
  document.title = fmt::format("{} on {}", what, where);
  document.headline = linear_headline(fastest.front(), capitalized(what));
  for (const FastestLinear& one : fastest)
    document.key_figures.push_back(
        {rows_text(one.rows), one.times == nullptr ? "nothing was run" : linear_text(*one.times)});
  const bool ran = std::ranges::any_of(all, &LinearTimes::was_run);
  document.evidence = fmt::format("Medians of {} runs in turn on {}.{}", runs, where,
                                  ran ? " " + copies_text(all, copies) : "");
  std::vector<Block> blocks = not_run_blocks(all);
  blocks.insert(blocks.begin(), PageTable{linear_table(all)});
  document.sections = {
      {"", std::move(blocks)},
      {"How to read this",
       {Paragraph{fmt::format(
            "Bandwidth of memory: {:.1f} GB/s {}, {}. GB/s and GFLOP/s are of the fastest run; "
            "bytes are those of weight, bias, input and output, once each. Shares are ratios of "
            "two "
            "measurements, so they can exceed 100% by the measurement error.",
            bandwidth.value, on_host ? "of reading" : "of copying, read plus written",
            provenance(bandwidth))},
        Paragraph{"packed: the weight is decoded as it is read, inputs are floats. "
                  "native: inputs are rounded too, in every run, and the product multiplies codes. "
                  "Speedup: against fp32. Relative difference: the largest difference from the "
                  "result of the CPU in fp32, divided by the largest result; it includes the "
                  "rounding to the format."}},
       /*folded=*/true}};
}

}  // namespace

const Fields& fields_of(const LinearTimesResult*) {
  using L = LinearTimesResult;
  static const Fields fields = describe<L>(
      "linear_times",
      "A linear layer with a number of rows in one implementation, timed in turn with the others. "
      "What was not measured is null.",
      field<&L::rows>("rows", "Of x: examples times tokens."),
      field<&L::impl>("impl",
                      "fp32, bf16: weight and values are floats; packed: the weight is stored in "
                      "codes; native: x is rounded to codes too, in every run."),
      field<&L::format>("format", "Of the weight; null: it is in floats."),
      field<&L::input_format>("input_format", "Of x; null: it is in floats."),
      field<&L::not_run>("not_run", "Why there are no times; null: there are."),
      field<&L::kernel>("kernel", "Operation / kernel of the product."),
      field<&L::weight_bytes>("weight_bytes", Unit::bytes,
                              "Of the weight: codes, scales and states without padding."),
      field<&L::bytes>("bytes", Unit::bytes, "Of weight, bias, x and y."),
      field<&L::in_cache>("in_cache",
                          "Whether all copies of the weight together fit into the last-level cache "
                          "of the device."),
      field<&L::first_ms>("first_ms", Unit::milliseconds,
                          "Of the first run with so many rows; with preparation where it is the "
                          "first of all."),
      field<&L::min_ms>("min_ms", Unit::milliseconds, "Fastest run."),
      field<&L::median_ms>("median_ms", Unit::milliseconds, "Median run."),
      field<&L::timed_runs>("timed_runs", kTimedRunsMeaning),
      field<&L::rounds_ms>("rounds_ms", Unit::milliseconds, kRoundsMeaning),
      field<&L::gflops>("gflops", Unit::gflop_per_second,
                        "Multiplications and additions of the fastest run."),
      field<&L::gb_per_s>("gb_per_s", Unit::gigabytes_per_second,
                          "Those bytes in the fastest run."),
      field<&L::share_of_bandwidth>("share_of_bandwidth", Unit::ratio, "Of `bandwidth_gbps`."),
      inlined<&L::speedup>(),
      field<&L::max_difference>(
          "max_difference",
          "Largest difference from results of the CPU in fp32 with the weight "
          "before it was rounded."),
      field<&L::relative_difference>("relative_difference", Unit::ratio,
                                     "The same by the largest of those results."));
  return fields;
}

const Fields& fields_of(const BenchLinearFields*) {
  using B = BenchLinearFields;
  static const Fields fields = describe<B>(
      "bench", "How long a linear layer takes.", field<&B::what>("what", kTimedMeaning),
      field<&B::device>("device", kDeviceMeaning), field<&B::threads>("threads", kThreadsMeaning),
      field<&B::inputs>("inputs", "Columns of x."), field<&B::outputs>("outputs", "Columns of y."),
      field<&B::copies>("copies",
                        "Copies of the weight, which runs use in turn so that it is read from "
                        "memory."),
      field<&B::cache_bytes>("cache_bytes", Unit::bytes, "Last-level cache of the device."),
      field<&B::bandwidth_gbps>("bandwidth_gbps", Unit::gigabytes_per_second,
                                "Peak of memory: of reading on a CPU, of copying on a GPU, read "
                                "plus written."),
      field<&B::times>("times", "Every number of rows, implementation and format."));
  return fields;
}

std::span<const EnumWord> enum_words(ProductWay) {
  static constexpr EnumWord words[] = {{static_cast<int>(ProductWay::fp32), "fp32"},
                                       {static_cast<int>(ProductWay::bf16), "bf16"},
                                       {static_cast<int>(ProductWay::packed), "packed"},
                                       {static_cast<int>(ProductWay::native), "native"}};
  return words;
}

std::string_view to_string(ProductWay way) { return kProductWays[static_cast<std::size_t>(way)]; }

std::string LinearTimes::name() const {
  std::string text(to_string(way));
  if (format) text += " " + to_string(*format);
  return text;
}

std::vector<Format> default_linear_formats(const FormatTable& formats) {
  return {parse_format("mxint(bits=8)", formats), parse_format("int(bits=4,per=row)", formats)};
}

LinearResult bench_linear(const LinearJob& asked, Context& context) {
  LinearJob job = asked;
  if (job.runs == 0) job.runs = kLinearRuns;
  if (job.formats.empty()) job.formats = default_linear_formats(context.library.formats);
  const Session session = context.session(), host{context.library, context.pool};
  const auto random = [&](const char* name, const Sizes& sizes, double deviation) {
    return random_normal(name, sizes, deviation, job.seed, context.pool);
  };
  const double deviation = 1 / std::sqrt(static_cast<double>(job.inputs));
  const Tensor weight =
      in_hidden_file({{"weight", random("weight", {job.outputs, job.inputs}, deviation)}})
          .at("weight");
  const Tensor bias = random("bias", {job.outputs}, 1);
  const std::vector<LinearVariant> variants = variants_of(job, weight, bias, context);
  const LinearVariant exact = dense_variant(ProductWay::fp32, weight, bias);
  const LinearCopies copies = copies_for(variants, job, session.device);
  check_copies_fit(variants, copies, job, session.device);

  std::vector<LinearTimes> ways;  // without rows
  std::vector<LinearRunner> runners(variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const LinearVariant& variant = variants[i];
    LinearTimes& times = ways.emplace_back(LinearTimes{.way = variant.way,
                                                       .format = variant.format,
                                                       .input_format = variant.input_format,
                                                       .not_run = variant.objection});
    if (!times.was_run()) continue;
    const Graph one = linears_graph(variant, job, 1, /*gives_y=*/true, session);
    times.not_run = refusal_of(one, session);
    if (!times.was_run()) continue;
    times.kernel = kernel_text(one, session);
    times.weight_bytes = variant.weight_bytes;
    times.in_cache = copies.in_cache(variant);
    runners[i] = runner_of(variant, copies, job, session);
  }

  LinearResult result;
  result.copies = copies.copies;
  Progress progress("linear", std::ssize(job.rows),
                    {.unit = "shapes", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t done = 0;
  double measured_gbps = 0;  // often, for a busy machine gives less at times
  for (const std::int64_t rows : job.rows) {
    measured_gbps = std::max(measured_gbps, bandwidth_now(context));
    const Tensor x = random("x", {rows, job.inputs}, 1);
    const Tensor y = linear_result(exact, job, x, host);
    std::vector<LinearTimes> of_rows = ways;
    std::vector<TimedLinear> timed;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      LinearTimes& times = of_rows[i];
      times.rows = rows;
      if (!times.was_run()) continue;
      times.bytes = variants[i].bytes(job, rows);
      times.flops = 2 * static_cast<double>(rows) * static_cast<double>(job.inputs) *
                    static_cast<double>(job.outputs);
      set_differences(times, linear_result(variants[i], job, x, session), y);
      timed.push_back({&variants[i], &runners[i], &times});
    }
    time_linears(timed, x, copies, job.runs, session.device);
    compare_with_fp32(of_rows);
    std::ranges::move(of_rows, std::back_inserter(result.times));
    progress.update(++done);
  }
  progress.finish();
  const Peak bandwidth = highest_bandwidth(measured_gbps, context);
  for (LinearTimes& times : result.times) times.peak_gbps = bandwidth.value;

  const std::string what =
      fmt::format("linear of {} inputs and {} outputs", grouped(job.inputs), grouped(job.outputs));
  BenchLinearFields fields{.what = what,
                           .device = device_text(session),
                           .threads = context.pool.threads(),
                           .inputs = job.inputs,
                           .outputs = job.outputs,
                           .copies = copies.copies,
                           .cache_bytes = copies.cache_bytes,
                           .bandwidth_gbps = bandwidth.value};
  for (const LinearTimes& times : result.times) fields.times.push_back(linear_times_result(times));
  result.fields = to_json(fields);
  describe_linear(result, copies, bandwidth, what, ran_on(fields.device, fields.threads), job.runs,
                  session.device.host_accessible(), result.document);
  return result;
}

}  // namespace hone
