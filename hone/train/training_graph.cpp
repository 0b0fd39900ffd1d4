#include "hone/train/training_graph.h"

#include "hone/autodiff/gradients.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/fuse_dropout.h"
#include "hone/passes/fuse_linear.h"

namespace hone {
namespace {

constexpr std::string_view kStatePrefix = "adamw.";

}  // namespace

void add_training_step(Graph& graph, const AdamWOptions& options) {
  const Value loss = graph.output("loss");
  HONE_ASSERT(loss, "a training step needs a graph with a loss");
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  }
  user_check(!trainable.empty(), "nothing to train: all parameters are frozen");
  const std::vector<Value> gradients = add_gradients(graph, loss, trainable);
  const Value learning_rate = graph.add_input("learning_rate", {DType::f32, {}});
  const Value step = graph.add_input("step", {DType::i64, {}});
  std::vector<Value> reached;
  for (const Value& gradient : gradients)
    if (gradient) reached.push_back(gradient);
  user_check(!reached.empty(),
             "nothing to train: the loss depends on none of the parameters that are not frozen");
  const Value norm = graph.add("global_norm", reached, {}, "grad_norm");
  for (std::size_t i = 0; i < trainable.size(); ++i) {
    if (!gradients[i]) continue;
    const std::string& name = trainable[i].node->name();
    const auto moment = [&](const char* kind) {
      return graph.add_parameter(fmt::format("{}{}.{}", kStatePrefix, kind, name),
                                 trainable[i].type(), ParameterRole::moment, /*trainable=*/false);
    };
    const Value m = moment("m"), v = moment("v");
    graph.add_node(
        "adamw", {trainable[i], gradients[i], m, v, norm, learning_rate, step},
        {{"beta1", options.beta1},
         {"beta2", options.beta2},
         {"eps", options.epsilon},
         {"weight_decay", info(trainable[i].node->role()).decayed ? options.weight_decay : 0.0},
         {"max_grad_norm", options.max_grad_norm}},
        name + ".update");
  }
  graph.set_output("grad_norm", norm);
  remove_dead_code(graph);
  // Now that gradients are taken.
  fuse_linear(graph);
  fuse_dropout(graph);
}

void add_optimizer_state(const Graph& training_graph, ParameterStore& parameters) {
  for (const Node* parameter : training_graph.of_kind(NodeKind::parameter)) {
    const std::string& name = parameter->name();
    if (parameter->role() != ParameterRole::moment || parameters.contains(name)) continue;
    const Node& update = *parameter->users().front();
    Device& device = parameters.at(update.inputs()[0].node->name()).device();
    parameters.set(name,
                   Tensor::zeros(DType::f32, resolve(parameter->types()[0].shape, {}), device));
  }
}

void remove_optimizer_state(ParameterStore& parameters) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parameters.tensors())
    if (name.starts_with(kStatePrefix)) names.push_back(name);
  for (const std::string& name : names) parameters.erase(name);
}

}  // namespace hone
