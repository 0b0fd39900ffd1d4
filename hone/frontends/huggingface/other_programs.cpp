#include "hone/frontends/huggingface/other_programs.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/ir/print.h"
#include "hone/passes/keep_outputs.h"
#include "hone/passes/pack.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/passes/smooth.h"

namespace hone {
namespace {

std::optional<EncoderShapes> shapes_of(const Graph& graph, const ModelFacts& facts) {
  const Architecture& arch = find_architecture(facts.architecture, "a model");
  if (arch.of_images()) return std::nullopt;
  const EncoderConfig config = config_of(facts);
  const EncoderModules& modules = arch.encoder;
  EncoderShapes shapes{.hidden_size = config.hidden_size,
                       .head_size = config.hidden_size / config.num_attention_heads,
                       .tokens = config.vocab_size};
  const auto outputs = [&](std::size_t layer, std::string_view linear) -> std::int64_t {
    const Node* node =
        graph.find(fmt::format("{}.{}.{}.{}", modules.name, modules.layers, layer, linear));
    return node == nullptr ? 0 : node->types()[0].dim(-1).size;
  };
  for (std::size_t layer = 0; outputs(layer, modules.layer.query) > 0; ++layer) {
    shapes.heads.push_back(outputs(layer, modules.layer.query) / shapes.head_size);
    shapes.neurons.push_back(outputs(layer, modules.layer.widened));
  }
  return shapes;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

bool all_equal(const std::vector<std::int64_t>& counts) {
  return std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end();
}

// Removes what other programs do not have, or do only in training.
Graph comparable(Graph graph) {
  keep_outputs(graph, {"logits"});
  unpack_weights(graph);
  remove_quantizers(graph);
  remove_masks(graph);
  remove_dropout(graph);
  return graph;
}

// Describes layer sizes that the config cannot express; "" if there are none.
std::string odd_shapes(const EncoderShapes& own, const EncoderShapes& built) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < std::min(own.heads.size(), built.heads.size()); ++i)
    if (own.heads[i] != built.heads[i])
      layers.push_back(fmt::format("layer {} has {} of {} instead of {}", i,
                                   counted(own.heads[i], "head"), own.head_size, built.heads[i]));
  if (!layers.empty())
    return fmt::format("{}, which the config of transformers cannot express",
                       fmt::join(layers, ", "));
  if (!all_equal(own.neurons))
    return fmt::format(
        "its layers have {} neurons, but the config of transformers has one number for "
        "all layers",
        fmt::join(own.neurons, ", "));
  return "";
}

// Returns the first operation that only one of them has; "" if the names are the same.
std::string differing_operation(const Graph& own, const Graph& built) {
  const auto first_missing = [](const Graph& from, const Graph& in) {
    for (const Node* node : from.of_kind(NodeKind::operation))
      if (in.find(node->name()) == nullptr)
        return fmt::format("{} ({})", node->name(), node->op().name);
    return std::string();
  };
  if (const std::string name = first_missing(own, built); !name.empty())
    return fmt::format("its graph has {}, which its config does not build", name);
  const std::string name = first_missing(built, own);
  return name.empty() ? "" : fmt::format("its graph lacks {}, which its config builds", name);
}

// Explains why the config does not build the graph; "" if it does.
std::string difference(const Graph& own, const ModelFacts& facts) {
  const Graph built = comparable(config_graph(facts, own.ops()));
  if (to_string(own) == to_string(built)) return "";
  const auto shapes = shapes_of(own, facts), expected = shapes_of(built, facts);
  std::string reason = shapes ? odd_shapes(*shapes, *expected) : "";
  if (reason.empty()) reason = differing_operation(own, built);
  return reason.empty() ? "its graph is not the one that its config builds" : reason;
}

}  // namespace

std::string notice_for_other_programs(const QuantizationPlan& plan) {
  const bool activations = std::ranges::any_of(plan, [](const auto& layer) {
    return layer.second.input.has_value() || layer.second.output.has_value();
  });
  if (!activations) return "";
  return "transformers and other programs load its rounded weights but ignore quantizers of "
         "inputs and outputs, so their results may differ from hone's";
}

std::optional<EncoderShapes> encoder_shapes(const Model& model) {
  return shapes_of(model.graph, model.facts);
}

std::string to_text(const EncoderShapes& s) {
  std::string text = fmt::format("{}, hidden size {}, ", counted(std::ssize(s.heads), "layer"),
                                 grouped(s.hidden_size));
  if (!s.heads.empty() && all_equal(s.heads) && all_equal(s.neurons)) {
    text += fmt::format("{} of {} and {} in each layer", counted(s.heads[0], "head"), s.head_size,
                        counted(s.neurons[0], "neuron"));
  } else {
    text += fmt::format("{} heads of {} and {} neurons by layer", fmt::join(s.heads, ", "),
                        s.head_size, fmt::join(s.neurons, ", "));
  }
  return text + ", " + counted(s.tokens, "token");
}

const Fields& fields_of(const EncoderShapes*) {
  using E = EncoderShapes;
  static const Fields fields =
      describe<E>("encoder_shapes", "The sizes of an encoder.",
                  field<&E::layers>("layers", "Number of layers."),
                  field<&E::hidden_size>("hidden_size", "Width of the hidden states."),
                  field<&E::head_size>("head_size", "Width of an attention head."),
                  field<&E::heads>("heads", "Attention heads in each layer."),
                  field<&E::neurons>("neurons", "Feed-forward neurons in each layer."),
                  field<&E::tokens>("tokens", Unit::tokens, "Rows of the embedding table."));
  return fields;
}

TransformersLoading transformers_loading(const Model& model) {
  Graph plain = comparable(model.graph);
  const std::vector<std::string> smoothed = smoothed_linears(plain);
  unsmooth(plain);
  const std::string odd = difference(plain, model.facts);
  std::vector<std::string> reasons;
  if (has_packed_weights(model.graph))
    reasons.emplace_back("its weights are packed in the codes of their formats");
  else if (model.facts.stored_without_zeros)
    reasons.emplace_back("its weights are stored without their zeros");
  if (!odd.empty()) reasons.push_back(odd);
  if (odd.empty() && !smoothed.empty())
    reasons.push_back(fmt::format("inputs of {} are multiplied by smooth scales",
                                  counted(std::ssize(smoothed), "linear layer")));
  return {.reason = fmt::format("{}", fmt::join(reasons, "; ")),
          .unpacks = odd.empty() && !reasons.empty()};
}

std::string loading_text(const Model& model) {
  const TransformersLoading found = transformers_loading(model);
  if (!found.loads())
    return fmt::format("Only hone loads it: {}.{}", found.reason,
                       found.unpacks ? " `hone unpack --loadable transformers` writes a copy that "
                                       "`transformers` loads."
                                     : "");
  const std::string notice =
      model.quantization ? notice_for_other_programs(model.quantization->plan) : "";
  return "`transformers` and hone load it." +
         (notice.empty() ? "" : fmt::format(" However, {}.", notice));
}

}  // namespace hone
