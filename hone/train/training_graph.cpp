#include "hone/train/training_graph.h"

#include "hone/autodiff/gradients.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/fuse_dropout.h"
#include "hone/passes/fuse_linear.h"
#include "hone/passes/hoist_slices.h"
#include "hone/passes/prune.h"
#include "hone/passes/use_batch_statistics.h"

namespace hone {
namespace {

constexpr std::string_view kStatePrefix = "adamw.";
constexpr std::string_view kFirstMomentPrefix = "adamw.m.";
constexpr std::string_view kSumPrefix = "adamw.sum.";
constexpr std::string_view kScorePrefix = "movement.";

/// A parameter and its gradient. `by_row` replaces the gradient of a table by rows and their sums. For a scored
/// weight, `kept` is its mask, and the gradient is that of the masked weight.
struct Trained {
  Value parameter, gradient;
  Node* by_row = nullptr;
  Value kept = {};
};

/// Rows of a table from which most are in no batch, so that its gradient is computed by row.
constexpr std::int64_t kManyRows = 4096;

// Does so if the session has kernels for it, and nothing else reads the gradient.
void take_by_row(Graph& graph, Trained& one, const Session& session) {
  const Node& gradient = *one.gradient.node;
  if (!gradient.is("embedding_gradient") || !gradient.users().empty() ||
      one.gradient.type().dim(0).size < kManyRows)
    return;
  const Type table = one.parameter.type(), number{DType::f32, {}}, count{DType::i64, {}};
  const std::vector<Type> read = gradient.input_types(),
                          moved = {table, read[0], read[1], table, table, number, number, count};
  if (has_fast_kernel("embedding_gradient_by_row", gradient.attributes(), read, read, session) &&
      has_fast_kernel("adamw_by_row", {}, moved, {table, table, table}, session))
    one.by_row = &graph.add_node("embedding_gradient_by_row", gradient.inputs(),
                                 gradient.attributes(), gradient.name() + ".by_row");
}

// Returns the gradients of the parameters that `loss` depends on; values that the loss does not read are neither
// computed nor differentiated.
std::vector<Trained> differentiate(Graph& graph, Value loss, const AdamWOptions& options,
                                   Fusing fusing = Fusing::all) {
  if (fusing == Fusing::all) {
    hoist_slices_before_gradients(graph);
    fuse_attention(graph);
  }
  use_batch_statistics(graph);
  std::vector<Value> trainable;
  for (Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (parameter->trainable()) trainable.push_back({parameter, 0});
  }
  user_check(!trainable.empty(), "nothing to train: all parameters are frozen");
  std::vector<Value> read = trainable;
  const auto is_scored = [&](Value value) { return options.scored.contains(value.node->name()); };
  for (Value& value : read)
    if (is_scored(value)) value = masked_value(*value.node);
  const std::vector<Value> gradients = add_gradients(graph, loss, read);
  std::vector<Trained> reached;
  for (std::size_t i = 0; i < trainable.size(); ++i) {
    if (!gradients[i]) continue;
    reached.push_back({trainable[i], gradients[i]});
    if (is_scored(trainable[i])) reached.back().kept = {&mask_of(*trainable[i].node), 0};
  }
  user_check(!reached.empty(),
             "nothing to train: the loss depends on none of the parameters that are not frozen");
  return reached;
}

Value loss_of(const Graph& graph) {
  const Value loss = graph.output("loss");
  HONE_ASSERT(loss, "a training step needs a graph with a loss");
  return loss;
}

Value add_state(Graph& graph, std::string_view prefix, Value parameter) {
  return graph.add_parameter(fmt::format("{}{}", prefix, parameter.node->name()), parameter.type(),
                             ParameterRole::moment, /*trainable=*/false);
}

// The learning rate of each parameter; equal rates share a value.
class Rates {
 public:
  Rates(Graph& graph, const AdamWOptions& options, Value rate)
      : graph_(graph), options_(options), rates_{{1.0, rate}} {}

  Value of(const std::string& parameter) {
    const auto found = options_.rate_factors.find(parameter);
    const double factor = found == options_.rate_factors.end() ? 1 : found->second;
    const Value whole = rates_.at(1.0);
    if (!rates_.contains(factor))
      rates_.emplace(factor, graph_.add("scale", {whole}, {{"factor", factor}},
                                        fmt::format("{}.layer", whole.node->name())));
    return rates_.at(factor);
  }

 private:
  Graph& graph_;
  const AdamWOptions& options_;
  std::map<double, Value> rates_;
};

// Updates the score before the weight changes, with the gradient of the masked weight. `zero` makes the sum add to
// the previous score.
void add_score(Graph& graph, Value weight, Value gradient, Value rate, Value zero) {
  const std::string name = movement_scores_of(weight.node->name());
  const Value score =
      graph.add_parameter(name, weight.type(), ParameterRole::moment, /*trainable=*/false);
  const Value product = graph.add("mul", {weight, gradient}, {}, name + ".product"),
              towards = graph.add("mul", {product, rate}, {}, name + ".towards"),
              away = graph.add("scale", {towards}, {{"factor", -1.0}}, name + ".away");
  graph.add_node("accumulate", {score, away, zero}, {}, name + ".sum");
}

void add_updates(Graph& graph, std::vector<Trained> trained, const AdamWOptions& options) {
  const Value rate = graph.add_input("learning_rate", {DType::f32, {}});
  Rates rates(graph, options, rate);
  const Value step = graph.add_input("step", {DType::i64, {}});
  const Value zero =
      options.scored.empty()
          ? Value{}
          : graph.add("full", {step}, {{"value", 0.0}, {"dtype", std::string("i64")}},
                      "movement.zero");
  for (Trained& one : trained) {
    if (!one.kept) continue;
    const std::string& name = one.parameter.node->name();
    add_score(graph, one.parameter, one.gradient, rate, zero);
    one.gradient = graph.add(kMask, {one.gradient, one.kept}, {}, name + ".kept_gradient");
  }
  std::vector<Value> gradients;
  for (const Trained& one : trained)
    gradients.push_back(one.by_row != nullptr ? Value{one.by_row, 1} : one.gradient);
  const Value norm = graph.add("global_norm", gradients, {}, "grad_norm");
  for (const auto& [parameter, gradient, by_row, kept] : trained) {
    const std::string name = parameter.node->name();
    const Value m = add_state(graph, kFirstMomentPrefix, parameter),
                v = add_state(graph, fmt::format("{}v.", kStatePrefix), parameter);
    std::vector<Value> operands = {parameter, gradient, m, v, norm, rates.of(name), step};
    if (by_row != nullptr)
      operands = {parameter, {by_row, 0}, {by_row, 1}, m, v, norm, rates.of(name), step};
    graph.add_node(
        by_row != nullptr ? "adamw_by_row" : "adamw", std::move(operands),
        {{"beta1", options.beta1},
         {"beta2", options.beta2},
         {"eps", options.epsilon},
         {"weight_decay", info(parameter.node->role()).decayed ? options.weight_decay : 0.0},
         {"max_grad_norm", options.max_grad_norm}},
        name + ".update");
  }
  graph.set_output("grad_norm", norm);
}

// Fuses operations after gradients were added.
void fuse(Graph& graph, Fusing fusing = Fusing::all) {
  remove_dead_code(graph);
  if (fusing == Fusing::none) return;
  fuse_linear(graph);
  fuse_dropout(graph);
}

void remove_with_prefix(ParameterStore& parameters, std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : parameters.tensors())
    if (name.starts_with(prefix)) names.push_back(name);
  for (const std::string& name : names) parameters.erase(name);
}

// Returns the parameter that a state belongs to.
std::string_view parameter_of(std::string_view state) {
  if (state.starts_with(kScorePrefix)) return state.substr(kScorePrefix.size());
  if (state.starts_with(kSumPrefix)) return state.substr(kSumPrefix.size());
  return state.substr(kFirstMomentPrefix.size());  // same length as the prefix of the second moment
}

}  // namespace

void add_training_step(Graph& graph, const AdamWOptions& options, Fusing fusing) {
  add_updates(graph, differentiate(graph, loss_of(graph), options, fusing), options);
  fuse(graph, fusing);
}

void add_training_step(Graph& graph, const AdamWOptions& options, const Session& session) {
  std::vector<Trained> trained = differentiate(graph, loss_of(graph), options);
  for (Trained& one : trained) take_by_row(graph, one, session);
  add_updates(graph, std::move(trained), options);
  fuse(graph);
}

void add_gradient_sums(Graph& graph, const AdamWOptions& options) {
  const Value share = graph.add_input("share", {DType::f32, {}});
  const Value first = graph.add_input("first", {DType::i64, {}});
  const Value part = graph.add("mul", {loss_of(graph), share}, {}, "loss.share");
  for (const Trained& one : differentiate(graph, part, options))
    graph.add_node("accumulate", {add_state(graph, kSumPrefix, one.parameter), one.gradient, first},
                   {}, one.parameter.node->name() + ".sum");
  fuse(graph);
}

Graph update_of_sums(const Graph& summing, const AdamWOptions& options) {
  Graph graph(summing.ops());
  std::vector<Trained> trained;
  for (const Node* sum : summing.of_kind(NodeKind::parameter)) {
    if (!sum->name().starts_with(kSumPrefix)) continue;
    const Node* parameter = summing.find(parameter_of(sum->name()));
    const Value own = graph.add_parameter(parameter->name(), parameter->types()[0],
                                          parameter->role(), /*trainable=*/true);
    trained.push_back({own, add_state(graph, kSumPrefix, own)});
    if (options.scored.contains(parameter->name())) {
      const Node& mask = mask_of(*parameter);
      trained.back().kept = graph.add_parameter(mask.name(), mask.types()[0], mask.role(),
                                                /*trainable=*/false);
    }
  }
  add_updates(graph, std::move(trained), options);
  return graph;
}

std::string movement_scores_of(std::string_view weight) {
  return fmt::format("{}{}", kScorePrefix, weight);
}

std::string first_moment_of(std::string_view parameter) {
  return fmt::format("{}{}", kFirstMomentPrefix, parameter);
}

void add_optimizer_state(const Graph& training_graph, ParameterStore& parameters) {
  for (const Node* state : training_graph.of_kind(NodeKind::parameter)) {
    const std::string& name = state->name();
    if (state->role() != ParameterRole::moment || parameters.contains(name)) continue;
    Device& device = parameters.at(std::string(parameter_of(name))).device();
    parameters.set(name, Tensor::zeros(DType::f32, resolve(state->types()[0].shape, {}), device));
  }
}

void remove_optimizer_state(ParameterStore& parameters) {
  remove_with_prefix(parameters, kStatePrefix);
  remove_with_prefix(parameters, kScorePrefix);
}

void remove_gradient_sums(ParameterStore& parameters) {
  remove_with_prefix(parameters, kSumPrefix);
}

}  // namespace hone
