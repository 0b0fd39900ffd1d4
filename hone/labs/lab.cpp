#include "hone/labs/lab.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/base/cpu.h"
#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/base/text.h"
#include "hone/cuda/gpu_peaks.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/run_identity.h"
#include "hone/kernels/peak.h"
#include "hone/labs/shipped_pipelines.h"
#include "hone/study/result.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

constexpr const char* kStageFiles = "stages";  // of OUT.partial
// Share of the CPU's peak in a model of small layers, for estimates.
constexpr double kUsualShare = 0.25;
constexpr double kUsualShareOfGpu = 0.02;  // launching small kernels takes most of the time

void announce(const Context& context, const std::string& text) {
  if (context.on_message && !context.progress.quiet) context.on_message(text);
}

LabStage training_stage(const LabRun& run, const LabRates& rates) {
  const LabTraining& training = *run.subject->training;
  const Model& model = run.subject->source.model;
  const auto tokens =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(mean_tokens(run.subject->data.train)));
  const Cost step = cost(forward_graph(model), {{'B', training.batch}, {'S', tokens}});
  const auto weights = static_cast<double>(step.parameter_bytes);
  return {.name = "train",
          .what = fmt::format("trains a model of bert-tiny's shape, {} steps of {} texts",
                              grouped(training.steps), training.batch),
          .cost = {.seconds = static_cast<double>(training.steps) * kStepsOfTraining * step.flops /
                              rates.flops,
                   .memory_bytes =
                       4 * weights + kStepsOfTraining * static_cast<double>(step.peak_value_bytes),
                   .disk_bytes = 4 * weights},
          .run = [](LabRun& r) {
            return train_subject(*r.subject, r.job.resume, r.job.seed, r.job.invocation.command,
                                 r.output, r.context);
          }};
}

std::vector<LabStage> stages_of(const Lab& lab, const LabRun& run, const LabRates& rates) {
  std::vector<LabStage> stages = lab.stages(run, rates);
  if (run.subject != nullptr && run.subject->training)
    stages.insert(stages.begin(), training_stage(run, rates));
  return stages;
}

// Returns the cost of the remaining stages.
LabCost total_cost(const std::vector<LabStage>& stages, const Json& done) {
  LabCost total;
  for (const LabStage& stage : stages) {
    if (done.contains(stage.name)) continue;
    total.seconds += stage.cost.seconds;
    total.memory_bytes = std::max(total.memory_bytes, stage.cost.memory_bytes);
    total.disk_bytes += stage.cost.disk_bytes;
  }
  return total;
}

std::string about(double seconds) { return clock_text(std::max(1.0, seconds)); }

// Returns "lab 4.3, quick: about 0:40, up to 120 MiB of memory …", and a line for each stage.
std::string cost_text(const Lab& lab, const LabJob& job, const std::vector<LabStage>& stages,
                      const LabRun& run) {
  const LabCost total = total_cost(stages, run.results);
  std::string text = fmt::format(
      "lab {}, {}: about {}, up to {} of memory in addition to the data ({} available) and {} of "
      "disk\n",
      lab.name, to_string(job.fidelity), about(total.seconds), human_bytes(total.memory_bytes),
      human_bytes(available_bytes()), human_bytes(total.disk_bytes));
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += fmt::format("  {} {}: {}; about {}{}\n", i + 1, stages[i].name, stages[i].what,
                        about(stages[i].cost.seconds),
                        run.results.contains(stages[i].name) ? ", done before" : "");
  text.pop_back();
  return text;
}

fs::path stage_file(const LabRun& run, const LabStage& stage) {
  return run.folder() / kStageFiles / (stage.name + ".json");
}

// Loads the results of an interrupted run, up to the first unfinished stage.
void take_up(LabRun& run, const std::vector<LabStage>& stages, Json& seconds) {
  for (const LabStage& stage : stages) {
    if (!path_exists(stage_file(run, stage))) return;
    const Json kept = read_json(stage_file(run, stage));
    run.results[stage.name] = kept.at("found");
    seconds[stage.name] = kept.at("seconds");
  }
}

// Returns the remaining time, given that the stages so far took `taken` instead of `estimated`.
double seconds_left(const std::vector<LabStage>& stages, std::size_t next, double taken,
                    double estimated) {
  double left = 0;
  for (std::size_t i = next; i < stages.size(); ++i) left += stages[i].cost.seconds;
  return estimated > 0 ? left * taken / estimated : left;
}

void work_through(LabRun& run, const std::vector<LabStage>& stages, Json& seconds) {
  double taken = 0, estimated = 0;
  fs::create_directories(run.folder() / kStageFiles);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const LabStage& stage = stages[i];
    if (run.results.contains(stage.name)) continue;
    stop_if_interrupted();
    announce(run.context,
             fmt::format("{} of {}: {}; about {} left", i + 1, stages.size(), stage.what,
                         about(seconds_left(stages, i, taken, estimated))));
    const double start = steady_seconds();
    Json found = with_context(fmt::format("stage {}", stage.name), [&] { return stage.run(run); });
    const double took = steady_seconds() - start;
    seconds[stage.name] = took;
    write_file(stage_file(run, stage), to_document({{"found", found}, {"seconds", took}}));
    run.results[stage.name] = std::move(found);
    taken += took;
    estimated += stage.cost.seconds;
  }
}

std::vector<LabStageResult> stage_results(const std::vector<LabStage>& stages,
                                          const Json& seconds) {
  std::vector<LabStageResult> results;
  for (const LabStage& stage : stages)
    results.push_back({.stage = stage.name,
                       .what = stage.what,
                       .estimated = stage.cost,
                       .seconds = seconds.at(stage.name).get<double>()});
  return results;
}

Section cost_section(const std::vector<LabStage>& stages, const Json& seconds) {
  Table table({{"stage", "Stage"},
               {"what", "What it does"},
               {"estimated_s", "Predicted (s)"},
               {"seconds", "Took (s)"},
               {"memory", "Predicted memory"}});
  for (const LabStage& stage : stages)
    table.add_row({stage.name, stage.what, real(stage.cost.seconds, 1),
                   real(seconds.at(stage.name).get<double>(), 1),
                   bytes(static_cast<std::int64_t>(stage.cost.memory_bytes))});
  return {"Cost", {PageTable{table, "The costs were estimated before the lab ran."}}, true};
}

JobResult lab_result(const Lab& lab, const LabRun& run, LabReport found,
                     std::vector<LabStageResult> stages) {
  JobResult result{.document = std::move(found.document)};
  Document& document = result.document;
  document.title = fmt::format("Lab {}: {}", lab.name, lab.title);
  document.question = lab.question;
  Section why{"Why", {}};
  for (const std::string& paragraph : found.why) why.blocks.push_back(Paragraph{paragraph});
  document.sections.insert(std::ranges::find(document.sections, true, &Section::folded),
                           std::move(why));
  if (run.subject != nullptr) {
    const LabSubject& subject = *run.subject;
    result.basis = basis_of(subject.data_source, subject.data, found.arithmetic);
    document.notes.insert(document.notes.begin(), subject.notes.begin(), subject.notes.end());
  } else {
    result.basis = {found.arithmetic, 1, found.data, "none", "nothing is chosen"};
  }
  result.fields = found.results({.lab = lab.name,
                                 .title = document.title,
                                 .fidelity = run.job.fidelity,
                                 .seed = run.job.seed,
                                 .question = lab.question,
                                 .summary = document.headline,
                                 .why = std::move(found.why),
                                 .notes = document.notes,
                                 .stages = std::move(stages)});
  document.output = run.job.output.folder;
  return result;
}

// Rejects inputs that would have no effect.
void check_input(const Lab& lab, const LabJob& job) {
  user_check(lab.input == LabInput::model_and_texts || job.data.options.source.empty(),
             "lab {} reads no texts; leave `data` out", lab.name);
  user_check(lab.input != LabInput::nothing || job.model.empty(),
             "lab {} runs no model; leave `model` out", lab.name);
}

}  // namespace

const Fields& fields_of(const LabCost*) {
  using L = LabCost;
  static const Fields fields = describe<L>(
      "lab_cost", "Estimated cost of a stage.",
      field<&L::seconds>("seconds", Unit::seconds, "Time."), omitted<&L::memory_bytes>(),
      omitted<&L::disk_bytes>(),
      field<&L::whole_memory_bytes>("memory_bytes", Unit::bytes, "Memory in addition to the data."),
      field<&L::whole_disk_bytes>("disk_bytes", Unit::bytes,
                                  "Space on the disk, some of it for a while."));
  return fields;
}

const Fields& fields_of(const LabStageResult*) {
  using L = LabStageResult;
  static const Fields fields =
      describe<L>("lab_stage", "A stage of a lab.", field<&L::stage>("stage", "Its name."),
                  field<&L::what>("what", "What it does."),
                  field<&L::estimated>("estimated", "Its cost, estimated before the lab ran."),
                  field<&L::seconds>("seconds", Unit::seconds, "Time that it took."));
  return fields;
}

const Fields& fields_of(const LabFields*) {
  using L = LabFields;
  static const Fields fields = describe<L>(
      "lab_facts", "The keys of all labs that are not pipelines.",
      field<&L::lab>("lab", "Name of the lab."), field<&L::title>("title", "What it measures."),
      field<&L::fidelity>("fidelity", "How much of it was run."),
      field<&L::seed>("seed", "Seed of order, dropout and fresh weights."),
      field<&L::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&L::question>("question", "The question that the lab answers."),
      field<&L::summary>("summary", "The result in a sentence or two."),
      field<&L::why>("why", "Paragraphs that explain the result."),
      field<&L::notes>("notes", "Substitutions and warnings, and figures that were not drawn."),
      field<&L::stages>("stages", "Its stages and their cost."));
  return fields;
}

const Fields& fields_of(const LabPipelineFields*) {
  using L = LabPipelineFields;
  static const Fields fields = describe<L>(
      "lab", "A lab that is a pipeline.", field<&L::lab>("lab", "Name of the lab."),
      field<&L::fidelity>("fidelity", "How much of it was run."), inlined<&L::pipeline>());
  return fields;
}

const Fields& fields_of(const PublishedResult*) {
  using P = PublishedResult;
  static const Fields fields =
      describe<P>("published_result", "A number that others have published.",
                  field<&P::what>("what", "What was measured."),
                  field<&P::published>("published", "The number."),
                  field<&P::here>("here", "The same measured here; null: not measured."),
                  field<&P::source>("source", "Where it was published."));
  return fields;
}

Table published_table(const std::vector<PublishedResult>& published) {
  const bool any_here = std::ranges::any_of(
      published, [](const PublishedResult& one) { return one.here.has_value(); });
  std::vector<Column> columns = {{"what", "Result"}, {"published", "Published"}};
  if (any_here) columns.push_back({"here", "Here"});
  columns.push_back({"source", "Source"});
  Table table(std::move(columns));
  for (const PublishedResult& one : published) {
    std::vector<Cell> row = {one.what, one.published};
    if (any_here) row.push_back(one.here ? Cell(*one.here) : Cell(absent));
    row.emplace_back(one.source);
    table.add_row(std::move(row));
  }
  return table;
}

const Fields& fields_of(const LabRowResult*) {
  using L = LabRowResult;
  static const Fields fields = describe<L>("lab_row", "A lab.", field<&L::lab>("lab", "Its name."),
                                           field<&L::title>("title", "What it measures."),
                                           field<&L::costs>("costs", "The cost of a run."));
  return fields;
}

const Fields& fields_of(const LabListFields*) {
  static const Fields fields = describe<LabListFields>(
      "lab_list", "The list of labs.", field<&LabListFields::labs>("labs", "All labs."));
  return fields;
}

LabRates measured_rates(Context& context) {
  if (cuda::CudaDevice* const gpu = gpu_of(*context.device))
    return {.flops = cuda::measure_products_gflops(*gpu, context.values) * 1e9 * kUsualShareOfGpu,
            .bytes = cuda::measure_copy_gbps(*gpu) * 1e9};
  return {.flops = kernels::measure_fma_gflops(context.pool) * 1e9 * kUsualShare,
          .bytes = kernels::measure_copy_gbps(context.pool) * 1e9};
}

std::vector<std::string> lab_names() {
  std::vector<std::string> names;
  for (const ShippedPipeline& lab : shipped_pipelines()) names.push_back(lab.name);
  for (const Lab& lab : labs()) names.push_back(lab.name);
  std::ranges::sort(names);
  return names;
}

const Lab& find_lab(std::string_view name) {
  for (const Lab& lab : labs())
    if (lab.name == name) return lab;
  const std::vector<std::string> known = lab_names();
  const std::string hint = did_you_mean(std::string(name), known);
  fail("no lab is called '{}'{}", name,
       hint.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : hint);
}

JobResult run_lab(const Lab& lab, const LabJob& job, Context& context) {
  check_input(lab, job);
  OutputFolderOptions options = job.output.resumable(job.resume);
  for (std::vector<std::string>* globs : {&options.progress, &options.scaffolding})
    globs->push_back(kStageFiles + std::string("/*.json"));
  OutputFolder output(job.output.folder, options);
  std::optional<LabSubject> subject;
  if (lab.input == LabInput::model_and_texts)
    subject = lab_subject(job.model, job.data, job.fidelity, job.seed, context);
  ParameterStore given;
  if (!subject && !job.model.empty())
    given = bench_model({.model = job.model, .seed = job.seed}, context).parameters;
  const bool begun =
      subject ? begin_run(job.invocation, subject->source.model.parameters, subject->data, output)
              : begin_run(job.invocation, given, {}, output);
  if (!begun) return finished<JobResult>(output, job.output);
  LabRun run{
      .job = job, .subject = subject ? &*subject : nullptr, .output = output, .context = context};
  const std::vector<LabStage> stages = stages_of(lab, run, measured_rates(context));
  Json seconds = Json::object();
  take_up(run, stages, seconds);
  if (run.results.contains("train")) open_trained(*subject, output, context);
  announce(context, cost_text(lab, job, stages, run));
  predict_memory(static_cast<double>(resident_bytes()) +
                 total_cost(stages, run.results).memory_bytes);
  work_through(run, stages, seconds);
  LabReport found = lab.report(run);
  print_warnings(context, found.document.notes);
  JobResult result = lab_result(lab, run, std::move(found), stage_results(stages, seconds));
  result.document.sections.push_back(cost_section(stages, seconds));
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
