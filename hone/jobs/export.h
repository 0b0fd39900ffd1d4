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

/// Models for other engines.
namespace hone {

enum class ExportTarget : std::uint8_t {
  onnx,
  compressed_tensors,  ///< a folder that transformers and vLLM load, with weights in codes
};
std::span<const EnumWord> enum_words(ExportTarget target);

/// Which model is to be exported, how, and where to.
struct ExportJob {
  ExportTarget target = ExportTarget::onnx;
  std::string model;         ///< as `open_model` takes it
  std::string adapter = {};  ///< folder, see models/adapter.h; merged first. Empty: none
  /// Its embeddings instead of its classes; a sentence model gives these anyway.
  bool embed = false;
  int opset = kUsualOpset;     ///< of ONNX
  DType dtype = DType::f32;    ///< that ONNX stores weights without a format in: f32, bf16 or f16
  ExportCheck check = {};      ///< of ONNX
  JobOutput output;            ///< a folder; of ONNX also a file that ends in .onnx
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
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
/// A graph of ONNX.
struct OnnxGraphResult {
  int opset = 0, ir_version = 0;
  std::vector<ExportedValueResult> inputs = {}, outputs = {};
  std::size_t nodes = 0;
};
/// Linear layers that compressed-tensors stores alike.
struct ExportedLayersResult {
  std::string format, weights;
  std::optional<std::string> inputs = {};
  std::size_t count = 0;
};
/// The result for programs.
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

/// Writes a model for other engines. As ONNX it is the inference graph: a folder with its config, tokenizer and card, as Optimum and
/// sentence-transformers load it, or one file. For compressed-tensors it is a folder with the weights of a quantized model.
/// Tells before it writes what the files do not express. Where no Python has ONNX Runtime it writes them all the same; `check_reason`
/// says why the check did not run. Throws `UserError` as `open_with_adapter`, `check_has_head`, `to_onnx`,
/// `write_onnx` and `to_compressed_tensors`, and for compressed-tensors where no config describes the graph.
JobResult export_model(const ExportJob& job, Context& context);

/// The command that exports a model folder to ONNX into `output`, and compares it with hone on `data` where a Python has ONNX Runtime.
NextCommand command_to_export(const std::string& model, const std::string& data,
                              const std::string& output);

}  // namespace hone
