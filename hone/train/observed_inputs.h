#pragma once

#include <functional>
#include <string>

#include "hone/train/calibration.h"

namespace hone {

/// Calls body(name, values on the host) for every output of `graph` and every one of the `calibration_rows` of
/// `data`. Examples run one at a time, so there is no padding. `graph` is in training mode; dropout is off. The
/// parameters are moved to the session's device and stay there. `body` will hold `beside` bytes. Throws `UserError`
/// if there are no examples; `Interrupted`.
void observe_outputs(Graph graph, ParameterStore& parameters, const ExampleSource& data,
                     const CalibrationRun& run, const Session& session, double beside,
                     const std::function<void(const std::string&, const Tensor&)>& body);

}  // namespace hone
