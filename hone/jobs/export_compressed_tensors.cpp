#include <fmt/ranges.h>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/compressed_tensors/to_compressed_tensors.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/element_type.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/export_form.h"
#include "hone/passes/pack.h"

namespace hone {
namespace {

// transformers reads only the config and the checkpoint.
void check_config_describes(const ExportJob& job, const Model& model) {
  Model plain = model;
  unpack_weights(plain.graph);
  const TransformersLoading loading = transformers_loading(plain);
  user_check(loading.loads(), "{}: transformers cannot load it: {}; `--to onnx` exports any model",
             job.model, loading.reason);
}

std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "fp32";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::i8:
      return "int8";
    case DType::u8:
      return "uint8";
    default:
      return info(dtype).name;
  }
}

std::vector<ExportedWeightsResult> coded_weights_by_type(const CompressedTensorsModel& coded) {
  std::map<std::string, std::uint64_t> bytes;
  for (const auto& [name, tensor] : coded.tensors)
    bytes[coded.float8.contains(name) ? "fp8" : std::string(type_name(tensor.dtype()))] +=
        tensor.size_bytes();
  std::vector<ExportedWeightsResult> weights;
  for (const auto& [type, size] : bytes) weights.push_back({type, size});
  return weights;
}

// "int4 in groups of 32", "int8 per token".
std::string scheme_text(const Json& scheme) {
  const std::string strategy = scheme["strategy"];
  std::string text =
      fmt::format("{}{} ", scheme["type"] == "int" ? "int" : "fp", scheme["num_bits"].get<int>());
  text += strategy == "group" ? fmt::format("in groups of {}", scheme["group_size"].get<int>())
                              : fmt::format("per {}", strategy);
  return scheme["dynamic"].get<bool>() || strategy != "tensor" ? text : text + ", static";
}

NextCommand command_with_transformers(const ExportJob& job, const ExportedModel& exported) {
  const std::string python = shell_word(python_program());
  if (exported.embeds() && !exported.source.sentence_folder.empty())
    return {"Embed a text",
            fmt::format("{} -c \"from sentence_transformers import SentenceTransformer as S; "
                        "from transformers import CompressedTensorsConfig as C; print(S('{}', "
                        "model_kwargs={{'quantization_config': C(dequantize=True)}}).encode("
                        "'a text'))\"",
                        python, job.output.folder)};
  return {exported.embeds() ? "Embed a text" : "Classify a text",
          fmt::format("{} -c \"from transformers import pipeline; "
                      "print(pipeline('{}', '{}')('a text'))\"",
                      python, exported.embeds() ? "feature-extraction" : "text-classification",
                      job.output.folder)};
}

}  // namespace

ExportForm compressed_tensors_form(const ExportJob& job, ExportedModel& exported,
                                   Context& context) {
  const Model& model = exported.model;
  const std::string remedy = fmt::format(
      "quantize linear layers first, for example with `hone quantize {} --weight_format "
      "'int(bits=4,group=32)' --data DATA -o FOLDER`",
      job.model);
  // Checked first: quantizing would not help a model that the config does not describe.
  check_config_describes(job, model);
  user_check(exported.source.model.quantization.has_value(),
             "{}: compressed-tensors is for quantized models, and this one is not quantized; {}",
             job.model, remedy);
  const Architecture& architecture = find_architecture(model.facts.architecture, job.model);
  CompressedTensorsModel coded =
      to_compressed_tensors(exported.graph, model.parameters,
                            {architecture.encoder.name, architecture.fresh}, context.pool);
  user_check(!coded.groups.empty(),
             "{}: compressed-tensors expresses none of its quantized weights{}{}; {}, or write "
             "fp32 weights with `hone unpack --loadable transformers`",
             job.model, coded.notes.empty() ? "" : ": ", fmt::join(coded.notes, "; "), remedy);
  ExportForm form{.title = "compressed-tensors",
                  .library = "transformers",
                  .engines = {"transformers"},
                  .notes = {coded.notes.begin(), coded.notes.end()},
                  .next = command_with_transformers(job, exported),
                  .write = {}};
  form.config["quantization_config"] = coded.quantization_config;
  if (coded.in_bfloat16) name_element_type(form.config, "bfloat16");
  if (exported.embeds()) {
    // transformers calls the encoder of XForSequenceClassification XModel.
    const std::string_view with_head = architecture.keys.class_name;
    form.config["architectures"] = {
        fmt::format("{}Model", with_head.substr(0, with_head.find("For")))};
  }
  form.write = [coded = std::move(coded)](const fs::path& folder) {
    const fs::path file = folder / kWeightsFile;
    write_safetensors(file, coded.tensors, {{"format", "pt"}}, coded.float8);
    ExportedFiles written{.files = {{file, fs::file_size(file)}},
                          .weights = coded_weights_by_type(coded)};
    std::vector<ExportedLayersResult>& layers = written.layers.emplace();
    for (const CodedLayers& group : coded.groups) {
      ExportedLayersResult& row =
          layers.emplace_back(ExportedLayersResult{.format = group.format,
                                                   .weights = scheme_text(group.weights),
                                                   .count = group.names.size()});
      if (!group.inputs.is_null()) row.inputs = scheme_text(group.inputs);
      written.facts.push_back({fmt::format("{} linear layers", group.names.size()),
                               fmt::format("{}, weights in {}{}", row.format, row.weights,
                                           row.inputs ? ", inputs in " + *row.inputs : "")});
    }
    return written;
  };
  return form;
}

}  // namespace hone
