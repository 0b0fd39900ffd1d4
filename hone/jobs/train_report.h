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

/// The results of a training for people.
namespace hone {

/// A training of one seed, and what its report needs of it.
struct TrainOutcome {
  TrainFields fields;
  std::vector<NamedEvaluation> measured;        ///< the split that judges the training last
  std::string judged_on = {};                   ///< that split: `name_and_size`
  std::optional<BetterEvaluation> better = {};  ///< on validation, than that of the weights it has
  std::vector<std::string> labels;
  TrainingLog log;
  Section curve;
  std::vector<std::string> notes;
  double seconds_before = 0;  ///< training time of interrupted processes
};

/// Parameters and bytes of what was written.
std::string weights_text(const TrainFields& fields);

/// What the model card says of it.
CardFacts card_facts(const TrainFields& fields);

/// Fills in the document of one seed. `guessed`: as `DataSet::guessed`. Returns warnings about the metrics.
std::vector<std::string> report_training(const TrainJob& job, TrainOutcome trained,
                                         const std::string& guessed, Document& document);

/// The same of several seeds, from their results. Draws their metrics in `folder`.
std::vector<std::string> report_training(const TrainJob& job, const std::vector<Json>& results,
                                         const std::string& guessed, const fs::path& folder,
                                         Document& document);

}  // namespace hone
