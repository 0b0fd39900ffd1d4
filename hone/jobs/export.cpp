#include "hone/jobs/export.h"

#include <fmt/ranges.h>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/module_list.h"
#include "hone/jobs/model_card.h"
#include "hone/models/adapter.h"
#include "hone/models/embedding_model.h"
#include "hone/models/transform.h"
#include "hone/onnx/onnx_file.h"
#include "hone/onnx/to_onnx.h"
#include "hone/passes/keep_outputs.h"

namespace hone {
namespace {

constexpr const char* kModelFile = "model.onnx";

// Whether a modules.json says that texts become vectors.
bool gives_vectors(const std::string& model) {
  if (is_fresh(model)) return false;
  const std::vector<ListedModule> modules = read_module_list(find_model(model), json_reader());
  return std::ranges::any_of(modules,
                             [](const ListedModule& module) { return module.name() == "Pooling"; });
}

/// A model as it is exported.
struct Exported {
  TextModel source;
  Model model;  // with weights as the file has them
  Graph graph;
  Graph answers;       // what hone computes of the source for the same output
  std::string output;  // that the file calls so
  TextLimit limit;
  std::vector<std::string> notes = {};  // what the file does not express
};

// Weights with formats become their codes, for quantizers of them are no operations of other engines.
Model with_codes(Model model, Context& context) {
  transform(model, "fuse_lora", context.session());
  if (!model.quantization) return for_other_programs(model, context.session());
  transform(model, "pack", context.session());
  model.quantization.reset();  // the file says it
  return model;
}

Exported open_exported(const ExportJob& job, Context& context) {
  if (job.embed || gives_vectors(job.model)) {
    user_check(job.adapter.empty(),
               "`adapter`: adapters come with a head; merge it for embeddings (`hone lora merge`)");
    EmbeddingModel opened = open_embedding_model(job.model, context, job.seed);
    Model model = with_codes(opened.source.model, context);
    Graph graph = embedding_graph(model, opened.modules, /*hidden_states=*/true);
    graph.set_output("sentence_embedding", graph.output("embedding"));
    graph.remove_output("embedding");
    std::vector<std::string> notes;
    if (!opened.modules.prompt.empty())
      notes.push_back(fmt::format("put the model's default prompt '{}' in front of every text",
                                  opened.modules.prompt));
    Graph answers = embedding_graph(opened.source.model, opened.modules);
    const TextLimit limit = text_limit(job.check.cut, opened);
    return {std::move(opened.source), std::move(model),     std::move(graph),
            std::move(answers),       "sentence_embedding", limit,
            std::move(notes)};
  }
  TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  if (!is_fresh(job.model)) check_has_head(source, job.model);
  Model model = with_codes(source.model, context);
  Graph graph = forward_graph(model), answers = forward_graph(source.model);
  const TextLimit limit = text_limit(job.check.cut, source);
  return {std::move(source),  std::move(model), std::move(graph),
          std::move(answers), "logits",         limit};
}

std::string_view name_of(OnnxType type) {
  switch (type) {
    case OnnxType::f32:
      return "fp32";
    case OnnxType::f16:
      return "fp16";
    case OnnxType::bf16:
      return "bf16";
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

// What constants take by their type, the largest first.
struct ConstantBytes {
  OnnxType type;
  std::uint64_t bytes = 0;
};
std::vector<ConstantBytes> bytes_by_type(const OnnxModel& onnx) {
  std::vector<ConstantBytes> rows;
  for (const OnnxConstant& constant : onnx.constants) {
    auto row = std::ranges::find(rows, constant.type, &ConstantBytes::type);
    if (row == rows.end()) row = rows.insert(rows.end(), {constant.type});
    row->bytes += constant.bytes;
  }
  std::ranges::stable_sort(rows, std::greater<>(), &ConstantBytes::bytes);
  return rows;
}

Json to_json(const std::vector<OnnxValue>& values) {
  Json rows = Json::array();
  for (const OnnxValue& value : values)
    rows.push_back({{"name", value.name}, {"shape", to_string(value.shape)}});
  return rows;
}

std::string names_of(const std::vector<OnnxValue>& values) {
  std::vector<std::string> names;
  for (const OnnxValue& value : values)
    names.push_back(fmt::format("{} {}", value.name, to_string(value.shape)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// A command that runs the file.
NextCommand next_command(const Exported& exported, const fs::path& output, bool is_file) {
  if (is_file || exported.source.images)
    return {"List its inputs",
            fmt::format("python3 -c \"import onnxruntime as ort; print([i.name for i in "
                        "ort.InferenceSession('{}').get_inputs()])\"",
                        (is_file ? output : output / kModelFile).string())};
  const bool embeds = static_cast<bool>(exported.graph.output("sentence_embedding"));
  if (embeds && !exported.source.modules.empty())
    return {"Embed a text",
            fmt::format("python3 -c \"from sentence_transformers import SentenceTransformer as S; "
                        "print(S('{}', backend='onnx').encode('a text'))\"",
                        output.string())};
  return {embeds ? "Embed a text" : "Classify a text",
          fmt::format("python3 -c \"from optimum.pipelines import pipeline; print(pipeline('{}', "
                      "'{}', accelerator='ort')('a text'))\"",
                      embeds ? "feature-extraction" : "text-classification", output.string())};
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

JobResult export_model(const ExportJob& job, Context& context) {
  const fs::path destination = job.output.folder;
  const bool is_file = destination.extension() == ".onnx";
  std::optional<OutputFolder> output;
  if (is_file) {
    check_output_file(destination, job.output.overwrite);
    check_output_file(data_file_of(destination), job.output.overwrite);
  } else {
    output.emplace(destination, job.output.options());
  }
  const bool checks = !job.check.data.source.empty();
  const std::string python = checks ? python_for_check() : "";
  Exported exported = open_exported(job, context);
  Model& model = exported.model;
  run_passes(exported.graph, model.parameters, context.session(),
             {"remove_dropout", "remove_dead_code"});
  OnnxModel onnx = to_onnx(exported.graph, model.parameters, model.facts.architecture,
                           job.opset == 0 ? kUsualOpset : job.opset, job.dtype);
  onnx.metadata = metadata_of(job, model);
  std::vector<std::string> notes = exported.notes;
  notes.insert(notes.end(), onnx.notes.begin(), onnx.notes.end());
  tell_warnings(context, exported.source.model.warnings);
  tell_notes(context, notes);
  stop_if_interrupted();

  const fs::path folder = is_file ? fs::path() : output->path();
  const fs::path file = is_file ? destination : folder / kModelFile;
  const auto files = write_onnx(onnx, file);
  const std::vector<std::string> engines = {"ONNX Runtime", "OpenVINO"};
  std::uint64_t bytes = 0;
  Json file_rows = Json::array();
  for (const auto& [path, size] : files) {
    bytes += size;
    file_rows.push_back({{"file", path.filename().string()}, {"bytes", size}});
  }
  Json weight_rows = Json::array();
  std::vector<std::string> weights;
  for (const ConstantBytes& row : bytes_by_type(onnx)) {
    weight_rows.push_back({{"type", name_of(row.type)}, {"bytes", row.bytes}});
    if (1000 * row.bytes >= bytes)
      weights.push_back(
          fmt::format("{} in {}", human_bytes(static_cast<double>(row.bytes)), name_of(row.type)));
  }
  const NextCommand next = next_command(exported, destination, is_file);
  JobResult result;
  result.fields = {{"model", job.model},
                   {"target", "onnx"},
                   {"output", destination.string()},
                   {"files", std::move(file_rows)},
                   {"bytes", bytes},
                   {"opset", onnx.opset},
                   {"ir_version", onnx_ir_version(onnx.opset)},
                   {"weights", std::move(weight_rows)},
                   {"inputs", to_json(onnx.inputs)},
                   {"outputs", to_json(onnx.outputs)},
                   {"nodes", onnx.nodes.size()},
                   {"engines", engines},
                   {"notes", notes},
                   {"next", next.command}};
  if (!job.adapter.empty()) result.fields["adapter"] = job.adapter;
  Document& document = result.document;
  document.title = fmt::format("{} exported", job.model);
  document.headline =
      fmt::format("{} exported as ONNX, {}", job.model, human_bytes(static_cast<double>(bytes)));
  document.key_figures = {{"Opset", std::to_string(onnx.opset)},
                          {"Runs in", fmt::format("{}", fmt::join(engines, ", "))}};
  document.sections = {{"",
                        {Facts{{{"Weights", fmt::format("{}", fmt::join(weights, ", "))},
                                {"Inputs", names_of(onnx.inputs)},
                                {"Outputs", names_of(onnx.outputs)},
                                {"IR version", std::to_string(onnx_ir_version(onnx.opset))}}}}}};
  document.notes = notes;
  document.next = {next};
  result.basis = basis_without_texts("fp32");
  if (checks) {
    result.fields["check"] =
        check_export(job.check, exported.source, exported.answers, exported.limit, file, onnx,
                     exported.output, python, context);
    document.evidence = check_text(result.fields["check"]);
  }
  if (output) {
    document.output = destination.string();
    write_file(folder / "config.json", to_document(config_beside(model)));
    // No other program reads fingerprints of training examples, and short texts can be guessed from them.
    exported.source.trained_on.reset();
    write_beside(exported.source, folder);
    carry_card(exported.source.folder, exported.source.model, model,
               fmt::format("Exported to ONNX by `{}`. All numbers here were measured on the model "
                           "before the export.",
                           job.invocation.command),
               folder);
    write_report(result, job.invocation, folder, context);
    output->commit();
  }
  return result;
}

}  // namespace hone
