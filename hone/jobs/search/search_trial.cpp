#include "hone/jobs/search/search_trial.h"

#include <fmt/ranges.h>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/ir/quoted.h"
#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/prune/shapes.h"
#include "hone/jobs/prune/sparsify.h"
#include "hone/jobs/search/native_trial.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/models/model_zeros.h"
#include "hone/models/transform.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

/// Returns the config.json for fresh weights.
std::string config_name(const TrialSubject& subject) {
  return is_new_model(subject.name) ? subject.name
                                    : (find_encoder(subject.name) / "config.json").string();
}

// Returns the baseline, or random weights for this architecture.
Model model_of(const TrialSubject& subject, const TrialConfiguration& configuration,
               std::uint64_t seed, Context& context) {
  if (!subject.fresh) return subject.baseline.model;
  return make_model(config_name(subject), subject.baseline.tokenizer, context, seed,
                    subject.baseline.model.facts.scheme(), configuration.architecture)
      .model;
}

SparsifyOptions pruning_of(const TrialSubject& subject, const Json& values, std::uint64_t seed) {
  const auto section = settings_of<PruningSection>(values);
  SparsifyOptions how{.pruning = section.weights, .calibration = subject.calibration};
  if (section.activations > 0) how.activations = section.activations;
  how.pruning.rule.seed = how.calibration.seed = seed;
  return how;
}

// "r=4,alpha=8", for `adapter_options`.
std::string adapter_text(const Json& settings) {
  std::string text;
  for (const auto& [key, value] : settings.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key,
                        value.is_string() ? value.get<std::string>() : to_line(value));
  return text;
}

QuantizationPlan plan_of(const TrialConfiguration& configuration, const FormatTable& formats) {
  QuantizationPlan plan;
  for (const auto& [layer, operands] : configuration.formats.items()) {
    LayerFormats chosen;
    for (const Operand operand : kOperands)
      if (const std::string key(to_string(operand)); operands.contains(key))
        if (const std::string text = operands[key]; text != "none")
          chosen[operand] = parse_format(text, formats);
    if (chosen != LayerFormats{}) plan.emplace_back(layer, chosen);
  }
  return plan;
}

// Drops formats of operands that layers do not have, such as biases, and of layers that [structure] removed.
QuantizationPlan fitting(QuantizationPlan plan, const Graph& graph) {
  std::erase_if(plan, [&](const auto& entry) { return graph.find(entry.first) == nullptr; });
  for (auto& [layer, formats] : plan)
    for (const Operand operand : kOperands)
      if (!has_operand(*graph.find(layer), operand)) formats[operand].reset();
  std::erase_if(plan, [](const auto& entry) { return entry.second == LayerFormats{}; });
  return plan;
}

Json formats_json(const QuantizationPlan& plan) {
  Json formats = Json::object();
  for (const auto& [layer, chosen] : plan)
    for (const Operand operand : kOperands)
      if (chosen[operand])
        formats[layer][std::string(to_string(operand))] = to_string(*chosen[operand]);
  return formats;
}

/// Time since its construction.
class TrialClock {
 public:
  double seconds() const { return steady_seconds() - begin_; }
  double cpu_seconds() const { return hone::cpu_seconds() - cpu_begin_; }

 private:
  double begin_ = steady_seconds(), cpu_begin_ = hone::cpu_seconds();
};

/// A trial in progress, with the state that its steps share.
class TrialSteps {
 public:
  TrialSteps(const TrialSubject& subject, const TrialSpace& space,
             const TrialConfiguration& configuration, std::uint64_t seed,
             const EvaluationCallback& watch, const TrialProgress& progress, Context& context)
      : subject_(subject),
        space_(space),
        configuration_(configuration),
        seed_(seed),
        watch_(watch),
        progress_(progress),
        context_(context),
        // Evaluations during training are useful only if someone watches.
        learned_from_(watch ? subject.data : subject.without_validation),
        layers_(space.precision_layers(configuration)),
        evaluations_(progress.evaluations) {}

  TrialModel run() {
    Model drawn = shaped_model();
    if (configuration_.structure)
      remove_units(drawn, settings_of<StructureSection>(*configuration_.structure));
    // The teacher's predictions have no dropout, so a student with dropout could not match them.
    if (configuration_.distillation) transform(drawn, "remove_dropout", context_.session());
    TrialModel trial{.unrounded = drawn, .model = drawn, .measurement = {}};
    Model& model = trial.unrounded;
    plan_ = fitting(plan_of(configuration_, context_.library.formats), unquantized_graph(model));
    for (const auto& [layer, share] : configuration_.sparsities.items())
      sparsities_.emplace_back(layer, layer_sparsity_from(share));
    set_shape_metrics(model);
    train(model);
    if (!ended_) compress(model, trial);
    trial.ended_early = ended_;
    if (ended_) return trial;
    trial.model = configuration_.native ? native(model) : round_weights(model, context_);
    trial.stored_seconds = stored_.seconds;
    trial.stored_cpu_seconds = stored_.cpu_seconds;
    measure_into(trial);
    return trial;
  }

 private:
  // Removes units, by their importance to the baseline, and then layers, which renumbers the remaining ones.
  void remove_units(Model& model, const StructureSection& section) {
    for (const auto& [kind, share] : {std::pair(UnitKind::heads, section.heads),
                                      std::pair(UnitKind::neurons, section.neurons)}) {
      if (share == 0) continue;
      StructureOptions options = section.how;
      options.kinds = {kind};
      options.sparsity = share;
      prune_units(model, options, subject_.unit_scores, context_);
    }
    if (section.layers > 0) drop_share_of_layers(model, section.layers, context_.session());
    layers_.clear();
    for (const Node* linear : model.graph.operations(kDefaultLayer))
      layers_.push_back(linear->name());
  }

  // Returns the packed model: rounded and corrected by `NativeCopies`, or as training through the formats left it.
  Model native(const Model& model) {
    if (!configuration_.train_on) {
      Model unmasked = model;
      transform(unmasked, "unprune", context_.session());  // zeros stay without training
      return NativeCopies(unmasked, plan_, subject_.data.train, subject_.calibration, {}, context_)
          .make(plan_);
    }
    Model packed = round_weights(model, context_);
    transform(packed, "pack", context_.session());
    return packed;
  }

  Model shaped_model() {
    Model model = model_of(subject_, configuration_, seed_, context_);
    if (!configuration_.identities.empty())
      transform(
          model,
          fmt::format("replace_by_identity(names={})",
                      hone::quoted(fmt::format("{}", fmt::join(configuration_.identities, ",")))),
          context_.session());
    return model;
  }

  FineTuneOptions training_options(const Json& values, const std::string& title) {
    FineTuneOptions options = settings_of(values, subject_.training);
    options.training.seed = seed_;
    options.title = title;
    if (configuration_.distillation) {
      const DistillJob distill{.teacher = subject_.name,
                               .options = settings_of<Distillation>(*configuration_.distillation)};
      add_teacher_logits({subject_.name, subject_.baseline, subject_.data.train},
                         subject_.data.train, distill, seed_, 1, options, context_,
                         progress_.teacher_logits);
    }
    if (!progress_.folder.empty())
      options.checkpoints = {
          .folder = progress_.folder / title, .keep = 1, .resume = true, .write_model = save_model};
    if (watch_)
      options.on_evaluation = [this](std::int64_t, const TaskEvaluation& evaluation) {
        std::map<std::string, double> metrics = evaluation_metrics(evaluation);
        metrics.insert(shape_.begin(), shape_.end());
        ended_ = !watch_(++evaluations_, metrics);
        return !ended_;
      };
    return options;
  }

  // Returns everything that affects the weights of the first training.
  Json trained_by() const {
    TrialConfiguration first = configuration_;
    first.pruning = first.native = first.train_on = std::nullopt;
    first.formats = first.sparsities = Json::object();
    first.allocation = Json();
    return {{"configuration", to_json(first)}, {"seed", seed_}};
  }

  void train(Model& model) {
    if (!configuration_.training) return;
    if (configuration_.lora)
      insert_adapters(
          model,
          adapter_options(adapter_text(*configuration_.lora), seed_, model, context_.library),
          context_.session());
    const std::optional<FinishedTraining> known = finished(trained_by());
    const TrialClock clock;
    if (!known) {
      TrainingLog log;
      fine_tune(model, learned_from_, training_options(*configuration_.training, kFirstTraining),
                log, context_);
    }
    if (configuration_.lora) transform(model, "fuse_lora", context_.session());
    if (known) {
      model.parameters = known->weights;
    } else {
      keep(trained_by(), model, clock);
    }
  }

  // Returns a cached training; its duration counts as this trial's.
  std::optional<FinishedTraining> finished(const Json& of) {
    if (!is_cached()) return std::nullopt;
    std::optional<FinishedTraining> known = progress_.trained.find(of);
    if (!known) return std::nullopt;
    stored_.seconds += known->seconds;
    stored_.cpu_seconds += known->cpu_seconds;
    return known;
  }

  void keep(const Json& of, const Model& model, const TrialClock& clock) {
    if (!is_cached() || ended_) return;
    progress_.trained.keep(of, {.weights = model.parameters,
                                .seconds = clock.seconds(),
                                .cpu_seconds = clock.cpu_seconds()});
  }

  // Watched trainings are never cached.
  bool is_cached() const { return progress_.trained.find && !watch_; }

  // Returns everything that affects the second training; allocated formats depend on more than the configuration.
  Json trained_on_by() const {
    return {{"configuration", to_json(configuration_)},
            {"seed", seed_},
            {"trained_on", formats_json(plan_)}};
  }

  void set_shape_metrics(const Model& model) {
    shape_ = shape_metrics(unquantized_graph(model), combined_plan(model, plan_), sparsities_,
                           layers_, subject_.data);
  }

  // Allocates formats for the trained and pruned model.
  void allocate(const Model& model, TrialModel& trial) {
    const AllocationRequest& request = space_.recipe().allocation->request;
    BestAllocation best =
        best_allocation(model, request, texts_of_layers(request.sensitivity_samples),
                        subject_.data.train, context_);
    plan_ = fitting(std::move(best.plan), unquantized_graph(model));
    sparsities_ = std::move(best.sparsities);
    set_shape_metrics(model);
    Json sparsities = Json::object();
    for (const auto& [layer, share] : sparsities_) sparsities[layer] = to_json(share);
    trial.allocated = {{"formats", formats_json(plan_)},
                       {"sparsities", sparsities},
                       {"predicted", best.predicted}};
  }

  AllocationTexts texts_of_layers(std::int64_t samples) const {
    if (subject_.allocation_data) return *subject_.allocation_data;
    return allocation_texts(subject_.data, samples, subject_.calibration, seed_);
  }

  // Returns the cached divergences of the two formats of linears, for the weights to round.
  LayerDivergences* known_divergences() {
    if (progress_.layer_divergences == nullptr) return nullptr;
    const auto native = settings_of<NativeSection>(*configuration_.native);
    const Json of = {{"trained_by", trained_by()},
                     {"pruning", configuration_.pruning.value_or(Json())},
                     {"linears", native.linears},
                     {"narrow", native.narrow}};
    return &(*progress_.layer_divergences)[to_line(of)];
  }

  // Adds masks, then quantizers, and trains both together if requested.
  void compress(Model& model, TrialModel& trial) {
    const bool trains = configuration_.train_on.has_value();
    TrainingLog log;
    if (configuration_.pruning) {
      SparsifyOptions how = pruning_of(subject_, *configuration_.pruning, seed_);
      if (trains && plan_.empty() && !space_.recipe().allocation && !configuration_.native) {
        how.trains = true;
        how.fine_tune = training_options(*configuration_.train_on, kSecondTraining);
      }
      model = sparsify(model, learned_from_, how, log, context_);
      if (how.trains) return;
    }
    if (space_.recipe().allocation) allocate(model, trial);
    if (configuration_.native) {
      NativeTrial chosen = native_trial(model, settings_of<NativeSection>(*configuration_.native),
                                        texts_of_layers(AllocationRequest{}.sensitivity_samples),
                                        subject_.data.train, known_divergences(), context_);
      plan_ = std::move(chosen.plan);
      trial.allocated = std::move(chosen.allocated);
      set_shape_metrics(model);
      if (!trains) return;  // `native` rounds the model
    }
    if (!plan_.empty() || !sparsities_.empty()) {
      CompressOptions how{
          .plan = plan_, .sparsities = sparsities_, .calibration = subject_.calibration};
      if (trains) {
        how.qat = true;
        if (const auto known = finished(trained_on_by())) how.trained = known->weights;
        if (!how.trained)
          how.fine_tune = training_options(*configuration_.train_on, kSecondTraining);
      }
      const TrialClock clock;
      model = hone::compress(model, learned_from_, how, log, context_);
      if (trains && !how.trained) keep(trained_on_by(), model, clock);
    } else if (trains) {
      fine_tune(model, learned_from_, training_options(*configuration_.train_on, kSecondTraining),
                log, context_);
    }
  }

  // Returns the model that the metrics are measured on.
  Model judged(const Model& model) const {
    if (!subject_.loadable) return model;
    Model plain = for_other_programs(model, context_.session());
    const TransformersLoading loading = transformers_loading(plain);
    user_check(loading.loads(), "`loadable`: {} makes a model that transformers cannot load: {}",
               to_line(to_json(configuration_)), loading.reason);
    return plain;
  }

  void measure_into(TrialModel& trial) {
    trial.measurement =
        measure(judged(trial.model), subject_.data.validation, subject_.training.eval_batch_size,
                context_, "validate", ProgressEnd::vanishes);
    trial.metrics = evaluation_metrics(trial.measurement.evaluation);
    trial.metrics.insert(shape_.begin(), shape_.end());
    // The file leaves out zeros, and includes scales that rounding added between layers.
    if (configuration_.native || !pruned_weights(trial.model.graph).empty())
      trial.metrics["packed_bytes"] =
          static_cast<double>(bytes_when_packed(trial.model, context_.pool).stored());
    const TaskEvaluation& evaluation = trial.measurement.evaluation;
    trial.intervals[kJudgedMetric] = {evaluation.value, evaluation.interval.low,
                                      evaluation.interval.high};
    const Zeros zeros = total(zeros_of(trial.model, context_.session()));
    trial.metrics["sparsity"] = zeros.share();
    if (!subject_.baseline_measured) return;
    const TaskComparison comparison =
        compare(subject_.baseline_measured->view(), trial.measurement.view(),
                truth_of(subject_.data.validation));
    if (comparison.counted) trial.metrics[kFlips] = comparison.counted->flip_share;
    trial.metrics[kMarginSnr] = comparison.snr_db;
    if (!subject_.gates.empty())
      trial.metrics[kGateMetric] =
          hardest(judge(subject_.gates, subject_.baseline_measured->view(),
                        trial.measurement.view(), truth_of(subject_.data.validation))
                      .verdict)
              .p_value;
    const Divergence far = divergence(subject_.baseline_measured->view(), trial.measurement.view(),
                                      truth_of(subject_.data.validation));
    trial.metrics[kDivergenceMetric] = far.mean;
    trial.intervals[kDivergenceMetric] = {far.mean, far.low, far.high};
  }

  const TrialSubject& subject_;
  const TrialSpace& space_;
  const TrialConfiguration& configuration_;
  std::uint64_t seed_;
  const EvaluationCallback& watch_;
  const TrialProgress& progress_;
  Context& context_;
  const EncodedSplits& learned_from_;
  std::vector<std::string> layers_;
  QuantizationPlan plan_;
  LayerSparsities sparsities_;
  std::map<std::string, double> shape_;
  std::int64_t evaluations_;
  FinishedTraining stored_ = {};  // duration of cached trainings, without weights
  bool ended_ = false;
};

}  // namespace

TrialModel run_trial(const TrialSubject& subject, const TrialSpace& space,
                     const TrialConfiguration& configuration, std::uint64_t seed,
                     const EvaluationCallback& watch, const TrialProgress& progress,
                     Context& context) {
  return TrialSteps(subject, space, configuration, seed, watch, progress, context).run();
}

std::int64_t training_steps(const TrialSubject& subject, const TrialConfiguration& configuration) {
  std::int64_t steps = 0;
  for (const std::optional<Json>* section : {&configuration.training, &configuration.train_on})
    if (*section)
      steps +=
          total_steps(settings_of(**section, subject.training).training, subject.data.train.size());
  return steps;
}

}  // namespace hone
