#include "hone/jobs/allocation/packed_copy.h"

#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/bitmaps.h"

namespace hone {
namespace {

// Counts codes and scales of a layer's weight, or its fp32 values; 0 for a format without a packed form.
std::int64_t stored_bits(const Model& packed, const std::string& layer, bool has_format) {
  const Node& weight = *product_weight(*packed.graph.find(layer)).node;
  if (has_format && !is_unpacked(weight)) return 0;
  Safetensors file;
  const auto add = [&](const Node& node) {
    if (node.kind() == NodeKind::parameter)
      file.tensors.emplace(node.name(), packed.parameters.at(node.name()).on(cpu()));
  };
  add(weight);
  for (const Value& input : weight.inputs()) add(*input.node);
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors)
    bytes += static_cast<std::int64_t>(tensor.size_bytes());
  return 8 * (bytes - static_cast<std::int64_t>(store_bitmaps(file)));
}

}  // namespace

Model packed_copy(const Model& model, const std::vector<std::string>& layers,
                  const LayerOption& option, const EncodedSplits& data,
                  const CalibrationRun& calibration, Context& context) {
  if (!option.formats && option.sparsity.share == 0) return model;
  CompressOptions how{.calibration = calibration};
  how.calibration.check_objections = false;
  for (const std::string& layer : layers) {
    if (option.formats) how.plan.emplace_back(layer, *option.formats);
    if (option.sparsity.share > 0) how.sparsities.emplace_back(layer, option.sparsity);
  }
  Model packed = round_weights(compress(model, data, how, context), context);
  transform(packed, "pack", context.session());
  return packed;
}

std::vector<std::vector<std::int64_t>> stored_bits(const Model& model,
                                                   const std::vector<std::string>& layers,
                                                   const std::vector<LayerOption>& options,
                                                   const EncodedSplits& data,
                                                   const CalibrationRun& calibration,
                                                   Context& context) {
  std::vector<std::vector<std::int64_t>> bits(layers.size());
  for (const LayerOption& option : options) {
    const Model packed = packed_copy(model, layers, option, data, calibration, context);
    for (std::size_t i = 0; i < layers.size(); ++i)
      bits[i].push_back(stored_bits(packed, layers[i], option.formats.has_value()));
  }
  return bits;
}

}  // namespace hone
