#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/export_check.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/onnx/onnx_model.h"
#include "hone/runtime/context.h"

/// Formats of exported models.
namespace hone {

enum class ExportTarget : std::uint8_t {
  onnx,
  compressed_tensors,  ///< a folder that transformers and vLLM load, with weights in codes
};
std::span<const EnumName> enum_names(ExportTarget target);

/// A model to export.
struct ExportJob {
  ExportTarget target = ExportTarget::onnx;
  std::string model;         ///< see `open_model`
  std::string adapter = {};  ///< merged first; folder, see models/adapter.h; empty: none
  /// Export embeddings instead of classes; always the case for a sentence model.
  bool embed = false;
  int opset = kUsualOpset;     ///< of ONNX
  DType dtype = DType::f32;    ///< f32, bf16 or f16, in which ONNX stores weights without a format
  ExportCheck check = {};      ///< of ONNX
  JobOutput output;            ///< a folder; for ONNX also a file that ends in .onnx
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the job record
};

/// A file of an exported model.
struct ExportedFileResult {
  std::string file;
  std::uint64_t bytes = 0;
};
/// Weights of one type in an exported model.
struct ExportedWeightsResult {
  std::string type;
  std::uint64_t bytes = 0;
};
/// An input or output of an exported graph.
struct ExportedValueResult {
  std::string name, shape;
};
/// An ONNX graph.
struct OnnxGraphResult {
  int opset = 0, ir_version = 0;
  std::vector<ExportedValueResult> inputs = {}, outputs = {};
  std::size_t nodes = 0;
};
/// Linear layers with the same layout in compressed-tensors.
struct ExportedLayersResult {
  std::string format, weights;
  std::optional<std::string> inputs = {};
  std::size_t count = 0;
};
/// The JSON result.
struct ExportFields {
  std::string model;
  std::optional<std::string> adapter = {};
  ExportTarget target = ExportTarget::onnx;
  std::string output = {};
  std::vector<ExportedFileResult> files = {};
  std::uint64_t bytes = 0;
  std::vector<ExportedWeightsResult> weights = {};
  std::vector<std::string> engines = {}, notes = {};
  std::string next = {};
  std::optional<OnnxGraphResult> graph = {};
  std::optional<ExportCheckResult> check = {};
  std::optional<std::string> check_reason = {};
  std::optional<std::vector<ExportedLayersResult>> layers = {};
};
const Fields& fields_of(const ExportedFileResult*);
const Fields& fields_of(const ExportedWeightsResult*);
const Fields& fields_of(const ExportedValueResult*);
const Fields& fields_of(const OnnxGraphResult*);
const Fields& fields_of(const ExportedLayersResult*);
const Fields& fields_of(const ExportFields*);

/// Exports a model for other engines. ONNX: the inference graph, as one file or as a folder with config, tokenizer and
/// model card that Optimum and sentence-transformers load. compressed-tensors: a folder with the weights of a quantized
/// model. Notes about what the files cannot express are printed before writing. If no Python has ONNX Runtime, the
/// files are written unchecked, and `check_reason` says so. Throws `UserError` like `open_with_adapter`,
/// `check_has_head`, `to_onnx`, `write_onnx` and `to_compressed_tensors`, and for compressed-tensors if no config
/// describes the graph.
JobResult export_model(const ExportJob& job, Context& context);

/// Returns the command that exports a model folder to ONNX into `output`, and compares it with hone on `data` if a
/// Python has ONNX Runtime.
NextCommand command_to_export(const std::string& model, const std::string& data,
                              const std::string& output);

}  // namespace hone
