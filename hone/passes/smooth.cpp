#include "hone/passes/smooth.h"

#include <algorithm>
#include <map>
#include <optional>

#include "hone/base/error.h"
#include "hone/passes/dead_code.h"

namespace hone {
namespace {

constexpr std::size_t kInput = 0, kWeight = 1;  // operands of `linear`
constexpr std::string_view kSmoothed = ".smoothed", kSmoothing = ".smoothing";

bool is_own_parameter(const Node& node) {
  return node.kind() == NodeKind::parameter && node.users().size() == 1;
}

/// Parameters that determine the channels of a value.
struct Source {
  std::vector<std::string> rows;
  std::string writer;
};

// Returns the source for an operation that multiplies and adds parameters of which it is the only reader.
std::optional<Source> own_source(const Node& node) {
  Source source;
  for (std::size_t i = 1; i < node.inputs().size(); ++i) {
    if (!is_own_parameter(*node.inputs()[i].node)) return std::nullopt;
    source.rows.push_back(node.inputs()[i].node->name());
  }
  if (node.is("linear")) source.writer = node.name();
  return source;
}

// Returns the node of a value if it is an `op` with a single reader; else null.
const Node* only_step(const Graph& graph, Value value, std::string_view op) {
  const Node* node = value.node;
  return node->is(op) && node->users().size() == 1 && !graph.is_output(*node) ? node : nullptr;
}

bool swaps_heads_and_tokens(const Node& node) {
  return node.attributes().get<Shape>("axes") == Shape{0, 2, 1, 3};
}

// Returns the linear whose channels are those of the joined heads (B, S, N D) of an attention, in the same order:
// each is a weighted sum over tokens.
const Node* values_of_attention(const Graph& graph, const Node& joined) {
  const Node* tokens = only_step(graph, joined.inputs()[0], "transpose");
  if (tokens == nullptr || !swaps_heads_and_tokens(*tokens)) return nullptr;
  const Node* context = only_step(graph, tokens->inputs()[0], "matmul");
  if (context == nullptr) return nullptr;
  const Node* heads = only_step(graph, context->inputs()[1], "transpose");
  if (heads == nullptr || !swaps_heads_and_tokens(*heads)) return nullptr;
  const Node* split = only_step(graph, heads->inputs()[0], "reshape");
  if (split == nullptr || split->types()[0] != tokens->types()[0]) return nullptr;
  const Node* values = only_step(graph, split->inputs()[0], "linear");
  return values != nullptr && values->types()[0] == joined.types()[0] ? values : nullptr;
}

// Returns the source of a value, if only the linears to smooth read it.
std::optional<Source> source_of(const Graph& graph, const Node& node) {
  if (node.is("layer_norm") || node.is("linear")) return own_source(node);
  if (node.is("reshape")) {
    const Node* values = values_of_attention(graph, node);
    return values != nullptr ? own_source(*values) : std::nullopt;
  }
  if (!node.is("dropout") && !node.is("relu")) return std::nullopt;
  const Node& before = *node.inputs()[0].node;
  if (before.users().size() != 1 || graph.is_output(before)) return std::nullopt;
  return source_of(graph, before);
}

bool comes_from_normalization(const Node& node) {
  return node.is("layer_norm") ||
         (node.is("dropout") && comes_from_normalization(*node.inputs()[0].node));
}

bool reads_as_input(const Node& node, const Node& value, const std::set<std::string>& linears) {
  return node.is("linear") && linears.contains(node.name()) &&
         node.inputs()[kInput].node == &value && is_own_parameter(*node.inputs()[kWeight].node);
}

// Divides rows or elements of a tensor (K) or (K, M) by `scales` (K).
Tensor divided_rows(const Tensor& tensor, std::span<const float> scales) {
  Tensor result = tensor.contiguous_copy();
  const std::span<float> values = result.values<float>();
  const std::size_t width = values.size() / scales.size();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] /= scales[i / width];
  return result;
}

// Multiplies columns of (N, K) by `scales` (K).
Tensor multiplied_columns(const Tensor& tensor, std::span<const float> scales) {
  Tensor result = tensor.contiguous_copy();
  const std::span<float> values = result.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= scales[i % scales.size()];
  return result;
}

template <typename Change>
void change(ParameterStore& parameters, const std::string& name, Change&& changed) {
  const Tensor& tensor = parameters.at(name);
  Device& device = tensor.device();
  parameters.set(name, changed(tensor.on(cpu())).on(device));
}

void insert_product(Graph& graph, ParameterStore& parameters, const SmoothGroup& group,
                    std::span<const float> scales) {
  std::vector<float> inverse;
  for (const float scale : scales) inverse.push_back(1 / scale);
  const std::string name = group.value + std::string(kSmoothing);
  const Value factors = graph.add_parameter(name, {DType::f32, {Dim(std::ssize(inverse))}},
                                            ParameterRole::gain, /*trainable=*/true);
  const Sizes sizes = {std::ssize(inverse)};
  parameters.set(
      name, Tensor::of<float>(sizes, inverse).on(parameters.at(group.columns.front()).device()));
  const auto& nodes = graph.nodes();
  const auto first = std::ranges::find_if(nodes, [&](const auto& node) {
    return std::ranges::find(group.linears, node->name()) != group.linears.end();
  });
  const Value smoothed = graph.add("mul", {{graph.find(group.value), 0}, factors}, {},
                                   smoothed_value(group), first->get());
  for (const std::string& linear : group.linears)
    graph.set_input(*graph.find(linear), kInput, smoothed);
}

// Returns the products that `insert_product` inserted.
std::vector<Node*> smoothed_products(const Graph& graph) {
  std::vector<Node*> products = graph.of_kind(NodeKind::operation);
  std::erase_if(products, [](const Node* node) {
    return !node->is("mul") || !node->name().ends_with(kSmoothed) ||
           !node->inputs()[1].node->name().ends_with(kSmoothing);
  });
  return products;
}

bool reads_own_weight(const Node& reader, const Node& product) {
  return reader.is("linear") && reader.inputs()[kInput].node == &product &&
         is_own_parameter(*reader.inputs()[kWeight].node);
}

// Changes only the graph if `parameters` is null.
bool remove_smoothing_products(Graph& graph, ParameterStore* parameters) {
  bool changed = false;
  for (Node* product : smoothed_products(graph)) {
    const std::vector<Node*> readers = product->users();
    if (!std::ranges::all_of(
            readers, [&](const Node* reader) { return reads_own_weight(*reader, *product); }))
      continue;
    for (Node* reader : readers) {
      if (parameters != nullptr) {
        const Tensor factors = parameters->at(product->inputs()[1].node->name()).on(cpu());
        change(*parameters, reader->inputs()[kWeight].node->name(), [&](const Tensor& tensor) {
          return multiplied_columns(tensor, factors.values<float>());
        });
      }
      graph.set_input(*reader, kInput, product->inputs()[0]);
    }
    changed = true;
  }
  if (changed) remove_dead_code(graph);
  return changed;
}

}  // namespace

std::vector<SmoothGroup> smooth_groups(const Graph& graph, const std::set<std::string>& linears) {
  std::vector<SmoothGroup> groups;
  for (const Node* value : graph.of_kind(NodeKind::operation)) {
    SmoothGroup group{
        .value = value->name(), .linears = {}, .columns = {}, .rows = {}, .writer = {}};
    for (const Node* reader : value->users()) {
      if (!reads_as_input(*reader, *value, linears)) continue;
      group.linears.push_back(reader->name());
      group.columns.push_back(reader->inputs()[kWeight].node->name());
    }
    if (group.linears.empty()) continue;
    if (group.linears.size() == value->users().size() && !graph.is_output(*value)) {
      if (std::optional<Source> source = source_of(graph, *value)) {
        group.rows = std::move(source->rows);
        group.writer = std::move(source->writer);
      }
    }
    if (group.free() || comes_from_normalization(*value)) groups.push_back(std::move(group));
  }
  return groups;
}

std::string smoothed_value(const SmoothGroup& group) {
  return group.free() ? group.value : group.value + std::string(kSmoothed);
}

void smooth(Graph& graph, ParameterStore& parameters, const SmoothGroup& group,
            std::span<const float> scales) {
  for (const std::string& name : group.columns)
    change(parameters, name,
           [&](const Tensor& tensor) { return multiplied_columns(tensor, scales); });
  for (const std::string& name : group.rows)
    change(parameters, name, [&](const Tensor& tensor) { return divided_rows(tensor, scales); });
  if (!group.free()) insert_product(graph, parameters, group, scales);
}

bool unsmooth(Graph& graph, ParameterStore& parameters) {
  return remove_smoothing_products(graph, &parameters);
}

bool unsmooth(Graph& graph) { return remove_smoothing_products(graph, nullptr); }

std::vector<std::string> smoothed_linears(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node* product : smoothed_products(graph))
    for (const Node* reader : product->users()) names.push_back(reader->name());
  return names;
}

}  // namespace hone
