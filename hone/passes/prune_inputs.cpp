#include "hone/passes/prune_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/ir/quoted.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

// Operands of `threshold`.
constexpr std::size_t kRead = 0, kMin = 1;

/// An operand to threshold.
struct Site {
  Node* node;
  std::size_t index;
};

std::size_t input_index(const Node& product) {
  for (std::size_t i = 0; i < product.inputs().size(); ++i)
    if (operand_role(product, i) == OperandRole::input) return i;
  return 0;
}

// Values and their readers, in the order of the products.
using Sites = std::vector<std::pair<Value, std::vector<Site>>>;

Sites sites_of(const std::vector<Node*>& products) {
  const auto is_chosen = [&](const Node* user) {
    return std::ranges::find(products, user) != products.end();
  };
  Sites sites;
  for (Node* product : products) {
    Site site = {product, input_index(*product)};
    Node* const read = product->inputs()[site.index].node;
    if (is_quantizer(*read) && std::ranges::all_of(read->users(), is_chosen)) site = {read, 0};
    const Value value = site.node->inputs()[site.index];
    user_check(!is_threshold(*value.node),
               "the input of {} is already pruned; start from the model that was pruned",
               product->name());
    auto known = std::ranges::find(sites, value, &Sites::value_type::first);
    if (known == sites.end()) known = sites.insert(known, {value, {}});
    const auto is_same = [&](const Site& other) {
      return other.node == site.node && other.index == site.index;
    };
    if (std::ranges::none_of(known->second, is_same)) known->second.push_back(site);
  }
  return sites;
}

const Node* first_of(const Graph& graph, const std::vector<Site>& sites) {
  for (const auto& node : graph.nodes())
    if (std::ranges::find(sites, node.get(), &Site::node) != sites.end()) return node.get();
  return nullptr;
}

}  // namespace

bool is_threshold(const Node& node) { return node.is(kThreshold); }

Node& threshold_parameter(const Node& threshold) { return *threshold.inputs()[kMin].node; }

std::vector<std::string> prune_inputs(Graph& graph, const std::vector<std::string>& target) {
  std::vector<std::string> names;
  for (const auto& [value, sites] : sites_of(prunable_products(graph, target))) {
    const std::string name = sites.front().node->name() + ".threshold";
    const Value least = graph.add_parameter(name + ".least", {DType::f32, {}},
                                            ParameterRole::buffer, /*trainable=*/false);
    const Value left = graph.add(kThreshold, {value, least}, {}, name, first_of(graph, sites));
    for (const Site& site : sites) graph.set_input(*site.node, site.index, left);
    names.push_back(name);
  }
  return names;
}

std::vector<Node*> input_thresholds(const Graph& graph) {
  std::vector<Node*> nodes = graph.of_kind(NodeKind::operation);
  std::erase_if(nodes, [](const Node* node) { return !is_threshold(*node); });
  return nodes;
}

std::string prune_inputs_text(const std::vector<std::string>& target) {
  if (target.empty()) return "prune_inputs";
  return fmt::format("prune_inputs(target={})",
                     hone::quoted(fmt::format("{}", fmt::join(target, ","))));
}

PassDef prune_inputs_pass() {
  return {.name = "prune_inputs",
          .summary =
              "set small inputs of layers to 0; `hone prune --activation_sparsity` calibrates the "
              "threshold",
          .options = {{"least", "threshold: smaller magnitudes become 0", 0.0, /*required=*/true},
                      {"target",
                       "globs over operations, separated by commas; by default all but those that "
                       "compute outputs",
                       std::string()}},
          .example = "least=0.1",
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                    const Session&) {
            const double least = options.get<double>("least");
            user_check(least >= 0 && std::isfinite(least),
                       "`least`: expected a magnitude from 0 on, got {}", least);
            std::vector<std::string> target;
            for (const std::string& glob : split(options.get<std::string>("target"), ','))
              if (!trim(glob).empty()) target.emplace_back(trim(glob));
            const std::vector<std::string> names = prune_inputs(graph, target);
            const std::vector<float> value = {static_cast<float>(least)};
            for (const std::string& name : names)
              parameters.set(threshold_parameter(*graph.find(name)).name(),
                             Tensor::of<float>({}, value));
            return !names.empty();
          }};
}

bool remove_thresholds(Graph& graph) {
  const std::vector<Node*> nodes = input_thresholds(graph);
  for (Node* node : nodes) {
    Node& least = threshold_parameter(*node);
    graph.replace_uses({node, 0}, node->inputs()[kRead]);
    graph.erase(*node);
    if (least.users().empty() && !graph.is_output(least)) graph.erase(least);
  }
  return !nodes.empty();
}

}  // namespace hone
