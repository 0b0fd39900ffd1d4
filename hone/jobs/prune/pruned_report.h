#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/prune/prune.h"
#include "hone/jobs/prune/prune_result.h"
#include "hone/jobs/size_and_time.h"
#include "hone/study/measure.h"
#include "hone/train/trainer.h"

/// The report of a job that prunes weights, or heads, neurons and layers, with one seed or several.
namespace hone {

/// One pruned model, written to its folder, and its report.
struct PrunedModel {
  PrunedModelResult measured = {};
  Json fields = {};        ///< `measured` and what was removed
  Document document = {};  ///< its first section is the result, after `measure_pruned`
  JudgedGates gates = {};
  bool is_clearly_worse = false;                  ///< see `BeforeAndAfter`
  std::vector<std::string> limits = {};           ///< limitations, for its model card
  std::vector<std::string> metric_warnings = {};  ///< about the numbers
  std::vector<std::string> notes = {};
};

/// Shared by all seeds of a job.
struct PruneReport {
  const PruneJob& job;
  std::string label;  ///< "pruned 50.0%, l1, local"
  const TextModel& baseline;
  const EncodedSplits& data;
  const Measurement& before;
  std::vector<Gate> gates;
  OutputFolder& output;
  Context& context;
};

/// Throws `UsageError` for several seeds of a job without randomness, and for a teacher without training.
void check_prune_job(const PruneJob& job, bool draws);

/// Loads the job's data as `load_encoded` does, and stores the teacher's logits in `fine_tune`. Returns none if the
/// job is finished (`begin_run`). Throws as `open_teacher` does.
std::optional<EncodedSplits> load_with_teacher(const PruneJob& job, TextModel& baseline,
                                               OutputFolder& output, FineTuneOptions& fine_tune,
                                               std::vector<std::string>& notes, Context& context);

/// Draws the learning curve of a training into `folder` and the document. Returns the number of steps.
std::int64_t add_learning_curve(const PruneReport& run, const TrainingLog& log,
                                const fs::path& folder, PrunedModel& pruned);

/// Measures the final model against its baseline, and begins result and document. `steps` is the number of training
/// steps, 0 without training.
void measure_pruned(const PruneReport& run, const Model& after, std::uint64_t seed,
                    std::int64_t steps, PrunedModel& pruned);

/// Returns `size_and_time` of the pruned model in `folder`. Omits latencies if the baseline's formats are simulated,
/// since those say nothing about native execution.
SizeAndTime size_and_time_of_pruned(const PruneReport& run, const Model& after,
                                    const fs::path& folder);

/// Writes the model card of the model in `folder` from the complete `fields`, and completes the document. `removed` are
/// sentences on the removed weights or units; `tables` are sections that list them.
void finish_pruned(const PruneReport& run, const Model& after, const SizeAndTime& size_and_time,
                   const std::vector<std::string>& removed, std::vector<Section> tables,
                   const fs::path& folder, PrunedModel& pruned);

/// Makes each seed's model by `prune_once`, in the job's folder or in one per seed, and writes the report of `result`.
JobResult report_pruned(
    const PruneReport& run, JobResult result,
    const std::function<PrunedModel(std::uint64_t seed, const fs::path& folder)>& prune_once);

}  // namespace hone
