#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/prune/prune.h"
#include "hone/report/document.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/measure.h"
#include "hone/train/trainer.h"

/// What a job says that prunes a model, single weights or whole parts of it, with one seed or with several.
namespace hone {

/// One pruned model, written to its folder, and what the report says of it.
struct PrunedModel {
  Json result = {};
  Table table = Table(std::vector<Column>{});
  Verdict verdict = {};
  JudgedGates gates = {};
  std::vector<NamedEvaluation> measured = {};
  std::vector<std::string> lines = {};   ///< what is gone, and what the model takes
  std::vector<Section> sections = {};    ///< behind the result
  std::vector<std::string> doubts = {};  ///< about the figures
  std::vector<std::string> notes = {};
};

/// What all seeds of a job share.
struct PruneReport {
  const PruneJob& job;
  std::string label;  ///< "pruned 50.0%, l1, local"
  const TextModel& parent;
  const EncodedSplits& data;
  const Measurement& before;
  std::vector<Gate> gates;
  OutputFolder& output;
  Context& context;
};

/// Throws `UsageError` for several seeds of a job that draws nothing at random.
void check_seeds(const PruneJob& job, bool draws);

/// Draws the learning curve of a training into `folder` and `sections`; returns its steps.
std::int64_t show_training(const PruneReport& run, const TrainingLog& log, const fs::path& folder,
                           PrunedModel& pruned);

/// What every pruned model says: its figures beside those before, in the result, the table and `sections`; `steps` of the
/// training, 0 without one. Figures are of `after`, the model as it will be written.
void measure_pruned(const PruneReport& run, const Model& after, std::uint64_t seed,
                    std::int64_t steps, PrunedModel& pruned);

/// Makes the pruned model of each seed by `prune_once`, in the job's folder or one for each seed, and tells of them in
/// `report`.
PruneResult report_pruned(
    const PruneReport& run, RunReport report,
    const std::function<PrunedModel(std::uint64_t seed, const fs::path& folder)>& prune_once);

}  // namespace hone
