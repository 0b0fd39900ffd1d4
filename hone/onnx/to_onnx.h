#pragma once

#include <string>

#include "hone/ir/graph.h"
#include "hone/onnx/onnx_model.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// Converts an inference graph to an ONNX model. Inputs, outputs, parameters and operations keep their names. Weights
/// are shared with `parameters`, which the model keeps alive. Packed ones (passes/pack.h) are integers with scales if
/// the format allows it, else their values. `weights`: see `OnnxBuilder`. Throws `UserError` for an unsupported opset,
/// and with the names of all operations that ONNX export does not support.
OnnxModel to_onnx(const Graph& graph, const ParameterStore& parameters, const std::string& name,
                  int opset = kUsualOpset, DType weights = DType::f32);

}  // namespace hone
