#include "hone/jobs/compare.h"

#include <algorithm>
#include <optional>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/jobs/model_comparison.h"
#include "hone/models/adapter.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

Table changed_table(const ChangedTexts& texts) {
  constexpr std::size_t kShownCharacters = 100;
  Table table({{"change", "A → B"}, {"label", "Label"}, {"text", "Text"}});
  for (const ChangedText& row : texts.rows)
    table.add_row(
        {row.parent + " → " + row.candidate, row.label, one_line(row.text, kShownCharacters)});
  return table;
}

// Both models and what lies between them.
Json to_json(const ModelComparison& c, const Verdict& verdict) {
  ComparedModel second = c.second;
  second.comparison.reset();  // it stands beside them
  return {{"a", to_json(c.first, c.labels)},
          {"b", to_json(second, c.labels)},
          {"comparison", to_json(c.comparison, verdict)}};
}

Json to_json(const ModelComparison& c, const Verdict& verdict, const ChangedTexts& texts) {
  Json result = to_json(c, verdict);
  result["changed"] = Json::array();
  for (std::size_t i = 0; i < texts.rows.size(); ++i) {
    const ChangedText& row = texts.rows[i];
    result["changed"].push_back({{"example", c.flips[i].example},
                                 {"label", row.label},
                                 {"a", row.parent},
                                 {"b", row.candidate},
                                 {"swing", c.flips[i].swing},
                                 {"text", row.text}});
  }
  return result;
}

/// The seeds of a job that was repeated, rising; none: `name` is a model.
std::vector<std::int64_t> seeds_of(const std::string& name) {
  std::vector<std::int64_t> seeds;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(name, error)) {
    const std::string folder = entry.path().filename();
    std::int64_t seed = 0;
    int read = 0;
    if (std::sscanf(folder.c_str(), "seed-%ld%n", &seed, &read) == 1 &&
        static_cast<std::size_t>(read) == folder.size())
      seeds.push_back(seed);
  }
  std::ranges::sort(seeds);
  return seeds;
}

std::string seed_folder(const std::string& name, std::int64_t seed) {
  return (fs::path(name) / fmt::format("seed-{}", seed)).string();
}

/// What the models of all seeds have learnt from between them.
std::optional<TrainedOn> record_of_seeds(const std::string& folder,
                                         const std::vector<std::int64_t>& seeds) {
  std::optional<TrainedOn> record = known_record(seed_folder(folder, seeds.front()));
  for (const std::int64_t seed : seeds)
    record = united(record, known_record(seed_folder(folder, seed)));
  return record;
}

/// What is compared, and what came out.
struct Outcome {
  Json result;
  std::string headline;
  std::vector<Section> sections;
  std::function<std::string(const TextStyle&)> text;  ///< for people
  Verdict verdict;
  JudgedGates gates;
  std::vector<LostClass> lost = {};  ///< of two models
};

/// The texts both models are measured on, and what may be lost on them.
struct MeasuredExamples {
  const MeasuredPart& part;
  const std::vector<Example>& examples;
  std::vector<Gate> gates;

  /// "B against A, test, n = 4 000: kept: …"
  std::string headline(const Verdict& verdict) const {
    return fmt::format("B against A, {}: {}", name_and_size(part), verdict.summary);
  }
};

std::string baseline_sentence(const TaskEvaluation& evaluation) {
  return "On these texts " + baseline_text(evaluation) + ".";
}

// What was found, of which models, and what to read it with.
std::function<std::string(const TextStyle&)> opening_of(const CompareJob& job,
                                                        const Outcome& outcome,
                                                        const std::string& baseline) {
  return [headline = outcome.headline, tone = tone_of(outcome.verdict), first = job.first_name(),
          second = job.second_name(), baseline](const TextStyle& style) {
    return fmt::format("{}\n\nA: {}\nB: {}\n\n{}", toned(headline, tone, style), first, second,
                       baseline);
  };
}

/// The models to compare; of folders of seeds the first.
struct ModelPair {
  TextModel first, second;
};

ModelPair open_pair(const CompareJob& job, const std::vector<std::int64_t>& seeds,
                    std::size_t index, Context& context) {
  const auto name = [&](const std::string& given) {
    return seeds.empty() ? given : seed_folder(given, seeds[index]);
  };
  return {open_with_adapter(name(job.first), job.first_adapter, context, job.seed,
                            OtherBase::is_refused),
          open_with_adapter(name(job.second), job.second_adapter, context, job.seed,
                            OtherBase::is_refused)};
}

Outcome compare_two(const CompareJob& job, const ModelPair& pair, const MeasuredExamples& measured,
                    Context& context, std::vector<std::string>& notes) {
  const auto& [first, second] = pair;
  const std::vector<Example>& examples = measured.examples;
  notes.push_back(untrained_warning(first, job.first_name()));
  notes.push_back(untrained_warning(second, job.second_name()));
  ModelComparison c =
      compare_models(first, second, examples, job.data.cut, job.batch_size, context, notes);
  const ChangedTexts texts = changed_texts(c, examples, static_cast<std::size_t>(job.texts));
  Outcome outcome;
  outcome.verdict =
      verdict(c.comparison.change, margin_for(measured.gates, c.comparison.change.figure));
  const Logits parent = c.first.measurement.view(), candidate = c.second.measurement.view();
  const RightAnswers answers = right_answers(c.first.measurement.evaluation.task(), examples);
  outcome.gates = judge(measured.gates, parent, candidate, answers.truth());
  outcome.lost = lost_classes(parent, candidate, answers.truth());
  for (const std::string& sentence : lost_class_sentences(outcome.lost, c.labels))
    notes.push_back("B: " + sentence);
  c.second.verdict = outcome.verdict;
  const Table table = comparison_table({c.first, c.second});
  outcome.result = to_json(c, outcome.verdict, texts);
  outcome.headline = measured.headline(outcome.verdict);
  const std::vector<NamedEvaluation> evaluations = {
      {"A, " + measured.part.facts.part, c.first.measurement.evaluation, cautions(measured.part)},
      {"B, " + measured.part.facts.part, c.second.measurement.evaluation, cautions(measured.part)}};
  for (const ComparedModel* model : {&c.first, &c.second})
    for (const std::string& concern : concerns(model->measurement.evaluation, c.labels))
      notes.push_back(fmt::format("{}: {}", model->label, concern));
  const std::string baseline = baseline_sentence(c.first.measurement.evaluation);
  outcome.sections = {
      {"Result",
       {Facts{{{"A", job.first_name()}, {"B", job.second_name()}}}, PageTable{table, baseline}}},
      details_section(evaluations, c.labels)};
  const std::string heading = fmt::format("{} of {} texts that changed, what B lost first",
                                          texts.rows.size(), grouped(std::ssize(c.flips)));
  if (!texts.rows.empty()) outcome.sections.push_back({heading, {texts}});
  outcome.text = [opening = opening_of(job, outcome, baseline), table, evaluations,
                  labels = c.labels, heading, texts](const TextStyle& style) {
    std::string text = fmt::format("{}\n\n{}\n{}", opening(style), to_text(table, style),
                                   details_text(evaluations, labels, style));
    if (!texts.rows.empty())
      text += fmt::format("\n{}\n\n{}", heading, to_text(changed_table(texts), style));
    return text;
  };
  return outcome;
}

Outcome compare_seeds(const CompareJob& job, const std::vector<std::int64_t>& seeds,
                      const MeasuredExamples& measured, Context& context,
                      std::vector<std::string>& notes) {
  const std::vector<Example>& examples = measured.examples;
  std::vector<Json> runs;
  std::vector<std::vector<Cell>> rows;
  std::string baseline;
  FigureName figure;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::int64_t seed = seeds[i];
    const auto [first, second] = open_pair(job, seeds, i, context);
    const ModelComparison c =
        compare_models(first, second, examples, job.data.cut, job.batch_size, context, notes);
    const TaskEvaluation &a = c.first.measurement.evaluation, &b = c.second.measurement.evaluation;
    baseline = baseline_sentence(a);
    figure = a.figure;
    runs.push_back({{"seed", seed}});
    runs.back().update(
        to_json(c, verdict(c.comparison.change, margin_for(measured.gates, figure))));
    const Logits parent = c.first.measurement.view(), candidate = c.second.measurement.view();
    const RightAnswers answers = right_answers(a.task(), examples);
    const auto lost = lost_classes(parent, candidate, answers.truth());
    if (!lost.empty()) runs.back()["lost_classes"] = to_json(lost, c.labels);
    if (!measured.gates.empty())
      runs.back()["gate"] = to_json(judge(measured.gates, parent, candidate, answers.truth()));
    rows.push_back({seed, figure_cell(a), figure_cell(b), change_cell(c.comparison.change),
                    difference_cell(c.comparison)});
    if (figure == kAccuracy) rows.back().push_back(p_value(c.comparison.counted->mcnemar_p));
  }
  std::vector<Column> columns = {{"seed", "Seed"},
                                 {"a", "A"},
                                 {"b", "B"},
                                 {change_key(figure), "Change"},
                                 difference_column(figure)};
  if (figure == kAccuracy) columns.push_back({"mcnemar_p", "McNemar p"});
  Table table(std::move(columns));
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  const SeedChanges changes = seed_changes(runs, "a", "b");
  const std::string& part = measured.part.facts.part;
  const std::vector<NamedFigures> figures = {{"a", "A, " + part, cautions(measured.part)},
                                             {"b", "B, " + part, cautions(measured.part)}};
  for (std::string& concern : seed_concerns(runs, figures)) notes.push_back(std::move(concern));
  const SeedSpread spread_of_a = figure_spread(figure, changes.before),
                   spread_of_b = figure_spread(figure, changes.after);
  Outcome outcome;
  outcome.verdict = verdict_of_seeds(changes, margin_for(measured.gates, figure));
  outcome.gates = judge_seeds(measured.gates, runs);
  outcome.result = runs_json(runs, figures);
  outcome.result["change"] = paired_json(changes, outcome.verdict);
  outcome.headline = measured.headline(outcome.verdict);
  const std::string spreads =
      fmt::format("A: {}\nB: {}", seed_sentence(spread_of_a), seed_sentence(spread_of_b));
  outcome.text = [opening = opening_of(job, outcome, baseline), table, spreads, runs,
                  figures](const TextStyle& style) {
    return fmt::format("{}\n\n{}\n{}\n\n{}", opening(style), to_text(table, style), spreads,
                       details_text_of_seeds(runs, figures, style));
  };
  outcome.sections = {
      {"Result",
       {Facts{{{"A", job.first_name()}, {"B", job.second_name()}}}, PageTable{table, baseline},
        Paragraph{"A: " + seed_sentence(spread_of_a) + "."},
        Paragraph{"B: " + seed_sentence(spread_of_b) + "."}}},
      details_section_of_seeds(runs, figures)};
  return outcome;
}

std::vector<std::string> each_once(const std::vector<std::string>& lines) {
  std::vector<std::string> first;
  for (const std::string& line : lines)
    if (std::ranges::find(first, line) == first.end()) first.push_back(line);
  return first;
}

}  // namespace

std::string CompareJob::first_name() const { return name_with_adapter(first, first_adapter); }
std::string CompareJob::second_name() const { return name_with_adapter(second, second_adapter); }

CompareResult compare_models(const CompareJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  const std::vector<std::int64_t> seeds = seeds_of(job.first);
  user_check(seeds == seeds_of(job.second),
             "{} and {}: expected two models, or two folders with the same seeds", job.first,
             job.second);
  user_check(seeds.empty() || (job.first_adapter.empty() && job.second_adapter.empty()),
             "`adapter_a` and `adapter_b` go on one model each, and {} holds those of {} seeds",
             job.first, seeds.size());
  const ModelPair pair = open_pair(job, seeds, 0, context);
  const ModelFacts facts =
      common_facts(pair.first.model.facts, pair.second.model.facts, report.notes);
  const std::optional<TrainedOn> first = seeds.empty() ? pair.first.trained_on
                                                       : record_of_seeds(job.first, seeds),
                                 second = seeds.empty() ? pair.second.trained_on
                                                        : record_of_seeds(job.second, seeds);
  DataIdentity identity;
  const auto& [examples, part] =
      load_measured(job.data, job.split, job.seed, facts, united(first, second), context, identity);
  const MeasuredExamples measured{part, examples, gates_for(job.gates, facts.scheme())};
  Outcome outcome = seeds.empty() ? compare_two(job, pair, measured, context, report.notes)
                                  : compare_seeds(job, seeds, measured, context, report.notes);
  for (const std::string& warning : warnings_of(part, facts.labels))
    report.notes.push_back(warning);
  std::erase(report.notes, "");
  report.notes = each_once(report.notes);  // models of all seeds may have the same to say
  tell_warnings(context, report.notes);
  tell_measured(part, {unknown_texts("A", first), unknown_texts("B", second)}, context,
                report.notes);
  Json result = subject_of(job.second, identity, part);
  result["parent"] = job.first;
  if (!job.second_adapter.empty()) result["adapter"] = job.second_adapter;
  if (!job.first_adapter.empty()) result["parent_adapter"] = job.first_adapter;
  result["seeds"] = std::max<std::size_t>(seeds.size(), 1);
  result.update(outcome.result);
  if (!outcome.lost.empty()) result["lost_classes"] = to_json(outcome.lost, facts.labels);
  if (outcome.gates.any()) result["gate"] = to_json(outcome.gates);
  for (Block& block : gate_blocks(outcome.gates, name_and_size(part)))
    outcome.sections[0].blocks.push_back(std::move(block));
  if (output) {
    report.title = fmt::format("{} and {} compared", job.first_name(), job.second_name());
    report.headline = outcome.headline + ".";
    report.basis = {
        "as in the table", static_cast<std::int64_t>(std::max<std::size_t>(seeds.size(), 1)),
        data_text(job.data.options.source, identity), describe(part), "nothing is chosen"};
    report.sections = outcome.sections;
    report.results = result;
    write_run_report(report, output->path(), context);
    output->commit();
  }
  return {.fields = result,
          .verdict = outcome.verdict,
          .gate = outcome_of(outcome.gates, name_and_size(part)),
          .text = [text = outcome.text, gates = outcome.gates,
                   measured = name_and_size(part)](const TextStyle& style) {
            return text(style) + gate_text(gates, measured, style);
          }};
}

}  // namespace hone
