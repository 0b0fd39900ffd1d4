#include "hone/jobs/export.h"

#include <fmt/ranges.h>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/module_list.h"
#include "hone/jobs/export_form.h"
#include "hone/jobs/model_card.h"
#include "hone/models/adapter.h"
#include "hone/models/embedding_model.h"
#include "hone/models/transform.h"
#include "hone/onnx/onnx_file.h"
#include "hone/onnx/onnx_runtime.h"

namespace hone {
namespace {

// Returns whether modules.json has a pooling module, so that texts become vectors.
bool produces_embeddings(const std::string& model) {
  if (is_new_model(model)) return false;
  const std::vector<ListedModule> modules = read_module_list(find_model(model), json_reader());
  return std::ranges::any_of(modules,
                             [](const ListedModule& module) { return module.name() == "Pooling"; });
}

// Stores quantized weights as codes, since other engines have no such quantizer operations.
Model with_codes(Model model, Context& context) {
  transform(model, "fuse_lora", context.session());
  if (!model.quantization) return for_other_programs(model, context.session());
  transform(model, "pack", context.session());
  model.quantization.reset();  // the packed graph expresses it
  return model;
}

ExportedModel open_exported(const ExportJob& job, Context& context) {
  if (job.embed || produces_embeddings(job.model)) {
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
    Graph reference_graph = embedding_graph(opened.source.model, opened.modules);
    const TextLimit limit = text_limit(job.check.cut, opened);
    return {std::move(opened.source), std::move(model),
            std::move(graph),         std::move(reference_graph),
            "sentence_embedding",     limit,
            std::move(notes)};
  }
  TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  if (!is_new_model(job.model)) check_has_head(source, job.model);
  Model model = with_codes(source.model, context);
  Graph graph = forward_graph(model), reference_graph = forward_graph(source.model);
  const TextLimit limit = text_limit(job.check.cut, source);
  return {std::move(source),          std::move(model), std::move(graph),
          std::move(reference_graph), "logits",         limit};
}

ExportFields export_fields(const ExportJob& job, const ExportForm& form,
                           const ExportedFiles& written, const std::vector<std::string>& notes) {
  ExportFields fields{.model = job.model,
                      .target = job.target,
                      .output = job.output.folder,
                      .weights = written.weights,
                      .engines = form.engines,
                      .notes = notes,
                      .next = form.next.command,
                      .graph = written.graph,
                      .check = written.check,
                      .check_reason = written.check_reason,
                      .layers = written.layers};
  if (!job.adapter.empty()) fields.adapter = job.adapter;
  for (const auto& [path, bytes] : written.files) {
    fields.bytes += bytes;
    fields.files.push_back({path.filename().string(), bytes});
  }
  std::ranges::stable_sort(fields.weights, std::greater<>(), &ExportedWeightsResult::bytes);
  return fields;
}

// "12 KiB in int8, 3 KiB in fp32"; omits types with less than 0.1% of the bytes.
std::string weights_text(const ExportFields& fields) {
  std::vector<std::string> shown;
  for (const auto& [type, bytes] : fields.weights)
    if (1000 * bytes >= fields.bytes)
      shown.push_back(fmt::format("{} in {}", human_bytes(static_cast<double>(bytes)), type));
  return fmt::format("{}", fmt::join(shown, ", "));
}

// Returns the model card of the folder, which says what other programs need.
CardCopy exported_card(const ExportJob& job, const ExportedModel& exported, const ExportForm& form,
                       const ExportFields& fields, const fs::path& folder) {
  CardCopy copy{.name = job.output.name_of(folder, folder),
                .how = fmt::format("Exported to {} by `{}`. All numbers here were measured on the "
                                   "model before the export.",
                                   form.title, job.invocation.command),
                .library = std::string(form.library),
                .weights = {fmt::format("The weights are in {}: {}.", fields.files.front().file,
                                        weights_text(fields)),
                            fmt::format("{} can load it; hone does not read {}.",
                                        fmt::join(form.engines, " and "), form.title)},
                .quantized = exported.source.model.quantization.has_value(),
                .history = exported.model.facts.history};
  for (const auto* notes : {&exported.notes, &form.notes})
    for (const std::string& note : *notes) copy.weights.push_back(capitalized(note) + ".");
  return copy;
}

// Writes everything in a folder except the target's own files.
void complete_folder(const ExportJob& job, ExportedModel& exported, const ExportForm& form,
                     const CardCopy& card, const JobResult& result, const fs::path& folder,
                     Context& context) {
  Json config = external_config(exported.model);
  config.update(form.config);
  write_file(folder / "config.json", to_document(config));
  // No other program reads the fingerprints of training examples, and short texts can be guessed from them.
  exported.source.trained_on.reset();
  write_other_files(exported.source, folder);
  // The card of the base has neither the numbers nor the labels of an adapter; the card of a classifier does not
  // describe embeddings.
  const bool is_of_classes = exported.embeds() && exported.source.sentence_folder.empty();
  if (job.adapter.empty() && !is_of_classes)
    copy_model_card(exported.source.folder, exported.source.model, card, folder);
  write_report(result, job.invocation, folder, context);
}

}  // namespace

std::span<const EnumName> enum_names(ExportTarget) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(ExportTarget::onnx), "onnx"},
      {static_cast<int>(ExportTarget::compressed_tensors), "compressed-tensors"}};
  return kWords;
}

const Fields& fields_of(const ExportedFileResult*) {
  using E = ExportedFileResult;
  static const Fields fields = describe<E>("exported_file", "A file of an exported model.",
                                           field<&E::file>("file", "Its name."),
                                           field<&E::bytes>("bytes", Unit::bytes, "Its size."));
  return fields;
}

const Fields& fields_of(const ExportedWeightsResult*) {
  using E = ExportedWeightsResult;
  static const Fields fields =
      describe<E>("exported_weights", "Weights of one type in an exported model.",
                  field<&E::type>("type",
                                  "Type of the elements: fp32, fp16, bf16, fp8, int8, uint8, int4, "
                                  "uint4, int32, int64 or bool."),
                  field<&E::bytes>("bytes", Unit::bytes, "Their size."));
  return fields;
}

const Fields& fields_of(const ExportedValueResult*) {
  using E = ExportedValueResult;
  static const Fields fields = describe<E>(
      "exported_value", "An input or output of an exported graph.",
      field<&E::name>("name", "Its name."),
      field<&E::shape>("shape", "Its sizes; B: examples, S: tokens, other sizes are numbers."));
  return fields;
}

const Fields& fields_of(const OnnxGraphResult*) {
  using O = OnnxGraphResult;
  static const Fields fields =
      describe<O>("onnx_graph", "A graph of ONNX.",
                  field<&O::opset>("opset", "Version of the operators of ONNX."),
                  field<&O::ir_version>("ir_version", "Version of the file format of ONNX."),
                  field<&O::inputs>("inputs", "Inputs of the graph."),
                  field<&O::outputs>("outputs", "Outputs of the graph."),
                  field<&O::nodes>("nodes", "Nodes in the graph."));
  return fields;
}

const Fields& fields_of(const ExportedLayersResult*) {
  using E = ExportedLayersResult;
  static const Fields fields = describe<E>(
      "exported_layers", "Linear layers that compressed-tensors stores in the same layout.",
      field<&E::format>("format", "Name of the layout in compressed-tensors."),
      field<&E::weights>("weights",
                         "Type of the weights, and what shares a scale: int4 in groups of 32."),
      field<&E::inputs>("inputs", "The same of the inputs; null: they are not rounded."),
      field<&E::count>("count", "Number of layers."));
  return fields;
}

const Fields& fields_of(const ExportFields*) {
  using E = ExportFields;
  static const Fields fields = describe<E>(
      "export", "A model exported for other engines.",
      field<&E::model>("model", "The model as it was named."),
      field<&E::adapter>("adapter", "The adapter as it was named; null: none."),
      field<&E::target>("target", "The file format."),
      field<&E::output>("output", "The folder or file that was written."),
      field<&E::files>("files", "Files with the graph and the weights."),
      field<&E::bytes>("bytes", Unit::bytes, "Size of these files."),
      field<&E::weights>("weights", "Weights by their type, the largest share first."),
      field<&E::engines>("engines", "Engines that run the file."),
      field<&E::notes>("notes", "What the file does not express."),
      field<&E::next>("next", "A command that runs the file."), inlined<&E::graph>(),
      field<&E::check>("check",
                       "The file in ONNX Runtime compared with hone; null: without --check, or it "
                       "did not run."),
      field<&E::check_reason>("check_reason",
                              "Why the check did not run; null: it did, or without --check."),
      field<&E::layers>("layers", "Linear layers that are stored as codes; null: with --to onnx."));
  return fields;
}

bool is_one_file(const ExportJob& job) {
  return job.target == ExportTarget::onnx && fs::path(job.output.folder).extension() == ".onnx";
}

JobResult export_model(const ExportJob& job, Context& context) {
  const fs::path destination = job.output.folder;
  std::optional<OutputFolder> output;
  if (is_one_file(job)) {
    check_output_file(destination, job.output.overwrite);
    check_output_file(data_file_of(destination), job.output.overwrite);
  } else {
    output.emplace(destination, job.output.options());
  }
  ExportedModel exported = open_exported(job, context);
  const auto make_form = job.target == ExportTarget::onnx ? onnx_form : compressed_tensors_form;
  const ExportForm form = make_form(job, exported, context);
  std::vector<std::string> notes = exported.notes;
  notes.insert(notes.end(), form.notes.begin(), form.notes.end());
  print_warnings(context, exported.source.model.warnings);
  print_notes(context, notes);
  stop_if_interrupted();

  const ExportedFiles written = form.write(output ? output->path() : destination);
  const ExportFields fields = export_fields(job, form, written, notes);
  JobResult result;
  result.fields = to_json(fields);
  Document& document = result.document;
  document.title = fmt::format("{} exported", job.model);
  document.headline = fmt::format("{} exported as {}, {}", job.model, form.title,
                                  human_bytes(static_cast<double>(fields.bytes)));
  document.key_figures = written.key_figures;
  document.key_figures.push_back({"Runs in", fmt::format("{}", fmt::join(form.engines, ", "))});
  if (written.check) document.evidence = written.check->summary();
  if (written.check_reason)
    document.evidence = fmt::format("The check did not run: {}.", *written.check_reason);
  if (job.target == ExportTarget::onnx && job.check.data.source.empty())
    document.evidence = fmt::format(
        "Predictions of the file were not measured. Give {} with data to compare them with hone's "
        "in ONNX Runtime.",
        job.invocation.setting("check"));
  Facts facts{{{"Weights", weights_text(fields)}}};
  facts.rows.insert(facts.rows.end(), written.facts.begin(), written.facts.end());
  document.sections = {{"", {std::move(facts)}}};
  document.notes = notes;
  document.next = {form.next};
  result.basis = written.basis.value_or(basis_without_texts("fp32"));
  if (output) {
    document.output = destination.string();
    const CardCopy card = exported_card(job, exported, form, fields, output->path());
    complete_folder(job, exported, form, card, result, output->path(), context);
    output->commit();
  }
  return result;
}

NextCommand command_to_export(const std::string& model, const std::string& data,
                              const std::string& output) {
  if (!python_with_onnx_runtime())
    return {"Export it to ONNX",
            fmt::format("hone export {} --to onnx -o {}", shell_word(model), shell_word(output))};
  return {"Export it to ONNX, and compare predictions and times in ONNX Runtime",
          fmt::format("hone export {} --to onnx --check {} -o {}", shell_word(model),
                      shell_word(data), shell_word(output))};
}

}  // namespace hone
