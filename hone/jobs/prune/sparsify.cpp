#include "hone/jobs/prune/sparsify.h"

#include <algorithm>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/prune_inputs.h"
#include "hone/tensor/dense.h"
#include "hone/train/input_hessians.h"
#include "hone/train/input_norms.h"
#include "hone/train/input_thresholds.h"
#include "hone/train/observed_gradients.h"
#include "hone/train/sparsegpt.h"
#include "hone/train/sparsity_schedule.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// Makes training score the weights to prune. Existing masks become final; weights that later masks remove may return.
void score_movement(const SparsifyOptions& options, const Model& model, PruneOptions& pruning,
                    FineTuneOptions& training) {
  for (const Node* weight : prunable_weights(model.graph, options.pruning.target)) {
    const std::string& name = weight->name();
    user_check(weight->trainable() && std::ranges::none_of(training.freeze,
                                                           [&](const std::string& glob) {
                                                             return glob_match(glob, name);
                                                           }),
               "{} is frozen, and `method` movement scores weights by how training moves them; "
               "leave it out of `target` or of `freeze`",
               name);
    training.training.optimizer.scored.insert(name);
    pruning.final_masks.emplace(name,
                                dense_on(model.parameters.at(mask_of(*weight).name()), cpu()));
  }
}

// Clears the momentum of removed weights. They have no gradients, so only weight decay changes them until they return.
void stop_removed(const Graph& graph, const std::string& weight, ParameterStore& parameters) {
  const std::string moment = first_moment_of(weight);
  const Tensor kept = dense_on(parameters.at(mask_of(*graph.find(weight)).name()), cpu());
  Device& device = parameters.at(moment).device();
  parameters.set(moment, masked(dense_on(parameters.at(moment), cpu()), kept).on(device));
}

// Makes masks grow during training. They depend only on the parameters, so a resumed run computes the same ones.
void prune_as_it_trains(const SparsifyOptions& options, const Model& model,
                        const SparsitySchedule& schedule, FineTuneOptions& training) {
  PruneOptions pruning = options.pruning;
  if (pruning.rule.method == PruneMethod::movement)
    score_movement(options, model, pruning, training);
  training.select_from_step = schedule.end + 1;
  training.before_step = [schedule, graph = model.graph, pruning = std::move(pruning),
                          scored = training.training.optimizer.scored](
                             std::int64_t step, ParameterStore& parameters) mutable {
    const std::optional<double> reached = schedule.at(step);
    if (!reached) return;
    pruning.rule.reached = *reached;
    for (const std::string& weight : scored)
      pruning.statistics[weight] = dense_on(parameters.at(movement_scores_of(weight)), cpu());
    prune(graph, parameters, pruning);
    for (const std::string& weight : scored) stop_removed(graph, weight, parameters);
  };
}

// Prunes and updates the weights that read the inputs of `hessian`.
void update_and_mask(const PruneRule& rule, InputHessian hessian, Model& model, ThreadPool& pool) {
  const InverseFactor factor = inverse_factor(std::move(hessian.sums), hessian.columns, pool);
  for (const std::string& name : hessian.weights) {
    Node& weight = *model.graph.find(name);
    const Tensor values = dense_on(model.parameters.at(name), cpu());
    const Tensor before =
        is_masked(weight) ? dense_on(model.parameters.at(mask_of(weight).name()), cpu()) : Tensor();
    const CompensatedWeight updated = sparsegpt(rule, {name, values, before}, factor, pool);
    model.parameters.set(name, updated.values.on(model.parameters.at(name).device()));
    insert_mask(model.graph, model.parameters, weight, updated.kept);
  }
}

// Returns the bytes of `update_and_mask` for the largest weight: factor, weight in double, copies in fp32, masks.
double bytes_of_updates(const Model& model, const std::vector<std::string>& target) {
  double most = 0;
  for (const Node* weight : prunable_weights(model.graph, target)) {
    const Tensor& values = model.parameters.at(weight->name());
    const auto columns = static_cast<double>(values.size(-1));
    most = std::max(most, 8 * columns * columns + 22 * static_cast<double>(values.count()));
  }
  return most;
}

void record_pruning(const SparsifyOptions& options, Model& model, const Session& session,
                    const std::function<bool()>& change) {
  change_model(model, "prune", change, session,
               prune_text(options.pruning) + (options.cubic ? " while it was trained" : ""));
}

// Adds the masks. With a rising sparsity they remove nothing yet.
void add_masks(const SparsifyOptions& options, Model& model, const Session& session) {
  PruneOptions first = options.pruning;
  if (options.cubic) {
    first.rule.reached = 0;
    first.rule.method = PruneMethod::l1;  // `movement` has no scores yet
  }
  record_pruning(options, model, session,
                 [&] { return prune(model.graph, model.parameters, first); });
}

void prune_by_sparsegpt(const SparsifyOptions& options, const EncodedSplits& data, Model& model,
                        const Session& session) {
  const PruneOptions& pruning = options.pruning;
  std::vector<InputHessian> hessians = input_hessians(
      forward_graph(model), pruning.target, model.parameters, text_examples(data.train),
      options.calibration, session, bytes_of_updates(model, pruning.target));
  record_pruning(options, model, session, [&] {
    for (InputHessian& hessian : hessians)
      update_and_mask(pruning.rule, std::move(hessian), model, session.pool);
    return true;
  });
}

// Returns the statistics that the method computes from examples.
std::map<std::string, Tensor> statistics_of(const SparsifyOptions& options,
                                            const EncodedSplits& data, Model& model,
                                            const Session& session) {
  const std::vector<std::string>& target = options.pruning.target;
  if (options.pruning.rule.method == PruneMethod::wanda)
    return input_norms(forward_graph(model), target, model.parameters, text_examples(data.train),
                       options.calibration, session);
  if (options.pruning.rule.method == PruneMethod::first_order)
    return absolute_gradients(model.graph, target, model.parameters, text_examples(data.train),
                              options.calibration, session);
  return {};
}

void add_thresholds(const SparsifyOptions& options, const EncodedSplits& data, Model& model,
                    const Session& session) {
  change_model(
      model, "prune_inputs",
      [&] { return !prune_inputs(model.graph, options.pruning.target).empty(); }, session,
      fmt::format("{} with magnitudes that cut a share of {}",
                  prune_inputs_text(options.pruning.target), *options.activations));
  calibrate_thresholds(forward_graph(model), model.parameters, text_examples(data.train),
                       *options.activations, options.calibration, session);
}

// Checks before a long training that pruned weights round to zero in the model's formats, with masks of the final size.
void check_formats(Model model, const SparsifyOptions& options, Context& context) {
  if (options.cubic) {
    PruneOptions all = options.pruning;
    all.rule.method = PruneMethod::l1;
    prune(model.graph, model.parameters, all);
  }
  round_weights(model, context);
}

}  // namespace

void check(const SparsifyOptions& options) {
  check(options.pruning.rule);
  usage_check(!options.activations || (*options.activations >= 0 && *options.activations < 1),
              "`activation_sparsity`: expected a share of at least 0 and below 1, got {}",
              options.activations.value_or(0));
  const PruneMethod method = options.pruning.rule.method;
  usage_check(method != PruneMethod::movement || (options.cubic && options.trains),
              "`method` movement scores weights by how training moves them: give `schedule` cubic, "
              "and `epochs` or `max_steps`");
  usage_check(method != PruneMethod::sparsegpt || !options.cubic,
              "`method` sparsegpt removes weights at once and updates the others: leave out "
              "`schedule`; training then starts from the result");
  usage_check(
      !options.cubic || options.trains,
      "`schedule` cubic raises the sparsity during training: give `epochs` or `max_steps` too");
}

Model sparsify(const Model& baseline, const EncodedSplits& data, const SparsifyOptions& given,
               TrainingLog& log, Context& context) {
  check(given);
  SparsifyOptions options = given;
  FineTuneOptions training = options.fine_tune;
  std::optional<SparsitySchedule> schedule;
  if (options.cubic) {
    const std::int64_t steps = total_steps(training.training, data.train.size());
    schedule = cubic_schedule(options.rise, steps, warmup_steps(training.training, steps));
  }
  Model model = baseline;
  options.pruning.statistics = statistics_of(options, data, model, context.session());
  if (options.pruning.rule.method == PruneMethod::sparsegpt) {
    prune_by_sparsegpt(options, data, model, context.session());
  } else {
    add_masks(options, model, context.session());
  }
  if (options.activations) add_thresholds(options, data, model, context.session());
  if (!options.trains) return model;
  check_formats(model, options, context);
  if (schedule) prune_as_it_trains(options, model, *schedule, training);
  fine_tune(model, data, training, log, context);
  apply_masks(model.graph, model.parameters);
  return model;
}

std::string summary(const SparsifyOptions& options) {
  const PruneRule& rule = options.pruning.rule;
  const std::string structure = structure_text(rule.structure);
  std::string text = rule.structure.pattern
                         ? fmt::format("pruned {}, {}", structure, to_string(rule.method))
                         : fmt::format("pruned {}{}, {}, {}", share_text(rule.sparsity),
                                       structure == "weights" ? "" : " in blocks of " + structure,
                                       to_string(rule.method), to_string(rule.scope));
  if (rule.mode != PruneMode::exact) text += fmt::format(" ({})", to_string(rule.mode));
  if (options.cubic) text += ", cubic";
  if (options.activations)
    text += fmt::format("; activations {}", share_text(*options.activations));
  return text;
}

std::vector<std::int64_t> calibration_rows(const EncodedSplits& data,
                                           const SparsifyOptions& options) {
  if (!options.activations && !needs_examples(options.pruning.rule.method)) return {};
  return calibration_rows(data.train.size(), options.calibration);
}

}  // namespace hone
