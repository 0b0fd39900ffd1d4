#include "hone/jobs/train_start.h"

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/labels.h"
#include "hone/models/unrounded_weights.h"

namespace hone {
namespace {

// Returns the task and labels of the model; if another task is requested, only that task.
KnownLabels labels_to_train_for(const TrainJob& job) {
  KnownLabels known = known_labels(job.model);
  if (job.problem_type.empty()) return known;
  const Task task = with_context("`problem_type`", [&] { return parse_task(job.problem_type); });
  return known.task.value_or(task) == task ? KnownLabels{task, known.names} : KnownLabels{task, {}};
}

}  // namespace

Splits splits_to_train_on(const TrainJob& job, const std::optional<TrainedOn>& before,
                          Context& context) {
  const KnownLabels known = labels_to_train_for(job);
  try {
    return load_splits(job.data, job.seed, known, before, DataUse::training, context);
  } catch (const UserError& error) {
    const bool mismatch = dynamic_cast<const LabelMismatch*>(&error) != nullptr;
    if (!job.ignore_mismatched_sizes && mismatch)
      fail("{}; give `ignore_mismatched_sizes` to start with a new head for the data's labels",
           error.what());
    // Labels that are invalid for the model's task can be valid for another.
    if (!job.ignore_mismatched_sizes || !(known.task || mismatch)) throw;
  }
  const std::optional<Task> asked = job.problem_type.empty() ? std::optional<Task>() : known.task;
  return load_splits(job.data, job.seed, KnownLabels{asked, {}}, before, DataUse::training,
                     context);
}

namespace {

// Fresh weights learn no positions beyond this limit, so their folder stores it.
TextModel with_limit_of(const TrainJob& job, TextModel fresh) {
  if (job.data.cut.max_seq_length > 0)
    fresh.limit = TokenLimit{job.data.cut.max_seq_length, "`max_seq_length`"};
  keep_truncation(job.data.cut, fresh);
  return fresh;
}

}  // namespace

TrainStart open_for_training(const TrainJob& job,
                             const std::optional<LearnedVocabulary>& vocabulary,
                             const Splits& splits, std::uint64_t seed, Context& context) {
  const LabelScheme labels = splits.source.scheme();
  if (vocabulary)
    return {
        with_limit_of(job, make_model(job.model, vocabulary->tokenizer, context, seed, labels))};
  const HeadFit head = job.ignore_mismatched_sizes ? HeadFit::may_be_new : HeadFit::must_fit;
  TextModel source = open_model(job.model, context, seed, labels, head);
  keep_truncation(job.data.cut, source);
  if (is_new_model(job.model)) return {with_limit_of(job, std::move(source))};
  if (job.lora) {
    // The base stays as it is, rounded or packed.
    const LoraOptions options = with_context(
        "`lora`", [&] { return adapter_options(*job.lora, seed, source.model, context.library); });
    insert_adapters(source.model, options, context.session());
    return {std::move(source), options};
  }
  check_not_packed(source.model, job.model);
  load_unrounded(source.model, source.folder);
  return {std::move(source)};
}

namespace {

// For classes: "; always predicting 'good' scores 50.1%".
std::string majority_note(const DataSet& data, const SplitFacts& facts) {
  if (data.task != Task::single_label) return "";
  return fmt::format("; always predicting '{}' scores {}",
                     shown_name(data.label_names[facts.majority_class()]),
                     share_text(facts.majority_share()));
}

// Describes the training data, and where choices are made.
std::vector<std::string> split_notes(const Splits& splits) {
  std::vector<std::string> lines;
  for (const SplitFacts& facts : splits.identity.splits)
    if (facts.split == "train")
      lines.push_back(fmt::format("train: {} examples{}: {}{}", grouped(facts.rows),
                                  facts.sample.empty() ? "" : fmt::format(" ({})", facts.sample),
                                  class_counts_text(facts, splits.source.label_names),
                                  majority_note(splits.source, facts)));
  if (splits.validation_source.origin != ValidationOrigin::none)
    lines.push_back("validation: " + splits.validation_source.text);
  for (const SplitFacts& facts : splits.identity.splits)
    if (facts.split == "test" && !facts.sample.empty())
      lines.push_back("test: the test split of the data; " + facts.sample);
  return lines;
}

// Describes an encoder whose folder has a pooling module.
std::string modules_text(const TextModel& source, const std::string& name) {
  const bool pooled = !source.sentence_folder.empty() &&
                      read_module_list(source.sentence_folder, json_reader()).size() > 1;
  if (!pooled) return "";
  return fmt::format(
      "{} is a sentence model: this trains a classification head and its encoder, and copies its "
      "modules (pooling, limit, prompts) unchanged; its embeddings change too, but are not trained "
      "for similarity",
      name);
}

}  // namespace

std::vector<std::string> start_notes(const TrainJob& job, const Splits& splits,
                                     const TextModel& source,
                                     const std::optional<LearnedVocabulary>& vocabulary,
                                     const EncodedSplits& data, bool learns) {
  std::vector<std::string> notes = split_notes(splits);
  if (!job.lora && path_exists(source.folder / kUnroundedFile) && !source.folder.empty())
    notes.push_back(
        fmt::format("weights: training of {} continues from the weights before rounding ({})",
                    job.model, kUnroundedFile));
  if (vocabulary) notes.push_back(vocabulary_text(*vocabulary, data.train));
  if (learns) notes.push_back(modules_text(source, job.model));
  std::erase(notes, "");
  return notes;
}

}  // namespace hone
