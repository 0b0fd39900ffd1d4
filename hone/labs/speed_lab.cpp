#include "hone/labs/speed_lab.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/base/text.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_naive.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/other_device.h"
#include "hone/runtime/run_passes.h"

namespace hone {
namespace {

/// One model of the usual ones, and from which fidelity on.
struct UsualModel {
  Fidelity from;
  TimedModel model;
};

const std::vector<UsualModel>& usual_models() {
  static const std::vector<UsualModel> table = {
      {Fidelity::quick, {.name = "tiny", .what = "BERT-tiny", .batches = {8, 1}}},
      {Fidelity::paper,
       {.name = "base", .what = "BERT-base", .batches = {1}, .processes = 1, .naive_rounds = 20}},
      {Fidelity::quick,
       {.name = "resnet18",
        .what = "ResNet-18",
        .batches = {1},
        .tokens = 0,
        .iterations = 20,
        .processes = 1,
        .naive_rounds = 20}},
      {Fidelity::paper,
       {.name = "resnet18",
        .what = "ResNet-18",
        .batches = {128},
        .tokens = 0,
        .iterations = 10,
        .processes = 1,
        .inference_alone = true}}};
  return table;
}

std::vector<TimedModel> models_of(Fidelity fidelity) {
  std::vector<TimedModel> models;
  for (const UsualModel& usual : usual_models())
    if (usual.from <= fidelity) models.push_back(usual.model);
  return models;
}

/// One thing that is timed call by call.
struct SpeedWork {
  TimedModel model;
  std::int64_t batch = 1;
  bool train = false;

  std::string stage() const {
    return fmt::format("{}-{}-{}", model.what, train ? "training" : "inference", batch);
  }
  std::string name() const {
    const std::string size = model.tokens > 0 ? fmt::format("{} x {}", batch, model.tokens)
                                              : fmt::format("{} of images", batch);
    return fmt::format("{}, {}, {}", model.what, train ? "training step" : "inference", size);
  }
  BenchJob job(std::uint64_t seed) const {
    return {.model = model.name,
            .options = {.batch = batch, .tokens = model.tokens, .train = train},
            .seed = seed};
  }
};

std::string naive_stage(const TimedModel& model) { return model.what + "-naive"; }

// A model of somebody's own takes the place of the others.
std::vector<TimedModel> models_of(const LabRun& run, const std::vector<TimedModel>& usual) {
  if (run.job.model.empty()) return usual;
  TimedModel own = usual.front();
  own.name = run.job.model;
  own.what = "model";
  const Model model = bench_model({.model = own.name, .seed = run.job.seed}, run.context);
  const InputLimits& limits = model.facts.limits;
  own.tokens = limits.image ? 0 : std::min(own.tokens, limits.tokens);
  return {own};
}

// Without those of which inference alone is timed.
std::vector<TimedModel> timed_wholly(std::vector<TimedModel> models) {
  std::erase_if(models, [](const TimedModel& model) { return model.inference_alone; });
  return models;
}

std::vector<SpeedWork> works_of(const std::vector<TimedModel>& models) {
  std::vector<SpeedWork> works;
  for (const TimedModel& model : models) {
    for (const std::int64_t batch : model.batches) works.push_back({model, batch, false});
    if (!model.inference_alone) works.push_back({model, model.batches.front(), true});
  }
  return works;
}

// The command that a fresh process of one executor runs.
std::vector<std::string> fresh_words(const SpeedWork& work, const LabJob& job) {
  std::vector<std::string> words = {"bench", work.model.name,
                                    fmt::format("--batch_size={}", work.batch),
                                    fmt::format("--seed={}", job.seed)};
  if (work.model.tokens > 0) words.push_back(fmt::format("--tokens={}", work.model.tokens));
  if (work.train) words.emplace_back("--train");
  words.insert(words.end(), job.words.begin(), job.words.end());
  return words;
}

LabCost cost_of(const SpeedWork& work, const LabRun& run, const LabRates& rates) {
  const Model model = bench_model(work.job(run.job.seed), run.context);
  const Cost one = cost(forward_graph(model),
                        {{'B', work.batch}, {'S', std::max<std::int64_t>(1, work.model.tokens)}});
  const double call = (work.train ? kStepsOfTraining : 1) * one.flops / rates.flops;
  const auto ways = static_cast<double>(usable_ways(run.context.session()).size()),
             calls = static_cast<double>(work.model.iterations),
             processes = static_cast<double>(work.model.processes);
  return {.seconds = ways * (1 + processes) * calls * call,
          .memory_bytes = 2 * (work.train ? 4.0 : 1.0) * static_cast<double>(one.parameter_bytes) +
                          4 * static_cast<double>(one.peak_value_bytes)};
}

LabStage iterations_stage(const SpeedWork& work, const LabRun& run, const LabRates& rates) {
  return {.name = work.stage(),
          .what = fmt::format("times {}: {} calls of each executor, in {} fresh processes of each "
                              "and a warm one",
                              work.name(), work.model.iterations, work.model.processes),
          .cost = cost_of(work, run, rates),
          .run = [work](LabRun& r) {
            return bench_iterations({.work = work.job(r.job.seed),
                                     .iterations = work.model.iterations,
                                     .processes = work.model.processes,
                                     .words = fresh_words(work, r.job)},
                                    r.context)
                .fields;
          }};
}

LabStage mistakes_stage(const SpeedWork& work, const LabRun& run, const LabRates& rates) {
  LabCost cost = cost_of(work, run, rates);
  // Six runs in turn, against those of two executors in their processes.
  cost.seconds *= 6.0 * static_cast<double>(work.model.naive_rounds) /
                  (2.0 * static_cast<double>(work.model.iterations) *
                   static_cast<double>(1 + work.model.processes));
  return {.name = naive_stage(work.model),
          .what = fmt::format("measures what mistakes cost, of {}", work.name()),
          .cost = cost,
          .run = [work](LabRun& r) {
            return bench_naive({.work = work.job(r.job.seed), .rounds = work.model.naive_rounds},
                               r.context)
                .fields;
          }};
}

// ---- the report

/// What a stage has found, by the name of what it timed.
struct FoundTimes {
  SpeedWork work;
  IterationTimes times;
};

const Json* row_of(const Json& rows, const std::string& executor, const std::string& process) {
  for (const Json& row : rows)
    if (row.at("executor") == executor && row.at("process") == process) return &row;
  return nullptr;
}

// The ratio `key` of the means of n calls of an executor in a kind of process; absent where it was not measured.
Cell ratio_at(const Json& means, const std::string& executor, const std::string& process,
              std::int64_t n, const char* key) {
  for (const Json& row : means)
    if (row.at("executor") == executor && row.at("process") == process && row.at("n") == n &&
        row.at(key).is_number())
      return significant(row.at(key));
  return absent;
}

Cell whole_or_absent(const Json& value) {
  return value.is_number_integer() ? Cell(value.get<std::int64_t>()) : Cell(absent);
}

// A row for each executor of each work, and one for each work on the device that it was not run on.
Table overview_table(const std::vector<FoundTimes>& all, const OtherDevice& other) {
  Table table({{"work", "Work"},
               {"device", "Device"},
               {"executor", "Executor"},
               {"start_ms", "First output, fresh (ms)"},
               {"median_ms", "Median call, warm (ms)"},
               {"speedup", "Speedup, warm"},
               {"break_even_fresh", "Break-even call, fresh"},
               {"break_even_warm", "Break-even call, warm"},
               {"ratio_5", "n = 5, fresh"},
               {"ratio_20", "n = 20, fresh"},
               {"ratio_100", "n = 100, fresh"},
               {"ratio_100_later", "n = 100, warm, after warm-up"},
               {"why_not", "Remark"}});
  for (const FoundTimes& one : all) {
    const Json times = to_json(executor_table(one.times)), means = to_json(means_table(one.times)),
               comparisons = to_json(comparison_table(one.times));
    for (const WayTimes& way : one.times.ways) {
      const Json &fresh = *row_of(times, way.way, "fresh"), &warm = *row_of(times, way.way, "warm");
      const Json* beside = row_of(comparisons, way.way, "warm");
      const Json* beside_fresh = row_of(comparisons, way.way, "fresh");
      const Cell speedup =
          beside == nullptr || !beside->contains("speedup_interval") ||
                  beside->at("speedup_interval").is_null()
              ? Cell(absent)
              : number_within(beside->at("speedup"), beside->at("speedup_interval")[0],
                              beside->at("speedup_interval")[1]);
      const auto even = [&](const Json* row) {
        return row == nullptr ? Cell(absent) : whole_or_absent(row->at("break_even_call"));
      };
      const auto ratio = [&](const char* process, std::int64_t n, const char* key) {
        return beside == nullptr ? Cell(absent) : ratio_at(means, way.way, process, n, key);
      };
      table.add_row({one.work.name(), one.times.work.device, way.way, real(fresh.at("start_ms"), 2),
                     real(warm.at("median_ms"), 3), speedup, even(beside_fresh), even(beside),
                     ratio("fresh", 5, "with_ready_ratio"), ratio("fresh", 20, "with_ready_ratio"),
                     ratio("fresh", 100, "with_ready_ratio"), ratio("warm", 100, "later_ratio"),
                     absent});
    }
    std::vector<Cell> missing(table.columns().size(), absent);
    missing[0] = one.work.name();
    missing[1] = other.name;
    missing.back() = other.why_not;
    table.add_row(std::move(missing));
  }
  return table;
}

Table published_speeds() {
  Table table({{"what", "Result"}, {"published", "Published"}, {"source", "Source"}});
  const char* resnet = "reports of the lab: ResNet-18, torch.compile against eager PyTorch";
  table.add_row({"CPU, warm process", "1.32× to 1.63× faster", resnet});
  table.add_row({"CPU, the compilation counted", "1.06× the speed", resnet});
  table.add_row({"CPU, mean of n = 5", "24.5 s against 15.3 s", "report 001"});
  table.add_row({"CPU, mean of n = 20",
                 "14.2 s against 15.0 s: with n = 5 the break-even is near call 17", "report 001"});
  table.add_row({"CUDA", "0.85× the speed", "report 001"});
  table.add_row({"CUDA", "1.3× the speed", "report 003"});
  table.add_row({"CUDA", "3.0× the speed", "report 002"});
  return table;
}

void add_section(LabReport& report, const FoundTimes& one, const fs::path& folder) {
  Section section{one.work.name(), {}, /*folded=*/true};
  for (const std::string& sentence : one.times.findings())
    section.blocks.push_back(Paragraph{sentence});
  section.blocks.push_back(
      figure_block(iterations_figure(one.times), folder / ("calls_" + one.work.stage()),
                   "The time of each call, and the total time, against the number of calls",
                   report.document.notes));
  section.blocks.push_back(PageTable{
      executor_table(one.times),
      fmt::format(
          "On {}, {} threads. Fresh: new processes, one executor in each; times are medians over "
          "them, from and to the smallest and largest. Warm: one process that had run everything "
          "once, where executors took turns; from and to are the 95% confidence interval of the "
          "median. Medians leave out the first {} calls.",
          one.times.work.device, one.times.work.threads, one.times.ignored)});
  section.blocks.push_back(
      PageTable{means_table(one.times),
                "Means of a loop of n calls. Speedups are against the first executor."});
  section.blocks.push_back(
      PageTable{stage_table(one.times), "Preparation before the first output."});
  section.blocks.push_back(PageTable{
      graph_table(one.times), "Bytes of operands and results without caches: fusion lowers them."});
  report.document.sections.push_back(std::move(section));
}

Section mistakes_section(const std::vector<std::pair<std::string, Table>>& tables) {
  Section section{"Benchmarking mistakes", {}};
  for (const auto& [name, table] : tables)
    section.blocks.push_back(PageTable{
        table, fmt::format("{}: each mistake alone, with the 95% confidence interval of the "
                           "median; the interval of n = 5 holds 95% of such means.",
                           name)});
  return section;
}

LabReport report_speeds(const LabRun& run, const std::vector<TimedModel>& usual) {
  LabReport report;
  report.arithmetic = run.context.values == DType::f32 ? "fp32" : "mixed precision";
  report.data = "random ids without padding, random images, fresh weights";
  std::vector<FoundTimes> all;
  std::vector<std::pair<std::string, Table>> executors, means, comparisons, mistakes;
  const std::vector<TimedModel> models = models_of(run, usual);
  for (const SpeedWork& work : works_of(models)) {
    all.push_back({work, from_json<IterationTimes>(run.found.at(work.stage()))});
    executors.emplace_back(work.name(), executor_table(all.back().times));
    means.emplace_back(work.name(), means_table(all.back().times));
    comparisons.emplace_back(work.name(), comparison_table(all.back().times));
  }
  for (const TimedModel& model : timed_wholly(models))
    mistakes.emplace_back(SpeedWork{model, model.batches.front(), false}.name(),
                          naive_table(from_json<NaiveTimes>(run.found.at(naive_stage(model)))));
  const Table overview = overview_table(all, other_device(run.context));
  const fs::path& folder = run.folder();
  const Column work = {"work", "Work"};
  const std::pair<const char*, Table> files[] = {{"overview.csv", overview},
                                                 {"executors.csv", joined(work, executors)},
                                                 {"means.csv", joined(work, means)},
                                                 {"comparisons.csv", joined(work, comparisons)},
                                                 {"mistakes.csv", joined(work, mistakes)}};
  for (const auto& [name, table] : files) write_file(folder / name, to_csv(table));
  const std::vector<std::string> told = comparison_sentences(all.front().times);
  Document& document = report.document;
  document.headline = fmt::format("{}: {}", all.front().work.name(),
                                  iterations_document(all.front().times).headline);
  document.evidence = fmt::format("{}", fmt::join(told, " "));
  document.sections.push_back(
      {"",
       {PageTable{overview,
                  "Speedup: against the first executor, the median of calls in turn with its 95% "
                  "confidence interval. n: by means of n calls, preparation included."}}});
  document.sections.push_back(mistakes_section(mistakes));
  for (const FoundTimes& one : all) add_section(report, one, folder);
  document.sections.push_back(
      {"Published results",
       {PageTable{published_speeds(),
                  "Other machines, another program and another model, for orientation only."}},
       /*folded=*/true});
  Json works = Json::array(), naive = Json::array();
  for (const FoundTimes& one : all) {
    Json found = run.found.at(one.work.stage());
    found["work"] = one.work.name();
    works.push_back(std::move(found));
  }
  for (const TimedModel& model : timed_wholly(models))
    naive.push_back(run.found.at(naive_stage(model)));
  report.results = {{"overview", to_json(overview)},
                    {"works", works},
                    {"naive", naive},
                    {"published", to_json(published_speeds())}};
  return report;
}

}  // namespace

Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models) {
  return {
      .name = "4.1",
      .title = "executors side by side, call by call",
      .costs =
          "quick: some minutes; paper and full: about half an hour, as BERT-base is timed, too",
      .stages =
          [models](const LabRun& run, const LabRates& rates) {
            const std::vector<TimedModel> own = models_of(run, models(run.job.fidelity));
            std::vector<LabStage> stages;
            for (const SpeedWork& work : works_of(own))
              stages.push_back(iterations_stage(work, run, rates));
            for (const TimedModel& model : timed_wholly(own))
              stages.push_back(mistakes_stage({model, model.batches.front(), false}, run, rates));
            return stages;
          },
      .report =
          [models](const LabRun& run) { return report_speeds(run, models(run.job.fidelity)); },
      .input = LabInput::model};
}

Lab speed_lab() {
  return speed_lab([](Fidelity fidelity) { return models_of(fidelity); });
}

}  // namespace hone
