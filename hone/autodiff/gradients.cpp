#include "hone/autodiff/gradients.h"

#include <map>
#include <set>

#include "hone/ops/rules.h"

namespace hone {
namespace {

// The nodes whose results depend on a target.
std::set<const Node*> dependents(const Graph& graph, const std::vector<Value>& targets) {
  std::set<const Node*> found;
  for (const Value& target : targets) found.insert(target.node);
  for (const auto& node : graph.nodes()) {
    for (const Value& input : node->inputs())
      if (found.contains(input.node)) found.insert(node.get());
  }
  return found;
}

class Accumulator {
 public:
  explicit Accumulator(Graph& graph) : graph_(graph) {}

  void add(Value value, Value gradient) {
    if (gradient.type().shape != value.type().shape) {
      gradient = graph_.add("sum_to", {gradient}, {{"shape", value.type().shape}},
                            value.node->name() + ".gradient.sum");
    }
    Value& sum = sums_[value];
    sum = sum ? graph_.add("add", {sum, gradient}, {}, value.node->name() + ".gradient.total")
              : gradient;
  }
  Value of(Value value) const {
    const auto found = sums_.find(value);
    return found == sums_.end() ? Value{} : found->second;
  }

 private:
  Graph& graph_;
  std::map<Value, Value> sums_;
};

}  // namespace

std::vector<Value> add_gradients(Graph& graph, Value loss, const std::vector<Value>& targets) {
  user_check(loss.type() == Type{DType::f32, {}}, "the loss must be a scalar f32[], %{} is {}",
             loss.node->name(), to_string(loss.type()));
  const std::set<const Node*> wanted = dependents(graph, targets);
  Accumulator gradients(graph);
  std::vector<Node*> order;
  for (const auto& node : graph.nodes()) order.push_back(node.get());
  gradients.add(loss, graph.add("full", {loss}, {{"value", 1.0}}, loss.node->name() + ".gradient"));
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    Node& node = **at;
    if (node.kind() != NodeKind::operation || !wanted.contains(&node)) continue;
    std::vector<Value> output_gradients;
    bool reached = false;
    for (std::size_t i = 0; i < node.types().size(); ++i) {
      output_gradients.push_back(gradients.of({&node, static_cast<int>(i)}));
      reached = reached || output_gradients.back();
    }
    if (!reached) continue;
    user_check(node.op().gradient != nullptr, "operation {} (node %{}) has no gradient",
               node.op().name, node.name());
    GradientContext context{graph, node, output_gradients};
    const std::vector<Value> input_gradients = node.op().gradient(context);
    HONE_ASSERT(input_gradients.size() == node.inputs().size(),
                "the gradient of {} gives {} values for {} inputs", node.op().name,
                input_gradients.size(), node.inputs().size());
    for (std::size_t i = 0; i < input_gradients.size(); ++i) {
      if (input_gradients[i] && wanted.contains(node.inputs()[i].node))
        gradients.add(node.inputs()[i], input_gradients[i]);
    }
  }
  std::vector<Value> results;
  for (const Value& target : targets) results.push_back(gradients.of(target));
  return results;
}

}  // namespace hone
