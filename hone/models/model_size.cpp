#include "hone/models/model_size.h"

#include "hone/analysis/precision.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/passes/pack.h"

namespace hone {
namespace {

constexpr double kDominating =
    0.5;  // share of the packed size from which on embeddings are mentioned

std::int64_t bytes_of(double bits) { return static_cast<std::int64_t>((bits + 7) / 8); }

bool begins_and_ends(const std::string& name, std::string_view begin, std::string_view end) {
  return name.starts_with(begin) && name.ends_with(end);
}

std::string mebibytes(std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

std::string embedding_hint(const ModelSize& size) {
  const double share =
      static_cast<double>(size.packed_embedding_bytes) / static_cast<double>(size.packed_bytes);
  if (size.packed_bytes == 0 || share < kDominating) return "";
  if (!size.quantized) return fmt::format(" The embeddings are {:.0f}% of that.", 100 * share);
  if (size.embeddings_quantized)
    return fmt::format(" The embeddings are {:.0f}% of the packed size.", 100 * share);
  return fmt::format(
      " The embeddings, not quantized, are {:.0f}% of the packed size: a rule with op = "
      "\"embedding\" and a weight format quantizes them.",
      100 * share);
}

}  // namespace

// Looks for the layouts of checkpoint.h in their order.
std::optional<std::int64_t> weight_file_bytes(const fs::path& folder) {
  struct Layout {
    std::string_view begin, end;
  };
  constexpr Layout kLayouts[] = {{"model.safetensors", "model.safetensors"},
                                 {"model-", ".safetensors"},
                                 {kHoneWeightsFile, kHoneWeightsFile},
                                 {"pytorch_model.bin", "pytorch_model.bin"},
                                 {"pytorch_model-", ".bin"},
                                 {"adapter_model.safetensors", "adapter_model.safetensors"},
                                 {"adapter_model.bin", "adapter_model.bin"}};
  std::error_code error;
  for (const Layout& layout : kLayouts) {
    std::int64_t bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (begins_and_ends(entry.path().filename().string(), layout.begin, layout.end))
        bytes += static_cast<std::int64_t>(entry.file_size(error));
    if (bytes > 0) return bytes;
  }
  return std::nullopt;
}

ModelSize model_size(const Model& model, const fs::path& folder) {
  const QuantizationPlan none;
  const PlannedSize planned =
      planned_size(unquantized_graph(model), model.quantization ? model.quantization->plan : none);
  ModelSize size;
  size.parameters = planned.parameters;
  for (const auto& [name, tensor] : model.parameters.tensors())
    size.memory_bytes +=
        tensor.count() * static_cast<std::int64_t>(info(tensor.dtype()).size_bytes);
  if (!folder.empty()) size.disk_bytes = weight_file_bytes(folder);
  size.stored_bytes = stored_bytes(model);
  size.packed_bytes = bytes_of(planned.bits);
  size.packed_embedding_bytes = bytes_of(planned.embedding_bits);
  size.quantized = model.quantization.has_value();
  size.packed = is_packed(model);
  size.embeddings_quantized = planned.embeddings_quantized;
  return size;
}

SavedBytes bytes_when_packed(Model model, ThreadPool& pool) {
  if (!is_packed(model)) pack_weights(model.graph, model.parameters, pool);
  SavedBytes bytes = saved_bytes(model);
  if (!is_packed(model) && !has_many_zeros(bytes)) bytes.left_out = 0;
  return bytes;
}

std::string to_text(const ModelSize& size) {
  std::string text = fmt::format("Weights: {} in memory", mebibytes(size.memory_bytes));
  if (size.disk_bytes) text += fmt::format(", {} on disk", mebibytes(*size.disk_bytes));
  if (size.packed) return text + " (packed).";
  if (size.quantized)
    text += fmt::format(" (simulated: not smaller yet); packed they would take {}",
                        mebibytes(size.packed_bytes));
  return text + "." + embedding_hint(size);
}

const Fields& fields_of(const ModelSize*) {
  using S = ModelSize;
  static const Fields fields = describe<S>(
      "size", "Size of a model's weights.",
      field<&S::parameters>("parameters", "Number of elements.", "Parameters"),
      field<&S::memory_bytes>("memory_bytes", Unit::bytes, "In memory.", "In memory"),
      field<&S::disk_bytes>("disk_bytes", Unit::bytes,
                            "Of the weight files; null: the model was never saved.", "On disk"),
      field<&S::stored_bytes>(
          "stored_bytes", Unit::bytes,
          "Of the weights in a file that hone writes, which leaves out zeros of "
          "packed weights; the size in reports.",
          "Size"),
      field<&S::packed_bytes>("packed_bytes", Unit::bytes,
                              "Planned: codes and scales in the formats of the weights, fp32 "
                              "without one, with all zeros.",
                              "Packed"),
      field<&S::packed_embedding_bytes>("packed_embedding_bytes", Unit::bytes,
                                        "Of these, the embedding tables."),
      field<&S::quantized>("quantized", "Whether any weight is quantized."),
      field<&S::packed>("packed", "Whether weights are stored in their formats."),
      field<&S::embeddings_quantized>("embeddings_quantized",
                                      "Whether the embedding tables are quantized."));
  return fields;
}

}  // namespace hone
