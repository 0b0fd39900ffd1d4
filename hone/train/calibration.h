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

struct CalibrationRun {
  std::int64_t batch_size = 8;
  std::int64_t batch_count = 32;    ///< of examples sampled with `seed`
  CalibrationOptions options = {};  ///< how states choose a range for the observed values
  bool check_objections = true;     ///< false: ignore objections of formats
  std::uint64_t seed = 42;
  /// Observations that later calibrations of the same model and run reuse. Null: each calibration observes anew.
  std::shared_ptr<ObservedValues> observed = {};
};

/// Returns the rows that a calibration uses, of `examples` rows: a seeded sample, since the first rows of a file may
/// all be of one class. A run of fewer batches uses a prefix of the sample.
std::vector<std::int64_t> calibration_rows(std::int64_t examples, const CalibrationRun& run);

/// Observes the values that the quantizers of `graph` would read if none were present: weights as they are, and other
/// values over the `calibration_rows` of `data`. Stores the states that their formats choose in `parameters`, which
/// are moved to the session's device and stay there. Quantizers named in `calibrated` stay in place with their states.
/// `graph` is a quantized forward graph in training mode; dropout is off. Memory does not grow with the number of
/// batches.
/// batches.
///
/// Throws `UserError` if a format objects to the values that it would hold, naming the quantizer, if objections are
/// heeded; never for biases.
void calibrate(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
               const CalibrationRun& run, const Session& session,
               const std::set<std::string>& calibrated = {});

/// Returns whether calibrating `graph` reads examples: false if only quantizers of weights need observations.
bool calibration_reads_examples(const Graph& graph, const std::set<std::string>& calibrated = {});

}  // namespace hone
