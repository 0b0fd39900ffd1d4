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
  std::string line = {};  // "Weights: 12 KiB in int8, 3 KiB in fp32"
};

WrittenBytes bytes_written(ExportedFiles& written) {
  WrittenBytes sizes;
  for (const auto& [path, bytes] : written.files) {
    sizes.bytes += bytes;
    sizes.files.push_back({{"file", path.filename().string()}, {"bytes", bytes}});
  }
  using Row = std::pair<std::string, std::uint64_t>;
  std::ranges::stable_sort(written.weights, std::greater<>(), &Row::second);
  std::vector<std::string> shown;
  for (const auto& [type, bytes] : written.weights) {
    sizes.weights.push_back({{"type", type}, {"bytes", bytes}});
    if (1000 * bytes >= sizes.bytes)
      shown.push_back(fmt::format("{} in {}", human_bytes(static_cast<double>(bytes)), type));
  }
  sizes.line = fmt::format("Weights: {}", fmt::join(shown, ", "));
  return sizes;
}

// Everything of a folder but what the target writes.
void complete_folder(const ExportJob& job, const ExportedModel& exported, const ExportForm& form,
                     const ExportResult& result, const std::vector<std::string>& notes,
                     const std::vector<std::string>& lines, const fs::path& folder,
                     Context& context) {
  const Model& model = exported.model;
  Json config = config_beside(model);
  config.update(form.config);
  write_file(folder / "config.json", to_document(config));
  write_beside(exported.source, folder);
  carry_card(exported.source.folder, exported.source.model, model,
             fmt::format("Exported to {} by `{}`. The numbers here are those of the model before.",
                         form.title, job.invocation.command),
             folder);
  RunReport report{.title = fmt::format("{} exported", job.model),
                   .headline = lines.front(),
                   .invocation = job.invocation,
                   .basis = basis_without_texts("fp32"),
                   .results = result.fields,
                   .notes = notes};
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.emplace_back(Paragraph{line});
  report.sections = {{"The file", std::move(blocks)}};
  write_run_report(report, folder, context);
}

}  // namespace

bool is_one_file(const ExportJob& job) {
  return job.target == ExportTarget::onnx && fs::path(job.output.folder).extension() == ".onnx";
}

ExportResult export_model(const ExportJob& job, Context& context) {
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

  ExportedFiles written = form.write(output ? output->path() : destination);
  const WrittenBytes sizes = bytes_written(written);
  ExportResult result;
  result.fields = {{"model", job.model},   {"target", form.name},  {"output", destination.string()},
                   {"files", sizes.files}, {"bytes", sizes.bytes}, {"weights", sizes.weights}};
  result.fields.update(written.fields);
  result.fields.update({{"engines", form.engines}, {"notes", notes}, {"next", form.next}});
  if (!job.adapter.empty()) result.fields["adapter"] = job.adapter;
  std::vector<std::string> lines = {
      fmt::format("{} exported to {}: {}{}", job.model, destination.string(),
                  human_bytes(static_cast<double>(sizes.bytes)), written.summary),
      sizes.line};
  lines.insert(lines.end(), written.lines.begin(), written.lines.end());
  lines.push_back(fmt::format("Runs in {}", fmt::join(form.engines, " and ")));
  if (output) {
    complete_folder(job, exported, form, result, notes, lines, output->path(), context);
    output->commit();
  }
  result.text = [lines, next = form.next](const TextStyle&) {
    return fmt::format("{}\n\nNext:\n  {}\n", fmt::join(lines, "\n"), next);
  };
  return result;
}

}  // namespace hone
