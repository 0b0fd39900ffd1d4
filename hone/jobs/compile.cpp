#include "hone/jobs/compile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hone/base/interrupt.h"
#include "hone/base/output_folder.h"
#include "hone/base/text.h"
#include "hone/compiler/compiled.h"
#include "hone/compiler/generated_code.h"
#include "hone/compiler/machine_code.h"
#include "hone/ir/print.h"
#include "hone/jobs/bench_work.h"
#include "hone/jobs/run_profile.h"
#include "hone/kernels/peak.h"
#include "hone/metrics/median.h"
#include "hone/passes/fuse_elementwise.h"
#include "hone/report/table.h"
#include "hone/runtime/kernel_choice.h"

namespace hone {
namespace {

// ---- fused operations and kernels

// Says why an operation with a formula was not fused.
std::string reason_alone(const Node& node) {
  const auto has_formula = [](const Node* other) {
    return other->kind() == NodeKind::operation && other->op().formula != nullptr;
  };
  std::vector<const Node*> neighbours(node.users().begin(), node.users().end());
  for (const Value& input : node.inputs()) neighbours.push_back(input.node);
  std::erase_if(neighbours, [&](const Node* other) { return !has_formula(other); });
  if (neighbours.empty()) return "no neighbour has a formula";
  if (node.types()[0].dtype != DType::f32) return "its values are not f32";
  const auto is_alike = [&](const Node* other) { return other->types()[0] == node.types()[0]; };
  return std::ranges::any_of(neighbours, is_alike) ? "an operation is between its neighbours"
                                                   : "its neighbours have other shapes";
}

std::vector<CompiledGroup> groups_of(const Graph& before, const Graph& after,
                                     const Session& session) {
  std::vector<FusedElementwise> fused;
  Graph copy = before;
  fuse_elementwise(copy, &fused);
  std::vector<CompiledGroup> groups;
  for (const Node* node : after.of_kind(NodeKind::operation)) {
    if (node->op().formula == nullptr) continue;
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    const auto found = std::ranges::find(fused, node->name(), &FusedElementwise::node);
    const bool is_fused = found != fused.end();
    CompiledGroup group{.name = node->name(),
                        .nodes = is_fused ? found->operations : std::vector{node->name()},
                        .kernel = node->is("elementwise") ? "generated"
                                  : kernel == nullptr     ? "reference"
                                                          : std::string(kernel->name)};
    if (!is_fused) group.reason = reason_alone(*node);
    for (const std::string& name : group.nodes)
      group.operations.emplace_back(before.find(name)->op().name);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<CompiledKernel> kernels_of(const Graph& after, const Session& session) {
  std::vector<CompiledKernel> kernels;
  for (const Node* node : after.of_kind(NodeKind::operation)) {
    if (node->trait() == Trait::view) continue;
    const std::vector<KernelCandidate> candidates =
        kernel_candidates(session.library.kernels, call_site(*node), session.device);
    const bool is_fast = !candidates.empty() && candidates.back().refusal.empty();
    CompiledKernel one{.operation = std::string(node->op().name),
                       .kernel = node->is("elementwise") ? "generated"
                                 : is_fast ? std::string(candidates.back().kernel->name)
                                           : "reference",
                       .refused = refusals_of(candidates)};
    auto found = std::ranges::find_if(kernels, [&](const CompiledKernel& other) {
      return other.operation == one.operation && other.kernel == one.kernel &&
             other.refused == one.refused;
    });
    if (found == kernels.end()) found = kernels.insert(kernels.end(), std::move(one));
    found->nodes.push_back(node->name());
  }
  return kernels;
}

std::string file_name(std::string name) {
  std::ranges::replace(name, '/', '_');
  return name;
}

void write_stages(const CompileJob& job, const Graph& before, const Graph& after) {
  if (job.stages.empty()) return;
  OutputFolder folder(job.stages, {.overwrite = job.overwrite});
  write_file(folder.path() / "graph.txt", to_string(before));
  write_file(folder.path() / "fused.txt", to_string(after));
  for (const Node* node : after.operations("elementwise"))
    write_file(folder.path() / (file_name(node->name()) + ".ll"),
               compiler::generated_text(node->attributes().get<std::string>("formula"),
                                        compiler::operand_kinds(call_site(*node))));
  folder.commit();
}

// ---- times

/// Recorded runs of the interpreter and the compiled graph in turn.
struct RecordedRuns {
  std::vector<double> apart_ms, compiled_ms;                // of whole runs, in order
  std::map<std::string, std::vector<double>> apart, fused;  // seconds of each node, by name
};

void add_spans(const std::vector<OperationSpan>& spans,
               std::map<std::string, std::vector<double>>& seconds) {
  for (const OperationSpan& span : spans) seconds[span.node->name()].push_back(span.seconds());
}

RecordedRuns run_in_turn(BenchWork& work, Executable& apart, Executable& compiled,
                         std::int64_t runs, Device& device) {
  RecordedRuns recorded;
  for (std::int64_t i = 0; i < runs; ++i) {
    stop_if_interrupted();
    for (const bool is_compiled : {i % 2 == 0, i % 2 != 0}) {
      Executable& executable = is_compiled ? compiled : apart;
      std::vector<OperationSpan> spans;
      executable.record(&spans);
      (is_compiled ? recorded.compiled_ms : recorded.apart_ms).push_back(run_ms([&] {
        work.run(executable, device);
      }));
      executable.record(nullptr);
      add_spans(spans, is_compiled ? recorded.fused : recorded.apart);
    }
  }
  return recorded;
}

double median_seconds(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return median_of_sorted(values);
}

double floor_us(const Node& node, const BenchWork& work, const MachinePeaks& peaks,
                const Session& session) {
  const Kernel* kernel = find_kernel(session.library.kernels, node, session.device);
  OperatorTime one;
  one.calls = 1;
  one.bytes = bytes_moved(node, work.bindings);
  one.flops = computed_flops(kernel, node, work.bindings);
  if (kernel != nullptr && kernel->native) one.arithmetic = *kernel->native;
  return 1e6 * std::max(peaks.memory_seconds(one), peaks.compute_seconds(one));
}

void measure_kernels(std::vector<CompiledKernel>& kernels, const BenchWork& work,
                     const Graph& after, const RecordedRuns& recorded, const MachinePeaks& peaks,
                     const Session& session) {
  for (CompiledKernel& kernel : kernels) {
    double floor = 0, us = 0;
    for (const std::string& name : kernel.nodes) {
      floor += floor_us(*after.find(name), work, peaks, session);
      us += 1e6 * median_seconds(recorded.fused.at(name));
    }
    kernel.floor_us = floor;
    kernel.compiled_us = us;
  }
  std::ranges::stable_sort(kernels, std::ranges::greater(), &CompiledKernel::compiled_us);
}

void measure_groups(std::vector<CompiledGroup>& groups, const BenchWork& work, const Graph& after,
                    const RecordedRuns& recorded, const MachinePeaks& peaks,
                    const Session& session) {
  for (CompiledGroup& group : groups) {
    double bytes_apart = 0, apart_us = 0;
    for (const std::string& name : group.nodes) {
      bytes_apart += bytes_moved(*work.graph.find(name), work.bindings);
      apart_us += 1e6 * median_seconds(recorded.apart.at(name));
    }
    const Node& node = *after.find(group.name);
    group.bytes_saved = bytes_apart - bytes_moved(node, work.bindings);
    group.floor_us = floor_us(node, work, peaks, session);
    group.interpreter_us = apart_us;
    group.compiled_us = 1e6 * median_seconds(recorded.fused.at(group.name));
  }
}

// Measures the peaks of each arithmetic that the kernels of the graph use.
MachinePeaks measured_peaks(const Graph& after, const Session& session, Context& context,
                            std::vector<std::string>& notes) {
  const int threads = context.pool.threads();
  std::map<PeakKind, Peak> native;
  for (const Node* node : after.of_kind(NodeKind::operation)) {
    const Kernel* kernel = find_kernel(session.library.kernels, *node, session.device);
    if (kernel != nullptr && kernel->native && !native.contains(*kernel->native))
      native[*kernel->native] = native_peak(*kernel->native, context, notes);
  }
  return {.fp32 = keep_highest(PeakKind::fp32_gflops, threads,
                               kernels::measure_fma_gflops(context.pool), peaks_file(), notes),
          .bandwidth = keep_highest(PeakKind::copy_gbps, threads,
                                    kernels::measure_copy_gbps(context.pool), peaks_file(), notes),
          .native = std::move(native)};
}

// ---- the document

Table groups_table(const std::vector<CompiledGroup>& groups, bool measured) {
  std::vector<Column> columns = {{"group", "Group"},
                                 {"operations", "Operations"},
                                 {"kernel", "Kernel"},
                                 {"reason", "Not fused because"}};
  if (measured)
    columns.insert(columns.end(), {{"bytes_saved", "Bytes saved"},
                                   {"floor_us", "Floor (us)"},
                                   {"interpreter_us", "Interpreter (us)"},
                                   {"compiled_us", "Compiled (us)"}});
  Table table(columns);
  for (const CompiledGroup& group : groups) {
    std::vector<Cell> row = {group.name, fmt::format("{}", fmt::join(group.operations, " ")),
                             group.kernel, group.reason ? Cell(*group.reason) : Cell(absent)};
    if (measured)
      row.insert(row.end(),
                 {Bytes{static_cast<std::int64_t>(*group.bytes_saved)}, real(*group.floor_us, 1),
                  real(*group.interpreter_us, 1), real(*group.compiled_us, 1)});
    table.add_row(std::move(row));
  }
  return table;
}

Table kernels_table(const std::vector<CompiledKernel>& kernels, bool measured) {
  std::vector<Column> columns = {{"operation", "Operation"},
                                 {"kernel", "Kernel"},
                                 {"calls", "Calls"},
                                 {"refused", "Not accepted by"}};
  if (measured)
    columns.insert(columns.end(), {{"floor_us", "Floor (us)"},
                                   {"compiled_us", "Compiled (us)"},
                                   {"share_of_floor", "Floor / compiled"}});
  Table table(columns);
  for (const CompiledKernel& kernel : kernels) {
    std::vector<Cell> row = {kernel.operation, kernel.kernel, std::ssize(kernel.nodes),
                             refusals_cell(kernel.refused)};
    if (measured) {
      const std::optional<double> share = kernel.share_of_floor();
      row.insert(row.end(), {real(*kernel.floor_us, 1), real(*kernel.compiled_us, 1),
                             share ? percent(*share) : Cell(absent)});
    }
    table.add_row(std::move(row));
  }
  return table;
}

Facts stages_facts(const CompileStages& s) {
  const auto ms = [](double value) { return fmt::format("{:.1f} ms", value); };
  return {{{"Model", ms(s.model_ms)},
           {"Passes", ms(s.passes_ms)},
           {"Planning", ms(s.planning_ms)},
           {"Code", ms(s.code_ms)},
           {"First run", ms(s.first_run_ms)},
           {"Second run, which packs weights", ms(s.second_run_ms)}}};
}

void fill_document(const CompileFields& result, const CompileJob& job,
                   const std::optional<TimesInTurn>& in_turn, const std::string& what,
                   Document& document) {
  const std::string functions =
      fmt::format("{} functions ({} generated now, {} from the cache)", result.functions,
                  result.functions_made, result.functions - result.functions_made);
  document.title = what;
  document.headline = fmt::format(
      "{}: {}", what, in_turn ? speedup_headline(in_turn->ratio(), "the interpreter") : functions);
  if (in_turn) {
    const TimesInTurn& times = *in_turn;
    document.tone = times.shown_faster()   ? Tone::good
                    : times.shown_slower() ? Tone::bad
                                           : Tone::unclear;
    document.key_figures = {{fmt::format("Latency per batch of {}", result.batch),
                             fmt::format("{} → {} ms", three_digits(times.before.median_ms),
                                         three_digits(times.after.median_ms))},
                            {"Generated code", functions}};
    document.evidence = fmt::format("Medians of {} runs of each in turn, in this process: {}.",
                                    job.runs, paired_speedup_text(times.ratio()));
  }
  Section groups{"", {}};
  if (result.groups.empty())
    groups.blocks.push_back(Paragraph{"Nothing to fuse: no operation is element-wise."});
  else
    groups.blocks.push_back(
        PageTable{groups_table(result.groups, job.explain), "Element-wise operations"});
  groups.blocks.push_back(
      PageTable{kernels_table(result.kernels, job.explain), "Kernels of all operations"});
  document.sections = {std::move(groups), {"Compile time", {stages_facts(result.stages)}}};
}

std::string floor_note(const MachinePeaks& peaks) {
  return fmt::format(
      "Floor: the time to read and write the data at {:.1f} GB/s, the highest copy rate measured "
      "on this machine, or to compute at peak, whichever is longer. Data in caches can be faster. "
      "Times are medians of each operation, added up. The interval is of this process alone; "
      "`hone bench MODEL --iterations 50` uses several.",
      peaks.bandwidth.value);
}

}  // namespace

std::optional<double> CompiledKernel::share_of_floor() const {
  if (!compiled_us || *compiled_us <= 0) return std::nullopt;
  return *floor_us / *compiled_us;
}

const Fields& fields_of(const CompileStages*) {
  using S = CompileStages;
  static const Fields fields = describe<S>(
      "compile_stages", "The duration of each stage of compilation.",
      field<&S::model_ms>("model", Unit::milliseconds, "Reading or making weights and graph."),
      field<&S::passes_ms>("passes", Unit::milliseconds,
                           "Gradients, fused attention and linear layers, batches."),
      field<&S::planning_ms>("planning", Unit::milliseconds,
                             "Fusing element-wise operations, choosing kernels."),
      field<&S::code_ms>("code", Unit::milliseconds,
                         "Generating code, or reading it from the cache."),
      field<&S::first_run_ms>("first_run", Unit::milliseconds, "The first run."),
      field<&S::second_run_ms>("second_run", Unit::milliseconds,
                               "The second run, in which weights are packed."));
  return fields;
}

const Fields& fields_of(const CompiledGroup*) {
  using G = CompiledGroup;
  static const Fields fields = describe<G>(
      "compiled_group", "Element-wise operations that were fused, or one that was not.",
      field<&G::name>("group", "Its node."), omitted<&G::nodes>(),
      field<&G::operations>("operations", "Its operations, in their order."),
      field<&G::kernel>("kernel", "Kernel that runs it."),
      field<&G::reason>("reason", "Why it was not fused; null: it was."),
      field<&G::bytes_saved>("bytes_saved",
                             "Bytes that are not read and written any more; null without "
                             "--explain."),
      field<&G::floor_us>("floor_us", Unit::microseconds,
                          "Time to read and write its data, or to compute, at the peak of this "
                          "machine; null without --explain."),
      field<&G::interpreter_us>("interpreter_us", Unit::microseconds,
                                "Its operations in the interpreter, medians; null without "
                                "--explain."),
      field<&G::compiled_us>("compiled_us", Unit::microseconds,
                             "Compiled, the median; null without --explain."));
  return fields;
}

const Fields& fields_of(const CompiledKernel*) {
  using K = CompiledKernel;
  static const Fields fields = describe<K>(
      "compiled_kernel", "Operations of a kind that one kernel runs.",
      field<&K::operation>("operation", "Kind of the operations."),
      field<&K::kernel>("kernel", "Kernel that runs them."), omitted<&K::nodes>(),
      field<&K::calls>("calls", "In one run."),
      field<&K::refused>("refused", "Kernels that were tried before and did not accept them."),
      field<&K::floor_us>("floor_us", Unit::microseconds,
                          "Time to read and write their data, or to compute, at the peak of this "
                          "machine; null without --explain."),
      field<&K::compiled_us>("compiled_us", Unit::microseconds,
                             "Compiled, medians added up; null without --explain."),
      field<&K::share_of_floor>("share_of_floor", Unit::ratio,
                                "`floor_us` divided by `compiled_us`, above 1 with data in caches; "
                                "null: no time was measured."));
  return fields;
}

const Fields& fields_of(const CompiledTimes*) {
  using T = CompiledTimes;
  static const Fields fields =
      describe<T>("compiled_times", "Interpreter and compiled, timed in turn on this machine.",
                  field<&T::interpreter>("interpreter", "Operation by operation."),
                  field<&T::compiled>("compiled", "With fused operations."),
                  field<&T::speedup>("speedup", Unit::ratio,
                                     "Median ratio of paired rounds; above 1: compiled is faster."),
                  field<&T::speedup_interval>("speedup_interval", Unit::ratio,
                                              "Its interval, at least 95%, by the sign test."));
  return fields;
}

const Fields& fields_of(const CompileFields*) {
  using C = CompileFields;
  static const Fields fields = describe<C>(
      "compile", "The operations of a model that are fused, and the code generated for the CPU.",
      field<&C::model>("model", "The model as it was named."),
      field<&C::batch>("batch", Unit::examples, "Per run."),
      field<&C::tokens>("tokens", Unit::tokens, "Per example."),
      field<&C::train>("train", "Compiled for a training step, not for inference."),
      field<&C::threads>("threads", "Threads that were used."),
      field<&C::llvm>("llvm", "Version of LLVM."),
      field<&C::vector_lanes>("vector_lanes", "Floats in a vector."),
      field<&C::functions>("functions", "Generated functions that the model runs."),
      field<&C::functions_made>("functions_made", "Those that were not in the cache."),
      field<&C::stages>("stages_ms", "The duration of each stage."),
      field<&C::groups>("groups", "Element-wise operations, in their order."),
      field<&C::kernels>("kernels",
                         "Kernels of all operations but views; with --explain the slowest first."),
      field<&C::times>("times", "Of whole runs; null without --explain."));
  return fields;
}

JobResult compile(const CompileJob& job, Context& context) {
  if (const std::string missing = compiler::code_generation_missing(); !missing.empty())
    throw UserError(fmt::format("no code can be generated: {}", missing));
  CompileFields fields{.model = job.work.model};
  std::optional<Model> model;
  BenchOptions options = job.work.options;
  fields.stages.model_ms = run_ms([&] {
    model = model_to_time(bench_model(job.work, context), job.work.model, options, context);
  });
  Session session = context.session();
  std::optional<BenchWork> work;
  std::string what;
  fields.stages.passes_ms = run_ms([&] {
    Model& subject = *model;
    what = bench_text(subject, job.work.model, options, "compiled",
                      bench_arithmetic(subject, options, session));
    ParameterStore parameters = std::exchange(subject.parameters, {});
    work = bench_work(subject, std::move(parameters), options, find_execution_mode("interpreter"),
                      session);
  });
  const Graph after = compiler::compiled_graph(work->graph, session);
  write_stages(job, work->graph, after);
  session.executor = compiler::compiled;
  const compiler::CodeCounts before = compiler::code_counts();
  std::unique_ptr<Executable> executable;
  const double ready_ms = run_ms([&] { executable = session.executable(work->graph); });
  const compiler::CodeCounts counts = compiler::code_counts();
  fields.functions_made = counts.compiled - before.compiled;
  fields.functions = counts.loaded - before.loaded;
  fields.stages.code_ms = 1e3 * (counts.seconds - before.seconds);
  fields.stages.planning_ms = ready_ms - fields.stages.code_ms;
  fields.stages.first_run_ms = run_ms([&] { work->run(*executable, session.device); });
  fields.stages.second_run_ms = run_ms([&] { work->run(*executable, session.device); });
  fields.groups = groups_of(work->graph, after, session);
  fields.kernels = kernels_of(after, session);
  std::vector<std::string> notes;
  std::string floor;
  std::optional<TimesInTurn> times;
  if (job.explain) {
    const auto apart = interpreted(work->graph, session);
    run_in_turn(*work, *apart, *executable, 2, session.device);
    const RecordedRuns recorded = run_in_turn(*work, *apart, *executable, job.runs, session.device);
    const MachinePeaks peaks = measured_peaks(after, session, context, notes);
    measure_groups(fields.groups, *work, after, recorded, peaks, session);
    measure_kernels(fields.kernels, *work, after, recorded, peaks, session);
    times = compare_rounds(recorded.apart_ms, recorded.compiled_ms);
    fields.times =
        CompiledTimes{times->before, times->after, times->speedup, times->speedup_interval};
    floor = floor_note(peaks);
  }
  print_notes(context, notes);
  fields.batch = options.batch;
  fields.tokens = options.tokens;
  fields.train = options.train;
  fields.threads = context.pool.threads();
  fields.llvm = compiler::llvm_version();
  fields.vector_lanes = compiler::vector_lanes();
  JobResult result;
  result.fields = to_json(fields);
  fill_document(fields, job, times, what, result.document);
  if (!floor.empty())
    result.document.sections.push_back({"How to read this", {Paragraph{floor}}, /*folded=*/true});
  result.document.notes = std::move(notes);
  return result;
}

}  // namespace hone
