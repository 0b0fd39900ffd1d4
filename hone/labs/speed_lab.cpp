#include "hone/labs/speed_lab.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/base/text.h"
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

/// What a stage has found.
struct FoundTimes {
  SpeedWork work;
  IterationTimes times;
};

template <typename Row>
const Row* row_of(const std::vector<Row>& rows, std::string_view executor,
                  std::string_view process) {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.executor == executor && row.process == process; });
  return found == rows.end() ? nullptr : &*found;
}

// A ratio of the means of n calls of an executor in a kind of process; nothing where it was not measured.
std::optional<double> ratio_at(const std::vector<LoopMeanResult>& means, std::string_view executor,
                               std::string_view process, std::int64_t n,
                               std::optional<double> LoopMeanResult::*ratio) {
  for (const LoopMeanResult& row : means)
    if (row.executor == executor && row.process == process && row.n == n && row.*ratio)
      return row.*ratio;
  return std::nullopt;
}

void add_executors(const FoundTimes& found, std::vector<LabExecutorResult>& overview) {
  const std::vector<ExecutorTimesResult> times = found.times.times();
  const std::vector<LoopMeanResult> means = found.times.means();
  const std::vector<ExecutorComparisonResult> comparisons = found.times.comparisons();
  for (const WayTimes& way : found.times.ways) {
    LabExecutorResult row{.work = found.work.name(),
                          .device = found.times.work.device,
                          .executor = way.way,
                          .start_ms = row_of(times, way.way, "fresh")->start_ms,
                          .median_ms = row_of(times, way.way, "warm")->median_ms};
    if (const auto* fresh = row_of(comparisons, way.way, "fresh"))
      row.break_even_fresh = fresh->break_even_call;
    if (const auto* warm = row_of(comparisons, way.way, "warm")) {
      row.speedup = warm->speedup;
      row.break_even_warm = warm->break_even_call;
      const auto fresh_ratio = [&](std::int64_t n) {
        return ratio_at(means, way.way, "fresh", n, &LoopMeanResult::with_ready_ratio);
      };
      row.ratio_5 = fresh_ratio(5);
      row.ratio_20 = fresh_ratio(20);
      row.ratio_100 = fresh_ratio(100);
      row.ratio_100_later = ratio_at(means, way.way, "warm", 100, &LoopMeanResult::later_ratio);
    }
    overview.push_back(std::move(row));
  }
}

// Every executor of each work, and the device that the work was not run on.
std::vector<LabExecutorResult> overview_of(const std::vector<FoundTimes>& all,
                                           const OtherDevice& other) {
  std::vector<LabExecutorResult> overview;
  for (const FoundTimes& one : all) {
    add_executors(one, overview);
    overview.push_back({.work = one.work.name(), .device = other.name, .why_not = other.why_not});
  }
  return overview;
}

Table overview_table(const std::vector<LabExecutorResult>& overview) {
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
  const auto text = [](const auto& value) { return value ? Cell(*value) : Cell(absent); };
  const auto ms = [](const std::optional<double>& value, int digits) {
    return value ? real(*value, digits) : Cell(absent);
  };
  const auto ratio = [](const std::optional<double>& value) {
    return value ? significant(*value) : Cell(absent);
  };
  for (const LabExecutorResult& one : overview)
    table.add_row({one.work, one.device, text(one.executor), ms(one.start_ms, 2),
                   ms(one.median_ms, 3), speedup_cell(one.speedup), text(one.break_even_fresh),
                   text(one.break_even_warm), ratio(one.ratio_5), ratio(one.ratio_20),
                   ratio(one.ratio_100), ratio(one.ratio_100_later), text(one.why_not)});
  return table;
}

std::vector<PublishedResult> published_speeds() {
  const std::string resnet = "reports of the lab: ResNet-18, torch.compile against eager PyTorch";
  return {
      {.what = "CPU, warm process", .published = "1.32× to 1.63× faster", .source = resnet},
      {.what = "CPU, the compilation counted", .published = "1.06× faster", .source = resnet},
      {.what = "CPU, mean of n = 5", .published = "24.5 s against 15.3 s", .source = "report 001"},
      {.what = "CPU, mean of n = 20",
       .published = "14.2 s against 15.0 s: with n = 5 the break-even is near call 17",
       .source = "report 001"},
      {.what = "CUDA", .published = "1.18× slower", .source = "report 001"},
      {.what = "CUDA", .published = "1.3× faster", .source = "report 003"},
      {.what = "CUDA", .published = "3.0× faster", .source = "report 002"}};
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
  SpeedLabFields fields{.overview = overview_of(all, other_device(run.context)),
                        .published = published_speeds()};
  for (const TimedModel& model : timed_wholly(models)) {
    fields.naive.push_back(from_json<NaiveTimes>(run.found.at(naive_stage(model))));
    mistakes.emplace_back(SpeedWork{model, model.batches.front(), false}.name(),
                          naive_table(fields.naive.back()));
  }
  const Table overview = overview_table(fields.overview);
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
       {PageTable{published_table(fields.published),
                  "Other machines, another program and another model, for orientation only."}},
       /*folded=*/true});
  for (FoundTimes& one : all) fields.works.push_back({one.work.name(), std::move(one.times)});
  report.results = results_of(std::move(fields));
  return report;
}

}  // namespace

const Fields& fields_of(const LabExecutorResult*) {
  using L = LabExecutorResult;
  static const Fields fields = describe<L>(
      "lab_executor", "An executor on one work, or a device that the work was not run on.",
      field<&L::work>("work", "Model, kind of run, examples and tokens."),
      field<&L::device>("device", "The device that ran it, or was not there."),
      field<&L::executor>("executor", "Its name; null: not run."),
      field<&L::start_ms>("start_ms", Unit::milliseconds,
                          "Time to the first output of a fresh process; null: not run."),
      field<&L::median_ms>("median_ms", Unit::milliseconds,
                           "Median call of a warm process; null: not run."),
      inlined<&L::speedup>(),
      field<&L::break_even_fresh>(
          "break_even_fresh",
          "The call from which on it is ahead in a fresh process; null: never, or no gain per "
          "call is shown."),
      field<&L::break_even_warm>("break_even_warm", "The same in a warm process."),
      field<&L::ratio_5>("ratio_5", Unit::ratio,
                         "Speedup by the mean of 5 calls in a fresh process, preparation included; "
                         "null: the baseline, or not run."),
      field<&L::ratio_20>("ratio_20", Unit::ratio, "The same of 20 calls."),
      field<&L::ratio_100>("ratio_100", Unit::ratio,
                           "The same of 100 calls; null: there were fewer."),
      field<&L::ratio_100_later>(
          "ratio_100_later", Unit::ratio,
          "Speedup by the mean of 100 calls in a warm process, without the first calls."),
      field<&L::why_not>("why_not", "Reason why it was not run; null: it was."));
  return fields;
}

const Fields& fields_of(const LabWorkResult*) {
  using L = LabWorkResult;
  static const Fields fields =
      describe<L>("lab_work", "A work of a lab, call by call.",
                  field<&L::work>("work", "Its name."), inlined<&L::times>());
  return fields;
}

const Fields& fields_of(const SpeedLabFields*) {
  using S = SpeedLabFields;
  static const Fields fields = describe<S>(
      "lab", "Executors side by side, call by call.", inlined<&S::lab>(),
      field<&S::overview>("overview", "Every executor of every work."),
      field<&S::works>("works", "Each work, call by call."),
      field<&S::naive>("naive", "How far mistakes of measuring change the latency of each model."),
      field<&S::published>("published", "Numbers that others have published."));
  return fields;
}

Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models) {
  return {
      .name = "4.1",
      .title = "executors side by side, call by call",
      .costs =
          "quick: some minutes; paper and full: about half an hour, as BERT-base is timed, too",
      .question = "Why does a compiled model not look faster at first, and when is it?",
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
