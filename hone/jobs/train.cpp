#include "hone/jobs/train.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/unrounded.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/learning_check.h"

namespace hone {
namespace {

constexpr const char* kParts[] = {"validation", "test"};

const std::vector<NamedFigures>& figures_of_parts() {
  static const std::vector<NamedFigures> figures = {{kParts[0], kParts[0]}, {kParts[1], kParts[1]}};
  return figures;
}

// What the metrics of both splits are to be read with.
std::vector<std::string> common_cautions(const TrainFields& fields) {
  std::vector<std::string> common;
  if (!fields.validation || !fields.test) return common;
  const std::vector<std::string>& others = fields.test->split.cautions;
  for (const std::string& caution : fields.validation->split.cautions)
    if (std::ranges::find(others, caution) != others.end()) common.push_back(caution);
  return common;
}

// What the metrics of one split are to be read with, and not those of both.
std::vector<std::string> own_cautions(const TrainFields& fields, const std::string& part) {
  const std::vector<std::string> common = common_cautions(fields);
  std::vector<std::string> own = fields.split(part)->split.cautions;
  std::erase_if(own, [&](const std::string& caution) {
    return std::ranges::find(common, caution) != common.end();
  });
  return own;
}

// Of both splits together; empty where there is nothing of the kind.
std::string cautions_line(const TrainFields& fields) {
  const std::vector<std::string> common = common_cautions(fields);
  return common.empty() ? "" : fmt::format("Both splits: {}.", fmt::join(common, ", "));
}

// A row for each split that was measured.
Table results_table(const std::vector<NamedEvaluation>& measured) {
  const MetricName& figure = measured.front().evaluation.figure;
  Table table(
      {{"split", "Split"},
       {"examples", "Examples"},
       {figure.key, metric_title(figure)},
       figure == kAccuracy ? Column{"majority_share", "Majority"} : Column{"baseline", "Baseline"},
       {"loss", "Loss"}});
  for (const auto& [part, e, cautions] : measured) {
    std::string name = part;
    for (const std::string& caution : cautions) name += ", " + caution;
    table.add_row({name, e.examples, figure_cell(e), percent(e.baseline), real(e.loss, 4)});
  }
  return table;
}

/// One training from its start to the model in `folder`, and what the report needs of it.
struct Trained {
  TrainFields fields;
  std::vector<NamedEvaluation> measured;
  std::vector<std::string> labels;
  std::string before;  ///< what the training began with, for people
  std::string size;    ///< of the weights, for people
  Section curve;
  std::vector<std::string> doubts;  ///< about the figures
  std::vector<std::string> notes;
};

/// What all seeds of a job share.
struct TrainRun {
  const TrainJob& job;
  const Splits& splits;
  const EncodedSplits& data;
  std::optional<TrainedOn>
      trained_on;  ///< what the trained models have learnt from; none: it is not kept
  const std::optional<LearntVocabulary>& vocabulary;
  OutputFolder& output;
  Context& context;

  FineTuneOptions training;  ///< the job's, with what its parent says

  /// Of the two parts that are measured, the last one that has texts is what the job is judged by.
  SubjectResult subject() const { return subject_result(job.model, data.identity, judged()); }
  const MeasuredPart& judged() const {
    return data.test.size() > 0 ? data.measured : data.measured_validation;
  }
};

// What speaks against the figures.
void add_doubts(const TrainingLog& log, const std::string& guessed, Trained& trained) {
  for (const auto& [part, evaluation, doubts] : trained.measured)
    for (const std::string& concern : concerns(evaluation, trained.labels))
      trained.doubts.push_back(fmt::format("{}: {}", part, concern));
  if (trained.measured.empty()) return;
  const auto& [part, evaluation, doubts] = trained.measured.back();
  for (std::string& sign :
       signs_of_no_learning(log.steps(), part, evaluation, trained.labels, guessed))
    trained.doubts.push_back(std::move(sign));
}

/// What a training begins with.
struct Start {
  TextModel model;
  std::optional<LoraOptions> adapters = {};  ///< that were put on it
};

LoraOptions options_of_adapters(const TrainJob& job, std::uint64_t seed, const Model& model,
                                const Context& context) {
  return with_context("`lora`",
                      [&] { return adapter_options(*job.lora, seed, model, context.library); });
}

// Fresh factors change no answer, so this is the base, on the part that the training is judged by.
std::optional<Measurement> before_training(const TrainRun& run, const Model& adapted) {
  const EncodedSet& set = run.data.test.size() > 0 ? run.data.test : run.data.validation;
  if (set.size() == 0) return std::nullopt;
  return measure(adapted, set, run.training.eval_batch_size, run.context, "before training",
                 ProgressEnd::vanishes);
}

// "Before training, on test, n = 2,000: accuracy 81.9 ± 1.7%."
std::string before_text(const TaskEvaluation& before, const std::string& part, bool fresh_head) {
  return fmt::format("Before training, on {}, n = {}: {} {}{}", part, grouped(before.examples),
                     metric_title(before.figure), display_text(figure_cell(before)),
                     fresh_head ? ", of a head as it was drawn." : ".");
}

// What the model card says of a training.
CardFacts card_facts(const TrainFields& fields) {
  CardFacts facts =
      facts_of_training(fields.subject, fields.seed, fields.steps, fields.weights_of_step);
  // Under the original protocol both are the same examples.
  if (fields.validation && fields.protocol != to_string(Protocol::original))
    facts.rows.push_back({"", fields.validation->evaluation, fields.validation->split});
  if (fields.test) facts.rows.push_back({"", fields.test->evaluation, fields.test->split});
  if (!fields.lora) return facts;
  const std::string base = markdown_code(fields.subject.model);
  facts.origin = fmt::format("an adapter (LoRA) of {}", base);
  facts.relation = "adapter";
  facts.tags = {"lora"};
  facts.library = "peft";
  facts.weights = {fmt::format(
      "It is of use beside the model that it was trained on alone, {}, which base.json knows by a "
      "fingerprint of its weights: `hone predict MODEL --adapter FOLDER`, or PEFT; `hone lora "
      "merge` makes one model of both.",
      base)};
  return facts;
}

Trained train_once(const TrainRun& run, Start start, std::uint64_t seed, const fs::path& folder) {
  const TrainJob& job = run.job;
  TextModel& source = start.model;
  const auto before = job.lora ? before_training(run, source.model) : std::optional<Measurement>();
  source.trained_on = run.trained_on;
  FineTuneOptions options = run.training;
  options.training.seed = seed;
  options.training.save_steps = job.resume.save_steps;
  options.checkpoints = checkpoints_in(folder, job.resume, source, run.output);
  AdapterOrigin origin;
  if (job.lora) {
    origin = adapter_origin(source.model, *start.adapters, job.model, run.context.session());
    options.checkpoints.write_model = [&](const Model& model, const fs::path& to) {
      TextModel now = source;
      now.model = model;
      write_adapter(now, origin, to);
    };
    options.checkpoints.read_model = [](const fs::path& from) {
      return read_adapter(from).tensors;
    };
  }
  if (job.seeds > 1) options.title = fmt::format("train seed {}", seed);
  TrainingLog log = training_log_in(folder, job.report_to);
  FineTuneResult tuned = fine_tune(source.model, run.data, options, log, run.context);
  const TrainingResult& t = tuned.training;
  const double examples = static_cast<double>(t.examples), steps = static_cast<double>(t.steps);
  Trained trained;
  trained.labels = source.model.facts.labels;
  trained.fields = TrainFields{.subject = run.subject(),
                               .train_loss = t.steps > 0 ? t.mean_loss : std::nan(""),
                               .train_runtime = t.seconds,
                               .train_samples_per_second = examples / t.seconds,
                               .train_steps_per_second = steps / t.seconds,
                               .train_samples = run.data.train.size(),
                               .steps = t.steps,
                               .loss_fell = loss_fell(log.steps()),
                               .ended_early = t.end == TrainingEnd::early,
                               .weights_of_step = tuned.weights_of_step,
                               .protocol = to_string(run.data.protocol),
                               .seed = seed,
                               .distill = distillation_result(job.distill)};
  TrainFields& fields = trained.fields;
  if (before) {
    fields.before = SplitEvaluationResult{evaluation_result(*before, trained.labels),
                                          measured_split_result(run.judged())};
    fields.before_fresh_head = source.model.fresh_head();
    trained.before =
        before_text(before->evaluation, run.judged().facts.part, *fields.before_fresh_head);
  }
  if (run.vocabulary) fields.vocabulary = learnt_vocabulary_result(*run.vocabulary, run.data.train);
  if (!tuned.class_weights.empty()) {
    fields.class_weights.emplace();
    for (std::size_t c = 0; c < trained.labels.size(); ++c)
      fields.class_weights->emplace_back(trained.labels[c], tuned.class_weights[c]);
  }
  // What these weights do on the validation part is known already when the last evaluation, or the best, was of them.
  std::optional<Measurement> known = std::move(tuned.validation);
  std::vector<Proportion> right;
  for (const char* part : kParts) {
    const bool validation = part == kParts[0];
    const EncodedSet& set = validation ? run.data.validation : run.data.test;
    if (set.size() == 0) continue;
    if (!known || !(validation || run.data.protocol == Protocol::original))
      known = measure(source.model, set, options.eval_batch_size, run.context, part);
    std::optional<SplitEvaluationResult>& result = validation ? fields.validation : fields.test;
    result = SplitEvaluationResult{
        evaluation_result(*known, trained.labels),
        measured_split_result(validation ? run.data.measured_validation : run.data.measured)};
    if (const Evaluation* e = known->evaluation.classes())
      right.push_back({e->correct, e->examples, e->evidence});
    trained.measured.push_back({part, known->evaluation});
  }
  for (NamedEvaluation& one : trained.measured) one.cautions = own_cautions(fields, one.name);
  add_doubts(log, run.splits.source.guessed, trained);
  // Under the original protocol both are the same texts.
  if (right.size() == 2 && run.data.protocol == Protocol::honest) {
    fields.validation_test_gap = right[0].share() - right[1].share();
    fields.validation_test_gap_interval = difference_interval(right[0], right[1]);
  }
  trained.curve = learning_curve_section(log, job.model + " trained; one seed",
                                         folder / "learning_curve", trained.notes);
  // Others read the weights as the values they take.
  if (source.model.quantization && !job.lora) {
    const Model unrounded = source.model;
    source.model = round_weights(unrounded, run.context);
    write_unrounded(unrounded, source.model, folder);
  }
  if (job.lora) {
    write_adapter(source, origin, folder);
    fields.lora = adapter_size(source.model, folder);
    trained.size = to_text(*fields.lora);
  } else {
    write_model(source, folder);
  }
  fields.size = model_size(source.model, folder);
  if (!job.lora) trained.size = to_text(fields.size);
  write_results("train", to_json(fields), folder);
  write_model_card({job.output.name_of(folder, run.output.path()),
                    run.job.invocation.command,
                    card_facts(fields),
                    {trained.size},
                    run.job.data.cut.max_seq_length},
                   source.model, folder);
  return trained;
}

constexpr const char* kNothingMeasured =
    "Trained, not evaluated: there is neither a test nor a validation split.";

// Of the part the job is judged by.
std::string headline(const Trained& trained) {
  if (trained.measured.empty()) return kNothingMeasured;
  const auto& [part, evaluation, doubts] = trained.measured.back();
  return metric_headline(part_text(part, evaluation, trained.fields.split(part)->split.cautions),
                         evaluation);
}

// "Trained for 500 steps in 1:29; the model has the weights of step 400"
std::string choice_text(const TrainJob& job, const TrainFields& fields) {
  std::string text = fmt::format("Trained for {} steps in {}; the model has the weights of step {}",
                                 grouped(fields.steps), clock_text(fields.train_runtime),
                                 grouped(fields.weights_of_step));
  if (fields.ended_early) text += "; stopped early, as no evaluation improved";
  if (const std::optional<Interval>& interval = fields.validation_test_gap_interval)
    text += fmt::format("; accuracy on validation minus test: {} points (95% CI {} to {})",
                        points_text(*fields.validation_test_gap), points_text(interval->low),
                        points_text(interval->high));
  if (fields.class_weights) text += "; class weights apply to the training loss only";
  if (job.training.training.label_smoothing_factor > 0)
    text += "; label smoothing applies to the training loss only";
  if (const std::string distilled = to_text(job.distill); !distilled.empty())
    text += "; " + distilled;
  if (fields.protocol == to_string(Protocol::original))
    text += "; protocol original: choices were made on the test split, so its result is too good";
  return text;
}

void report_one(const TrainRun& run, const Trained& trained, JobResult& result) {
  const TrainFields& fields = trained.fields;
  Document& document = result.document;
  document.headline = headline(trained);
  document.key_figures = {
      {"Mean training loss", display_text(real(fields.train_loss, 4))},
      {"Throughput",
       fmt::format("{} examples/s", grouped(std::llround(fields.train_samples_per_second)))}};
  document.evidence = choice_text(run.job, fields) + ".";
  document.sections = {{"", {}}, trained.curve};
  std::vector<Block>& blocks = document.sections[0].blocks;
  if (!trained.measured.empty())
    blocks.push_back(PageTable{results_table(trained.measured), cautions_line(fields)});
  if (!trained.before.empty()) blocks.push_back(Paragraph{trained.before});
  blocks.push_back(Paragraph{trained.size});
  if (!trained.measured.empty())
    document.sections.push_back(details_section(trained.measured, trained.labels));
  for (const auto& lines : {trained.doubts, trained.notes})
    document.notes.insert(document.notes.end(), lines.begin(), lines.end());
  result.fields = to_json(fields);
}

// Of the part the job is judged by, and of the other.
std::vector<std::string> sentences_of(const std::vector<Json>& results) {
  std::vector<std::string> sentences;
  for (const char* part : {kParts[1], kParts[0]})
    if (value_at(results.front(), part).is_object())
      sentences.push_back(metric_headline_of_seeds(results, {part, part}));
  if (sentences.empty()) sentences.emplace_back(kNothingMeasured);
  return sentences;
}

std::vector<std::string> of_seed(std::uint64_t seed, std::vector<std::string> notes) {
  for (std::string& note : notes) note = fmt::format("seed {}: {}", seed, note);
  return notes;
}

// Those that an earlier run has left among them.
std::vector<Json> results_of_seeds(const TrainRun& run,
                                   const std::function<Start(std::uint64_t)>& open) {
  const TrainJob& job = run.job;
  std::vector<Json> results;
  for (const SeedFolder& seed : seed_folders(run.output.path(), job.seed, job.seeds)) {
    if (!seed.done)
      tell_warnings(
          run.context,
          of_seed(seed.seed, train_once(run, open(seed.seed), seed.seed, seed.path).notes));
    results.push_back(read_json(seed.path / "results.json"));
  }
  return results;
}

TrainSeedsFields fields_of_seeds(const TrainRun& run, const std::vector<Json>& results) {
  TrainSeedsFields fields{.subject = run.subject(), .protocol = to_string(run.data.protocol)};
  for (const Json& result : results) {
    TrainFields one = from_json<TrainFields>(result);
    fields.runs.push_back({one.seed, std::move(one.validation), std::move(one.test)});
    if (fields.runs.size() > 1) continue;
    fields.size = one.size;
    fields.lora = one.lora;
    fields.vocabulary = std::move(one.vocabulary);
    fields.class_weights = std::move(one.class_weights);
    fields.distill = std::move(one.distill);
  }
  fields.seeds = std::ssize(fields.runs);
  for (const char* part : kParts) {
    if (!value_at(results.front(), part).is_object()) continue;
    std::vector<double> losses;
    for (const Json& result : results)
      losses.push_back(number_or_nan(result.at(part).at("eval_loss")));
    fields.metric_spread.emplace_back(part, metric_spread(results, part));
    fields.loss_spread.emplace_back(part, seed_spread(losses));
  }
  return fields;
}

void report_seeds(const TrainRun& run, const std::vector<Json>& results, JobResult& result) {
  const std::vector<NamedFigures>& figures = figures_of_parts();
  result.fields = to_json(fields_of_seeds(run, results));
  Document& document = result.document;
  const char* part = run.data.test.size() > 0 ? "test" : "validation";
  const bool measured = value_at(results.front(), part).is_object();
  const std::vector<std::string> sentences = sentences_of(results);
  document.headline = sentences.front();
  result.basis.seeds = static_cast<std::int64_t>(results.size());
  std::vector<std::string> undrawn, doubts = seed_concerns(results, figures);
  document.sections = {{"", {PageTable{seed_table(results, figures)}}}};
  for (std::size_t i = 1; i < sentences.size(); ++i)
    document.sections[0].blocks.push_back(Paragraph{sentences[i]});
  if (measured) {
    const Figure dots = seed_figure(
        results, figures, fmt::format("{} trained; {} seeds", run.job.model, results.size()));
    document.sections[0].blocks.push_back(figure_block(
        dots, run.output.path() / "seeds",
        metric_title(figure_of(results.front()[part])) + " on each part, a dot for each seed",
        undrawn));
    for (std::string& sign : signs_of_no_learning(results, {part, part}, run.splits.source.guessed))
      doubts.push_back(std::move(sign));
  }
  document.sections.push_back(details_section_of_seeds(results, figures));
  for (const auto& lines : {doubts, undrawn}) {
    tell_warnings(run.context, lines);
    document.notes.insert(document.notes.end(), lines.begin(), lines.end());
  }
}

// The task and the labels of the model; where another task is asked for, that alone.
KnownLabels labels_to_train_for(const TrainJob& job) {
  KnownLabels known = known_labels(job.model);
  if (job.problem_type.empty()) return known;
  const Task task = with_context("`problem_type`", [&] { return parse_task(job.problem_type); });
  return known.task.value_or(task) == task ? KnownLabels{task, known.names} : KnownLabels{task, {}};
}

// The data with the classes of the model; with its own where they do not fit and the head may be a fresh one.
Splits splits_to_train_on(const TrainJob& job, const std::optional<TrainedOn>& before,
                          Context& context) {
  const KnownLabels known = labels_to_train_for(job);
  try {
    return load_splits(job.data, job.seed, known, before, DataUse::training, context);
  } catch (const UserError& error) {
    const bool mismatch = dynamic_cast<const LabelMismatch*>(&error) != nullptr;
    if (!job.ignore_mismatched_sizes && mismatch)
      fail("{}; give `ignore_mismatched_sizes` to begin with a fresh head for the data's labels",
           error.what());
    // What no label of the model's task can be may be one of another task.
    if (!job.ignore_mismatched_sizes || !(known.task || mismatch)) throw;
  }
  const std::optional<Task> asked = job.problem_type.empty() ? std::optional<Task>() : known.task;
  return load_splits(job.data, job.seed, KnownLabels{asked, {}}, before, DataUse::training,
                     context);
}

// Of classes: "; always 'good' would be right for 50.1%"
std::string majority_told(const DataSet& data, const PartFacts& facts) {
  if (data.task != Task::single_label) return "";
  return fmt::format("; always '{}' would be right for {}",
                     shown_name(data.label_names[facts.majority_class()]),
                     share_text(facts.majority_share()));
}

// What is learnt from, and where choices are made.
std::vector<std::string> parts_told(const Splits& splits) {
  std::vector<std::string> lines;
  for (const PartFacts& facts : splits.identity.parts)
    if (facts.part == "train")
      lines.push_back(fmt::format("train: {} examples{}: {}{}", grouped(facts.rows),
                                  facts.sample.empty() ? "" : fmt::format(" ({})", facts.sample),
                                  class_counts_text(facts, splits.source.label_names),
                                  majority_told(splits.source, facts)));
  if (splits.validation_source != "none")
    lines.push_back("validation: " + splits.validation_source);
  for (const PartFacts& facts : splits.identity.parts)
    if (facts.part == "test" && !facts.sample.empty())
      lines.push_back("test: the data's test part; " + facts.sample);
  return lines;
}

// Of an encoder that a pooling stands behind in its folder.
std::string modules_text(const TextModel& source, const std::string& name) {
  const bool pooled =
      !source.modules.empty() && read_module_list(source.modules, json_reader()).size() > 1;
  if (!pooled) return "";
  return fmt::format(
      "{} is a sentence model: a head for the labels is trained on its encoder, and its modules "
      "(pooling, limit, prompts) go along as they are; its embeddings become others by that, and "
      "nothing here trains them to be alike for similar texts",
      name);
}

// Fresh weights learn no positions beyond, and their folder says so.
TextModel with_limit_of(const TrainJob& job, TextModel fresh) {
  if (job.data.cut.max_seq_length > 0)
    fresh.limit = TokenLimit{job.data.cut.max_seq_length, "`max_seq_length`"};
  keep_truncation(job.data.cut, fresh);
  return fresh;
}

Start open_for_training(const TrainJob& job, const std::optional<LearntVocabulary>& vocabulary,
                        const Splits& splits, std::uint64_t seed, Context& context) {
  const LabelScheme labels = splits.source.scheme();
  if (vocabulary)
    return {
        with_limit_of(job, make_model(job.model, vocabulary->tokenizer, context, seed, labels))};
  const HeadFit head = job.ignore_mismatched_sizes ? HeadFit::may_be_fresh : HeadFit::must_fit;
  TextModel source = open_model(job.model, context, seed, labels, head);
  keep_truncation(job.data.cut, source);
  if (is_fresh(job.model)) return {with_limit_of(job, std::move(source))};
  if (job.lora) {
    // The base stays as it is, rounded or packed.
    const LoraOptions options = options_of_adapters(job, seed, source.model, context);
    insert_adapters(source.model, options, context.session());
    return {std::move(source), options};
  }
  check_not_packed(source.model, job.model);
  take_unrounded(source.model, source.folder);
  return {std::move(source)};
}

}  // namespace

const Fields& fields_of(const SplitEvaluationResult*) {
  using S = SplitEvaluationResult;
  static const Fields fields = describe<S>("split_evaluation", "A measurement of one split.",
                                           inlined<&S::evaluation>(), inlined<&S::split>());
  return fields;
}

namespace {

constexpr std::string_view kOfValidation =
                               "The validation split; null: the data has no validation split.",
                           kOfTest = "The test split; null: the data has no test split.",
                           kAdapterMeaning = "Size of the adapter; null without --lora.",
                           kVocabularyMeaning =
                               "The vocabulary that was learnt; null: the model had one.",
                           kClassWeightsMeaning =
                               "Weight of each class in the loss; null without --class_weights.",
                           kDistillMeaning = "The distillation; null without --distill.",
                           kProtocolMeaning =
                               "honest: choices are made on the validation split; original: on "
                               "the test split.";

}  // namespace

const Fields& fields_of(const TrainFields*) {
  using T = TrainFields;
  static const Fields fields = describe<T>(
      "train", "A training of one seed.", inlined<&T::subject>(),
      field<&T::train_loss>("train_loss", Unit::nats, "Mean over all steps; null: there were none.")
          .or_null(),
      field<&T::train_runtime>("train_runtime", Unit::seconds, "Duration."),
      field<&T::train_samples_per_second>("train_samples_per_second", Unit::examples_per_second,
                                          "Throughput."),
      field<&T::train_steps_per_second>("train_steps_per_second", Unit::steps_per_second,
                                        "Throughput in steps."),
      field<&T::train_samples>("train_samples", Unit::examples, "Size of the training split."),
      field<&T::steps>("steps", Unit::steps, "Steps done."),
      field<&T::loss_fell>("loss_fell",
                           "Whether the mean loss of the last tenth of the steps, five at least, "
                           "is below that of the first; null under ten steps."),
      field<&T::ended_early>("ended_early", "Whether it stopped because no evaluation improved."),
      field<&T::weights_of_step>("weights_of_step", "The step whose weights the model has."),
      field<&T::protocol>("protocol", kProtocolMeaning),
      field<&T::seed>("seed", "Random seed of order, dropout and fresh weights."),
      field<&T::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&T::before>("before",
                        "The model without the adapter, on the split that judges the training; "
                        "null without --lora, and without such a split."),
      field<&T::before_fresh_head>("before_fresh_head",
                                   "Whether its head, or a part of it, was untrained; null where "
                                   "`before` is."),
      field<&T::vocabulary>("vocabulary", kVocabularyMeaning),
      field<&T::distill>("distill", kDistillMeaning),
      field<&T::class_weights>("class_weights", kClassWeightsMeaning),
      field<&T::validation>("validation", kOfValidation), field<&T::test>("test", kOfTest),
      field<&T::validation_test_gap>("validation_test_gap", Unit::difference,
                                     "Accuracy on validation minus test; null unless both exist "
                                     "and differ, and for other tasks."),
      field<&T::validation_test_gap_interval>("validation_test_gap_interval", Unit::difference,
                                              "Its 95% interval, by Newcombe's method."),
      field<&T::lora>("lora", kAdapterMeaning), field<&T::size>("size", "Size of the weights."));
  return fields;
}

const Fields& fields_of(const TrainRunResult*) {
  using R = TrainRunResult;
  static const Fields fields = describe<R>(
      "train_run", "One seed of a training.", field<&R::seed>("seed", "Random seed."),
      field<&R::validation>("validation", kOfValidation), field<&R::test>("test", kOfTest));
  return fields;
}

const Fields& fields_of(const TrainSeedsFields*) {
  using T = TrainSeedsFields;
  static const Fields fields = describe<T>(
      "train_seeds", "A training of several seeds.", inlined<&T::subject>(),
      field<&T::protocol>("protocol", kProtocolMeaning),
      field<&T::size>("size", "Size of the weights of one seed."),
      field<&T::lora>("lora", kAdapterMeaning),
      field<&T::vocabulary>("vocabulary", kVocabularyMeaning),
      field<&T::class_weights>("class_weights", kClassWeightsMeaning),
      field<&T::distill>("distill", kDistillMeaning),
      field<&T::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&T::runs>("runs", "Each seed."),
      field<&T::metric_spread>("metric_spread",
                               "The metric by which the task is judged over the seeds, by split."),
      field<&T::loss_spread>("loss_spread", "The loss over the seeds, by split."));
  return fields;
}

JobResult train_model(const TrainJob& job, Context& context) {
  JobResult result;
  std::vector<std::string>& notes = result.document.notes;
  result.document.title = fmt::format("{} trained on {}", job.model, job.data.options.source);
  result.document.output = job.output.folder;
  user_check(!job.lora || !is_fresh(job.model),
             "`lora`: {} has fresh weights, and adapters need a base that is trained and kept; "
             "train without them first",
             job.model);
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  const std::optional<TrainedOn> before = record_with_parent(known_record(job.model), job.distill);
  const Splits splits = splits_to_train_on(job, before, context);
  check_trainable(splits);
  const bool learns = total_steps(job.training.training, std::ssize(splits.source.train)) > 0;
  const std::optional<LearntVocabulary> vocabulary =
      learn_vocabulary({job.model, job.data.options.source, job.vocabulary,
                        job.resume.resume ? output.path() : fs::path()},
                       splits.source.train, context);
  Start start = open_for_training(job, vocabulary, splits, job.seed, context);
  const TextModel& source = start.model;
  notes = source.model.warnings;
  TrainedOn after =
      learns ? after_training(before, splits.identity.hash, row_hashes(splits.source.train),
                              row_hashes(splits.source.validation))
             : source.trained_on.value_or(TrainedOn{.complete = false});
  if (!learns) notes.emplace_back("nothing is learnt: the training has no steps");
  remember_columns(after, splits.identity.columns);
  // Where nothing is chosen, that the validation part was set aside flatters no figure on it.
  const TrainedOn seen =
      learns && !job.training.chooses()
          ? after_training(before, splits.identity.hash, row_hashes(splits.source.train), {})
          : after;
  const MeasuredTexts test =
      splits.source.test.empty() ? MeasuredTexts{} : measured_texts(splits, "test", seen);
  if (std::string warning = truncation_warning(job.data.cut); !warning.empty())
    notes.push_back(std::move(warning));
  const EncodedSplits data =
      encode_splits(source, splits, test, seen, job.data.cut, context, notes);
  std::optional<Parent> parent =
      open_parent(job.distill, source.model, splits.source, job.data.cut, context, notes);
  tell_warnings(context, notes);
  std::vector<std::string> told = parts_told(splits);
  if (!job.lora && path_exists(source.folder / kUnroundedFile) && !source.folder.empty())
    told.push_back(fmt::format("weights: {} goes on from those before rounding ({})", job.model,
                               kUnroundedFile));
  if (vocabulary) told.push_back(vocabulary_text(*vocabulary, data.train));
  if (learns) told.push_back(modules_text(source, job.model));
  std::erase(told, "");
  tell_notes(context, told);
  for (const auto& lines : {splits.source.notes, splits.source.warnings, told})
    notes.insert(notes.end(), lines.begin(), lines.end());
  if (!begin_run(job.invocation, source.model.parameters, data, output,
                 parent ? &*parent : nullptr))
    return finished<JobResult>(output, job.output);
  result.basis =
      basis_of(job.data.options.source, data,
               std::string(arithmetic_of_run(forward_graph(source.model), context.session())));
  TrainRun run{
      job,        splits, data,    job.row_hashes ? std::optional(after) : without_rows(after),
      vocabulary, output, context, job.training};
  if (parent)
    learn_from(*std::exchange(parent, std::nullopt), data.train, job.distill, job.seed, job.seeds,
               run.training, context);
  if (job.seeds == 1) {
    // It is not kept here too: what is trained would be copied.
    const Trained trained = train_once(run, std::move(start), job.seed, output.path());
    report_one(run, trained, result);
    for (const auto& lines : {trained.doubts, trained.notes}) tell_warnings(context, lines);
  } else {
    const std::vector<Json> results = results_of_seeds(run, [&](std::uint64_t seed) {
      return open_for_training(job, vocabulary, splits, seed, context);
    });
    report_seeds(run, results, result);
  }
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
