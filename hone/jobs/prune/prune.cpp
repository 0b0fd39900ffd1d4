#include "hone/jobs/prune/prune.h"

#include <algorithm>

#include "hone/analysis/sparsity.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/prune/pruned_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/unrounded.h"
#include "hone/passes/prune_inputs.h"
#include "hone/study/result.h"
#include "hone/tensor/dense.h"
#include "hone/train/input_thresholds.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::string_view kNoSpeedUp =
    "No speed-up: zeros are stored and multiplied like other numbers.";

/// Zeros in the weights of products.
struct PrunedZeros {
  std::vector<Zeros> weights;  ///< of each weight with a mask
  Zeros pruned;                ///< of these together
  std::int64_t masked = 0;     ///< those under a mask; others were rounded to 0
  Zeros all;                   ///< of all parameters
};

PrunedZeros zeros_of(const Model& rounded) {
  PrunedZeros zeros;
  const std::vector<Zeros> all = parameter_zeros(rounded.graph, rounded.parameters);
  for (const Node* weight : pruned_weights(rounded.graph)) {
    zeros.weights.push_back(*std::ranges::find(all, weight->name(), &Zeros::name));
    zeros.masked += pruned_count(dense_on(rounded.parameters.at(mask_of(*weight).name()), cpu()));
  }
  zeros.pruned = total(zeros.weights);
  zeros.all = total(all);
  return zeros;
}

// "Zeros: 204,800 of 409,600 weights (50.0%) in 13 tensors, 27.8% of all 738,178 parameters."
std::string to_text(const PrunedZeros& zeros) {
  const std::int64_t rounded = zeros.pruned.zeros - zeros.masked;
  return fmt::format(
      "Zeros: {} of {} weights ({}) in {} tensor{}{}, {} of all {} parameters.",
      grouped(zeros.pruned.zeros), grouped(zeros.pruned.elements), share_text(zeros.pruned.share()),
      zeros.weights.size(), zeros.weights.size() == 1 ? "" : "s",
      rounded == 0
          ? ""
          : fmt::format(" ({} masked, {} other zeros)", grouped(zeros.masked), grouped(rounded)),
      share_text(zeros.all.share()), grouped(zeros.all.elements));
}

Table to_table(const PrunedZeros& zeros) {
  Table table(
      {{"weight", "Weight"}, {"elements", "Elements"}, {"zeros", "Zeros"}, {"share", "Share"}});
  for (const Zeros& one : zeros.weights)
    table.add_row({one.name, one.elements, one.zeros, percent(one.share())});
  return table;
}

Json to_json(const Zeros& zeros) {
  return {{"elements", zeros.elements}, {"zeros", zeros.zeros}, {"share", zeros.share()}};
}

Json to_json(const PrunedZeros& zeros) {
  Json weights = Json::array();
  for (const Zeros& one : zeros.weights) {
    Json row = {{"name", one.name}};
    row.update(to_json(one));
    weights.push_back(row);
  }
  return {{"weights", weights},
          {"pruned_weights", to_json(zeros.pruned)},
          {"masked", zeros.masked},
          {"all_parameters", to_json(zeros.all)}};
}

// "Activations: 9 thresholds set 29.8 to 31.2% of their inputs to zero, over 256 training examples."
std::string inputs_text(const std::vector<InputZeros>& inputs, std::size_t texts) {
  if (inputs.empty()) return "";
  const auto [least, most] = std::ranges::minmax(inputs, {}, &InputZeros::share);
  return fmt::format(
      "Activations: {} threshold{} set {} to {} of their inputs to zero, over {} training "
      "examples.",
      inputs.size(), inputs.size() == 1 ? "" : "s", share_text(least.share), share_text(most.share),
      grouped(static_cast<long long>(texts)));
}

Table to_table(const std::vector<InputZeros>& inputs) {
  Table table(
      {{"threshold", "Threshold"}, {"least", "Smallest magnitude kept"}, {"share", "Set to zero"}});
  for (const InputZeros& one : inputs)
    table.add_row({one.name, real(static_cast<double>(one.least), 6), percent(one.share)});
  return table;
}

Json to_json(const std::vector<InputZeros>& inputs) {
  Json rows = Json::array();
  for (const InputZeros& one : inputs)
    rows.push_back({{"name", one.name}, {"least", one.least}, {"share", one.share}});
  return rows;
}

std::optional<TrainedOn> record_of(const PruneReport& run, const SparsifyOptions& options) {
  std::optional<TrainedOn> record = run.parent.trained_on;
  std::vector<std::uint64_t> calibrated;
  for (const std::int64_t row : calibration_rows(run.data, options))
    calibrated.push_back(run.data.train_rows[static_cast<std::size_t>(row)]);
  if (!calibrated.empty())
    record = after_calibration(record, run.data.identity.hash, std::move(calibrated));
  if (options.trains) {
    record = after_training(record, run.data.identity.hash, run.data.train_rows,
                            run.data.validation_rows);
    remember_columns(*record, run.data.identity.columns);
  }
  return run.job.row_hashes ? record : without_rows(record);
}

SparsifyOptions with_seed(SparsifyOptions options, std::uint64_t seed) {
  options.pruning.rule.seed = options.calibration.seed = options.fine_tune.training.seed = seed;
  return options;
}

PrunedModel prune_once(const PruneReport& run, bool parent_is_unrounded,
                       const SparsifyOptions& shared, std::uint64_t seed, const fs::path& folder) {
  const PruneJob& job = run.job;
  SparsifyOptions options = with_seed(shared, seed);
  TextModel model = run.parent;
  model.trained_on = record_of(run, options);
  options.fine_tune.checkpoints = checkpoints_in(folder, job.resume, model, run.output);
  PrunedModel pruned;
  TrainingLog log = options.trains ? training_log_in(folder, job.report_to) : TrainingLog();
  const Model unrounded = sparsify(run.parent.model, run.data, options, log, run.context);
  const std::int64_t steps = options.trains ? show_training(run, log, folder, pruned) : 0;
  model.model = round_weights(unrounded, run.context);
  const PrunedZeros zeros = zeros_of(model.model);
  std::vector<InputZeros> inputs;
  if (options.activations)
    inputs = count_input_zeros(forward_graph(model.model), model.model.parameters,
                               text_examples(run.data.train), options.calibration,
                               run.context.session());
  measure_pruned(run, model.model, seed, steps, pruned);
  write_model(model, folder);
  if (model.model.quantization && (options.trains || parent_is_unrounded))
    write_unrounded(unrounded, model.model, folder);
  const SizeAndTime takes =
      size_and_time(run.parent, run.data.test, model.model, run.data.test, folder, run.context);
  const std::size_t texts = calibration_rows(run.data, options).size();
  const PruneRule& rule = options.pruning.rule;
  pruned.result.update({{"pruning", prune_text(options.pruning)},
                        {"method", to_string(rule.method)},
                        {"scope", to_string(rule.scope)},
                        {"structure", structure_text(rule.pattern)},
                        {"schedule", options.cubic ? "cubic" : "one_shot"},
                        {"activations", options.activations ? Json(*options.activations) : Json()},
                        {"inputs", to_json(inputs)},
                        {"calibration_texts", texts},
                        {"zeros", to_json(zeros)}});
  std::vector<std::string> removed = {to_text(zeros), inputs_text(inputs, texts),
                                      std::string(kNoSpeedUp)};
  std::erase(removed, "");
  std::vector<Section> tables = {{"Pruned weights", {PageTable{to_table(zeros)}}, /*folded=*/true}};
  if (!inputs.empty())
    tables.push_back({"Pruned activations",
                      {PageTable{to_table(inputs), "On the calibration examples."}},
                      /*folded=*/true});
  finish_pruned(run, model.model, takes, removed, std::move(tables), folder, pruned);
  return pruned;
}

}  // namespace

JobResult prune_job(const PruneJob& job, Context& context) {
  JobResult result;
  SparsifyOptions options = with_seed(job.how, job.seed);
  options.fine_tune.training.save_steps = job.resume.save_steps;
  options.fine_tune.title = "train pruned";
  check(options);
  check_seeds(job, options.trains || options.activations.has_value() ||
                       options.pruning.rule.method == PruneMethod::random);
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel parent = open_model(job.model, context, job.seed);
  check_not_packed(parent.model, job.model);
  // Unrounded weights rank without ties.
  const bool parent_is_unrounded = take_unrounded(parent.model, parent.folder);
  const std::vector<Gate> gates = gates_of(job.gates, parent.model, job.model);
  prunable_weights(parent.model.graph, options.pruning.target);
  if (options.activations) {
    Graph graph = parent.model.graph;
    prune_inputs(graph, options.pruning.target);
  }
  const EncodedSplits data = load_encoded(parent, job.model, job.data, job.split, job.seed,
                                          FiguresOf::one_model, context, result.document.notes);
  if (!begin_run(job.invocation, parent.model.parameters, data, output))
    return finished<JobResult>(output, job.output);
  const Measurement before = measure_before(parent, data, options.fine_tune.eval_batch_size,
                                            context, result.document.notes, "pruning");
  const PruneReport run{job, summary(options), parent, data, before, gates, output, context};
  return report_pruned(run, std::move(result), [&](std::uint64_t seed, const fs::path& folder) {
    return prune_once(run, parent_is_unrounded, options, seed, folder);
  });
}

}  // namespace hone
