#include "hone/jobs/bench_linear.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/cpu.h"
#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/cuda/gpu_peaks.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/linear_variants.h"
#include "hone/jobs/paired_times.h"
#include "hone/kernels/peak.h"
#include "hone/tensor/dense.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

constexpr std::int64_t kMostLinearRounds = 20, kCachesOfCopies = 4;
// No round of one number of rows begins after this time, unless `--runs` is given.
constexpr double kLinearSeconds = 2;
// Laying out a copy of a large sparse weight takes tenths of a second, so an implementation gets no more copies after
// this time.
constexpr double kCopySeconds = 0.5;
constexpr std::int64_t kFewestCopiesInTurn = 2;
constexpr std::int64_t kMostDenseBytes = std::int64_t{2} << 30;

// Normal; each value depends on its index alone.
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

/// The linears that one run computes, one after another.
struct LinearPart {
  Graph graph;
  ParameterStore parameters;
  std::unique_ptr<Executable> executable = nullptr;
  bool was_run = false;
};

/// Runs one implementation: its first `in_use` parts take turns.
struct LinearRunner {
  std::function<std::unique_ptr<LinearPart>()> make = {};
  std::vector<std::unique_ptr<LinearPart>> parts = {};  // executables keep references
  std::size_t in_use = 0, next = 0;

  NamedTensors run() {
    LinearPart& part = *parts[next];
    next = (next + 1) % in_use;
    part.was_run = true;
    return part.executable->run({}, part.parameters);
  }
  // Leaves one part in use, with this x.
  void start(const Tensor& x) {
    in_use = next = 0;
    add(x);
  }
  // Puts one more part in use, which runs next.
  LinearPart& add(const Tensor& x) {
    stop_if_interrupted();
    if (parts.size() == in_use) parts.push_back(make());
    parts[in_use]->parameters.set("x", x);
    next = in_use++;
    return *parts[next];
  }
};

/// The maximum number of copies of the weight, and how many linears a run computes, each with its own copy. Starting a
/// run is expensive on a GPU, so one run computes all of them; on the host a run is one linear.
struct LinearCopies {
  std::int64_t most = 1, together = 1;
  std::uint64_t cache_bytes = 0;
};

double available_on(Device& device) {
  const std::optional<std::size_t> of_device = device.free_bytes();
  return of_device ? static_cast<double>(*of_device) : available_bytes();
}

// Bytes of one copy of every variant. Weights in bf16 count twice on the host, where kernels lay them out anew.
double copy_bytes(const std::vector<LinearVariant>& variants, const LinearJob& job) {
  double bytes = 0;
  for (const LinearVariant& variant : variants)
    bytes +=
        static_cast<double>(variant.bytes(job, std::ranges::max(job.rows)) +
                            (variant.implementation == LinearImplementation::bf16 && !variant.sparse
                                 ? variant.weight_bytes
                                 : 0));
  return bytes;
}

LinearCopies copies_for(const std::vector<LinearVariant>& variants, const LinearJob& job,
                        Device& device) {
  constexpr double kMostOfMemory = 0.5;
  LinearCopies result;
  const cuda::CudaDevice* const gpu = gpu_of(device);
  result.cache_bytes = gpu == nullptr ? last_level_cache_bytes() : gpu->info().cache_bytes;
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
  result.most = std::max<std::int64_t>(1, most);
  if (!device.host_accessible()) result.together = result.most = std::min(wanted, result.most);
  return result;
}

// Returns how many copies a variant needs, so that its cached weights are evicted before a run reuses a copy. `bytes`:
// of its weight; `runs`: in a row per round; `others`: bytes that all other variants read per round.
std::int64_t copies_in_turn(std::int64_t bytes, std::int64_t runs, std::int64_t others,
                            const LinearCopies& copies) {
  const std::int64_t read = kCachesOfCopies * static_cast<std::int64_t>(copies.cache_bytes);
  return std::min(copies.most,
                  std::max(runs, (read - others) / std::max<std::int64_t>(1, bytes)) + 1);
}

void check_copies_fit(const std::vector<LinearVariant>& variants, const LinearCopies& copies,
                      const LinearJob& job, Device& device) {
  const double needed = static_cast<double>(copies.together) * copy_bytes(variants, job);
  const double available = available_on(device);
  user_check(needed <= available,
             "not enough memory: a linear of {} inputs and {} outputs in {} variants takes {}, and "
             "{} are available; take fewer formats or rows, or a smaller shape",
             job.inputs, job.outputs, variants.size(), human_bytes(needed), human_bytes(available));
}

std::unique_ptr<LinearPart> linear_part(const LinearVariant& variant, std::int64_t together,
                                        const LinearJob& job, const Session& session) {
  // A GPU would copy the output in every run.
  const bool has_output = session.device.host_accessible();
  auto part = std::make_unique<LinearPart>(
      LinearPart{linears_graph(variant, job, together, has_output, session),
                 linears_store(variant, together, session.device)});
  part->executable = session.executable(part->graph);
  return part;
}

// Returns the whole y on the host in fp32, from a separate run.
Tensor linear_result(const LinearVariant& variant, const LinearJob& job, const Tensor& x,
                     const Session& session) {
  const Graph graph = linears_graph(variant, job, 1, /*has_output=*/true, session);
  ParameterStore store = linears_store(variant, 1, session.device);
  store.set("x", x.cast(variant.values()).on(session.device));
  return dense_on(interpreted(graph, session)->run({}, store).at("y"), cpu()).cast(DType::f32);
}

void set_differences(LinearTimes& times, const Tensor& result, const Tensor& exact) {
  double difference = 0, largest = 0;
  const std::span<const float> ours = result.values<float>(), its = exact.values<float>();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double distance = std::abs(static_cast<double>(ours[i]) - its[i]);
    HONE_ASSERT(!std::isnan(distance), "{} returned {}, expected {}", times.name(), ours[i],
                its[i]);
    difference = std::max(difference, distance);
    largest = std::max(largest, std::abs(static_cast<double>(its[i])));
  }
  times.max_difference = difference;
  times.relative_difference = largest == 0 ? 0 : difference / largest;
}

/// An implementation, prepared if it can run.
struct ReadyLinear {
  const LinearVariant& variant;
  LinearTimes times;                  // without rows
  std::unique_ptr<Library> own = {};  // puts the kernel of a sparse weight before all others
  std::optional<Session> session = {};
  LinearRunner runner = {};
};

std::unique_ptr<ReadyLinear> ready_linear(const LinearVariant& variant, const LinearCopies& copies,
                                          const LinearJob& job, const Session& usual) {
  auto made = std::make_unique<ReadyLinear>(
      ReadyLinear{variant, {.implementation = variant.implementation}});
  ReadyLinear& ready = *made;
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
    return made;
  }
  const Graph one = linears_graph(variant, job, 1, /*has_output=*/true, session);
  if (std::string missing = missing_kernel(one, session); !missing.empty()) {
    times.not_run = std::move(missing);
    return made;
  }
  times.kernel = product_kernel(one, session);
  times.weight_bytes = variant.weight_bytes;
  ready.runner.make = [&variant, together = copies.together, &job, &session] {
    return linear_part(variant, together, job, session);
  };
  return made;
}

// Sets the speedups over dense fp32 and, for sparse products, over the dense one of the same format. Dense ones come
// first.
void set_speedups(std::span<LinearTimes> all) {
  const auto fp32 =
      std::ranges::find(all, LinearImplementation::fp32, &LinearTimes::implementation);
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

/// The benchmark and its progress.
struct LinearBench {
  const LinearJob& job;
  const Session& session;
  const Session& host;
  const Tensor &weight, &bias;
  LinearCopies copies;
  Progress& progress;
  std::int64_t done;  // steps of the progress
  std::vector<std::unique_ptr<ReadyLinear>> all = {};

  std::int64_t rounds() const { return job.runs > 0 ? job.runs : kMostLinearRounds; }
  void step(std::string_view note) { progress.update(++done, note); }
};

// Results in fp32 on the host, computed once per weight, with the zeros of the weight.
class ExactLinears {
 public:
  ExactLinears(const LinearBench& bench, const Tensor& x) : bench_(bench), x_(x) {}
  const Tensor& of(const LinearVariant& variant) {
    const Tensor& weight = variant.sparse ? variant.sparse->dense : bench_.weight;
    Tensor& result = results_[weight.storage().get()];
    if (!result.defined())
      result = linear_result(dense_variant(LinearImplementation::fp32, weight, bench_.bias),
                             bench_.job, x_, bench_.host);
    return result;
  }

 private:
  const LinearBench& bench_;
  const Tensor& x_;
  std::map<const Storage*, Tensor> results_;
};

// Prepares the runner for rounds with this x, and returns y.
Tensor warm_up(ReadyLinear& one, const Tensor& x, std::int64_t others, LinearBench& bench,
               LinearTimes& times) {
  Device& device = bench.session.device;
  const bool on_host = device.host_accessible();
  LinearRunner& runner = one.runner;
  const Tensor own_x = x.cast(one.variant.values()).on(device);
  runner.start(own_x);
  NamedTensors outputs;
  const auto run = [&] {
    outputs = runner.run();
    device.wait();
  };
  // A part prepares its weight in its second run, and a GPU can need further runs (cuda/captured.h).
  const int runs = !on_host ? 4 : runner.parts.front()->was_run ? 1 : 3;
  double ms = times.first_ms = run_ms(run);
  for (int i = 1; i < runs; ++i) ms = run_ms(run);
  times.first_ms /= static_cast<double>(bench.copies.together);
  const Tensor y = on_host ? dense_on(outputs.at("y"), cpu()).cast(DType::f32)
                           : linear_result(one.variant, bench.job, x, *one.session);
  outputs.clear();
  times.copies = bench.copies.together;
  std::int64_t read = bench.copies.together * *times.weight_bytes;
  if (on_host) {
    const std::int64_t runs_in_turn = runs_per_round(ms),
                       most =
                           copies_in_turn(*times.weight_bytes, runs_in_turn, others, bench.copies);
    const double start = steady_seconds();
    while (*times.copies < most &&
           (*times.copies < kFewestCopiesInTurn || steady_seconds() - start < kCopySeconds)) {
      const bool is_new = !runner.add(own_x).was_run;
      ++*times.copies;
      run();
      if (is_new) {
        runner.next = runner.in_use - 1;
        run();
      }
    }
    runner.next = 0;
    // With no more copies than runs in a row, the same copies are read again before the others run.
    read = *times.copies * *times.weight_bytes + (*times.copies > runs_in_turn ? others : 0);
  }
  times.in_cache = static_cast<std::uint64_t>(read) <= bench.copies.cache_bytes;
  return y;
}

void set_rounds(LinearTimes& times, std::vector<double> rounds_ms, std::int64_t together) {
  for (double& ms : rounds_ms) ms /= static_cast<double>(together);
  times.rounds_ms = rounds_ms;
  std::ranges::sort(rounds_ms);
  times.min_ms = rounds_ms.front();
  times.median_ms = median_of_sorted(rounds_ms);
  if (rounds_ms.size() >= kFewestForMedianInterval)
    times.median_interval = median_interval(rounds_ms);
}

// Times all implementations with these rows of x. They take turns, so that all see the same state of the machine.
// Throws `Interrupted` before the first round; after it, returns the rounds so far.
std::vector<LinearTimes> time_linears(LinearBench& bench, const Tensor& x) {
  const LinearJob& job = bench.job;
  const std::int64_t rows = x.sizes()[0];
  const std::string note =
      fmt::format("{} row{}, {} of {}", rows, rows == 1 ? "" : "s",
                  std::ranges::find(job.rows, rows) - job.rows.begin() + 1, job.rows.size());
  std::int64_t all_bytes = 0;  // of all weights, each counted once
  for (const auto& one : bench.all) all_bytes += one->times.weight_bytes.value_or(0);
  ExactLinears exact(bench, x);
  std::vector<LinearTimes> times;
  std::vector<std::function<void()>> works;
  for (const auto& one : bench.all) {
    stop_if_interrupted();
    LinearTimes& of_one = times.emplace_back(one->times);
    of_one.rows = rows;
    bench.step(fmt::format("{}: warm-up {} of {}", note, times.size(), bench.all.size()));
    if (!of_one.was_run()) continue;
    of_one.bytes = one->variant.bytes(job, rows);
    of_one.flops = 2 * static_cast<double>(rows) * static_cast<double>(job.inputs) *
                   static_cast<double>(job.outputs);
    if (one->variant.sparse) of_one.used = one->variant.sparse->is_used(rows);
    const Tensor y = warm_up(*one, x, all_bytes - *of_one.weight_bytes, bench, of_one);
    set_differences(of_one, y, exact.of(one->variant));
    works.emplace_back([&runner = one->runner] { runner.run(); });
  }
  const double start = steady_seconds();
  const auto should_continue = [&](std::int64_t done) {
    bench.step(fmt::format("{}: run {} of up to {}", note, done, bench.rounds()));
    const bool is_late = job.runs == 0 && steady_seconds() - start > kLinearSeconds &&
                         done >= static_cast<std::int64_t>(kFewestForMedianInterval);
    return done < bench.rounds() && !is_late && interrupt_signal() == 0;
  };
  const auto rounds = rounds_while(works, should_continue, clock_of(bench.session.device));
  auto round = rounds.begin();
  for (LinearTimes& of_one : times)
    if (of_one.was_run()) set_rounds(of_one, *round++, bench.copies.together);
  set_speedups(times);
  return times;
}

// Names the dense products without a sparse counterpart.
std::vector<std::string> without_sparse_kernel(
    const std::vector<std::unique_ptr<ReadyLinear>>& all) {
  std::vector<std::string> names;
  for (const auto& one : all)
    if (std::ranges::none_of(all, [&](const auto& other) {
          return other->times.is_sparse() && other->times.is_like(one->times);
        }))
      names.push_back(one->times.name());
  return names;
}

double bandwidth_now(Context& context) {
  if (cuda::CudaDevice* const gpu = gpu_of(*context.device)) return cuda::measure_copy_gbps(*gpu);
  return kernels::measure_read_gbps(context.pool);
}

// Returns the highest bandwidth of this run and of earlier ones on this CPU.
Peak highest_bandwidth(double measured_now, Context& context) {
  if (gpu_of(*context.device) != nullptr) return {measured_now, measured_now, ""};
  std::vector<std::string> notes;
  Peak peak =
      keep_highest(PeakKind::read_gbps, context.pool.threads(), measured_now, peaks_file(), notes);
  print_notes(context, notes);
  return peak;
}

}  // namespace

std::vector<Format> default_linear_formats(const FormatTable& formats, bool sparse) {
  return {parse_format(sparse ? "int(bits=8,per=row)" : "mxint(bits=8)", formats),
          parse_format("int(bits=4,per=row)", formats)};
}

LinearResult bench_linear(const LinearJob& asked, Context& context) {
  LinearJob job = asked;
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
      in_unlinked_file({{"weight", random("weight", {job.outputs, job.inputs}, deviation)}})
          .at("weight");
  const Tensor bias = random("bias", {job.outputs}, 1);
  // Without a total there is no estimate of the time left: a first warm-up copies the weight and takes much longer than
  // later steps.
  Progress progress("linear", 0,
                    {.unit = "steps", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t made = 0;
  const std::vector<LinearVariant> variants = linear_variants(
      job, weight, bias, [&] { progress.update(++made, "weights"); }, context);
  const LinearCopies copies = copies_for(variants, job, session.device);
  check_copies_fit(variants, copies, job, session.device);
  LinearBench work{job, session, host, weight, bias, copies, progress, made};
  for (const LinearVariant& variant : variants)
    work.all.push_back(ready_linear(variant, copies, job, session));

  LinearResult result;
  BenchLinearFields& bench = result.bench;
  bench = {.what = fmt::format("linear of {} inputs and {} outputs", grouped(job.inputs),
                               grouped(job.outputs)),
           .device = device_text(session),
           .threads = context.pool.threads(),
           .inputs = job.inputs,
           .outputs = job.outputs,
           .cache_bytes = copies.cache_bytes};
  if (!job.sparsities.empty()) bench.no_sparse_kernel = without_sparse_kernel(work.all);
  double measured_gbps = 0;  // measured often, since a busy machine gives less at times
  for (const std::int64_t rows : job.rows) {
    if (bench.interrupted) break;
    try {
      measured_gbps = std::max(measured_gbps, bandwidth_now(context));
      std::ranges::move(time_linears(work, random("x", {rows, job.inputs}, 1)),
                        std::back_inserter(bench.times));
    } catch (const Interrupted&) {
      if (bench.times.empty()) throw;
    }
    bench.interrupted = interrupt_signal() != 0;
  }
  progress.finish();
  const Peak bandwidth = highest_bandwidth(measured_gbps, context);
  bench.bandwidth_gbps = bandwidth.value;
  for (LinearTimes& times : bench.times) times.peak_gbps = bandwidth.value;
  bench.break_evens = sparse_break_evens(bench.times);
  result.fields = to_json(bench);
  result.document =
      linear_document(bench, bandwidth, std::ssize(job.rows), session.device.host_accessible());
  result.was_interrupted = bench.interrupted;
  return result;
}

}  // namespace hone
