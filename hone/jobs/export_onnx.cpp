#include <fmt/ranges.h>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/jobs/export_form.h"
#include "hone/onnx/onnx_file.h"
#include "hone/onnx/onnx_runtime.h"
#include "hone/onnx/to_onnx.h"

namespace hone {
namespace {

constexpr const char* kModelFile = "model.onnx";

std::string_view name_of(OnnxType type) {
  switch (type) {
    case OnnxType::f32:
      return "fp32";
    case OnnxType::f16:
      return "fp16";
    case OnnxType::bf16:
      return "bf16";
    case OnnxType::f8:
      return "fp8";
    case OnnxType::u8:
      return "uint8";
    case OnnxType::i8:
      return "int8";
    case OnnxType::u4:
      return "uint4";
    case OnnxType::i4:
      return "int4";
    case OnnxType::i64:
      return "int64";
    case OnnxType::boolean:
      return "bool";
  }
  return "";
}

std::vector<ExportedWeightsResult> weights_by_type(const OnnxModel& onnx) {
  std::map<std::string, std::uint64_t> bytes;
  for (const OnnxConstant& constant : onnx.constants)
    bytes[std::string(name_of(constant.type))] += constant.bytes;
  std::vector<ExportedWeightsResult> weights;
  for (const auto& [type, size] : bytes) weights.push_back({type, size});
  return weights;
}

std::vector<ExportedValueResult> value_results(const std::vector<OnnxValue>& values) {
  std::vector<ExportedValueResult> results;
  for (const OnnxValue& value : values) results.push_back({value.name, to_string(value.shape)});
  return results;
}

std::string names_of(const std::vector<OnnxValue>& values) {
  std::vector<std::string> names;
  for (const OnnxValue& value : values)
    names.push_back(fmt::format("{} {}", value.name, to_string(value.shape)));
  return fmt::format("{}", fmt::join(names, ", "));
}

NextCommand next_command(const ExportJob& job, const ExportedModel& exported) {
  const fs::path output = job.output.folder;
  const bool is_file = is_one_file(job);
  const std::string python = shell_word(python_program());
  if (is_file || exported.source.images)
    return {"List its inputs",
            fmt::format("{} -c \"import onnxruntime as ort; print([i.name for i in "
                        "ort.InferenceSession('{}').get_inputs()])\"",
                        python, (is_file ? output : output / kModelFile).string())};
  if (exported.embeds() && !exported.source.sentence_folder.empty())
    return {"Embed a text",
            fmt::format("{} -c \"from sentence_transformers import SentenceTransformer as S; "
                        "print(S('{}', backend='onnx').encode('a text'))\"",
                        python, output.string())};
  return {exported.embeds() ? "Embed a text" : "Classify a text",
          fmt::format("{} -c \"from optimum.pipelines import pipeline; print(pipeline('{}', "
                      "'{}', accelerator='ort')('a text'))\"",
                      python, exported.embeds() ? "feature-extraction" : "text-classification",
                      output.string())};
}

std::map<std::string, std::string> metadata_of(const ExportJob& job, const Model& model) {
  std::map<std::string, std::string> metadata = {
      {"hone.model", job.model},
      {"hone.command", job.invocation.command},
      {"architecture", model.facts.architecture},
      {"labels", Json(model.facts.labels).dump()},
  };
  if (!job.adapter.empty()) metadata["hone.adapter"] = job.adapter;
  if (const auto& passes = model.facts.history.passes; !passes.empty())
    metadata["hone.history"] = fmt::format("{}", fmt::join(passes, "; "));
  return metadata;
}

}  // namespace

ExportForm onnx_form(const ExportJob& job, ExportedModel& exported, Context& context) {
  Model& model = exported.model;
  run_passes(exported.graph, model.parameters, context.session(),
             {"remove_dropout", "remove_dead_code"});
  OnnxModel onnx =
      to_onnx(exported.graph, model.parameters, model.facts.architecture, job.opset, job.dtype);
  onnx.metadata = metadata_of(job, model);
  ExportForm form{.title = "ONNX",
                  .library = "onnx",
                  .engines = {"ONNX Runtime", "OpenVINO"},
                  .notes = {onnx.notes.begin(), onnx.notes.end()},
                  .next = next_command(job, exported),
                  .write = {}};
  form.write = [&job, &exported, &context, onnx = std::move(onnx)](const fs::path& path) {
    const fs::path file = is_one_file(job) ? path : path / kModelFile;
    ExportedFiles written{.files = write_onnx(onnx, file),
                          .weights = weights_by_type(onnx),
                          .graph = OnnxGraphResult{.opset = onnx.opset,
                                                   .ir_version = onnx_ir_version(onnx.opset),
                                                   .inputs = value_results(onnx.inputs),
                                                   .outputs = value_results(onnx.outputs),
                                                   .nodes = onnx.nodes.size()},
                          .key_figures = {{"Opset", std::to_string(onnx.opset)}},
                          .facts = {{"Inputs", names_of(onnx.inputs)},
                                    {"Outputs", names_of(onnx.outputs)},
                                    {"IR version", std::to_string(onnx_ir_version(onnx.opset))}}};
    if (job.check.data.source.empty()) return written;
    const std::optional<std::string> python = python_with_onnx_runtime();
    if (!python) {
      written.check_reason = kNoOnnxRuntime;
    } else {
      const ExportCheckResult& check = written.check.emplace(
          check_export(job.check, exported.source, exported.reference_graph, exported.limit, file,
                       onnx, exported.output, *python, context));
      written.basis = {std::string(arithmetic_of_run(exported.reference_graph, context.session())),
                       0, check.data, fmt::format("{}: {}", check.split, check.examples_text()),
                       "nothing was chosen; outputs of ONNX Runtime and hone were compared"};
    }
    return written;
  };
  return form;
}

}  // namespace hone
