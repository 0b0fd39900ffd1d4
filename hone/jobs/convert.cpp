#include "hone/jobs/convert.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hone/base/error.h"
#include "hone/base/git_lfs.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/trained_on.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/module_list.h"
#include "hone/models/model_source.h"
#include "hone/models/unrounded_weights.h"
#include "hone/report/field_table.h"
#include "hone/report/table.h"

namespace hone {
namespace {

// Tensors with equal keys share the same elements in the same order.
using TensorPlace = std::tuple<const std::byte*, DType, Sizes>;

// Meaningless for a tensor without elements.
TensorPlace place_of(const Tensor& tensor) {
  return {tensor.device_pointer(), tensor.dtype(), tensor.sizes()};
}

// Selects config, tokenizer and model card, but neither files of the job that made the model nor modules.json, which
// names folders.
bool is_copied(const fs::path& path) {
  constexpr std::string_view kOfTheJob[] = {"machine.json", "results.json",       "settings.json",
                                            "report.md",    "trainer_state.json", "record.json",
                                            kModulesFile};
  constexpr std::string_view kEndings[] = {".json", ".txt", ".hone", ".model", ".jinja", ".md"};
  const std::string name = path.filename().string();
  if (name == kUnroundedFile) return true;
  if (name == kTrainedOnFile) return distrust_reason(path.parent_path()).empty();
  return !name.starts_with('.') && std::ranges::find(kOfTheJob, name) == std::end(kOfTheJob) &&
         !name.ends_with(".index.json") &&
         std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

std::vector<std::string> copy_others(const fs::path& model, const fs::path& output) {
  std::vector<std::string> copied;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(model, error)) {
    if (!entry.is_regular_file(error) || !is_copied(entry.path())) continue;
    copied.push_back(entry.path().filename().string());
    const std::string content = read_file(entry.path());
    refuse_git_lfs_pointer(entry.path(), content, "the contents of the file");
    write_file(output / copied.back(), content);
  }
  return copied;
}

// Names of real tensors are far shorter; a damaged file may have one of megabytes.
constexpr std::size_t kNameCharacters = 200;

std::vector<ConvertedTensorResult> tensor_results(const Conversion& conversion) {
  std::vector<ConvertedTensorResult> tensors;
  for (const ConvertedTensor& one : conversion.tensors) {
    ConvertedTensorResult row{.tensor = shown_name(one.name, kNameCharacters),
                              .type = std::string(info(one.dtype).safetensors),
                              .shape = {one.sizes.begin(), one.sizes.end()}};
    if (one.same_as.empty())
      row.bytes = element_count(one.sizes) * static_cast<std::int64_t>(info(one.dtype).size_bytes);
    else
      row.same_as = shown_name(one.same_as, kNameCharacters);
    tensors.push_back(std::move(row));
  }
  return tensors;
}

}  // namespace

const Fields& fields_of(const ConvertedTensorResult*) {
  using T = ConvertedTensorResult;
  static const Fields fields = describe<T>(
      "converted_tensor", "A tensor of a converted file.",
      field<&T::tensor>("tensor", "Its name.", "Tensor"),
      field<&T::type>("type", "Type of its elements, as safetensors calls it.", "Type"),
      field<&T::shape>("shape", "Its sizes.", "Shape"),
      field<&T::bytes>("bytes", Unit::bytes, "Size as written; null: `same_as` has its elements.",
                       "Size"),
      field<&T::same_as>("same_as", "The tensor that has its elements; null: it was written.",
                         "Stored as"));
  return fields;
}

const Fields& fields_of(const ConvertFields*) {
  using C = ConvertFields;
  static const Fields fields = describe<C>(
      "convert", "Weights converted to safetensors.",
      field<&C::model>("model", "The model as it was named."),
      field<&C::source>("source", "The file that was read."),
      field<&C::tensors>("tensors", "All tensors."),
      field<&C::copied>("copied", "Files that were copied."),
      field<&C::bytes>("bytes", Unit::bytes, "Size of the elements that were written."));
  return fields;
}

Conversion convert_weights(const fs::path& model, const fs::path& output) {
  const fs::path encoder = encoder_folder(model, read_module_list(model, json_reader()));
  const Checkpoint checkpoint = load_checkpoint(encoder);
  Conversion conversion{
      .source = checkpoint.source,
      .file = checkpoint.source == kHoneWeightsFile ? kHoneWeightsFile : kWeightsFile,
      .tensors = {},
      .copied = {}};
  std::map<TensorPlace, std::string> written;
  TensorMap tensors;
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  for (const auto& [name, tensor] : checkpoint.tensors) {
    ConvertedTensor row{name, tensor.dtype(), tensor.sizes(), {}};
    const auto [first, is_new] = written.emplace(place_of(tensor), name);
    if (is_new || tensor.count() == 0) {
      tensors.emplace(name, tensor);
      conversion.bytes += tensor.size_bytes();
    } else {
      row.same_as = first->second;
      metadata.emplace(name, first->second);
    }
    conversion.tensors.push_back(std::move(row));
  }
  const auto add = [&](const std::vector<std::string>& copied) {
    conversion.copied.insert(conversion.copied.end(), copied.begin(), copied.end());
  };
  if (encoder != model) add(copy_others(model, output));
  add(copy_others(encoder, output));
  add(copy_modules(model, output));
  std::ranges::sort(conversion.copied);
  conversion.copied.erase(std::unique(conversion.copied.begin(), conversion.copied.end()),
                          conversion.copied.end());
  write_safetensors(output / conversion.file, tensors, metadata);
  return conversion;
}

ConvertResult convert_model(const ConvertJob& job, const Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  const fs::path model = find_model(job.model);
  print_warnings(context, {distrust_reason(model)});
  ConvertResult result;
  result.conversion = convert_weights(model, output.path());
  output.commit();
  const Conversion& conversion = result.conversion;
  const ConvertFields fields{.model = job.model,
                             .source = conversion.source,
                             .tensors = tensor_results(conversion),
                             .copied = conversion.copied,
                             .bytes = conversion.bytes};
  result.fields = to_json(fields);
  Document& document = result.document;
  document.title = fmt::format("{} converted to safetensors", job.model);
  document.headline = fmt::format("{} → {}", conversion.source,
                                  (fs::path(job.output.folder) / conversion.file).string());
  document.key_figures = {{"Tensors", grouped(std::ssize(conversion.tensors))},
                          {"Size", human_bytes(static_cast<double>(conversion.bytes))}};
  document.sections = {
      {"",
       {PageTable{headed_table(fields.tensors)},
        Paragraph{fmt::format("Copied files: {}.",
                              conversion.copied.empty()
                                  ? "none"
                                  : fmt::format("{}", fmt::join(conversion.copied, ", ")))}}}};
  return result;
}

}  // namespace hone
