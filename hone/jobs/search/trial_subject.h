#pragma once

#include <optional>
#include <string>

#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/search/trial_space.h"
#include "hone/models/encoding.h"
#include "hone/models/model_source.h"
#include "hone/passes/prune_structure.h"
#include "hone/study/gates.h"
#include "hone/study/measure.h"
#include "hone/train/calibration.h"

/// The model and data that trials of a search share.
namespace hone {

/// The model, data and options that trials of a search share. Choices use `data.validation` under any protocol.
struct TrialSubject {
  std::string name;    ///< of the model, as `open_model` takes it
  TextModel baseline;  ///< the baseline, or a model with fresh weights
  /// Every trial draws its own weights: the architecture varies, or the model has fresh weights.
  bool fresh = false;
  EncodedSplits data;
  EncodedSplits
      without_validation;  ///< the same without a validation split, for trainings that are not watched
  std::optional<Measurement> baseline_measured = {};  ///< on `data.validation`; none: it is fresh
  std::vector<Gate> gates = {};                       ///< the allowed drops against it
  FineTuneOptions training = {};  ///< defaults for settings: batches, evaluations
  CalibrationRun calibration = {};
  /// Texts for measuring formats on single layers; none: `allocation_texts`.
  std::optional<AllocationTexts> allocation_data = {};
  /// Measure trials as `for_other_programs` converts them; trials fail if `transformers` cannot load that.
  bool loadable = false;
  UnitScores unit_scores = {};  ///< of the baseline, for recipes with [structure]
  std::uint64_t seed = 42;
  std::string computed_by = {};  ///< see `computed_by` (jobs/run_identity.h)
};

/// Returns the facts of the subject's config.json with these keys replaced. Throws `UserError` for inconsistent sizes.
ModelFacts trial_facts(const TrialSubject& subject, const Json& architecture);

/// Builds the graph for such a config.json.
Graph trial_graph(const TrialSubject& subject, const Json& architecture, const Context& context);

/// Returns the linears of the model with these keys in its config.json; none for inconsistent sizes.
LinearNames linears_of(const TrialSubject& subject, const Json& architecture,
                       const Context& context);

/// Returns why a configuration is invalid, such as inconsistent sizes; "" if it is valid.
std::string objection(const TrialSubject& subject, const TrialConfiguration& configuration);

}  // namespace hone
