#include "hone/jobs/search/search_subject.h"

#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/models/model_size.h"
#include "hone/models/model_zeros.h"
#include "hone/models/unrounded_weights.h"
#include "hone/models/vocabulary.h"

namespace hone {
namespace {

// Every trial draws its own weights, so the parent only provides the labels and the vocabulary, which is learned from
// the training texts if the model has none.
TextModel first_of_fresh(const SearchJob& job, const Splits& splits, Context& context) {
  const LabelScheme labels = splits.source.scheme();
  const std::optional<LearnedVocabulary> vocabulary = learn_vocabulary(
      {job.model, job.data.options.source, job.vocabulary, {}}, splits.source.train, context);
  return vocabulary ? make_model(job.model, vocabulary->tokenizer, context, job.seed, labels)
                    : open_model(job.model, context, job.seed, labels);
}

void load_fresh(const SearchJob& job, TrialSubject& subject, Context& context,
                std::vector<std::string>& notes) {
  JobData measured_data = job.data;
  measured_data.options.split = job.split;
  const Splits splits = load_splits(measured_data, job.seed, known_labels(job.model),
                                    known_record(job.model), DataUse::training, context);
  check_trainable(splits);
  subject.baseline = first_of_fresh(job, splits, context);
  keep_truncation(job.data.cut, subject.baseline);
  std::vector<std::string> warnings = subject.baseline.model.warnings;
  // The record of every trial: trained on the training split, chosen on the validation split.
  const TrainedOn record =
      after_training(TrainedOn{}, splits.identity.hash, row_hashes(splits.source.train),
                     row_hashes(splits.source.validation));
  subject.data =
      encode_splits(subject.baseline, splits, evaluation_examples(splits, job.split, record),
                    record, job.data.cut, context, warnings);
  print_warnings(context, warnings);
  for (const auto& lines : {splits.source.notes, splits.source.warnings, warnings})
    notes.insert(notes.end(), lines.begin(), lines.end());
  report_choice(subject.data, "", context, notes);
}

void check_config_builds(const TextModel& baseline, const std::string& name) {
  user_check(!baseline.model.quantization && baseline.model.facts.history.passes.empty(),
             "{}: its config.json does not build its graph, so its architecture cannot vary; give "
             "the model that it was made from, or a config.json",
             name);
}

}  // namespace

TrialSubject read_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes) {
  const bool chooses_architecture = !recipe.architecture.empty() || recipe.square_linears;
  const bool fresh = is_new_model(job.model);
  check_reads_texts(facts_of_model(job.model), job.model, "a search");
  TrialSubject subject{.name = job.model,
                       .baseline = open_model(job.model, context, job.seed),
                       .fresh = fresh || chooses_architecture,
                       .data = {},
                       .without_validation = {},
                       .training = job.training,
                       .calibration = job.calibration,
                       .seed = job.seed,
                       .computed_by = computed_by(context.session())};
  if (fresh) {
    load_fresh(job, subject, context, notes);
  } else {
    check_not_packed(subject.baseline.model, job.model);
    if (chooses_architecture) check_config_builds(subject.baseline, job.model);
    load_unrounded(subject.baseline.model, subject.baseline.folder);
    subject.data = load_encoded(subject.baseline, job.model, job.data, job.split, job.seed,
                                MetricsOf::candidates, context, notes);
  }
  // Under the original protocol, choices are made on the reported texts.
  if (choice_split(subject.data).name == "test") subject.data.validation = subject.data.test;
  subject.without_validation = subject.data;
  subject.without_validation.validation = {};
  user_check(!subject.fresh || !job.gates.any(),
             "`max_drop`, `gate`: every trial has new random weights, so there is no trained "
             "baseline to compare with; leave them out");
  subject.gates = gates_of(job.gates, subject.baseline.model, job.model);
  score_units(recipe, subject, context);
  return subject;
}

TrialSubject open_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes) {
  TrialSubject subject = read_subject(job, recipe, context, notes);
  if (!subject.fresh)
    subject.baseline_measured =
        measure(subject.baseline.model, subject.data.validation, job.training.eval_batch_size,
                context, "validate", ProgressEnd::vanishes);
  return subject;
}

std::map<std::string, double> baseline_metrics(const TrialSubject& subject, Context& context) {
  const Model& model = subject.baseline.model;
  const Graph graph = unquantized_graph(model);
  std::vector<std::string> linears;
  for (const Node* linear : graph.operations(kDefaultLayer)) linears.push_back(linear->name());
  std::map<std::string, double> values = evaluation_metrics(subject.baseline_measured->evaluation);
  values.merge(shape_metrics(graph,
                             model.quantization ? model.quantization->plan : QuantizationPlan(),
                             /*sparsities=*/{}, linears, subject.data));
  values["packed_bytes"] = static_cast<double>(bytes_when_packed(model, context.pool).stored());
  values["sparsity"] = total(zeros_of(model, context.session())).share();
  values[kFlips] = values[kDivergenceMetric] = 0;
  return values;
}

// Units are scored once, by their importance to the baseline of all trials.
void score_units(const SearchRecipe& recipe, TrialSubject& subject, Context& context) {
  if (!recipe.structure || subject.fresh) return;
  const auto structure = settings_of<StructureSection>(fixed_values(recipe.structure));
  subject.unit_scores = unit_scores(
      structure.how.method, subject.baseline.model, {std::begin(kUnitKinds), std::end(kUnitKinds)},
      subject.data.train, {.batch_size = 8, .batch_count = 32, .seed = subject.seed}, context);
}

std::optional<TrainedOn> record_of_trial(const SearchJob& job, const TrialSubject& subject,
                                         const TrialConfiguration& configuration) {
  const bool trained = configuration.training || configuration.train_on;
  std::optional<TrainedOn> before = subject.baseline.trained_on;
  if (subject.fresh) before = TrainedOn{};
  // The choice was made on the validation split, even if nothing was trained.
  std::optional<TrainedOn> record =
      after_training(before, subject.data.identity.hash,
                     trained ? subject.data.train_rows : std::vector<std::uint64_t>(),
                     subject.data.validation_rows);
  remember_columns(*record, subject.data.identity.columns);
  return job.row_hashes ? record : without_rows(record);
}

}  // namespace hone
