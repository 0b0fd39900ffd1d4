#include "hone/labs/pipeline_cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "hone/analysis/cost.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/jobs/search/trial_subject.h"
#include "hone/labs/lab.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// The time of a process to read model and data, and to write its report.
constexpr double kSecondsOfAnyStage = 0.3;
// The cost factor of formats and masks, which are applied in every step.
constexpr double kStepsThroughFormats = 1.25;
constexpr double kUsualBatch = 8;
constexpr double kUsualTrials = 20;

/// The units of a stage's cost.
struct StageUnits {
  double train_texts = 0, test_texts = 0, validation_texts = 0;
  double text_seconds = 0;    ///< of a forward pass of one text
  double timing_seconds = 0;  ///< of timing a model and its baseline
  double weight_bytes = 0;
  double step_bytes = 0;       ///< memory of a training step
  double measuring_bytes = 0;  ///< memory of an evaluation batch
  /// What a search computes, in units of trials of the model itself if it searches shapes.
  struct Trials {
    double count = kUsualTrials, train_texts = 0;
  };
  std::map<std::string, Trials> searches = {};  ///< by stage
};

const StageOption* option_of(const PipelineStage& stage, std::string_view name) {
  const auto found = std::ranges::find(stage.options, name, &StageOption::name);
  return found == stage.options.end() ? nullptr : &*found;
}

std::string text_of(const PipelineStage& stage, std::string_view name) {
  const StageOption* option = option_of(stage, name);
  return option == nullptr || option->values.empty() ? "" : option->values.front().prefix;
}

double number_of(const PipelineStage& stage, std::string_view name, double otherwise) {
  const std::string text = text_of(stage, name);
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

// Returns the largest value of a setting in a section; 0 if it has none.
double most_of(const SearchRecipe::Section& section, std::string_view key) {
  if (section)
    for (const SearchSetting& setting : *section) {
      if (setting.key != key) continue;
      const Json& most = setting.ordered.empty() ? setting.value : setting.ordered.back();
      return most.is_number() ? most.get<double>() : setting.distribution.high;
    }
  return 0;
}

// Returns the most texts that a section of a space trains on in a trial.
double texts_of(const SearchRecipe::Section& section, const StageUnits& units) {
  if (const double steps = most_of(section, "max_steps"); steps > 0)
    return steps * std::max(kUsualBatch, most_of(section, "batch_size"));
  return std::max(most_of(section, "epochs"), most_of(section, "num_train_epochs")) *
         units.train_texts;
}

std::optional<SearchRecipe> recipe_of(const PipelineStage& stage, const FormatTable& formats) {
  try {
    return parse_search_recipe(text_of(stage, "space"), "space", formats);
  } catch (const UserError&) {
    return std::nullopt;  // the stage reports the error
  }
}

double values_of(const SearchSetting& setting) {
  if (!setting.varies()) return 1;
  if (!setting.ordered.empty()) return static_cast<double>(setting.ordered.size());
  const std::optional<std::uint64_t> size = setting.distribution.size();
  return size ? static_cast<double>(*size) : INFINITY;
}

double values_of(const std::vector<SearchSetting>& settings) {
  double values = 1;
  for (const SearchSetting& setting : settings) values *= values_of(setting);
  return values;
}

// Returns the number of points in the space, ignoring objections; infinite if layers choose individually.
double points_of(const SearchRecipe& recipe) {
  if (recipe.square_linears) return INFINITY;
  double points = values_of(recipe.architecture);
  for (const RecipeSection& section : recipe_sections())
    if (const SearchRecipe::Section& settings = recipe.*section.settings)
      points *= values_of(*settings);
  for (const PrecisionGroup& group : recipe.precision) {
    double formats = 0;
    for (const FormatTemplate& format : group.formats) formats += values_of(format.parameters);
    if (formats > 1 && group.choice == ChoiceScope::each) return INFINITY;
    points *= formats * values_of(group.sparsity);
  }
  return points;
}

// Returns what identifies a trial except its point: searches with the same subject compute every point once.
std::string subject_of_trials(const PipelineStage& stage) {
  const StageOption* model = option_of(stage, "MODEL");
  std::string subject = text_of(stage, "space");
  if (model != nullptr)
    for (const StageValue& value : model->values)
      subject += fmt::format("\n{}, {}", value.with(""),
                             value.stage ? std::to_string(*value.stage) : "given");
  return subject;
}

// Returns the cost of a trial relative to the model itself: the mean of the smallest and the largest shape.
double size_of_trial(const SearchRecipe& recipe, const TrialSubject& of, const Context& context) {
  if (recipe.architecture.empty()) return 1;
  const Bindings text = {{'B', 1}, {'S', 32}};
  double flops = 0;
  for (const bool largest : {false, true}) {
    Json shape = Json::object();
    for (const SearchSetting& setting : recipe.architecture)
      if (!setting.varies())
        shape[setting.key] = setting.value;
      else if (!setting.ordered.empty())
        shape[setting.key] = largest ? setting.ordered.back() : setting.ordered.front();
    if (!objection(of, {.architecture = shape}).empty()) return 1;
    flops += product_flops(trial_graph(of, shape, context), text) / 2;
  }
  return flops / product_flops(trial_graph(of, Json::object(), context), text);
}

/// Counts the trials of each search with points that previous searches have not computed. Each search samples without
/// repetition.
void count_computed_trials(const Pipeline& pipeline, const TrialSubject& of, const Context& context,
                           StageUnits& units) {
  std::map<std::string, double> known;
  for (const PipelineStage& stage : pipeline.stages) {
    if (!stage.kind.searches) continue;
    StageUnits::Trials& trials = units.searches[stage.name];
    const std::optional<SearchRecipe> recipe = recipe_of(stage, context.library.formats);
    if (!recipe) continue;
    const double points = points_of(*recipe);
    double& before = known[subject_of_trials(stage)];
    const double fresh =
        std::min(number_of(stage, "trials", kUsualTrials), points) * (1 - before / points);
    before += fresh;
    trials.count = fresh * size_of_trial(*recipe, of, context);
    trials.train_texts = trials.count * (texts_of(recipe->training, units) +
                                         kStepsThroughFormats * texts_of(recipe->train_on, units));
  }
}

// Returns the number of texts in training; 0 if it trains nothing.
double trained_texts(const PipelineStage& stage, const StageUnits& units) {
  if (stage.kind.searches) return units.searches.at(stage.name).train_texts;
  if (const double steps = number_of(stage, "max_steps", 0); steps > 0)
    return steps * number_of(stage, "batch_size", kUsualBatch);
  return number_of(stage, "num_train_epochs", 0) * units.train_texts;
}

// Returns the number of texts that are only evaluated: before, after, and in every epoch.
double measured_texts(const PipelineStage& stage, const StageUnits& units) {
  if (stage.chooses) return static_cast<double>(stage.dependencies.size()) * units.validation_texts;
  if (stage.kind.searches)
    return units.searches.at(stage.name).count * units.validation_texts + 2 * units.test_texts;
  switch (stage.kind.evaluates) {
    case StageKind::Evaluates::nothing:
      return 0;
    case StageKind::Evaluates::one_model:
      return units.test_texts + units.validation_texts;
    case StageKind::Evaluates::before_and_after:
      return 2 * units.test_texts +
             std::ceil(number_of(stage, "num_train_epochs", 0)) * units.validation_texts;
  }
  return 0;
}

// Commands that write a changed model time it and its baseline, unless they only simulate formats.
bool times_models(const PipelineStage& stage) {
  return stage.kind.evaluates == StageKind::Evaluates::before_and_after &&
         stage.kind.writes_model &&
         (!stage.kind.stores_unrounded || option_of(stage, "native") != nullptr);
}

StageCost cost_of(const PipelineStage& stage, const StageUnits& units) {
  const double trained = trained_texts(stage, units);
  const double through = stage.kind.trains_uncompressed ? 1 : kStepsThroughFormats;
  StageCost cost;
  cost.seconds =
      kSecondsOfAnyStage +
      units.text_seconds * (kStepsOfTraining * trained * through + measured_texts(stage, units)) +
      (times_models(stage) ? units.timing_seconds : 0);
  // Comparisons evaluate one model at a time.
  cost.memory_bytes = trained > 0 ? units.step_bytes : units.weight_bytes + units.measuring_bytes;
  // Stored in its folder and in the store; some also keep the unrounded weights.
  const double models = !stage.kind.writes_model                     ? 0
                        : stage.kind.stores_unrounded && trained > 0 ? 2
                                                                     : 1;
  cost.disk_bytes = 2 * models * units.weight_bytes;
  return cost;
}

double memory_bytes(const Cost& cost) {
  return static_cast<double>(cost.parameter_bytes + cost.peak_value_bytes);
}

// Measures a forward pass: the share of its peak that a device reaches depends on the model.
double seconds_of_text(const Model& model, const EncodedSet& texts, std::int64_t batch,
                       Context& context) {
  Predictor predictor(forward_graph(model), model.parameters, context.session());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(batch, texts.size())));
  std::iota(rows.begin(), rows.end(), 0);
  const NamedTensors inputs = text_examples(texts).batch(rows, 0);
  for (int i = 0; i < kPackingRuns + preparation_runs(*context.device); ++i) predictor.rows(inputs);
  const double start = steady_seconds();
  predictor.rows(inputs);
  return (steady_seconds() - start) / static_cast<double>(rows.size());
}

StageUnits units_of(const LabSubject& subject, double batch, Context& context) {
  const Model& model = subject.source.model;
  Graph training = model.graph;
  add_training_step(training, {}, context.session());
  const auto texts = static_cast<std::int64_t>(batch);
  const Bindings largest = {{'B', texts}, {'S', longest_text(subject.data.train)}};
  const Cost measuring = cost(forward_graph(model), largest);
  const double text_seconds = seconds_of_text(model, subject.data.train, texts, context);
  const double round_seconds = text_seconds * static_cast<double>(examples_of_round(
                                                  {model, subject.data.test}, *context.device));
  return {.train_texts = static_cast<double>(subject.data.train.ids.size()),
          .test_texts = static_cast<double>(subject.data.test.ids.size()),
          .validation_texts = static_cast<double>(subject.data.validation.ids.size()),
          .text_seconds = text_seconds,
          .timing_seconds = static_cast<double>(rounds_in_time(round_seconds)) * round_seconds,
          .weight_bytes = static_cast<double>(measuring.parameter_bytes),
          .step_bytes = memory_bytes(cost(training, largest)),
          .measuring_bytes = memory_bytes(measuring)};
}

}  // namespace

StageCosts lab_stage_costs(const Pipeline& pipeline, const std::string& model, const JobData& data,
                           std::uint64_t seed, Context& context) {
  double batch = kUsualBatch;
  JobData read = data;
  for (const PipelineStage& stage : pipeline.stages) {
    batch = std::max(batch, number_of(stage, "batch_size", batch));
    if (read.cut.max_seq_length == 0)
      read.cut.max_seq_length = static_cast<std::int64_t>(number_of(stage, "max_seq_length", 0));
    if (read.max_eval_samples == 0)
      read.max_eval_samples = static_cast<std::int64_t>(number_of(stage, "max_eval_samples", 0));
    if (read.options.source.empty()) read.options.source = text_of(stage, "data");
  }
  // The stages print remarks on model and data.
  const auto say = std::exchange(context.on_message, nullptr);
  const ProgressOutput progress = std::exchange(context.progress, {.quiet = true});
  std::optional<StageUnits> units;
  try {
    LabSubject subject = lab_subject(model, read, Fidelity::full, seed, context);
    units = units_of(subject, batch, context);
    const TrialSubject of{
        .name = model, .baseline = std::move(subject.source), .data = {}, .without_validation = {}};
    count_computed_trials(pipeline, of, context, *units);
  } catch (const UserError&) {
  }
  context.on_message = say;
  context.progress = progress;
  if (!units) return {};
  return [units = *units](const PipelineStage& stage) { return cost_of(stage, units); };
}

}  // namespace hone
