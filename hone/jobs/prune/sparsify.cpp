#include "hone/jobs/prune/sparsify.h"

#include "hone/base/percentage.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/prune_inputs.h"
#include "hone/train/input_norms.h"
#include "hone/train/input_thresholds.h"
#include "hone/train/sparsity_schedule.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Lets masks take on more while the model trains. What they hold follows from the weights, so a run that goes on does the same.
void prune_as_it_trains(const SparsifyOptions& options, const Model& model,
                        const SparsitySchedule& schedule, FineTuneOptions& training) {
  training.choose_from_step = schedule.rising_steps + 1;
  training.before_step = [schedule, graph = model.graph, pruning = options.pruning](
                             std::int64_t step, ParameterStore& parameters) mutable {
    const std::optional<double> sparsity = schedule.at(step);
    if (!sparsity) return;
    pruning.rule.sparsity = *sparsity;
    prune(graph, parameters, pruning);
  };
}

void put_masks(const SparsifyOptions& options, Model& model, const Session& session) {
  PruneOptions first = options.pruning;
  if (options.cubic) first.rule.sparsity = 0;
  change_model(
      model, "prune", [&] { return prune(model.graph, model.parameters, first); }, session,
      prune_text(options.pruning) + (options.cubic ? " while it was trained" : ""));
}

void put_thresholds(const SparsifyOptions& options, const EncodedSplits& data, Model& model,
                    const Session& session) {
  change_model(
      model, "prune_inputs",
      [&] { return !prune_inputs(model.graph, options.pruning.target).empty(); }, session,
      fmt::format("{} with magnitudes that cut a share of {}",
                  prune_inputs_text(options.pruning.target), *options.activations));
  calibrate_thresholds(forward_graph(model), model.parameters, text_examples(data.train),
                       *options.activations, options.calibration, session);
}

// With all that will be masked in the end: whether formats have a zero is better known before a training than after.
void check_formats(Model model, const SparsifyOptions& options, Context& context) {
  prune(model.graph, model.parameters, options.pruning);
  round_weights(model, context);
}

}  // namespace

void check(const SparsifyOptions& options) {
  check(options.pruning.rule);
  usage_check(!options.activations || (*options.activations >= 0 && *options.activations < 1),
              "`activation_sparsity`: expected a share from 0 on and below 1, got {}",
              options.activations.value_or(0));
  if (!options.cubic) return;
  usage_check(options.trains,
              "`schedule` cubic lets sparsity rise while the model is trained: give `epochs` or "
              "`max_steps` too");
  usage_check(!options.pruning.rule.structure.pattern,
              "`schedule` cubic goes with `structure` weights or blocks: {} is all or nothing",
              structure_text(options.pruning.rule.structure));
}

Model sparsify(const Model& parent, const EncodedSplits& data, const SparsifyOptions& given,
               TrainingLog& log, Context& context) {
  check(given);
  SparsifyOptions options = given;
  FineTuneOptions training = options.fine_tune;
  std::optional<SparsitySchedule> schedule;
  if (options.cubic)
    schedule = cubic_schedule(options.pruning.rule.sparsity, options.rise,
                              total_steps(training.training, data.train.size()));
  Model model = parent;
  if (options.pruning.rule.method == PruneMethod::wanda)
    options.pruning.input_norms =
        input_norms(forward_graph(model), options.pruning.target, model.parameters,
                    text_examples(data.train), options.calibration, context.session());
  put_masks(options, model, context.session());
  if (options.activations) put_thresholds(options, data, model, context.session());
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
  if (!options.activations && options.pruning.rule.method != PruneMethod::wanda) return {};
  return calibration_rows(data.train.size(), options.calibration);
}

}  // namespace hone
