#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/train.h"
#include "hone/models/adapter.h"
#include "hone/models/vocabulary.h"

/// What a training begins with: its data and its model.
namespace hone {

/// The data with the classes of the model; with its own where they do not fit and the head may be a fresh one. `before`: what the model
/// has learned from. Throws `UserError`, as `load_splits`.
Splits splits_to_train_on(const TrainJob& job, const std::optional<TrainedOn>& before,
                          Context& context);

struct TrainStart {
  TextModel model;
  std::optional<LoraOptions> adapters = {};  ///< that were put on it
};
/// The model of one seed. Fresh weights have the `vocabulary`, if one was learned. Throws `UserError`.
TrainStart open_for_training(const TrainJob& job,
                             const std::optional<LearnedVocabulary>& vocabulary,
                             const Splits& splits, std::uint64_t seed, Context& context);

/// Sentences on the data, and on the weights and the vocabulary that are trained.
std::vector<std::string> start_notes(const TrainJob& job, const Splits& splits,
                                     const TextModel& source,
                                     const std::optional<LearnedVocabulary>& vocabulary,
                                     const EncodedSplits& data, bool learns);

}  // namespace hone
