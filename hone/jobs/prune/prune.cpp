#include "hone/jobs/prune/prune.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/prune/pruned_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/zero_skipping.h"
#include "hone/models/unrounded_weights.h"
#include "hone/passes/prune_inputs.h"
#include "hone/report/field_table.h"
#include "hone/tensor/dense.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

PrunedZerosResult zeros_of(const Model& rounded, const Session& session) {
  PrunedZerosResult result{.skipping = zero_skipping(rounded, session)};
  std::vector<Zeros> pruned;
  const std::vector<Zeros> all = parameter_zeros(rounded.graph, rounded.parameters);
  for (const Node* weight : pruned_weights(rounded.graph)) {
    pruned.push_back(*std::ranges::find(all, weight->name(), &Zeros::name));
    result.weights.push_back({weight->name(), pruned.back()});
    result.masked += pruned_count(dense_on(rounded.parameters.at(mask_of(*weight).name()), cpu()));
  }
  result.pruned_weights = total(pruned);
  result.all_parameters = total(all);
  return result;
}

// "Zeros: 204,800 of 409,600 weights (50.0%) in 13 tensors, 27.8% of all 738,178 parameters."
std::string to_text(const PrunedZerosResult& zeros) {
  const std::int64_t rounded = zeros.pruned_weights.zeros - zeros.masked;
  return fmt::format(
      "Zeros: {} of {} weights ({}) in {} tensor{}{}, {} of all {} parameters.",
      grouped(zeros.pruned_weights.zeros), grouped(zeros.pruned_weights.elements),
      share_text(zeros.pruned_weights.share()), zeros.weights.size(),
      zeros.weights.size() == 1 ? "" : "s",
      rounded == 0
          ? ""
          : fmt::format(" ({} masked, {} other zeros)", grouped(zeros.masked), grouped(rounded)),
      share_text(zeros.all_parameters.share()), grouped(zeros.all_parameters.elements));
}

// A mask has a byte per weight.
std::string masks_text(const PrunedZerosResult& zeros) {
  return fmt::format("Masks take {}; `hone pack` and `hone quantize --native` remove them.",
                     human_bytes(static_cast<double>(zeros.pruned_weights.elements)));
}

// Returns commands that make use of the zeros; for a model that lost much, first one that finds a lower sparsity.
std::vector<NextCommand> next_commands(const PruneReport& run, bool is_clearly_worse) {
  const PruneRule& rule = run.job.how.pruning.rule;
  const std::string folder = shell_word(run.job.output.folder),
                    structure = structure_text(rule.structure),
                    data = shell_word(run.job.data.options.source);
  std::vector<NextCommand> next;
  if (is_clearly_worse && !rule.structure.pattern)
    next.push_back(
        {"Find a sparsity that loses less",
         fmt::format("hone sparsities {} --structure {} --data {} -o {}", shell_word(run.job.model),
                     structure, data, shell_word(unused_name(run.job.model, "-sparsities")))});
  const bool has_int8_blocks = !rule.structure.pattern && rule.structure.block.columns % 4 == 0;
  if (has_int8_blocks && !run.baseline.model.quantization)
    next.push_back(
        {"Quantize it: native int products, of 8 or 4 bits, skip blocks of 1x4",
         fmt::format("hone quantize {} --native 'int(bits=8,per=row)' --data {} -o {}", folder,
                     data, shell_word(unused_name(run.job.output.folder, "-int8")))});
  next.push_back({"Store it without masks and zeros",
                  fmt::format("hone pack {} -o {}", folder,
                              shell_word(unused_name(run.job.output.folder, "-packed")))});
  return next;
}

// "Activations: 9 thresholds set 29.8 to 31.2% of their inputs to zero, over 256 training examples."
std::string inputs_text(const std::vector<InputZeros>& inputs, std::int64_t examples) {
  if (inputs.empty()) return "";
  const auto [least, most] = std::ranges::minmax(inputs, {}, &InputZeros::share);
  return fmt::format(
      "Activations: {} threshold{} set {} to {} of their inputs to zero, over {} training "
      "examples.",
      inputs.size(), inputs.size() == 1 ? "" : "s", share_text(least.share), share_text(most.share),
      grouped(examples));
}

std::optional<TrainedOn> record_of(const PruneReport& run, const SparsifyOptions& options) {
  std::optional<TrainedOn> record = run.baseline.trained_on;
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

PrunedModel prune_once(const PruneReport& run, bool baseline_is_unrounded,
                       const SparsifyOptions& shared, std::uint64_t seed, const fs::path& folder) {
  const PruneJob& job = run.job;
  SparsifyOptions options = with_seed(shared, seed);
  TextModel model = run.baseline;
  model.trained_on = record_of(run, options);
  options.fine_tune.checkpoints = checkpoints_in(folder, job.resume, model, run.output);
  PrunedModel pruned;
  TrainingLog log = options.trains ? training_log_in(folder, job.report_to) : TrainingLog();
  const Model unrounded = sparsify(run.baseline.model, run.data, options, log, run.context);
  const std::int64_t steps = options.trains ? add_learning_curve(run, log, folder, pruned) : 0;
  model.model = round_weights(unrounded, run.context);
  PrunedZerosResult zeros = zeros_of(model.model, run.context.session());
  std::vector<InputZeros> inputs;
  if (options.activations)
    inputs = count_input_zeros(forward_graph(model.model), model.model.parameters,
                               text_examples(run.data.train), options.calibration,
                               run.context.session());
  measure_pruned(run, model.model, seed, steps, pruned);
  write_model(model, folder);
  if (model.model.quantization && (options.trains || baseline_is_unrounded))
    write_unrounded(unrounded, model.model, folder);
  const SizeAndTime size_and_time = size_and_time_of_pruned(run, model.model, folder);
  zeros.packed_bytes = size_and_time.when_packed.all;
  zeros.left_out_bytes = size_and_time.when_packed.left_out;
  const std::int64_t examples = std::ssize(calibration_rows(run.data, options));
  const PruneRule& rule = options.pruning.rule;
  PruningResult& pruning = pruned.measured.pruning;
  pruning.pruning = prune_text(options.pruning);
  pruning.structure = structure_text(rule.structure);
  if (!rule.structure.pattern) pruning.sparsity = rule.sparsity;
  pruning.method = to_string(rule.method);
  pruning.scope = to_string(rule.scope);
  pruning.schedule = options.cubic ? "cubic" : "one_shot";
  pruning.activations = options.activations;
  pruned.measured.size_and_time = size_and_time_result(size_and_time);
  pruned.fields = to_json(PruneFields{.pruned = pruned.measured,
                                      .inputs = inputs,
                                      .calibration_examples = examples,
                                      .zeros = zeros});
  std::vector<std::string> removed = {to_text(zeros), inputs_text(inputs, examples),
                                      fmt::format("{}", fmt::join(lines_of(zeros.skipping), " ")),
                                      masks_text(zeros)};
  std::erase(removed, "");
  pruned.limits = {zeros.left_out_bytes == 0
                       ? "Its file is not smaller for its zeros."
                       : "Its file is not smaller for its zeros; `hone pack` leaves them out."};
  std::vector<Section> tables = {
      {"Pruned weights", {PageTable{headed_table(zeros.weights)}}, /*folded=*/true}};
  if (!inputs.empty())
    tables.push_back({"Pruned activations",
                      {PageTable{headed_table(inputs), "On the calibration examples."}},
                      /*folded=*/true});
  finish_pruned(run, model.model, size_and_time, removed, std::move(tables), folder, pruned);
  std::ranges::move(next_commands(run, pruned.is_clearly_worse),
                    std::back_inserter(pruned.document.next));
  return pruned;
}

}  // namespace

JobResult prune_job(const PruneJob& job, Context& context) {
  JobResult result;
  SparsifyOptions options = with_seed(job.how, job.seed);
  options.fine_tune.training.save_steps = job.resume.save_steps;
  options.fine_tune.title = "train pruned";
  check(options);
  check_prune_job(job, options.trains || options.activations.has_value() ||
                           options.pruning.rule.method != PruneMethod::l1);
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel baseline = open_model(job.model, context, job.seed);
  check_not_packed(baseline.model, job.model);
  // Unrounded weights rank without ties.
  const bool baseline_is_unrounded = load_unrounded(baseline.model, baseline.folder);
  const std::vector<Gate> gates = gates_of(job.gates, baseline.model, job.model);
  prunable_weights(baseline.model.graph, options.pruning.target);
  if (options.activations) {
    Graph graph = baseline.model.graph;
    prune_inputs(graph, options.pruning.target);
  }
  const std::optional<EncodedSplits> loaded =
      load_with_teacher(job, baseline, output, options.fine_tune, result.document.notes, context);
  if (!loaded) return finished<JobResult>(output, job.output);
  const EncodedSplits& data = *loaded;
  const Measurement before = measure_before(baseline, data, options.fine_tune.eval_batch_size,
                                            context, result.document.notes, "pruning");
  const PruneReport run{job, summary(options), baseline, data, before, gates, output, context};
  return report_pruned(run, std::move(result), [&](std::uint64_t seed, const fs::path& folder) {
    return prune_once(run, baseline_is_unrounded, options, seed, folder);
  });
}

}  // namespace hone
