#pragma once

#include <memory>
#include <set>
#include <string>

#include "hone/formats/calibrate.h"
#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/example_source.h"
#include "hone/train/observed_values.h"

namespace hone {

/// What calibration looks at.
struct CalibrationRun {
  std::int64_t batch_size = 8;
  std::int64_t batch_count = 32;    ///< of texts drawn by `seed`
  CalibrationOptions options = {};  ///< which range of what was seen the states should hold
  bool heed_objections = true;      ///< false: go on when a format objects to what it is to hold
  std::uint64_t seed = 42;
  /// What calibrations of a model see, for the later ones of runs with the same. Null: each looks for itself.
  std::shared_ptr<ObservedValues> observed = {};
};

/// The texts that a calibration looks at, out of so many: a sample by seed, since the first ones of a file may all be of
/// one class. A run of fewer batches looks at the first of them.
std::vector<std::int64_t> calibration_rows(std::int64_t examples, const CalibrationRun& run);

/// Observes what the quantizers of `graph` would read when none of them is there yet, weights as they stand and the others
/// over the `calibration_rows` of `data`, and stores the states their formats choose in `parameters`, which are moved to the
/// session's device and stay there. Quantizers called as in `settled` are there already: they and their states stay as they
/// are. `graph` is a quantized forward graph in training mode; dropout is off. Memory does not grow with the number of
/// batches.
///
/// Throws `UserError` when a format objects to what it is to hold and objections are heeded, naming
/// the quantizer; not for biases.
void calibrate(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
               const CalibrationRun& run, const Session& session,
               const std::set<std::string>& settled = {});

/// Whether calibrating `graph` looks at texts: not where no format wants to know what it is to hold, beside weights.
bool calibrates_on_texts(const Graph& graph, const std::set<std::string>& settled = {});

}  // namespace hone
