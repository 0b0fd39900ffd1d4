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

/// What trials of a search are made of.
namespace hone {

/// What all trials of a search share. The texts that choices are made on are `data.validation`, whatever the protocol.
struct TrialSubject {
  std::string name;  ///< of the model, as `open_model` takes it
  TextModel parent;  ///< as it was opened, or the first of its kind with fresh weights
  /// Every trial draws weights of its own: there is an architecture to choose, or the model has fresh ones.
  bool fresh = false;
  EncodedSplits data;
  EncodedSplits
      unwatched;  ///< the same without a validation part, for trainings that nobody looks at
  std::optional<Measurement> parent_measured = {};  ///< there; none: it is fresh
  std::vector<Gate> gates = {};                     ///< what a trial may lose against it
  FineTuneOptions training = {};  ///< what settings are put on top of: batches, evaluations
  CalibrationRun calibration = {};
  /// What tells what formats do to layers alone; none: the usual `allocation_texts`.
  std::optional<AllocationTexts> allocated_on = {};
  /// Trials are measured as `for_other_programs` has them, and fail where `transformers` cannot load that.
  bool loadable = false;
  UnitScores unit_scores = {};  ///< of the parent, for recipes with [structure]
  std::uint64_t seed = 42;
  std::string computed_by = {};  ///< see `computed_by` (jobs/run_identity.h)
};

/// What the subject's config.json says with these keys in place of its own. Throws `UserError` for sizes that do not go together.
ModelFacts trial_facts(const TrialSubject& subject, const Json& architecture);

/// What such a config builds.
Graph trial_graph(const TrialSubject& subject, const Json& architecture, const Context& context);

/// The linears of the model with these keys of its config.json, as spaces ask for them; none where sizes do not go together.
LinearNames linears_of(const TrialSubject& subject, const Json& architecture,
                       const Context& context);

/// Why no model can be made by a configuration: sizes that do not go together. "": one can.
std::string objection(const TrialSubject& subject, const TrialConfiguration& configuration);

}  // namespace hone
