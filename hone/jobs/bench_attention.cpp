#include "hone/jobs/bench_attention.h"

#include <algorithm>
#include <cmath>

#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/cuda/gpu_peaks.h"
#include "hone/jobs/device_time.h"
#include "hone/kernels/peak.h"
#include "hone/report/table.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

constexpr std::int64_t kAttentionRuns = 20, kRecordedRuns = 3;
constexpr const char* kAttentionOperands[] = {"query", "key", "value"};

// ---- graphs

// Operands are parameters because inputs are copied to the device in every run. The timed graph outputs the first token
// alone, since outputs are copied too.
Graph attention_graph(const AttentionShape& shape, DType dtype,
                      AttentionImplementation implementation, bool whole, const OpTable& ops) {
  const Type type{dtype, {Dim(shape.texts), Dim(shape.tokens), Dim(shape.heads), Dim(shape.size)}};
  Graph graph(ops);
  std::vector<Value> operands;
  for (const char* name : kAttentionOperands)
    operands.push_back(graph.add_parameter(name, type, ParameterRole::buffer, false));
  const double scale = 1 / std::sqrt(static_cast<double>(shape.size));
  Value y;
  if (implementation == AttentionImplementation::fused) {
    y = graph.add("attention", operands, {{"scale", scale}});
  } else {
    const auto transposed = [&](Value x, const Shape& axes) {
      return graph.add("transpose", {x}, {{"axes", axes}});
    };
    const Shape heads_first = {0, 2, 1, 3}, turned = {0, 2, 3, 1};
    const Value products = graph.add(
        "matmul", {transposed(operands[0], heads_first), transposed(operands[1], turned)});
    const Value weights =
        graph.add("softmax", {graph.add("scale", {products}, {{"factor", scale}})});
    y = transposed(graph.add("matmul", {weights, transposed(operands[2], heads_first)}),
                   heads_first);
  }
  if (!whole)
    y = graph.add("slice", {y},
                  {{"axis", std::int64_t{1}}, {"begin", std::int64_t{0}}, {"size", Shape{Dim(1)}}});
  graph.set_output("y", y);
  return graph;
}

// Uniform with variance 1; each value depends on its index alone.
Tensor random_operand(const AttentionShape& shape, const char* name, ThreadPool& pool) {
  constexpr std::int64_t kGrain = 1 << 16;
  Tensor tensor = Tensor::empty(DType::f32, {shape.texts, shape.tokens, shape.heads, shape.size});
  float* const values = tensor.data<float>();
  const RandomStream random{0, stream_of(fmt::format("bench attention {}", name))};
  parallel_ranges(pool, tensor.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += 4) {
      const auto words = random.block(static_cast<std::uint64_t>(i / 4));
      for (std::int64_t k = i; k < std::min(i + 4, end); ++k)
        values[k] = static_cast<float>(std::sqrt(3.0) *
                                       (words[static_cast<std::size_t>(k - i)] * 0x1p-31 - 1));
    }
  });
  return tensor;
}

using Operands = TensorMap;  // on the host, fp32

// Rounds the operands to values that `dtype` can represent.
Operands rounded_operands(const Operands& exact, DType dtype) {
  Operands rounded;
  for (const auto& [name, tensor] : exact) rounded[name] = tensor.cast(dtype).cast(DType::f32);
  return rounded;
}

ParameterStore operands_on(Device& device, const Operands& exact, DType dtype) {
  ParameterStore store;
  for (const auto& [name, tensor] : exact) store.set(name, tensor.cast(dtype).on(device));
  return store;
}

// ---- runs

struct AttentionRunner {
  Graph graph;
  ParameterStore operands;
  std::unique_ptr<Executable> executable = nullptr;

  void run() { executable->run({}, operands); }
};

std::string description_of(const AttentionShape& shape) {
  return fmt::format("batch size {}, {} heads, {} tokens, head size {}", shape.texts, shape.heads,
                     shape.tokens, shape.size);
}

// The implementations take turns, so that both see the same state of the machine.
std::vector<AttentionTimes> time_implementations(const AttentionJob& job, const AttentionType& type,
                                                 const Operands& operands, const Session& session) {
  const ParameterStore store = operands_on(session.device, operands, type.dtype);
  std::vector<AttentionTimes> all;
  std::vector<std::unique_ptr<AttentionRunner>> runners;  // executables keep references
  for (const AttentionImplementation implementation : job.implementations) {
    runners.push_back(std::make_unique<AttentionRunner>(
        AttentionRunner{attention_graph(job.shape, type.dtype, implementation, /*whole=*/false,
                                        session.library.ops),
                        store}));
    AttentionRunner& runner = *runners.back();
    check_memory(runner.graph, {}, session, store,
                 fmt::format("{} attention in {} ({})", to_string(implementation), type.name,
                             description_of(job.shape)));
    runner.executable = session.executable(runner.graph);
    AttentionTimes times{.type = type, .implementation = implementation};
    times.needed_bytes = needed_bytes(runner.graph, {}, session);
    const auto run = [&] {
      runner.run();
      session.device.wait();
    };
    times.first_ms = run_ms(run);
    // Runs after the first can still prepare a GPU (cuda/captured.h).
    constexpr int kWarmRuns = 4;
    for (int i = 0; i < kWarmRuns && !session.device.host_accessible(); ++i) run();
    all.push_back(times);
  }
  std::vector<std::function<void()>> works;
  for (const auto& runner : runners) works.emplace_back([one = runner.get()] { one->run(); });
  const std::int64_t runs = job.runs > 0 ? job.runs : kAttentionRuns;
  std::vector<std::vector<double>> ms = rounds_in_turn(works, runs, {}, clock_of(session.device));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rounds_ms = ms[i];
    std::ranges::sort(ms[i]);
    all[i].runs = runs;
    all[i].min_ms = ms[i].front();
    all[i].median_ms = median_of_sorted(ms[i]);
  }
  const auto naive =
      std::ranges::find(all, AttentionImplementation::naive, &AttentionTimes::implementation);
  for (AttentionTimes& times : all)
    if (naive != all.end())
      times.speedup = &times == &*naive ? Speedup() : speedup_of(naive->rounds_ms, times.rounds_ms);
  for (std::size_t i = 0; job.profile && i < all.size(); ++i) {
    const RunRecorder recorder(*runners[i]->executable, /*threads=*/false);
    for (std::int64_t run = 0; run < kRecordedRuns; ++run) runners[i]->run();
    session.device.wait();
    const RunProfile profile = recorder.profile({}, session, kRecordedRuns);
    all[i].operators = by_kernel(profile.operators);
    all[i].value_bytes =
        std::ranges::max(profile.timeline, {}, &TimelineSpan::value_bytes).value_bytes;
  }
  return all;
}

// ---- comparison of results

/// Makes a GPU compute products of fp32 operands in fp32 during its lifetime.
class ExactProducts {
 public:
  explicit ExactProducts(Device& device) : gpu_(gpu_of(device)) {
    if (gpu_ == nullptr) return;
    before_ = gpu_->arithmetic();
    gpu_->set_arithmetic(cuda::Arithmetic::fp32);
  }
  ~ExactProducts() {
    if (gpu_ != nullptr) gpu_->set_arithmetic(before_);
  }
  ExactProducts(const ExactProducts&) = delete;
  ExactProducts& operator=(const ExactProducts&) = delete;

 private:
  cuda::CudaDevice* gpu_;
  cuda::Arithmetic before_ = cuda::Arithmetic::fp32;
};

// Returns the whole result on the host, in fp32.
Tensor whole_result(const AttentionShape& shape, DType dtype,
                    AttentionImplementation implementation, const Operands& operands,
                    const Session& session) {
  const Graph graph =
      attention_graph(shape, dtype, implementation, /*whole=*/true, session.library.ops);
  ParameterStore store = operands_on(session.device, operands, dtype);
  const NamedTensors outputs = interpreted(graph, session)->run({}, store);
  return dense_on(outputs.at("y"), cpu()).cast(DType::f32);
}

Tensor exact_result(const AttentionShape& shape, const Operands& operands, const Session& session) {
  const ExactProducts exact(session.device);
  return whole_result(shape, DType::f32, AttentionImplementation::naive, operands, session);
}

void compare_results(const AttentionShape& shape, const Operands& operands, const Session& session,
                     std::vector<AttentionTimes>& all) {
  if (std::ranges::find(all, AttentionImplementation::naive, &AttentionTimes::implementation) ==
      all.end())
    return;
  const Tensor exact = exact_result(shape, operands, session);
  double largest = 0;
  for (const float value : exact.values<float>())
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (AttentionTimes& times : all) {
    const Tensor result =
        whole_result(shape, times.type.dtype, times.implementation, operands, session);
    const std::span<const float> ours = result.values<float>(), its = exact.values<float>();
    double difference = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double distance = std::abs(static_cast<double>(ours[i]) - its[i]);
      HONE_ASSERT(!std::isnan(distance), "{} attention in {} returned {}, expected {}",
                  to_string(times.implementation), times.type.name, ours[i], its[i]);
      difference = std::max(difference, distance);
    }
    times.max_difference = difference;
    times.relative_difference = largest == 0 ? 0 : difference / largest;
  }
}

// ---- peaks of the device

/// Peaks in products by the type of operands, and in memory bandwidth.
struct AttentionPeaks {
  std::map<DType, Peak> products;
  std::map<DType, std::string> arithmetic;  // description of the measured operations
  Peak bandwidth;

  MachinePeaks machine_peaks(const AttentionType& type) const {
    return {.fp32 = products.at(type.dtype), .bandwidth = bandwidth};
  }
};

AttentionPeaks peaks_of(const std::vector<AttentionType>& types, Context& context) {
  AttentionPeaks peaks;
  cuda::CudaDevice* const gpu = gpu_of(*context.device);
  const auto now = [](double value) { return Peak{value, value, ""}; };
  if (gpu == nullptr) {
    const int threads = context.pool.threads();
    std::vector<std::string> notes;
    const auto highest = [&](PeakKind kind, double value) {
      return keep_highest(kind, threads, value, peaks_file(), notes);
    };
    const Peak products = highest(PeakKind::fp32_gflops, kernels::measure_fma_gflops(context.pool));
    // CPUs without products of a type widen its values.
    for (const AttentionType& type : types) {
      const double of_bf16 =
          type.dtype == DType::bf16 ? kernels::measure_bf16_gflops(context.pool) : 0;
      peaks.products[type.dtype] = of_bf16 > 0 ? highest(PeakKind::bf16_gflops, of_bf16) : products;
      peaks.arithmetic[type.dtype] = of_bf16 > 0                ? "products of bf16 in pairs"
                                     : type.dtype == DType::f32 ? "fp32 multiply-adds"
                                                                : "fp32 multiply-adds of values "
                                                                  "that are widened";
    }
    peaks.bandwidth = highest(PeakKind::copy_gbps, kernels::measure_copy_gbps(context.pool));
    print_notes(context, notes);
    return peaks;
  }
  for (const AttentionType& type : types) {
    peaks.products[type.dtype] = now(cuda::measure_products_gflops(*gpu, type.dtype));
    peaks.arithmetic[type.dtype] = fmt::format("large products of {} operands", type.name);
  }
  peaks.bandwidth = now(cuda::measure_copy_gbps(*gpu));
  return peaks;
}

// ---- the result

AttentionTimesResult attention_result(const AttentionTimes& times, const AttentionJob& job,
                                      const AttentionPeaks& peaks) {
  AttentionTimesResult result{.dtype = std::string(times.type.name),
                              .impl = times.implementation,
                              .first_ms = times.first_ms,
                              .min_ms = times.min_ms,
                              .median_ms = times.median_ms,
                              .timed_runs = times.runs,
                              .rounds_ms = times.rounds_ms,
                              .tflops = 1e-3 * times.gflops(job.shape),
                              .peak_tflops = 1e-3 * times.peak_gflops,
                              .share_of_peak = times.share_of_peak(job.shape),
                              .speedup = times.speedup,
                              .max_difference = times.max_difference,
                              .relative_difference = times.relative_difference,
                              .needed_bytes = static_cast<std::int64_t>(times.needed_bytes),
                              .value_bytes = times.value_bytes};
  if (job.profile)
    result.operators = operator_results(times.operators, peaks.machine_peaks(times.type));
  return result;
}

Table attention_table(const std::vector<AttentionTimes>& all, const AttentionShape& shape) {
  Table table({{"dtype", "Type"},
               {"impl", "Implementation"},
               {"first_ms", "First call (ms)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"runs", "Runs"},
               {"tflops", "TFLOP/s"},
               {"share_of_peak", "Share of peak"},
               {"speedup", "Speedup"},
               {"max_difference", "Largest difference"},
               {"relative_difference", "Relative difference"},
               {"needed_bytes", "Memory"}});
  const auto small = [](const std::optional<double>& value) {
    return value ? significant(*value) : Cell(absent);
  };
  for (const AttentionTimes& t : all)
    table.add_row({std::string(t.type.name), std::string(to_string(t.implementation)),
                   real(t.first_ms, 2), real(t.min_ms, 3), real(t.median_ms, 3), t.runs,
                   real(1e-3 * t.gflops(shape), 3), percent(t.share_of_peak(shape)),
                   speedup_cell(t.speedup), small(t.max_difference), small(t.relative_difference),
                   bytes(static_cast<std::int64_t>(t.needed_bytes))});
  return table;
}

// "fused 1.23 ms, 2.31× faster in paired rounds (95% CI 2.20 to 2.41), 45.0% of peak"
std::string attention_text(const AttentionTimes& one, const AttentionShape& shape) {
  std::string text =
      fmt::format("{} {} ms", to_string(one.implementation), three_digits(one.median_ms));
  if (one.speedup && one.implementation != AttentionImplementation::naive)
    text += ", " + paired_speedup_text(*one.speedup);
  return text + fmt::format(", {} of peak", share_text(one.share_of_peak(shape)));
}

// The fused implementation of each type, or the one that ran.
std::vector<const AttentionTimes*> shown_attentions(const std::vector<AttentionTimes>& all) {
  std::vector<const AttentionTimes*> shown;
  for (const AttentionTimes& one : all) {
    if (shown.empty() || shown.back()->type.dtype != one.type.dtype)
      shown.push_back(&one);
    else if (one.implementation == AttentionImplementation::fused)
      shown.back() = &one;
  }
  return shown;
}

// "Fused attention: 2.31× faster than naive attention in fp32, 3.10× faster in bf16"
std::string attention_headline(const std::vector<const AttentionTimes*>& shown,
                               const AttentionShape& shape) {
  std::string text;
  for (const AttentionTimes* one : shown) {
    if (!one->speedup || one->implementation == AttentionImplementation::naive) {
      text += fmt::format("{}{} ms in {} ({} GFLOP/s)", text.empty() ? "Attention: " : ", ",
                          three_digits(one->median_ms), one->type.name,
                          three_digits(one->gflops(shape)));
      continue;
    }
    text += fmt::format("{}{} in {}", text.empty() ? "Fused attention: " : ", ",
                        speedup_headline(*one->speedup, text.empty() ? "naive attention" : ""),
                        one->type.name);
  }
  return text;
}

Section attention_notes(const AttentionPeaks& peaks, const std::vector<AttentionType>& types) {
  Section section{"How to read this", {}, /*folded=*/true};
  for (const AttentionType& type : types) {
    const Peak& peak = peaks.products.at(type.dtype);
    section.blocks.emplace_back(
        Paragraph{fmt::format("Peak of {}: {:.0f} GFLOP/s of {}, {}.", type.name, peak.value,
                              peaks.arithmetic.at(type.dtype), provenance(peak))});
  }
  section.blocks.emplace_back(Paragraph{
      "Speedup: against naive attention of the same type. Differences: from naive "
      "attention of the same operands in fp32; the relative one is divided by the largest "
      "result. The first run prepares kernels and memory."});
  return section;
}

void describe_attention(const AttentionJob& job, const AttentionPeaks& peaks,
                        const std::vector<AttentionType>& types, const std::string& what,
                        bool on_host, AttentionResult& result) {
  Document& document = result.document;
  const std::vector<const AttentionTimes*> shown = shown_attentions(result.times);
  document.title = what;
  document.headline = attention_headline(shown, job.shape);
  for (const AttentionTimes* one : shown)
    document.key_figures.push_back({std::string(one->type.name), attention_text(*one, job.shape)});
  document.evidence =
      fmt::format("Medians of {} runs in turn of {}: {:.2f} GFLOP in both products.",
                  shown.front()->runs, what, job.shape.flops() * 1e-9);
  document.sections = {{"", {PageTable{attention_table(result.times, job.shape)}}}};
  for (const AttentionTimes& one : result.times)
    if (!one.operators.empty())
      document.sections.push_back(
          {fmt::format("{} in {}, by operation", to_string(one.implementation), one.type.name),
           {PageTable{operator_table(one.operators, peaks.machine_peaks(one.type), 0),
                      on_host ? "" : "The GPU is waited for after each operation."}}});
  document.sections.push_back(attention_notes(peaks, types));
}

}  // namespace

const Fields& fields_of(const AttentionTimesResult*) {
  using A = AttentionTimesResult;
  static const Fields fields = describe<A>(
      "attention_times", "Attention of operands and results of one type, timed in turn.",
      field<&A::dtype>("dtype", "Type of operands and results: fp32, bf16 or fp16."),
      field<&A::impl>("impl",
                      "naive: products, scale and softmax one after the other; fused: one "
                      "operation."),
      field<&A::first_ms>("first_ms", Unit::milliseconds, kFirstRunMeaning),
      field<&A::min_ms>("min_ms", Unit::milliseconds, "Fastest run."),
      field<&A::median_ms>("median_ms", Unit::milliseconds, "Median run."),
      field<&A::timed_runs>("timed_runs", kTimedRunsMeaning),
      field<&A::rounds_ms>("rounds_ms", Unit::milliseconds, kRoundsMeaning),
      field<&A::tflops>("tflops", "10^12 operations a second of both products in the fastest run."),
      field<&A::peak_tflops>(
          "peak_tflops",
          "Peak of the CPU in fp32 multiply-adds, or of the GPU in large products "
          "of such operands."),
      field<&A::share_of_peak>("share_of_peak", Unit::ratio,
                               "Rate of the fastest run by that peak."),
      inlined<&A::speedup>(),
      field<&A::max_difference>("max_difference",
                                "Largest difference from naive attention of the same operands in "
                                "fp32; null: naive attention was not run."),
      field<&A::relative_difference>("relative_difference", Unit::ratio,
                                     "The same by the largest of those results; null likewise."),
      field<&A::needed_bytes>("needed_bytes", Unit::bytes,
                              "Predicted for a run: operands, values and workspace."),
      field<&A::value_bytes>("value_bytes", Unit::bytes,
                             "The most that values took after an operation of a recorded run, "
                             "operands not counted. Null without --profile."),
      field<&A::operators>("operators",
                           "The time by operation, the longest first; a GPU is waited for after "
                           "each. Null without --profile."));
  return fields;
}

const Fields& fields_of(const BenchAttentionFields*) {
  using B = BenchAttentionFields;
  static const Fields fields = describe<B>(
      "bench", "How long attention takes.", field<&B::what>("what", kTimedMeaning),
      field<&B::device>("device", kDeviceMeaning), field<&B::threads>("threads", kThreadsMeaning),
      field<&B::shape>("shape", "Texts, heads, tokens and size of a head."),
      field<&B::gflop>("gflop", Unit::gflop, "Both products of one run."),
      field<&B::times>("times", "Every type and implementation."));
  return fields;
}

std::span<const EnumName> enum_names(AttentionImplementation) {
  static constexpr EnumName words[] = {{static_cast<int>(AttentionImplementation::naive), "naive"},
                                       {static_cast<int>(AttentionImplementation::fused), "fused"}};
  return words;
}

std::string_view to_string(AttentionImplementation implementation) {
  return kAttentionImplementations[static_cast<std::size_t>(implementation)];
}

double AttentionShape::scores() const {
  const auto count = static_cast<double>(tokens);
  return static_cast<double>(texts) * static_cast<double>(heads) * count * count;
}

AttentionResult bench_attention(const AttentionJob& job, Context& context) {
  const Session session = context.session();
  const bool on_host = session.device.host_accessible();
  std::vector<AttentionType> types = job.types;
  if (types.empty()) types.assign(std::begin(kAttentionTypes), std::end(kAttentionTypes));
  Operands exact;
  for (const char* name : kAttentionOperands)
    exact[name] = random_operand(job.shape, name, context.pool);
  const AttentionPeaks peaks = peaks_of(types, context);
  AttentionResult result;
  Progress progress("attention", std::ssize(types),
                    {.unit = "types", .end = ProgressEnd::vanishes, .output = context.progress});
  std::int64_t done = 0;
  for (const AttentionType& type : types) {
    const Operands operands = rounded_operands(exact, type.dtype);
    std::vector<AttentionTimes> implementations =
        time_implementations(job, type, operands, session);
    compare_results(job.shape, operands, session, implementations);
    for (AttentionTimes& times : implementations) {
      times.peak_gflops = peaks.products.at(type.dtype).value;
      result.times.push_back(std::move(times));
    }
    progress.update(++done);
  }
  progress.finish();
  const std::string what =
      fmt::format("attention of {} on {}", description_of(job.shape), device_text(session));
  BenchAttentionFields fields{
      .what = what,
      .device = device_text(session),
      .threads = context.pool.threads(),
      .shape = {job.shape.texts, job.shape.heads, job.shape.tokens, job.shape.size},
      .gflop = job.shape.flops() * 1e-9};
  for (const AttentionTimes& times : result.times)
    fields.times.push_back(attention_result(times, job, peaks));
  result.fields = to_json(fields);
  describe_attention(job, peaks, types, what, on_host, result);
  return result;
}

}  // namespace hone
