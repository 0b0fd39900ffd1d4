#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/tensor/tensor.h"

/// Runs ONNX Runtime, if Python has it, to test exported files.
namespace hone {

/// Returns the `python_program` that can import onnxruntime, or nothing.
std::optional<std::string> python_with_onnx_runtime();

struct OnnxRuntimeRuns {
  std::string version;  ///< of ONNX Runtime
  std::vector<TensorMap> outputs;
  std::vector<double> seconds;  ///< of each run
};

struct OnnxRuntimeOptions {
  int threads = 1;
  int repetitions = 1;  ///< of each run; the fastest counts
  /// Products of fp32 inputs with low-bit weights are computed in fp32; by default ONNX Runtime rounds the inputs to
  /// int8.
  bool exact_products = false;
};

/// Runs a file on the CPU, once for each of `inputs`. Throws `UserError` with Python's error output.
OnnxRuntimeRuns run_in_onnx_runtime(const std::string& python, const fs::path& file,
                                    const std::vector<TensorMap>& inputs,
                                    const OnnxRuntimeOptions& options = {});

}  // namespace hone
