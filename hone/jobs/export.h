#pragma once

#include <string>

#include "hone/base/json.h"
#include "hone/jobs/export_check.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"

/// Models for other engines.
namespace hone {

enum class ExportTarget : std::uint8_t {
  onnx,
  compressed_tensors,  ///< a folder that transformers and vLLM load, with weights in codes
};

/// Which model is to be exported, how, and where to.
struct ExportJob {
  ExportTarget target = ExportTarget::onnx;
  std::string model;         ///< as `open_model` takes it
  std::string adapter = {};  ///< folder, see models/adapter.h; merged first. Empty: none
  /// Its embeddings instead of its classes; a sentence model gives these anyway.
  bool embed = false;
  int opset = 0;               ///< of ONNX; 0: the usual one
  DType dtype = DType::f32;    ///< that ONNX stores weights without a format in: f32, bf16 or f16
  ExportCheck check = {};      ///< of ONNX
  JobOutput output;            ///< a folder; of ONNX also a file that ends in .onnx
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
};

/// Writes a model for other engines. As ONNX it is the inference graph: a folder with its config, tokenizer and card, as Optimum and
/// sentence-transformers load it, or one file. For compressed-tensors it is a folder with the weights of a quantized model.
/// Tells before it writes what the files do not express. Throws `UserError` as `open_with_adapter`, `check_has_head`, `to_onnx`,
/// `write_onnx` and `to_compressed_tensors`, and for compressed-tensors where no config describes the graph.
JobResult export_model(const ExportJob& job, Context& context);

}  // namespace hone
