#include "hone/passes/fold_batch_norm.h"

namespace hone {
namespace {

bool fold(Graph& graph, Node& norm) {
  Node& convolution = *norm.input(0).node;
  if (!convolution.is("conv2d") || convolution.users().size() != 1 || graph.is_output(convolution))
    return false;
  const Value gamma = norm.input(1), beta = norm.input(2), mean = norm.input(3),
              variance = norm.input(4);
  const Dim outputs = gamma.type().dim(0);
  const auto add = [&](std::string_view op, std::vector<Value> inputs, Attributes attributes,
                       std::string_view name) {
    return graph.add(op, std::move(inputs), std::move(attributes),
                     fmt::format("{}.{}", norm.name(), name), &norm);
  };
  const auto constant = [&](double value, std::string_view name) {
    return add("full", {gamma}, {{"value", value}, {"dtype", std::string("f32")}}, name);
  };
  const auto as_row = [&](Value value, std::string_view name) {
    return add("reshape", {value}, {{"shape", Shape{1, outputs}}}, name);
  };
  const Value zeros = constant(0, "zeros"), ones = as_row(constant(1, "ones"), "one");
  const Value factor =
      add("batch_norm", {ones, gamma, zeros, zeros, variance}, norm.attributes(), "factor");
  const Value factors = add("reshape", {factor}, {{"shape", Shape{outputs, 1, 1, 1}}}, "factors");
  const Value weight = add("mul", {convolution.input(1), factors}, {}, "weight");
  const Value bias =
      as_row(convolution.inputs().size() == 3 ? convolution.input(2) : zeros, "from");
  const Value shift =
      add("batch_norm", {bias, gamma, beta, mean, variance}, norm.attributes(), "shift");
  const Value shifts = add("reshape", {shift}, {{"shape", Shape{outputs}}}, "bias");
  const Value folded = graph.add("conv2d", {convolution.input(0), weight, shifts},
                                 convolution.attributes(), convolution.name() + ".folded", &norm);
  graph.replace_uses(norm.result(), folded);
  graph.erase(norm);
  graph.erase(convolution);
  return true;
}

}  // namespace

bool fold_batch_norm(Graph& graph) {
  bool changed = false;
  for (Node* norm : graph.operations("batch_norm")) changed |= fold(graph, *norm);
  return changed;
}

PassDef fold_batch_norm_pass() {
  return {.name = "fold_batch_norm",
          .summary = "fold batch norms into the convolutions before them",
          .of_runs = true,
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fold_batch_norm(graph);
          }};
}

}  // namespace hone
