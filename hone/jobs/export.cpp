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

namespace hone {
namespace {

// Whether a modules.json says that texts become vectors.
bool gives_vectors(const std::string& model) {
  if (is_fresh(model)) return false;
  const std::vector<ListedModule> modules = read_module_list(find_model(model), json_reader());
  return std::ranges::any_of(modules,
                             [](const ListedModule& module) { return module.name() == "Pooling"; });
}

// Weights with formats become their codes, for quantizers of them are no operations of other engines.
Model with_codes(Model model, Context& context) {
  transform(model, "fuse_lora", context.session());
  if (!model.quantization) return for_other_programs(model, context.session());
  transform(model, "pack", context.session());
  model.quantization.reset();  // the file says it
  return model;
}

ExportedModel open_exported(const ExportJob& job, Context& context) {
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

struct WrittenBytes {
  std::uint64_t bytes = 0;
  Json files = Json::array(), weights = Json::array();
  std::string weights_text = {};  // "12 KiB in int8, 3 KiB in fp32"
};

WrittenBytes bytes_written(const ExportedFiles& written) {
  WrittenBytes sizes;
  for (const auto& [path, bytes] : written.files) {
    sizes.bytes += bytes;
    sizes.files.push_back({{"file", path.filename().string()}, {"bytes", bytes}});
  }
  using Row = std::pair<std::string, std::uint64_t>;
  std::vector<Row> weights = written.weights;
  std::ranges::stable_sort(weights, std::greater<>(), &Row::second);
  std::vector<std::string> shown;
  for (const auto& [type, bytes] : weights) {
    sizes.weights.push_back({{"type", type}, {"bytes", bytes}});
    if (1000 * bytes >= sizes.bytes)
      shown.push_back(fmt::format("{} in {}", human_bytes(static_cast<double>(bytes)), type));
  }
  sizes.weights_text = fmt::format("{}", fmt::join(shown, ", "));
  return sizes;
}

// The folder's card says what other programs need.
CardCopy exported_card(const ExportJob& job, const ExportedModel& exported, const ExportForm& form,
                       const fs::path& file, const std::string& weights_text,
                       const fs::path& folder) {
  CardCopy copy{
      .name = job.output.name_of(folder, folder),
      .how = fmt::format("Exported to {} by `{}`. All numbers here were measured on the "
                         "model before the export.",
                         form.title, job.invocation.command),
      .library = std::string(form.library),
      .weights = {fmt::format("The weights are in {}: {}.", file.filename().string(), weights_text),
                  fmt::format("{} can load it; hone does not read {}.",
                              fmt::join(form.engines, " and "), form.title)},
      .quantized = exported.source.model.quantization.has_value(),
      .history = exported.model.facts.history};
  for (const auto* notes : {&exported.notes, &form.notes})
    for (const std::string& note : *notes) copy.weights.push_back(capitalized(note) + ".");
  return copy;
}

// Everything of a folder but what the target writes.
void complete_folder(const ExportJob& job, ExportedModel& exported, const ExportForm& form,
                     const CardCopy& card, const JobResult& result, const fs::path& folder,
                     Context& context) {
  Json config = config_beside(exported.model);
  config.update(form.config);
  write_file(folder / "config.json", to_document(config));
  // No other program reads fingerprints of training examples, and short texts can be guessed from them.
  exported.source.trained_on.reset();
  write_beside(exported.source, folder);
  // The card of the base has neither the numbers nor the labels of an adapter; that of a classifier is none of embeddings.
  const bool is_of_classes = exported.embeds() && exported.source.modules.empty();
  if (job.adapter.empty() && !is_of_classes)
    carry_card(exported.source.folder, exported.source.model, card, folder);
  write_report(result, job.invocation, folder, context);
}

}  // namespace

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
  if (!job.check.data.source.empty()) python_for_check();
  ExportedModel exported = open_exported(job, context);
  const auto make_form = job.target == ExportTarget::onnx ? onnx_form : compressed_tensors_form;
  const ExportForm form = make_form(job, exported, context);
  std::vector<std::string> notes = exported.notes;
  notes.insert(notes.end(), form.notes.begin(), form.notes.end());
  tell_warnings(context, exported.source.model.warnings);
  tell_notes(context, notes);
  stop_if_interrupted();

  const ExportedFiles written = form.write(output ? output->path() : destination);
  const WrittenBytes sizes = bytes_written(written);
  JobResult result;
  result.fields = {{"model", job.model},   {"target", form.name},  {"output", destination.string()},
                   {"files", sizes.files}, {"bytes", sizes.bytes}, {"weights", sizes.weights}};
  result.fields.update(written.fields);
  result.fields.update({{"engines", form.engines}, {"notes", notes}, {"next", form.next.command}});
  if (!job.adapter.empty()) result.fields["adapter"] = job.adapter;
  Document& document = result.document;
  document.title = fmt::format("{} exported", job.model);
  document.headline = fmt::format("{} exported as {}, {}", job.model, form.title,
                                  human_bytes(static_cast<double>(sizes.bytes)));
  document.key_figures = written.key_figures;
  document.key_figures.push_back({"Runs in", fmt::format("{}", fmt::join(form.engines, ", "))});
  document.evidence = written.evidence;
  Facts facts{{{"Weights", sizes.weights_text}}};
  facts.rows.insert(facts.rows.end(), written.facts.begin(), written.facts.end());
  document.sections = {{"", {std::move(facts)}}};
  document.notes = notes;
  document.next = {form.next};
  result.basis = written.basis.value_or(basis_without_texts("fp32"));
  if (output) {
    document.output = destination.string();
    const CardCopy card = exported_card(job, exported, form, written.files.front().first,
                                        sizes.weights_text, output->path());
    complete_folder(job, exported, form, card, result, output->path(), context);
    output->commit();
  }
  return result;
}

}  // namespace hone
