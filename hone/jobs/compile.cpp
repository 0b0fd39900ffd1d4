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

// ---- what is compiled

// Why an operation with a formula was not fused.
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
                                                          : std::string(kernel->name),
                        .reason = is_fused ? "" : reason_alone(*node)};
    for (const std::string& name : group.nodes)
      group.operations.emplace_back(before.find(name)->op().name);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string refusals_of(const std::vector<KernelAnswer>& answers) {
  std::vector<std::string> texts;
  for (const KernelAnswer& answer : answers)
    if (!answer.refusal.empty())
      texts.push_back(fmt::format("{}: {}", answer.kernel->name, answer.refusal));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<CompiledKernel> kernels_of(const Graph& after, const Session& session) {
  std::vector<CompiledKernel> kernels;
  for (const Node* node : after.of_kind(NodeKind::operation)) {
    if (node->trait() == Trait::view) continue;
    const std::vector<KernelAnswer> answers =
        kernel_answers(session.library.kernels, call_site(*node), session.device);
    const bool is_fast = !answers.empty() && answers.back().refusal.empty();
    CompiledKernel one{.operation = std::string(node->op().name),
                       .kernel = node->is("elementwise") ? "generated"
                                 : is_fast               ? std::string(answers.back().kernel->name)
                                                         : "reference",
                       .refused = refusals_of(answers)};
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

/// The interpreter and the compiled graph, run in turn and recorded.
struct RecordedRuns {
  std::vector<double> apart_ms, compiled_ms;                // of whole runs, in their order
  std::map<std::string, std::vector<double>> apart, fused;  // seconds of each node, by its name
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

double floor_us(const Node& node, const BenchWork& work, const Floors& floors,
                const Session& session) {
  const Kernel* kernel = find_kernel(session.library.kernels, node, session.device);
  OperatorTime one;
  one.calls = 1;
  one.bytes = bytes_moved(node, work.bindings);
  one.flops = computed_flops(kernel, node, work.bindings);
  if (kernel != nullptr && kernel->native) one.arithmetic = *kernel->native;
  return 1e6 * std::max(floors.memory_seconds(one), floors.compute_seconds(one));
}

void measure_kernels(std::vector<CompiledKernel>& kernels, const BenchWork& work,
                     const Graph& after, const RecordedRuns& recorded, const Floors& floors,
                     const Session& session) {
  for (CompiledKernel& kernel : kernels) {
    for (const std::string& name : kernel.nodes) {
      kernel.floor_us += floor_us(*after.find(name), work, floors, session);
      kernel.us += 1e6 * median_seconds(recorded.fused.at(name));
    }
  }
  std::ranges::stable_sort(kernels, std::ranges::greater(), &CompiledKernel::us);
}

void measure_groups(std::vector<CompiledGroup>& groups, const BenchWork& work, const Graph& after,
                    const RecordedRuns& recorded, const Floors& floors, const Session& session) {
  for (CompiledGroup& group : groups) {
    for (const std::string& name : group.nodes) {
      group.bytes_apart += bytes_moved(*work.graph.find(name), work.bindings);
      group.apart_us += 1e6 * median_seconds(recorded.apart.at(name));
    }
    const Node& node = *after.find(group.name);
    group.bytes = bytes_moved(node, work.bindings);
    group.floor_us = floor_us(node, work, floors, session);
    group.us = 1e6 * median_seconds(recorded.fused.at(group.name));
  }
}

// Of each arithmetic that the kernels of the graph use.
Floors measured_floors(const Graph& after, const Session& session, Context& context,
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

Table groups_table(const CompileResult& result, bool measured) {
  std::vector<Column> columns = {{"group", "Group"},
                                 {"operations", "Operations"},
                                 {"kernel", "Kernel"},
                                 {"reason", "Not fused because"}};
  if (measured)
    columns.insert(columns.end(), {{"bytes_saved", "Bytes saved"},
                                   {"floor_us", "Floor (us)"},
                                   {"apart_us", "Interpreter (us)"},
                                   {"compiled_us", "Compiled (us)"}});
  Table table(columns);
  for (const CompiledGroup& group : result.groups) {
    std::vector<Cell> row = {group.name, fmt::format("{}", fmt::join(group.operations, " ")),
                             group.kernel, group.reason.empty() ? Cell(absent) : group.reason};
    if (measured)
      row.insert(row.end(), {Bytes{static_cast<std::int64_t>(group.bytes_apart - group.bytes)},
                             real(group.floor_us, 1), real(group.apart_us, 1), real(group.us, 1)});
    table.add_row(std::move(row));
  }
  return table;
}

Table kernels_table(const CompileResult& result, bool measured) {
  std::vector<Column> columns = {{"operation", "Operation"},
                                 {"kernel", "Kernel"},
                                 {"calls", "Calls"},
                                 {"refused", "Not accepted by"}};
  if (measured)
    columns.insert(columns.end(), {{"floor_us", "Floor (us)"},
                                   {"compiled_us", "Compiled (us)"},
                                   {"share_of_floor", "Floor / compiled"}});
  Table table(columns);
  for (const CompiledKernel& kernel : result.kernels) {
    std::vector<Cell> row = {kernel.operation, kernel.kernel, std::ssize(kernel.nodes),
                             kernel.refused.empty() ? Cell(absent) : Cell(kernel.refused)};
    if (measured)
      row.insert(row.end(), {real(kernel.floor_us, 1), real(kernel.us, 1),
                             kernel.us > 0 ? percent(kernel.floor_us / kernel.us) : Cell(absent)});
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

// "2.10× faster", with what is the other way round called so.
std::string speed_headline(const TimesInTurn& times) {
  const double speedup = times.speedup;
  if (!times.shown_faster() && !times.shown_slower())
    return "no difference in speed from the interpreter is shown";
  return speedup >= 1 ? fmt::format("{}× faster than the interpreter", three_digits(speedup))
                      : fmt::format("{}× slower than the interpreter", three_digits(1 / speedup));
}

void describe(const CompileResult& result, const CompileJob& job, const std::string& what,
              Document& document) {
  const std::string functions =
      fmt::format("{} functions ({} generated now, {} from the cache)", result.loaded,
                  result.compiled, result.loaded - result.compiled);
  document.title = what;
  document.headline =
      fmt::format("{}: {}", what, result.times ? speed_headline(*result.times) : functions);
  if (result.times) {
    const TimesInTurn& times = *result.times;
    document.tone = times.shown_faster()   ? Tone::good
                    : times.shown_slower() ? Tone::bad
                                           : Tone::unclear;
    document.key_figures = {
        {"Latency", fmt::format("{} → {} ms", three_digits(times.before.median_ms),
                                three_digits(times.after.median_ms))},
        {"Generated code", functions}};
    document.evidence = fmt::format("Medians of {} runs of each in turn, in this process: {}.",
                                    job.runs, speedup_text(times));
  }
  Section groups{"", {}};
  if (result.groups.empty())
    groups.blocks.push_back(Paragraph{"Nothing to fuse: no operation is element-wise."});
  else
    groups.blocks.push_back(
        PageTable{groups_table(result, job.explain), "Element-wise operations"});
  groups.blocks.push_back(
      PageTable{kernels_table(result, job.explain), "Kernels of all operations"});
  document.sections = {std::move(groups), {"Compile time", {stages_facts(result.stages)}}};
}

std::string floor_note(const Floors& floors) {
  return fmt::format(
      "Floor: the time to read and write the data at {:.1f} GB/s, the highest copy rate measured "
      "on this machine, or to compute at peak, whichever is longer. Data in caches can be faster. "
      "Times are medians of each operation, added up. The interval is of this process alone; "
      "`hone bench MODEL --iterations 50` uses several.",
      floors.bandwidth.value);
}

Json fields_of(const CompileResult& result, const CompileJob& job, const BenchOptions& options,
               int threads) {
  const CompileStages& s = result.stages;
  Json fields = {{"model", job.work.model},
                 {"batch", options.batch},
                 {"tokens", options.tokens},
                 {"train", options.train},
                 {"threads", threads},
                 {"llvm", compiler::llvm_version()},
                 {"vector_lanes", compiler::vector_lanes()},
                 {"functions", result.loaded},
                 {"functions_made", result.compiled},
                 {"stages_ms",
                  {{"model", s.model_ms},
                   {"passes", s.passes_ms},
                   {"planning", s.planning_ms},
                   {"code", s.code_ms},
                   {"first_run", s.first_run_ms},
                   {"second_run", s.second_run_ms}}},
                 {"groups", to_json(groups_table(result, result.times.has_value()))},
                 {"kernels", to_json(kernels_table(result, result.times.has_value()))}};
  if (result.times) fields["times"] = to_json(*result.times, "interpreter", "compiled");
  return fields;
}

}  // namespace

CompileResult compile(const CompileJob& job, Context& context) {
  if (const std::string missing = compiler::code_generation_missing(); !missing.empty())
    throw UserError(fmt::format("no code can be generated: {}", missing));
  CompileResult result;
  std::optional<Model> model;
  BenchOptions options = job.work.options;
  result.stages.model_ms = run_ms([&] {
    model = bench_subject(bench_model(job.work, context), job.work.model, options, context);
  });
  Session session = context.session();
  std::optional<BenchWork> work;
  std::string what;
  result.stages.passes_ms = run_ms([&] {
    Model& subject = *model;
    what = bench_text(subject, job.work.model, options, "compiled",
                      bench_arithmetic(subject, options, session));
    ParameterStore parameters = std::exchange(subject.parameters, {});
    work = bench_work(subject, std::move(parameters), options, find_execution_way("interpreter"),
                      session);
  });
  const Graph after = compiler::compiled_graph(work->graph, session);
  write_stages(job, work->graph, after);
  session.executor = compiler::compiled;
  const compiler::CodeCounts before = compiler::code_counts();
  std::unique_ptr<Executable> executable;
  const double ready_ms = run_ms([&] { executable = session.executable(work->graph); });
  const compiler::CodeCounts counts = compiler::code_counts();
  result.compiled = counts.compiled - before.compiled;
  result.loaded = counts.loaded - before.loaded;
  result.stages.code_ms = 1e3 * (counts.seconds - before.seconds);
  result.stages.planning_ms = ready_ms - result.stages.code_ms;
  result.stages.first_run_ms = run_ms([&] { work->run(*executable, session.device); });
  result.stages.second_run_ms = run_ms([&] { work->run(*executable, session.device); });
  result.groups = groups_of(work->graph, after, session);
  result.kernels = kernels_of(after, session);
  std::vector<std::string> notes;
  std::string floor;
  if (job.explain) {
    const auto apart = interpreted(work->graph, session);
    run_in_turn(*work, *apart, *executable, 2, session.device);
    const RecordedRuns recorded = run_in_turn(*work, *apart, *executable, job.runs, session.device);
    const Floors floors = measured_floors(after, session, context, notes);
    measure_groups(result.groups, *work, after, recorded, floors, session);
    measure_kernels(result.kernels, *work, after, recorded, floors, session);
    result.times = compare_rounds(recorded.apart_ms, recorded.compiled_ms);
    floor = floor_note(floors);
  }
  tell_notes(context, notes);
  result.fields = fields_of(result, job, options, context.pool.threads());
  describe(result, job, what, result.document);
  if (!floor.empty())
    result.document.sections.push_back({"How to read this", {Paragraph{floor}}, /*folded=*/true});
  result.document.notes = std::move(notes);
  return result;
}

}  // namespace hone
