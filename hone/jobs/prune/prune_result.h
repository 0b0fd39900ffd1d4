#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/prune/shapes.h"
#include "hone/jobs/size_and_time.h"
#include "hone/jobs/zero_skipping.h"
#include "hone/study/result.h"
#include "hone/train/input_thresholds.h"

/// Machine-readable results of `prune_job` and `prune_shapes_job`.
namespace hone {

/// The fields that all pruning results begin with.
struct PruningResult {
  SubjectResult subject;
  std::optional<std::string> format = {};
  std::string pruning = {}, structure = {};
  std::optional<double> sparsity = {};
  std::optional<std::string> method = {}, scope = {}, schedule = {};
  std::optional<double> activations = {};
  std::optional<DistillationResult> distill = {};
  std::string arithmetic;
  double average_weight_bits = 32;
  std::string protocol;
};
/// One pruned model in results.
struct PrunedModelResult {
  PruningResult pruning;
  BeforeAndAfterResult both = {};
  SizeAndTimeResult size_and_time = {};
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::optional<GateResult> gate = {};
  std::optional<std::int64_t> steps = {};
  std::optional<std::string> caveat = {};
};
/// Zeros of a parameter.
struct NamedZerosResult {
  std::string name;
  Zeros zeros = {};
};
/// Zeros in the weights of products, and in all parameters.
struct PrunedZerosResult {
  std::vector<NamedZerosResult> weights = {};  ///< each weight with a mask
  Zeros pruned_weights = {};                   ///< the total of these
  std::int64_t masked = 0;  ///< zeros under a mask; others were zero before or rounded to zero
  Zeros all_parameters = {};
  ZeroSkipping skipping = {};
  /// Size of all weights after `hone pack`, and the bytes of zeros that its file leaves out.
  std::int64_t packed_bytes = 0, left_out_bytes = 0;
};
/// The result of pruning single weights with one seed.
struct PruneFields {
  PrunedModelResult pruned;
  std::vector<InputZeros> inputs = {};
  std::int64_t calibration_examples = 0;
  PrunedZerosResult zeros = {};
};
/// The result of pruning heads, neurons and layers with one seed.
struct PruneShapesFields {
  PrunedModelResult pruned;
  std::vector<PrunedGroup> units = {};
};
/// The result of several seeds.
struct PruneSeedsFields {
  PruningResult pruning;
  LoadingResult loading = {};
  ChangeSeedsResult seeds = {};
  std::optional<std::string> caveat = {};
};
const Fields& fields_of(const InputZeros*);
const Fields& fields_of(const NamedZerosResult*);
const Fields& fields_of(const PrunedZerosResult*);
const Fields& fields_of(const PruningResult*);
const Fields& fields_of(const PrunedModelResult*);
const Fields& fields_of(const PruneFields*);
const Fields& fields_of(const PruneShapesFields*);
const Fields& fields_of(const PruneSeedsFields*);

}  // namespace hone
