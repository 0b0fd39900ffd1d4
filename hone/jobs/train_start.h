#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/train.h"
#include "hone/models/adapter.h"
#include "hone/models/vocabulary.h"

/// The data and the model that a training starts with.
namespace hone {

/// Loads the data with the classes of the model, or with its own classes if these do not fit and a fresh head is
/// allowed. `before`: training data of the model. Throws `UserError` like `load_splits`.
Splits splits_to_train_on(const TrainJob& job, const std::optional<TrainedOn>& before,
                          Context& context);

struct TrainStart {
  TextModel model;
  std::optional<LoraOptions> adapters = {};  ///< inserted into the model
};
/// Opens the model for one seed. Fresh weights get the `vocabulary`, if one was learned. Throws `UserError`.
TrainStart open_for_training(const TrainJob& job,
                             const std::optional<LearnedVocabulary>& vocabulary,
                             const Splits& splits, std::uint64_t seed, Context& context);

/// Returns sentences on the data, the initial weights and the vocabulary.
std::vector<std::string> start_notes(const TrainJob& job, const Splits& splits,
                                     const TextModel& source,
                                     const std::optional<LearnedVocabulary>& vocabulary,
                                     const EncodedSplits& data, bool learns);

}  // namespace hone
