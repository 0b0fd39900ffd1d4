#include "hone/models/layer_rates.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "hone/frontends/huggingface/architecture.h"

namespace hone {
namespace {

// "bert.encoder.layer."
std::string layer_prefix(const EncoderModules& encoder) {
  return fmt::format("{}.{}.", encoder.name, encoder.layers);
}

// Returns the number in "bert.encoder.layer.3.output.dense.weight"; nothing outside of layers.
std::optional<std::int64_t> layer_of(std::string_view parameter, const std::string& prefix) {
  if (!parameter.starts_with(prefix)) return std::nullopt;
  const char *const begin = parameter.data() + prefix.size(), *const end = parameter.data() +
                                                                           parameter.size();
  std::int64_t layer = 0;
  const auto parsed = std::from_chars(begin, end, layer);
  return parsed.ec == std::errc() ? std::optional(layer) : std::nullopt;
}

bool is_in_encoder(std::string_view parameter, const Architecture& architecture) {
  const std::string encoder = fmt::format("{}.", architecture.encoder.name),
                    head = fmt::format("{}.", architecture.head.name);
  return parameter.starts_with(encoder) && !parameter.starts_with(head);
}

}  // namespace

std::map<std::string, double, std::less<>> layer_rates(const Model& model, double decay) {
  user_check(decay > 0 && decay <= 1, "`layerwise_lr_decay` must be above 0 and at most 1, got {}",
             decay);
  std::map<std::string, double, std::less<>> rates;
  if (decay == 1) return rates;
  const Architecture& architecture = find_architecture(model.facts.architecture, "a model");
  const std::string prefix = layer_prefix(architecture.encoder);
  const std::vector<Node*> parameters = model.graph.of_kind(NodeKind::parameter);
  std::set<std::int64_t> layers;
  for (const Node* parameter : parameters)
    if (const auto layer = layer_of(parameter->name(), prefix)) layers.insert(*layer);
  // The distance of a parameter's layer from the head; 0 in the head.
  const auto depth = [&](const Node& parameter) -> std::ptrdiff_t {
    const auto layer = layer_of(parameter.name(), prefix);
    if (layer) return std::distance(layers.find(*layer), layers.end());
    return is_in_encoder(parameter.name(), architecture) ? std::ssize(layers) + 1 : 0;
  };
  for (const Node* parameter : parameters)
    if (parameter->trainable() && depth(*parameter) > 0)
      rates.emplace(parameter->name(), std::pow(decay, static_cast<double>(depth(*parameter))));
  return rates;
}

}  // namespace hone
