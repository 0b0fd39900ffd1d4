#pragma once

#include <string>

#include "hone/base/json.h"
#include "hone/jobs/export_check.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"

/// Models for other engines.
namespace hone {

/// Which model is to be exported, how, and where to.
struct ExportJob {
  std::string model;         ///< as `open_model` takes it
  std::string adapter = {};  ///< folder, see models/adapter.h; merged first. Empty: none
  /// Its embeddings instead of its classes; a sentence model gives these anyway.
  bool embed = false;
  int opset = 0;             ///< of ONNX; 0: the usual one
  DType dtype = DType::f32;  ///< that weights without a format are stored in: f32, bf16 or f16
  ExportCheck check = {};
  JobOutput output;            ///< a folder, or a file that ends in .onnx
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
};

/// Writes the inference graph of a model as ONNX: into a folder with its config, tokenizer and card, as Optimum and
/// sentence-transformers load it, or as one file. Tells before it writes what the file does not express. Throws `UserError`
/// as `open_with_adapter`, `check_has_head`, `to_onnx` and `write_onnx`.
JobResult export_model(const ExportJob& job, Context& context);

}  // namespace hone
