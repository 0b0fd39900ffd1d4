#include "hone/jobs/compare.h"

#include <algorithm>
#include <optional>

#include "hone/base/text.h"
#include "hone/jobs/model_comparison.h"
#include "hone/models/adapter.h"
#include "hone/study/change_headline.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

TwoModelsResult two_models(const ModelComparison& c, const TextModel& first,
                           const TextModel& second, const Verdict& verdict) {
  return {named_metrics(c.first, c.labels), named_metrics(c.second, c.labels),
          model_size(first.model, first.folder), model_size(second.model, second.folder),
          comparison_result(c.comparison, verdict)};
}

Table table_of(const ModelComparison& c, const TwoModelsResult& models) {
  const Table compared = comparison_table({c.first, c.second});
  std::vector<Column> columns = compared.columns();
  columns.push_back({"stored_bytes", "Size"});
  Table table(std::move(columns));
  for (std::size_t row = 0; row < compared.rows().size(); ++row) {
    std::vector<Cell> cells = compared.rows()[row];
    cells.push_back(bytes((row == 0 ? models.size_before : models.size).stored_bytes));
    table.add_row(std::move(cells));
  }
  return table;
}

std::vector<ChangedExampleResult> changed_examples(const ModelComparison& c,
                                                   const ChangedTexts& texts) {
  std::vector<ChangedExampleResult> changed;
  for (std::size_t i = 0; i < texts.rows.size(); ++i) {
    const ChangedText& row = texts.rows[i];
    changed.push_back(
        {c.flips[i].example, row.label, row.baseline, row.candidate, c.flips[i].swing, row.text});
  }
  return changed;
}

/// Returns the seeds of a repeated job in ascending order; empty if `name` is a model.
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

/// Returns the training data of the models of all seeds together.
std::optional<TrainedOn> record_of_seeds(const std::string& folder,
                                         const std::vector<std::int64_t>& seeds) {
  std::optional<TrainedOn> record = known_record(seed_folder(folder, seeds.front()));
  for (const std::int64_t seed : seeds)
    record = united(record, known_record(seed_folder(folder, seed)));
  return record;
}

/// The result of a comparison.
struct Outcome {
  Json fields;
  Document document;
  Verdict verdict;
  JudgedGates gates;
};

/// The examples that both models are measured on, and the gates on them.
struct MeasuredExamples {
  const SubjectResult& subject;
  const MeasuredSplit& split;
  const std::vector<Example>& examples;
  std::vector<Gate> gates;
};

// Describes the outcome of the gates, or `change` without gates.
std::string headline_of(const Outcome& outcome, const std::string& change) {
  return capitalized(outcome.gates.any() ? gate_headline(outcome.gates) : change);
}

// Describes how certain the change is.
std::string evidence_of(const MeasuredExamples& measured, const Outcome& outcome, bool differs,
                        const std::string& notes) {
  return fmt::format("{}: {}.", capitalized(name_and_size(measured.split)),
                     change_evidence(outcome.gates, outcome.verdict, differs, notes));
}

// Shows both models in one table.
void describe_models(const TaskEvaluation& baseline, Outcome& outcome, Table table) {
  Document& document = outcome.document;
  document.tone = outcome.gates.any() ? tone_of(outcome.gates) : Tone::plain;
  document.sections = {
      {"",
       {PageTable{std::move(table)},
        Paragraph{fmt::format("On these examples, {}.", constant_baseline_text(baseline))}}}};
}

/// The models to compare, of the first seed for folders of seeds.
struct ModelPair {
  TextModel first, second;
};

ModelPair open_pair(const CompareJob& job, const std::vector<std::int64_t>& seeds,
                    std::size_t index, Context& context) {
  const auto name = [&](const std::string& given) {
    return seeds.empty() ? given : seed_folder(given, seeds[index]);
  };
  return {open_with_adapter(name(job.first), job.first_adapter, context, job.seed,
                            BaseMismatch::refuse),
          open_with_adapter(name(job.second), job.second_adapter, context, job.seed,
                            BaseMismatch::refuse)};
}

Outcome compare_two(const CompareJob& job, const ModelPair& pair, const MeasuredExamples& measured,
                    Context& context, std::vector<std::string>& notes) {
  const auto& [first, second] = pair;
  const std::vector<Example>& examples = measured.examples;
  notes.push_back(untrained_warning(first, job.first_name()));
  notes.push_back(untrained_warning(second, job.second_name()));
  const std::string first_label = job.first_label(), second_label = job.second_label();
  ModelComparison c = compare_models({first_label, first}, {second_label, second}, examples,
                                     job.data.cut, job.batch_size, context, notes);
  const ChangedTexts texts = changed_texts(c, examples, static_cast<std::size_t>(job.texts));
  Outcome outcome;
  outcome.verdict =
      verdict(c.comparison.change, margin_for(measured.gates, c.comparison.change.metric));
  const Logits first_logits = c.first.measurement.view(), candidate = c.second.measurement.view();
  const ExampleLabels labels = example_labels(c.first.measurement.evaluation.task(), examples);
  outcome.gates = judge(measured.gates, first_logits, candidate, labels.truth());
  const std::vector<DegradedClass> lost = degraded_classes(first_logits, candidate, labels.truth());
  c.second.verdict = shown_verdict(outcome.gates, outcome.verdict.metric);
  CompareFields fields{.subject = measured.subject,
                       .baseline = job.first,
                       .models = two_models(c, first, second, outcome.verdict),
                       .changed = changed_examples(c, texts),
                       .degraded_classes = degraded_class_results(lost, c.labels),
                       .gate = gate_result_if_any(outcome.gates)};
  if (!job.second_adapter.empty()) fields.adapter = job.second_adapter;
  if (!job.first_adapter.empty()) fields.baseline_adapter = job.first_adapter;
  outcome.fields = to_json(fields);
  const TaskEvaluation &a = c.first.measurement.evaluation, &b = c.second.measurement.evaluation;
  const std::vector<NamedEvaluation> evaluations = {
      {first_label + ", " + measured.split.facts.split, a, first_caution(measured.split)},
      {second_label + ", " + measured.split.facts.split, b, first_caution(measured.split), lost}};
  for (const ComparedModel* model : {&c.first, &c.second})
    for (const std::string& concern : concerns(model->measurement.evaluation, c.labels))
      notes.push_back(fmt::format("{}: {}", model->label, concern));
  outcome.document.headline =
      headline_of(outcome, unjudged_headline(a.value, b.value, outcome.verdict));
  const MetricChange& change = c.comparison.change;
  outcome.document.evidence = evidence_of(measured, outcome, change.differs, change.notes);
  if (!lost.empty())
    outcome.document.evidence +=
        fmt::format(" {}.", capitalized(degraded_class_text(lost, c.labels)));
  outcome.document.evidence += unseen_change_sentence(outcome.gates, c.comparison);
  describe_models(a, outcome, table_of(c, fields.models));
  if (!texts.rows.empty())
    outcome.document.sections.push_back(
        {fmt::format("{} of {} changed predictions{}", texts.rows.size(),
                     grouped(std::ssize(c.flips)),
                     c.flips.size() > 1 ? ", correct → wrong first, each label in turn" : ""),
         {texts}});
  outcome.document.sections.push_back(
      {"Statistics", {PageTable{statistics_table({c.first, c.second})}}, /*folded=*/true});
  outcome.document.sections.push_back(details_section(evaluations, c.labels));
  return outcome;
}

Outcome compare_seeds(const CompareJob& job, const std::vector<std::int64_t>& seeds,
                      const MeasuredExamples& measured, Context& context,
                      std::vector<std::string>& notes) {
  const std::vector<Example>& examples = measured.examples;
  const std::string first_label = job.first_label(), second_label = job.second_label();
  CompareSeedsFields fields{
      .subject = measured.subject, .baseline = job.first, .seeds = std::ssize(seeds)};
  std::vector<Json> runs;
  std::vector<std::vector<Cell>> rows;
  TaskEvaluation baseline;
  MetricName figure;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::int64_t seed = seeds[i];
    const auto [first, second] = open_pair(job, seeds, i, context);
    const ModelComparison c = compare_models({first_label, first}, {second_label, second}, examples,
                                             job.data.cut, job.batch_size, context, notes);
    const TaskEvaluation &a = c.first.measurement.evaluation, &b = c.second.measurement.evaluation;
    baseline = a;
    figure = a.metric;
    const Logits first_logits = c.first.measurement.view(), candidate = c.second.measurement.view();
    const ExampleLabels labels = example_labels(a.task(), examples);
    fields.runs.push_back(
        {.seed = seed,
         .models = two_models(c, first, second,
                              verdict(c.comparison.change, margin_for(measured.gates, figure))),
         .degraded_classes = degraded_class_results(
             degraded_classes(first_logits, candidate, labels.truth()), c.labels),
         .gate =
             gate_result_if_any(judge(measured.gates, first_logits, candidate, labels.truth()))});
    runs.push_back(to_json(fields.runs.back()));
    rows.push_back({seed, metric_cell(a), metric_cell(b), change_cell(c.comparison.change),
                    difference_cell(c.comparison)});
    if (figure == kAccuracy) rows.back().push_back(p_value(c.comparison.counted->mcnemar_p));
  }
  std::vector<Column> columns = {{"seed", "Seed"},
                                 {"a", first_label},
                                 {"b", second_label},
                                 {"change", "Change"},
                                 difference_column(figure)};
  if (figure == kAccuracy) columns.push_back({"mcnemar_p", "McNemar p"});
  Table table(std::move(columns));
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  const SeedChanges changes = seed_changes(runs, "a", "b");
  const std::string& split = measured.split.facts.split;
  const std::vector<MetricsKey> figures = {
      {"a", first_label + ", " + split, first_caution(measured.split)},
      {"b", second_label + ", " + split, first_caution(measured.split)}};
  for (std::string& concern : seed_concerns(runs, figures)) notes.push_back(std::move(concern));
  const SeedSpread spread_of_a = metric_spread(figure, changes.before),
                   spread_of_b = metric_spread(figure, changes.after);
  Outcome outcome;
  outcome.verdict = verdict_of_seeds(changes, margin_for(measured.gates, figure));
  outcome.gates = judge_seeds(measured.gates, runs);
  fields.spreads = seed_spreads(runs, {"a", "b"});
  fields.change = seed_change_result(changes, outcome.verdict);
  fields.gate = gate_result_if_any(outcome.gates);
  outcome.fields = to_json(fields);
  outcome.document.headline = fmt::format(
      "{}, {} seeds",
      headline_of(outcome, unjudged_headline(spread_of_a.mean, spread_of_b.mean, outcome.verdict)),
      seeds.size());
  outcome.document.evidence = evidence_of(measured, outcome, /*differs=*/false, "");
  describe_models(baseline, outcome, std::move(table));
  for (const auto& [name, spread] :
       {std::pair{&first_label, &spread_of_a}, {&second_label, &spread_of_b}})
    outcome.document.sections[0].blocks.push_back(
        Paragraph{fmt::format("{}: {}.", *name, seed_sentence(*spread))});
  outcome.document.sections.push_back(details_section_of_seeds(runs, figures));
  return outcome;
}

std::vector<std::string> each_once(const std::vector<std::string>& lines) {
  std::vector<std::string> first;
  for (const std::string& line : lines)
    if (std::ranges::find(first, line) == first.end()) first.push_back(line);
  return first;
}

}  // namespace

const Fields& fields_of(const TwoModelsResult*) {
  using T = TwoModelsResult;
  static const Fields fields =
      describe<T>("two_models", "Model A and model B.", field<&T::a>("a", "Model A, the baseline."),
                  field<&T::b>("b", "Model B."),
                  field<&T::size_before>("size_before", "Size of the weights of A."),
                  field<&T::size>("size", "Size of the weights of B."),
                  field<&T::comparison>("comparison", "B compared with A."));
  return fields;
}

const Fields& fields_of(const ChangedExampleResult*) {
  using C = ChangedExampleResult;
  static const Fields fields = describe<C>(
      "changed_example", "An example that two models predict differently.",
      field<&C::example>("example", "Its index in the measured split, from 0."),
      field<&C::label>("label", "Its label."), field<&C::a>("a", "Prediction of A."),
      field<&C::b>("b", "Prediction of B."),
      field<&C::swing>("swing", Unit::logits,
                       "How far the logits moved from A's class to B's; of labels and numbers, "
                       "the largest change of one of them."),
      field<&C::text>("text", "The text; a pair has \" | \" between the two."));
  return fields;
}

namespace {

constexpr std::string_view kBaselineMeaning = "Model A as it was named.";
constexpr std::string_view kLostMeaning =
    "Classes or labels whose recall fell significantly, from A to B.";
constexpr std::string_view kGateMeaning = "Whether the gates hold; null: none were given.";

}  // namespace

const Fields& fields_of(const CompareFields*) {
  using C = CompareFields;
  static const Fields fields = describe<C>(
      "compare", "Model B compared with model A on the same examples. `model` is B.",
      inlined<&C::subject>(), field<&C::baseline>("baseline", kBaselineMeaning),
      field<&C::adapter>("adapter", "The adapter of B as it was named; null: none."),
      field<&C::baseline_adapter>("baseline_adapter",
                                  "The adapter of A as it was named; null: none."),
      field<&C::seeds>("seeds", Unit::seeds, "Random seeds that are compared."),
      inlined<&C::models>(),
      field<&C::changed>("changed",
                         "Examples with another prediction, at most --examples: correct → wrong "
                         "first; of each label in turn that with the largest swing, the label that "
                         "changed most first."),
      field<&C::degraded_classes>("lost_classes", kLostMeaning),
      field<&C::gate>("gate", kGateMeaning));
  return fields;
}

const Fields& fields_of(const CompareRunResult*) {
  using C = CompareRunResult;
  static const Fields fields = describe<C>(
      "compare_run", "The two models of one seed.", field<&C::seed>("seed", "The seed."),
      inlined<&C::models>(), field<&C::degraded_classes>("lost_classes", kLostMeaning),
      field<&C::gate>("gate", kGateMeaning));
  return fields;
}

const Fields& fields_of(const CompareSeedsFields*) {
  using C = CompareSeedsFields;
  static const Fields fields = describe<C>(
      "compare_seeds", "Two jobs that were repeated with the same seeds. `model` is B.",
      inlined<&C::subject>(), field<&C::baseline>("baseline", "Folder of A as it was named."),
      field<&C::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&C::runs>("runs", "One for each seed."), inlined<&C::spreads>(),
      field<&C::change>("change", "The change of the metric, from A to B."),
      field<&C::gate>("gate", "The gates over all seeds; null: none were given."));
  return fields;
}

std::string CompareJob::first_name() const { return name_with_adapter(first, first_adapter); }
std::string CompareJob::second_name() const { return name_with_adapter(second, second_adapter); }
std::string CompareJob::first_label() const {
  return first_name() == second_name() ? first_name() + " (A)" : first_name();
}
std::string CompareJob::second_label() const {
  return first_name() == second_name() ? second_name() + " (B)" : second_name();
}

CompareResult compare_models(const CompareJob& job, Context& context) {
  std::vector<std::string> notes;
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  const std::vector<std::int64_t> seeds = seeds_of(job.first);
  user_check(seeds == seeds_of(job.second),
             "{} and {}: expected two models, or two folders with the same seeds", job.first,
             job.second);
  user_check(
      seeds.empty() || (job.first_adapter.empty() && job.second_adapter.empty()),
      "`adapter_a` and `adapter_b` apply to one model each, but {} contains the models of {} seeds",
      job.first, seeds.size());
  const ModelPair pair = open_pair(job, seeds, 0, context);
  const ModelFacts facts = common_facts(pair.first.model.facts, pair.second.model.facts, notes);
  const std::optional<TrainedOn> first = seeds.empty() ? pair.first.trained_on
                                                       : record_of_seeds(job.first, seeds),
                                 second = seeds.empty() ? pair.second.trained_on
                                                        : record_of_seeds(job.second, seeds);
  DataIdentity identity;
  const auto& [examples, split] =
      load_measured(job.data, job.split, job.seed, facts, united(first, second), context, identity);
  const SubjectResult subject = subject_result(job.second, identity, split);
  const MeasuredExamples measured{subject, split, examples, gates_for(job.gates, facts.scheme())};
  Outcome outcome = seeds.empty() ? compare_two(job, pair, measured, context, notes)
                                  : compare_seeds(job, seeds, measured, context, notes);
  for (const std::string& warning : warnings_of(split, facts.labels)) notes.push_back(warning);
  std::erase(notes, "");
  notes = each_once(notes);  // models of several seeds can give the same notes
  print_warnings(context, notes);
  report_measured_split(
      split, {unknown_texts(job.first_label(), first), unknown_texts(job.second_label(), second)},
      context, notes);
  std::vector<Section>& sections = outcome.document.sections;
  for (Block& block : gate_blocks(outcome.gates, name_and_size(split)))
    sections[0].blocks.push_back(std::move(block));
  CompareResult compared;
  compared.verdict = outcome.verdict;
  compared.fields = std::move(outcome.fields);
  compared.document = std::move(outcome.document);
  compared.document.title = fmt::format("{} and {} compared", job.first_name(), job.second_name());
  compared.document.notes = std::move(notes);
  compared.basis = {
      "as in the table", static_cast<std::int64_t>(std::max<std::size_t>(seeds.size(), 1)),
      data_text(job.data.options.source, identity), describe(split), "nothing is chosen"};
  compared.gate = outcome_of(outcome.gates);
  if (output) {
    write_report(compared, job.invocation, output->path(), context);
    output->commit();
  }
  return compared;
}

}  // namespace hone
