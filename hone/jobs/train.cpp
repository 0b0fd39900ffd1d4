#include "hone/jobs/train.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/models/unrounded.h"
#include "hone/models/vocabulary.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/learning_check.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

constexpr const char* kParts[] = {"validation", "test"};

const std::vector<NamedFigures>& figures_of_parts() {
  static const std::vector<NamedFigures> figures = {{kParts[0], kParts[0]}, {kParts[1], kParts[1]}};
  return figures;
}

// What the figures of all parts are to be read with, where there are several.
std::vector<std::string> common_cautions(const Json& result) {
  std::vector<std::string> common;
  if (!result.contains(kParts[0]) || !result.contains(kParts[1])) return common;
  const Json& others = result[kParts[1]]["cautions"];
  for (const Json& caution : result[kParts[0]]["cautions"])
    if (std::ranges::find(others, caution) != others.end()) common.push_back(caution);
  return common;
}

// What the figures of one part are to be read with, and not those of all.
std::vector<std::string> own_cautions(const Json& result, const std::string& part) {
  const std::vector<std::string> common = common_cautions(result);
  std::vector<std::string> own = result[part]["cautions"];
  std::erase_if(own, [&](const std::string& caution) {
    return std::ranges::find(common, caution) != common.end();
  });
  return own;
}

// Of both parts together; empty where there is nothing of the kind.
std::string cautions_line(const Json& result) {
  const std::vector<std::string> common = common_cautions(result);
  return common.empty() ? "" : fmt::format("Both parts: {}.", fmt::join(common, ", "));
}

Table results_table(const Json& result) {
  const char* first = result.contains(kParts[0]) ? kParts[0] : kParts[1];
  const FigureName figure = figure_of(value_at(result, first));
  Table table(
      {{"split", "Split"},
       {"examples", "Examples"},
       {figure.key, figure_title(figure)},
       figure == kAccuracy ? Column{"majority_share", "Majority"} : Column{"baseline", "Baseline"},
       {"loss", "Loss"}});
  for (const char* part : kParts) {
    if (!result.contains(part)) continue;
    const Json& e = result[part];
    std::string name = part;
    for (const std::string& caution : own_cautions(result, part)) name += ", " + caution;
    table.add_row(
        {name, e["eval_samples"].get<std::int64_t>(), figure_estimate(e), percent(baseline_of(e)),
         e["eval_loss"].is_null() ? Cell(absent) : real(e["eval_loss"].get<double>(), 4)});
  }
  return table;
}

/// One training from its start to the model in `folder`, and what the report needs of it.
struct Trained {
  Json result;
  std::vector<NamedEvaluation> measured;
  std::vector<std::string> labels;
  std::string size;  ///< of the weights, for people
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
  Json subject() const {
    return subject_of(job.model, data.identity,
                      data.test.size() > 0 ? data.measured : data.measured_validation);
  }
};

// What speaks against the figures.
void add_doubts(const TrainingLog& log, Trained& trained) {
  for (const auto& [part, evaluation, doubts] : trained.measured)
    for (const std::string& concern : concerns(evaluation, trained.labels))
      trained.doubts.push_back(fmt::format("{}: {}", part, concern));
  if (trained.measured.empty()) return;
  const auto& [part, evaluation, doubts] = trained.measured.back();
  for (std::string& sign : signs_of_no_learning(log.steps(), part, evaluation, trained.labels))
    trained.doubts.push_back(std::move(sign));
}

Json loss_fell_json(const TrainingLog& log) {
  const std::optional<bool> fell = loss_fell(log.steps());
  return fell ? Json(*fell) : Json();
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
Json before_training(const TrainRun& run, const Model& adapted) {
  const bool test = run.data.test.size() > 0;
  const EncodedSet& set = test ? run.data.test : run.data.validation;
  if (set.size() == 0) return {};
  const Measurement base = measure(adapted, set, run.training.eval_batch_size, run.context,
                                   "before training", ProgressEnd::vanishes);
  Json json = to_json(base, adapted.facts.labels);
  json.update(to_json(test ? run.data.measured : run.data.measured_validation));
  return json;
}

// "Before training, on test, n = 2,000: accuracy 81.9 ± 1.7%."
std::string before_text(const Json& result) {
  if (!result.contains("before")) return "";
  const Json& before = result["before"];
  return fmt::format("Before training, on {}, n = {}: {} {}{}", before["split"].get<std::string>(),
                     grouped(before["n"].get<std::int64_t>()), figure_title(figure_of(before)),
                     display_text(figure_estimate(before)),
                     result["before_fresh_head"] ? ", of a head as it was drawn." : ".");
}

Trained train_once(const TrainRun& run, Start start, std::uint64_t seed, const fs::path& folder) {
  const TrainJob& job = run.job;
  TextModel& source = start.model;
  const Json before = job.lora ? before_training(run, source.model) : Json();
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
  trained.result = run.subject();
  trained.result.update({{"train_loss", t.steps > 0 ? Json(t.mean_loss) : Json()},
                         {"train_runtime", t.seconds},
                         {"train_samples_per_second", examples / t.seconds},
                         {"train_steps_per_second", steps / t.seconds},
                         {"train_samples", run.data.train.size()},
                         {"steps", t.steps},
                         {"loss_fell", loss_fell_json(log)},
                         {"ended_early", t.end == TrainingEnd::early},
                         {"weights_of_step", tuned.weights_of_step},
                         {"protocol", to_string(run.data.protocol)},
                         {"seed", seed},
                         {"seeds", 1}});
  if (!before.is_null())
    trained.result.update({{"before", before}, {"before_fresh_head", source.model.fresh_head()}});
  if (run.vocabulary) trained.result["vocabulary"] = to_json(*run.vocabulary, run.data.train);
  if (Json distill = to_json(job.distill); !distill.is_null())
    trained.result["distill"] = std::move(distill);
  trained.labels = source.model.facts.labels;
  if (!tuned.class_weights.empty())
    for (std::size_t c = 0; c < trained.labels.size(); ++c)
      trained.result["class_weights"][trained.labels[c]] = tuned.class_weights[c];
  // What these weights do on the validation part is known already when the last evaluation, or the best, was of them.
  std::optional<Measurement> known = std::move(tuned.validation);
  std::vector<Proportion> right;
  for (const char* part : kParts) {
    const bool validation = part == kParts[0];
    const EncodedSet& set = validation ? run.data.validation : run.data.test;
    if (set.size() == 0) continue;
    if (!known || !(validation || run.data.protocol == Protocol::original))
      known = measure(source.model, set, options.eval_batch_size, run.context, part);
    trained.result[part] = to_json(*known, trained.labels);
    const MeasuredPart& measured = validation ? run.data.measured_validation : run.data.measured;
    trained.result[part].update(to_json(measured));
    if (const Evaluation* e = known->evaluation.classes())
      right.push_back({e->correct, e->examples, e->evidence});
    trained.measured.push_back({part, known->evaluation});
  }
  for (NamedEvaluation& one : trained.measured)
    one.cautions = own_cautions(trained.result, one.name);
  add_doubts(log, trained);
  // Under the original protocol both are the same texts.
  if (right.size() == 2 && run.data.protocol == Protocol::honest) {
    const Interval gap = difference_interval(right[0], right[1]);
    trained.result["validation_test_gap"] = right[0].share() - right[1].share();
    trained.result["validation_test_gap_interval"] = {gap.low, gap.high};
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
    const AdapterSize size = adapter_size(source.model, folder);
    trained.size = to_text(size);
    trained.result["lora"] = to_json(size);
  } else {
    write_model(source, folder);
  }
  const ModelSize size = model_size(source.model, folder);
  if (!job.lora) trained.size = to_text(size);
  trained.result["size"] = to_json(size);
  write_results("train", trained.result, folder);
  write_model_card({job.output.name_of(folder, run.output.path()),
                    run.job.invocation.command,
                    result_of("train", trained.result),
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
  return figure_headline(part_text(part, trained.result[part]), evaluation);
}

// "Trained for 500 steps in 1:29; the model has the weights of step 400"
std::string choice_text(const TrainJob& job, const Json& result) {
  std::string text = fmt::format("Trained for {} steps in {}; the model has the weights of step {}",
                                 grouped(result["steps"].get<std::int64_t>()),
                                 clock_text(result["train_runtime"].get<double>()),
                                 grouped(result["weights_of_step"].get<std::int64_t>()));
  if (result["ended_early"]) text += "; stopped early, as no evaluation improved";
  if (result.contains("validation_test_gap")) {
    const Json& interval = result["validation_test_gap_interval"];
    text +=
        fmt::format("; accuracy on validation minus test: {} points (95% CI {} to {})",
                    points_text(result["validation_test_gap"].get<double>()),
                    points_text(interval[0].get<double>()), points_text(interval[1].get<double>()));
  }
  if (result.contains("class_weights")) text += "; class weights apply to the training loss only";
  if (job.training.training.label_smoothing_factor > 0)
    text += "; label smoothing applies to the training loss only";
  if (const std::string distilled = to_text(job.distill); !distilled.empty())
    text += "; " + distilled;
  if (result["protocol"] == "original")
    text += "; protocol original: choices were made on the test split, so its result is too good";
  return text;
}

void report_one(const TrainRun& run, const Trained& trained, JobResult& result) {
  const Json& fields = trained.result;
  const Json& loss = fields["train_loss"];
  Document& document = result.document;
  document.headline = headline(trained);
  document.key_figures = {
      {"Mean training loss", loss.is_null() ? "–" : fmt::format("{:.4f}", loss.get<double>())},
      {"Throughput",
       fmt::format("{} examples/s",
                   grouped(std::llround(fields["train_samples_per_second"].get<double>())))}};
  document.evidence = choice_text(run.job, fields) + ".";
  document.sections = {{"", {}}, trained.curve};
  std::vector<Block>& blocks = document.sections[0].blocks;
  if (!trained.measured.empty())
    blocks.push_back(PageTable{results_table(fields), cautions_line(fields)});
  if (const std::string before = before_text(fields); !before.empty())
    blocks.push_back(Paragraph{before});
  blocks.push_back(Paragraph{trained.size});
  if (!trained.measured.empty())
    document.sections.push_back(details_section(trained.measured, trained.labels));
  for (const auto& lines : {trained.doubts, trained.notes})
    document.notes.insert(document.notes.end(), lines.begin(), lines.end());
  result.fields = fields;
}

// Of the part the job is judged by, and of the other.
std::vector<std::string> sentences_of(const std::vector<Json>& results) {
  std::vector<std::string> sentences;
  for (const char* part : {kParts[1], kParts[0]})
    if (results.front().contains(part))
      sentences.push_back(figure_headline_of_seeds(results, {part, part}));
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

void report_seeds(const TrainRun& run, const std::vector<Json>& results, JobResult& result) {
  const std::vector<NamedFigures>& figures = figures_of_parts();
  Json& summary = result.fields;
  summary = run.subject();
  summary["protocol"] = to_string(run.data.protocol);
  for (const char* key : {"size", "lora", "vocabulary", "class_weights", "distill"})
    if (results.front().contains(key)) summary[key] = results.front()[key];
  summary.update(runs_json(results, figures));
  Document& document = result.document;
  const char* part = results.front().contains("test") ? "test" : "validation";
  const bool measured = results.front().contains(part);
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
        figure_title(figure_of(results.front()[part])) + " on each part, a dot for each seed",
        undrawn));
    for (std::string& sign : signs_of_no_learning(results, {part, part}))
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
    if (!job.ignore_mismatched_sizes || !known.task) throw;
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
