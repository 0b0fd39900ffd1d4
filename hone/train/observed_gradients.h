#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/train/calibration.h"

/// Gradients of the loss over examples, which pruning methods use.
namespace hone {

/// Calls body(name, d loss / d parameter on the host) for each of the parameters `names` and each batch of the
/// `calibration_rows` of `data`. The loss is the mean over the batch; dropout is off. `graph` is in training mode,
/// with the output `loss`. The parameters are moved to the session's device and stay there. `body` will hold `beside`
/// bytes; `method` is named in messages. Throws `UserError` if there are no examples, if the loss does not depend on
/// a parameter, and for operations without gradients; `Interrupted`.
void observe_gradients(const Graph& graph, const std::vector<std::string>& names,
                       ParameterStore& parameters, const ExampleSource& data,
                       const CalibrationRun& run, const Session& session, double beside,
                       std::string_view method,
                       const std::function<void(const std::string&, const Tensor&)>& body);

/// Returns, by the name of each weight that `target` selects (hone/passes/prune.h), the sum over these batches of |d
/// loss / d weight|, f32 of its shape, summed in double. Times |weight| this is the first-order estimate of the
/// change of the loss without it, |weight d loss / d weight| summed over batches (Molchanov, Tyree, Karras, Aila and
/// Kautz, arXiv 1611.06440, section 2.2, for single weights and without their normalization). Throws as
/// `observe_gradients` and `prunable_weights`.
std::map<std::string, Tensor> absolute_gradients(const Graph& graph,
                                                 const std::vector<std::string>& target,
                                                 ParameterStore& parameters,
                                                 const ExampleSource& data,
                                                 const CalibrationRun& run, const Session& session);

}  // namespace hone
