#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/fine_tune.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/train.h"
#include "hone/jobs/training_log.h"
#include "hone/report/document.h"
#include "hone/study/evaluation_details.h"

/// The report of a training.
namespace hone {

/// A training with one seed, and what its report needs.
struct TrainOutcome {
  TrainFields fields;
  std::vector<NamedEvaluation> measured;        ///< the last split judges the training
  std::string judged_on = {};                   ///< that split: `name_and_size`
  std::optional<BetterEvaluation> better = {};  ///< on validation, if better than the final weights
  std::vector<std::string> labels;
  TrainingLog log;
  Section curve;
  std::vector<std::string> notes;
  double seconds_before = 0;  ///< training time of interrupted processes
};

/// Describes the parameters and bytes that were written.
std::string weights_text(const TrainFields& fields);

/// Returns the facts for a model card.
CardFacts card_facts(const TrainFields& fields);

/// Fills in the document for one seed. `guessed`: see `DataSet::guessed`. Returns warnings about the metrics.
std::vector<std::string> report_training(const TrainJob& job, TrainOutcome trained,
                                         const std::string& guessed, Document& document);

/// The same for several seeds, from their results. Draws their metrics in `folder`.
std::vector<std::string> report_training(const TrainJob& job, const std::vector<Json>& results,
                                         const std::string& guessed, const fs::path& folder,
                                         Document& document);

}  // namespace hone
