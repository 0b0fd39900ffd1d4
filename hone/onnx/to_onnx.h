#pragma once

#include <string>

#include "hone/ir/graph.h"
#include "hone/onnx/onnx_model.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// The ONNX model of an inference graph: inputs and outputs keep their names, and so do parameters and operations. Weights
/// are shared with `parameters`, which the model keeps alive; packed ones (passes/pack.h) are whole numbers with scales where
/// their format is that, else the values that they take. `weights`: see `OnnxBuilder`. Throws `UserError` for an opset that cannot be written, and
/// naming all operations that have no form in ONNX.
OnnxModel to_onnx(const Graph& graph, const ParameterStore& parameters, const std::string& name,
                  int opset = kUsualOpset, DType weights = DType::f32);

}  // namespace hone
