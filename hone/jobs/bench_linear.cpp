#include "hone/jobs/bench_linear.h"

#include <algorithm>
#include <cmath>

#include "hone/base/cpu.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/cuda/card_peaks.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/linear_variants.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/kernels/peak.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

constexpr std::int64_t kLinearRuns = 20, kCachesOfCopies = 4;
constexpr std::int64_t kMostDenseBytes = std::int64_t{2} << 30;

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

/// Linears that one run computes, one after the other.
struct LinearPart {
  Graph graph;
  ParameterStore parameters;
  std::unique_ptr<Executable> executable = nullptr;
};

/// Runs of one implementation: `parts` take turns.
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

double available_on(Device& device) {
  const std::optional<std::size_t> of_device = device.free_bytes();
  return of_device ? static_cast<double>(*of_device) : available_bytes();
}

// Of one copy of every variant. Weights in bf16 are in memory twice on the host: kernels lay them out anew.
double copy_bytes(const std::vector<LinearVariant>& variants, const LinearJob& job) {
  double bytes = 0;
  for (const LinearVariant& variant : variants)
    bytes += static_cast<double>(
        variant.bytes(job, std::ranges::max(job.rows)) +
        (variant.way == ProductWay::bf16 && !variant.sparse ? variant.weight_bytes : 0));
  return bytes;
}

LinearCopies copies_for(const std::vector<LinearVariant>& variants, const LinearJob& job,
                        Device& device) {
  constexpr double kMostOfMemory = 0.5;
  LinearCopies result;
  const cuda::CudaDevice* const card = card_of(device);
  result.cache_bytes = card == nullptr ? last_level_cache_bytes() : card->card().cache_bytes;
  std::int64_t smallest = 4 * job.inputs * job.outputs;
  for (const LinearVariant& variant : variants)
    if (variant.objection.empty()) smallest = std::min(smallest, variant.weight_bytes);
  // A run keeps the results of all of its linears until it ends.
  const std::int64_t dense =
      4 * job.outputs * (job.inputs + (device.host_accessible() ? 0 : std::ranges::max(job.rows)));
  const std::int64_t most =
      std::min({kMostLinearCopies, kMostDenseBytes / dense,
                static_cast<std::int64_t>(kMostOfMemory * available_on(device) /
                                          copy_bytes(variants, job))});
  const auto wanted = static_cast<std::int64_t>(
      kCachesOfCopies * static_cast<std::int64_t>(result.cache_bytes) / smallest + 1);
  result.copies = std::max<std::int64_t>(1, std::min(wanted, most));
  result.together = device.host_accessible() ? 1 : result.copies;
  return result;
}

void check_copies_fit(const std::vector<LinearVariant>& variants, const LinearCopies& copies,
                      const LinearJob& job, Device& device) {
  const double needed = static_cast<double>(copies.copies) * copy_bytes(variants, job);
  const double available = available_on(device);
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
  store.set("x", x.cast(variant.values()).on(session.device));
  return dense_on(interpreted(graph, session)->run({}, store).at("y"), cpu()).cast(DType::f32);
}

void set_differences(LinearTimes& times, const Tensor& result, const Tensor& exact) {
  double difference = 0, largest = 0;
  const std::span<const float> ours = result.values<float>(), its = exact.values<float>();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double distance = std::abs(static_cast<double>(ours[i]) - its[i]);
    HONE_ASSERT(!std::isnan(distance), "{} gives {} where {} is right", times.name(), ours[i],
                its[i]);
    difference = std::max(difference, distance);
    largest = std::max(largest, std::abs(static_cast<double>(its[i])));
  }
  times.max_difference = difference;
  times.relative_difference = largest == 0 ? 0 : difference / largest;
}

/// An implementation made ready, unless it cannot run.
struct ReadyLinear {
  const LinearVariant& variant;
  LinearTimes times;                  // without rows
  std::unique_ptr<Library> own = {};  // with the kernel of a sparse weight before all others
  std::optional<Session> session = {};
  LinearRunner runner = {};
};

ReadyLinear ready_linear(const LinearVariant& variant, const LinearCopies& copies,
                         const LinearJob& job, const Session& usual) {
  ReadyLinear ready{variant, {.way = variant.way}};
  LinearTimes& times = ready.times;
  if (const std::optional<SparseWeight>& sparse = variant.sparse) {
    ready.own = std::make_unique<Library>(usual.library);
    ready.own->kernels.insert(ready.own->kernels.begin(), sparse->kernel);
    times.sparsity = sparse->sparsity;
    times.block = structure_text({.block = sparse->block});
    times.stored = sparse->stored;
  }
  const Session& session =
      ready.session.emplace(Session{.library = ready.own ? *ready.own : usual.library,
                                    .pool = usual.pool,
                                    .device = usual.device,
                                    .executor = usual.executor,
                                    .values = usual.values,
                                    .token_steps = usual.token_steps,
                                    .watch = usual.watch});
  if (variant.format) times.format = to_string(*variant.format);
  if (variant.input_format) times.input_format = to_string(*variant.input_format);
  if (!variant.objection.empty()) {
    times.not_run = variant.objection;
    return ready;
  }
  const Graph one = linears_graph(variant, job, 1, /*gives_y=*/true, session);
  if (std::string missing = missing_kernel(one, session); !missing.empty()) {
    times.not_run = std::move(missing);
    return ready;
  }
  times.kernel = product_kernel(one, session);
  times.weight_bytes = variant.weight_bytes;
  times.in_cache = copies.in_cache(variant);
  ready.runner = runner_of(variant, copies, job, session);
  return ready;
}

// With dense fp32, and sparse products with the dense one of the same format. Dense ones come first.
void set_speedups(std::span<LinearTimes> all) {
  const auto fp32 = std::ranges::find(all, ProductWay::fp32, &LinearTimes::way);
  for (LinearTimes& times : all) {
    if (!times.was_run()) continue;
    if (fp32 != all.end() && fp32->was_run())
      times.speedup = &times == &*fp32 ? Speedup() : speedup_of(fp32->rounds_ms, times.rounds_ms);
    if (!times.is_sparse()) continue;
    const auto dense =
        std::ranges::find_if(all, [&](const LinearTimes& one) { return one.is_like(times); });
    if (dense->was_run()) times.over_dense = speedup_of(dense->rounds_ms, times.rounds_ms);
  }
}

// With these rows of x. The implementations take turns, for all to see the same machine.
std::vector<LinearTimes> time_linears(
    std::vector<ReadyLinear>& all, const Tensor& x,
    const std::function<Tensor(const LinearVariant&)>& exact_result, const LinearCopies& copies,
    const LinearJob& job, const Session& session) {
  Device& device = session.device;
  const auto count = static_cast<double>(copies.together);
  std::vector<LinearTimes> times;
  std::vector<std::function<void()>> works;
  for (ReadyLinear& one : all) {
    LinearTimes& of_one = times.emplace_back(one.times);
    of_one.rows = x.sizes()[0];
    if (!of_one.was_run()) continue;
    of_one.bytes = one.variant.bytes(job, of_one.rows);
    of_one.flops = 2 * static_cast<double>(of_one.rows) * static_cast<double>(job.inputs) *
                   static_cast<double>(job.outputs);
    if (one.variant.sparse) of_one.used = one.variant.sparse->is_used(of_one.rows);
    set_differences(of_one, linear_result(one.variant, job, x, *one.session),
                    exact_result(one.variant));
    LinearRunner& runner = one.runner;
    runner.set_x(x.cast(one.variant.values()).on(device));
    const auto run = [&] {
      runner.run();
      device.wait();
    };
    of_one.first_ms = run_ms(run) / count;
    // Every part prepares its weight in its second run, and a device may make itself ready behind that (cuda/captured.h).
    constexpr std::size_t kWarmTurns = 4;
    const std::size_t turns = device.host_accessible() ? 2 : kWarmTurns;
    for (std::size_t i = 1; i < turns * runner.parts.size(); ++i) run();
    works.emplace_back([&runner] { runner.run(); });
  }
  const auto rounds = rounds_in_turn(works, job.runs, {}, clock_of(device));
  auto round = rounds.begin();
  for (LinearTimes& of_one : times) {
    if (!of_one.was_run()) continue;
    of_one.rounds_ms = *round++;
    for (double& ms : of_one.rounds_ms) ms /= count;
    std::vector<double> sorted = of_one.rounds_ms;
    std::ranges::sort(sorted);
    of_one.min_ms = sorted.front();
    of_one.median_ms = median_of_sorted(sorted);
    if (sorted.size() >= kFewestForMedianInterval) of_one.median_interval = median_interval(sorted);
  }
  set_speedups(times);
  return times;
}

// Each dense product that no sparse one follows.
std::vector<std::string> without_sparse_kernel(const std::vector<ReadyLinear>& all) {
  std::vector<std::string> names;
  for (const ReadyLinear& one : all)
    if (std::ranges::none_of(all, [&](const ReadyLinear& other) {
          return other.times.is_sparse() && other.times.is_like(one.times);
        }))
      names.push_back(one.times.name());
  return names;
}

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

}  // namespace

std::vector<Format> default_linear_formats(const FormatTable& formats, bool sparse) {
  return {parse_format(sparse ? "int(bits=8,per=row)" : "mxint(bits=8)", formats),
          parse_format("int(bits=4,per=row)", formats)};
}

LinearResult bench_linear(const LinearJob& asked, Context& context) {
  LinearJob job = asked;
  if (job.runs == 0) job.runs = kLinearRuns;
  std::ranges::sort(job.sparsities);
  const auto repeated = std::ranges::unique(job.sparsities);
  job.sparsities.erase(repeated.begin(), repeated.end());
  if (job.formats.empty())
    job.formats = default_linear_formats(context.library.formats, !job.sparsities.empty());
  const Session session = context.session(), host{context.library, context.pool};
  const auto random = [&](const char* name, const Sizes& sizes, double deviation) {
    return random_normal(name, sizes, deviation, job.seed, context.pool);
  };
  const double deviation = 1 / std::sqrt(static_cast<double>(job.inputs));
  const Tensor weight =
      in_hidden_file({{"weight", random("weight", {job.outputs, job.inputs}, deviation)}})
          .at("weight");
  const Tensor bias = random("bias", {job.outputs}, 1);
  std::vector<LinearVariant> variants = linear_variants(job, weight, bias, context);
  std::ranges::move(sparse_variants(variants, job, weight, bias, context),
                    std::back_inserter(variants));
  const LinearCopies copies = copies_for(variants, job, session.device);
  check_copies_fit(variants, copies, job, session.device);

  std::vector<ReadyLinear> ready;
  for (const LinearVariant& variant : variants)
    ready.push_back(ready_linear(variant, copies, job, session));

  LinearResult result;
  BenchLinearFields& bench = result.bench;
  bench = {.what = fmt::format("linear of {} inputs and {} outputs", grouped(job.inputs),
                               grouped(job.outputs)),
           .device = device_text(session),
           .threads = context.pool.threads(),
           .inputs = job.inputs,
           .outputs = job.outputs,
           .copies = copies.copies,
           .cache_bytes = copies.cache_bytes};
  Progress progress("linear", std::ssize(job.rows),
                    {.unit = "shapes", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t done = 0;
  if (!job.sparsities.empty()) bench.no_sparse_kernel = without_sparse_kernel(ready);
  double measured_gbps = 0;  // often, for a busy machine gives less at times
  for (const std::int64_t rows : job.rows) {
    measured_gbps = std::max(measured_gbps, bandwidth_now(context));
    const Tensor x = random("x", {rows, job.inputs}, 1);
    const auto exact = [&](const Tensor& of) {
      return linear_result(dense_variant(ProductWay::fp32, of, bias), job, x, host);
    };
    const Tensor of_dense = exact(weight);
    std::ranges::move(time_linears(
                          ready, x,
                          [&](const LinearVariant& variant) {
                            return variant.sparse ? exact(variant.sparse->dense) : of_dense;
                          },
                          copies, job, session),
                      std::back_inserter(bench.times));
    progress.update(++done);
  }
  progress.finish();
  const Peak bandwidth = highest_bandwidth(measured_gbps, context);
  bench.bandwidth_gbps = bandwidth.value;
  for (LinearTimes& times : bench.times) times.peak_gbps = bandwidth.value;
  bench.break_evens = sparse_break_evens(bench.times);
  result.fields = to_json(bench);
  result.document = linear_document(bench, bandwidth, job.runs, session.device.host_accessible());
  return result;
}

}  // namespace hone
