#include "hone/passes/drop_layers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "hone/base/text.h"
#include "hone/passes/rebuild.h"

namespace hone {
namespace {

// Returns the number in `text`; -1 if it is none.
std::int64_t whole(std::string_view text) {
  std::int64_t value = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? value : -1;
}

// Returns 3 for "bert.encoder.layer.3.output.dense"; -1 if the name is not below a layer.
std::int64_t layer_of(std::string_view name, std::string_view path) {
  if (!name.starts_with(path) || name.size() <= path.size() || name[path.size()] != '.') return -1;
  name.remove_prefix(path.size() + 1);
  const std::size_t end = name.find('.');
  return end == std::string_view::npos ? -1 : whole(name.substr(0, end));
}

/// The operations of a layer, its input and its output.
struct Span {
  std::vector<Node*> operations;
  Value input, output;
};

Span span_of(const Graph& graph, const LayerStack& stack, std::int64_t number) {
  Span span;
  const auto inside = [&](const Node& node) { return layer_of(node.name(), stack.path) == number; };
  std::set<Value> made, read;
  for (Node* node : graph.of_kind(NodeKind::operation)) {
    if (inside(*node)) {
      span.operations.push_back(node);
      for (const Value& input : node->inputs())
        if (input.node->kind() != NodeKind::parameter && !inside(*input.node)) read.insert(input);
    } else {
      for (const Value& input : node->inputs())
        if (input.node->kind() == NodeKind::operation && inside(*input.node)) made.insert(input);
    }
  }
  for (const auto& [name, value] : graph.outputs())
    if (inside(*value.node)) made.insert(value);
  user_check(made.size() == 1,
             "layer {}.{}: {} of its values are read outside of it; expected one, which "
             "another layer can compute instead",
             stack.path, number, made.size());
  span.output = *made.begin();
  std::erase_if(read, [&](const Value& value) { return value.type() != span.output.type(); });
  user_check(read.size() == 1,
             "layer {}.{}: it reads {} values of the type of its result, {}; expected one, "
             "which can replace the result",
             stack.path, number, read.size(), to_string(span.output.type()));
  span.input = *read.begin();
  return span;
}

void check_layers(const LayerStack& stack, const std::vector<std::int64_t>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    user_check(layers[i] >= 0 && layers[i] < stack.count,
               "layers: expected numbers from 0 to {}, got {}", stack.count - 1, layers[i]);
    user_check(std::ranges::count(layers, layers[i]) == 1, "layers: {} is given twice", layers[i]);
  }
  user_check(std::ssize(layers) < stack.count, "layers: all {} would be removed; keep at least one",
             stack.count);
}

void erase_layer(Graph& graph, const LayerStack& stack, std::int64_t number) {
  const Span span = span_of(graph, stack, number);
  graph.replace_uses(span.output, span.input);
  for (auto node = span.operations.rbegin(); node != span.operations.rend(); ++node)
    graph.erase(**node);
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (layer_of(parameter->name(), stack.path) == number && parameter->users().empty())
      graph.erase(*parameter);
}

std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split(text, ',')) {
    const std::int64_t number = whole(trim(part));
    user_check(number >= 0, "layers: expected whole numbers separated by commas, got '{}'", part);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::int64_t> others(std::int64_t count, const std::vector<std::int64_t>& kept) {
  std::vector<std::int64_t> rest;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::ranges::find(kept, i) == kept.end()) rest.push_back(i);
  return rest;
}

bool run(Graph& graph, ParameterStore& parameters, const Attributes& options, const Session&) {
  const auto& given = options.get<std::string>("layers");
  const auto kept = options.get<std::int64_t>("keep");
  user_check(given.empty() != (kept == 0),
             "expected layers, the numbers of layers to remove, or keep, how many to keep");
  const std::int64_t count = layer_stack(graph).count;
  return drop_layers(
      graph, parameters,
      !given.empty() ? numbers_in(given)
                     : others(count, kept_layers(count, kept, options.get<std::string>("which"))));
}

}  // namespace

LayerStack layer_stack(const Graph& graph) {
  std::map<std::string, std::set<std::int64_t>> numbers;  // below each path
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const std::string& name = parameter->name();
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      if (const std::int64_t number = layer_of(name, std::string_view(name).substr(0, dot));
          number >= 0)
        numbers[name.substr(0, dot)].insert(number);
  }
  const std::pair<const std::string, std::set<std::int64_t>>* found = nullptr;
  for (const auto& row : numbers)
    if (*row.second.rbegin() + 1 == std::ssize(row.second) &&
        (found == nullptr || row.first.size() < found->first.size()))
      found = &row;
  user_check(
      found != nullptr,
      "the graph has no layers: none of its parameters has a path with numbers from 0 on, as "
      "bert.encoder.layer.0");
  return {found->first, std::ssize(found->second)};
}

std::vector<std::int64_t> kept_layers(std::int64_t count, std::int64_t kept,
                                      std::string_view which) {
  user_check(kept >= 1 && kept < count, "keep: expected 1 to {} of {} layers, got {}", count - 1,
             count, kept);
  user_check(which == "evenly" || which == "first" || which == "last",
             "which: expected evenly, first or last, got '{}'", which);
  std::vector<std::int64_t> layers;
  for (std::int64_t i = 0; i < kept; ++i) {
    if (which == "evenly") {
      const std::int64_t gaps = std::max<std::int64_t>(kept - 1, 1);
      layers.push_back((2 * i * (count - 1) + gaps) / (2 * gaps));  // to the nearest
    } else {
      layers.push_back(which == "first" ? i : count - kept + i);
    }
  }
  return layers;
}

bool drop_layers(Graph& graph, ParameterStore& parameters,
                 const std::vector<std::int64_t>& layers) {
  if (layers.empty()) return false;
  const LayerStack stack = layer_stack(graph);
  check_layers(stack, layers);
  Graph changed = graph;
  for (const std::int64_t layer : layers) erase_layer(changed, stack, layer);
  const auto rename = [&](const std::string& name) {
    const std::int64_t layer = layer_of(name, stack.path);
    if (layer < 0) return name;
    const auto gone = std::ranges::count_if(layers, [&](std::int64_t l) { return l < layer; });
    const std::size_t rest = stack.path.size() + 1 + std::to_string(layer).size();
    return fmt::format("{}.{}{}", stack.path, layer - gone, name.substr(rest));
  };
  const ParameterStore before = parameters;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter))
    if (before.contains(parameter->name())) parameters.erase(parameter->name());
  for (const Node* parameter : changed.of_kind(NodeKind::parameter))
    if (before.contains(parameter->name()))
      parameters.set(rename(parameter->name()), before.at(parameter->name()));
  graph = rebuilt(changed, {.rename = rename});
  return true;
}

PassDef drop_layers_pass() {
  return {
      .name = "drop_layers",
      .summary = "remove whole layers and renumber the rest",
      .options = {{"layers", "numbers of the layers to remove, separated by commas", std::string()},
                  {"keep", "how many layers to keep if no numbers are given", std::int64_t{0}},
                  {"which", "which layers to keep: evenly, first or last", std::string("evenly")}},
      .example = "keep=1",
      .run = run};
}

}  // namespace hone
