#include "hone/jobs/prune/prune_shapes.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/prune/pruned_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded_weights.h"
#include "hone/report/field_table.h"

namespace hone {
namespace {

std::vector<std::string> structures_of(const PruneShapesJob& job) {
  std::vector<std::string> names;
  for (const UnitKind kind : job.structure.kinds) names.emplace_back(to_string(kind));
  if (job.layers) names.emplace_back(kLayers);
  return names;
}

// "pruned 50.0% of heads and neurons, chosen by l1 within each layer"
std::string label_of(const PruneShapesJob& job) {
  std::string text = fmt::format("pruned {} of {}", share_text(job.structure.sparsity),
                                 fmt::join(structures_of(job), " and "));
  if (!job.structure.kinds.empty())
    text += fmt::format(
        ", chosen by {} {}", job.structure.method,
        job.structure.scope == UnitScope::local ? "within each layer" : "across all layers");
  return text;
}

// "Kept: 2 of 4 heads, 512 of 1,024 neurons."
std::string counts_text(const std::vector<PrunedGroup>& pruned) {
  std::vector<std::string> kinds, counts;
  for (const PrunedGroup& one : pruned)
    if (std::ranges::find(kinds, one.kind) == kinds.end()) kinds.push_back(one.kind);
  for (const std::string& kind : kinds) {
    std::int64_t before = 0, after = 0;
    for (const PrunedGroup& one : pruned)
      if (one.kind == kind) {
        before += one.before;
        after += one.after;
      }
    counts.push_back(fmt::format("{} of {} {}", grouped(after), grouped(before), kind));
  }
  return fmt::format("Kept: {}.", fmt::join(counts, ", "));
}

// Returns the passes that lead from one model to the other.
std::string passes_of(const Model& before, const Model& after) {
  const std::vector<std::string>& passes = after.facts.history.passes;
  return fmt::format("{}", fmt::join(passes.begin() + std::ssize(before.facts.history.passes),
                                     passes.end(), "; "));
}

std::optional<TrainedOn> record_of(const PruneJob& job, const TextModel& baseline,
                                   const EncodedSplits& data) {
  std::optional<TrainedOn> record = baseline.trained_on;
  if (job.how.trains) {
    record = after_training(record, data.identity.hash, data.train_rows, data.validation_rows);
    remember_columns(*record, data.identity.columns);
  }
  return job.row_hashes ? record : without_rows(record);
}

PrunedModel prune_shapes_once(const PruneShapesJob& shared, const PruneReport& run,
                              bool baseline_is_unrounded, const FineTuneOptions& training,
                              std::uint64_t seed, const fs::path& folder) {
  PruneShapesJob job = shared;
  job.common.seed = seed;
  const PruneJob& common = job.common;
  TextModel model = run.baseline;
  model.trained_on = record_of(common, run.baseline, run.data);
  std::vector<PrunedGroup> groups;
  if (job.layers)
    groups.push_back(
        drop_share_of_layers(model.model, job.structure.sparsity, run.context.session()));
  if (!job.structure.kinds.empty()) {
    CalibrationRun importance = job.importance;
    importance.seed = seed;
    const UnitScores scores = unit_scores(job.structure.method, model.model, job.structure.kinds,
                                          run.data.train, importance, run.context);
    for (PrunedGroup& one : prune_units(model.model, job.structure, scores, run.context))
      groups.push_back(std::move(one));
  }
  PrunedModel pruned;
  std::int64_t steps = 0;
  if (common.how.trains) {
    FineTuneOptions options = training;
    options.title = "train pruned";
    options.training.seed = seed;
    options.training.save_steps = common.resume.save_steps;
    options.checkpoints = checkpoints_in(folder, common.resume, model, run.output);
    TrainingLog log = training_log_in(folder, common.report_to);
    fine_tune(model.model, run.data, options, log, run.context);
    steps = add_learning_curve(run, log, folder, pruned);
  }
  // Layers are removed with their formats.
  const Model unrounded = model.model;
  const bool rounds = unrounded.quantization.has_value();
  if (rounds) model.model = round_weights(unrounded, run.context);
  measure_pruned(run, model.model, seed, steps, pruned);
  write_model(model, folder);
  if (rounds && (common.how.trains || baseline_is_unrounded))
    write_unrounded(unrounded, model.model, folder);
  const SizeAndTime size_and_time = size_and_time_of_pruned(run, model.model, folder);
  PruningResult& pruning = pruned.measured.pruning;
  pruning.pruning = passes_of(run.baseline.model, model.model);
  pruning.structure = fmt::format("{}", fmt::join(structures_of(job), ","));
  pruning.sparsity = job.structure.sparsity;
  if (!job.structure.kinds.empty()) {
    pruning.method = job.structure.method;
    pruning.scope = job.structure.scope == UnitScope::local ? "local" : "global";
  }
  pruned.measured.size_and_time = size_and_time_result(size_and_time);
  pruned.fields = to_json(PruneShapesFields{.pruned = pruned.measured, .units = groups});
  finish_pruned(
      run, model.model, size_and_time, {counts_text(groups)},
      {{"Kept heads, neurons and layers", {PageTable{headed_table(groups)}}, /*folded=*/true}},
      folder, pruned);
  if (!rounds)
    pruned.document.next.push_back(
        {"Quantize it",
         fmt::format("hone quantize {} --native 'int(bits=8,per=row)' --data {} -o {}",
                     shell_word(common.output.folder), shell_word(common.data.options.source),
                     shell_word(unused_name(common.output.folder, "-int8")))});
  return pruned;
}

}  // namespace

std::optional<ShapeStructure> parse_shape_structure(const std::string& text) {
  ShapeStructure structure;
  const std::vector<std::string> words = split(text, ',');
  const std::vector<std::string> known = {std::string(to_string(UnitKind::heads)),
                                          std::string(to_string(UnitKind::neurons)),
                                          std::string(kLayers)};
  if (text == "weights" || text.find_first_of(":0123456789") != std::string::npos)
    return std::nullopt;
  for (const std::string& word : words) {
    user_check(
        std::ranges::count(known, word) == 1 && std::ranges::count(words, word) == 1,
        "expected weights, 4x1, N:M such as 2:4, or some of heads, neurons and layers, each once, "
        "separated by commas, got '{}'{}",
        text, did_you_mean(word, known));
    if (word == kLayers) {
      structure.layers = true;
    } else {
      structure.kinds.push_back(word == to_string(UnitKind::heads) ? UnitKind::heads
                                                                   : UnitKind::neurons);
    }
  }
  return structure;
}

JobResult prune_shapes_job(const PruneShapesJob& job, Context& context) {
  const PruneJob& common = job.common;
  JobResult result;
  usage_check(job.structure.sparsity >= 0 && job.structure.sparsity < 1,
              "`sparsity`: expected a share from 0 to below 1, got {}", job.structure.sparsity);
  check_prune_job(common, common.how.trains || (!job.structure.kinds.empty() &&
                                                job.structure.method == "first_order"));
  OutputFolder output(common.output.folder, common.output.resumable(common.resume));
  TextModel baseline = open_model(common.model, context, common.seed);
  check_not_packed(baseline.model, common.model);
  if (!job.structure.kinds.empty()) check_unquantized(baseline.model, common.model);
  const bool baseline_is_unrounded = load_unrounded(baseline.model, baseline.folder);
  const std::vector<Gate> gates = gates_of(common.gates, baseline.model, common.model);
  groups_of(baseline.model.graph,
            job.structure.kinds);  // throws before any data is read
  FineTuneOptions training = common.how.fine_tune;
  const std::optional<EncodedSplits> loaded =
      load_with_teacher(common, baseline, output, training, result.document.notes, context);
  if (!loaded) return finished<JobResult>(output, common.output);
  const EncodedSplits& data = *loaded;
  const Measurement before = measure_before(baseline, data, training.eval_batch_size, context,
                                            result.document.notes, "pruning");
  const PruneReport run{common, label_of(job), baseline, data, before, gates, output, context};
  return report_pruned(run, std::move(result), [&](std::uint64_t seed, const fs::path& folder) {
    return prune_shapes_once(job, run, baseline_is_unrounded, training, seed, folder);
  });
}

}  // namespace hone
