#include "hone/passes/fuse_attention.h"

#include <optional>
#include <set>

namespace hone {
namespace {

// Returns the node of a value if it is an `op` with a single reader; else null.
Node* only_step(const Graph& graph, Value value, std::string_view op) {
  Node* node = value.node;
  return node->is(op) && node->users().size() == 1 && !graph.is_output(*node) ? node : nullptr;
}

// Returns whether a type has several heads (B, N, S, D), or one head without an axis (B, S, D).
bool is_stack(const Type& type) { return type.rank() == 4 || type.rank() == 3; }

// Returns whether a product of two stacks broadcasts neither over the other.
bool multiplies_stacks(const Node& node) {
  const Type &a = node.inputs()[0].type(), &b = node.inputs()[1].type();
  return is_stack(a) && a.rank() == b.rank() && a.dim(0) == b.dim(0) &&
         (a.rank() == 3 || a.dim(1) == b.dim(1));
}

// Returns whether a mask has one number per key of a text, for all queries and heads.
bool is_key_mask(const Type& mask, const Type& scores) {
  if (mask.rank() != scores.rank() || !(mask.dim(-1) == scores.dim(-1))) return false;
  for (int i = 1; i + 1 < mask.rank(); ++i)
    if (!(mask.dim(i) == Dim(1))) return false;
  return mask.dim(0) == scores.dim(0) || mask.dim(0) == Dim(1);
}

/// The steps of one attention, last to first.
struct Steps {
  Node* context;
  std::vector<Node*> before;  // erased with it
  Value query, key, value;    // (B, N, S, D), (B, N, D, T), (B, N, T, E); N may be missing
  Value mask;                 // empty: none
  double scale = 1;
  Value random_key;    // empty: no dropout
  Attributes dropout;  // its attributes
};

// Returns which input of `node` is the mask, if it adds one.
std::optional<std::size_t> added_mask_of(const Node& node) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const Type &mask = node.inputs()[i].type(), &scores = node.inputs()[1 - i].type();
    if (scores == node.types()[0] && is_stack(scores) && is_key_mask(mask, scores)) return i;
  }
  return std::nullopt;
}

std::optional<Steps> steps_of(const Graph& graph, Node& context) {
  if (!context.is("matmul") || !multiplies_stacks(context)) return std::nullopt;
  Steps steps{.context = &context,
              .before = {},
              .query = {},
              .key = {},
              .value = {},
              .mask = {},
              .random_key = {},
              .dropout = {}};
  steps.value = context.input(1);
  Value weights = context.input(0);
  if (Node* dropout = only_step(graph, weights, "dropout")) {
    steps.before.push_back(dropout);
    if (dropout->attributes().get<double>("p") > 0) {
      steps.random_key = dropout->input(1);
      steps.dropout = dropout->attributes();
    }
    weights = dropout->input(0);
  }
  Node* softmax = only_step(graph, weights, "softmax");
  if (softmax == nullptr) return std::nullopt;
  steps.before.push_back(softmax);
  Value scores = softmax->inputs()[0];
  if (Node* add = only_step(graph, scores, "add")) {
    const std::optional<std::size_t> mask = added_mask_of(*add);
    if (!mask) return std::nullopt;
    steps.before.push_back(add);
    steps.mask = add->inputs()[*mask];
    scores = add->inputs()[1 - *mask];
  }
  if (Node* scale = only_step(graph, scores, "scale")) {
    steps.before.push_back(scale);
    steps.scale = scale->attributes().get<double>("factor");
    scores = scale->inputs()[0];
  }
  Node* product = only_step(graph, scores, "matmul");
  if (product == nullptr || !multiplies_stacks(*product)) return std::nullopt;
  steps.before.push_back(product);
  steps.query = product->inputs()[0];
  steps.key = product->inputs()[1];
  return steps;
}

// Returns whether a node is the inverse of a transpose by `axes`.
bool is_inverse_of(const Node& node, const Shape& axes) {
  if (!node.is("transpose")) return false;
  const Shape& own = node.attributes().get<Shape>("axes");
  if (own.size() != axes.size()) return false;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!(axes[static_cast<std::size_t>(own[i].size)] == Dim(static_cast<std::int64_t>(i))))
      return false;
  return true;
}

bool keeps_order(const Shape& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!(axes[i] == Dim(static_cast<std::int64_t>(i)))) return false;
  return true;
}

// Returns `value` with its axes reordered, inserted before `before`. Skips transposes of `value`, and multiplies
// constant scales into `factor`, if given.
Value transposed(Graph& graph, Value value, Shape axes, const Node& before, double* factor) {
  for (;;) {
    const Node& node = *value.node;
    if (node.is("transpose")) {
      const Shape& own = node.attributes().get<Shape>("axes");
      for (Dim& axis : axes) axis = own[static_cast<std::size_t>(axis.size)];
    } else if (node.is("scale") && factor != nullptr) {
      *factor *= node.attributes().get<double>("factor");
    } else {
      break;
    }
    value = node.input(0);
  }
  if (keeps_order(axes)) return value;
  return graph.add("transpose", {value}, {{"axes", axes}}, value.node->name() + ".tokens", &before);
}

// Erases steps before an attention that nothing reads any more.
void erase_unread(Graph& graph, Node& node) {
  if ((!node.is("transpose") && !node.is("scale")) || graph.is_read(node)) return;
  Node& before = *node.input(0).node;
  graph.erase(node);
  erase_unread(graph, before);
}

// Returns `value` reshaped to `shape`, inserted before `before` if needed.
Value reshaped(Graph& graph, Value value, const Shape& shape, const std::string& name,
               const Node& before) {
  if (value.type().shape == shape) return value;
  return graph.add("reshape", {value}, {{"shape", shape}}, name, &before);
}

// Inserts an axis for a single head at `at` if the shape has no heads.
Shape with_heads(Shape shape, std::size_t at) {
  if (shape.size() == 3) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), Dim(1));
  return shape;
}

// Returns the inputs of the fused attention: (B, S, N, D), (B, T, N, D), (B, T, N, E), random key and mask.
std::vector<Value> attention_inputs(Graph& graph, const Steps& steps, double& scale) {
  const Node& context = *steps.context;
  const bool has_heads = steps.query.type().rank() == 4;
  const Shape tokens = has_heads ? Shape{0, 2, 1, 3} : Shape{0, 1, 2};
  const Shape turned = has_heads ? Shape{0, 3, 1, 2} : Shape{0, 2, 1};
  std::vector<Value> inputs = {transposed(graph, steps.query, tokens, context, &scale),
                               transposed(graph, steps.key, turned, context, &scale),
                               transposed(graph, steps.value, tokens, context, nullptr)};
  for (Value& input : inputs)
    input = reshaped(graph, input, with_heads(input.type().shape, 2), input.node->name() + ".head",
                     context);
  if (steps.random_key) inputs.push_back(steps.random_key);
  if (steps.mask)
    inputs.push_back(reshaped(graph, steps.mask, with_heads(steps.mask.type().shape, 1),
                              steps.mask.node->name() + ".head", context));
  return inputs;
}

void fuse(Graph& graph, const Steps& steps) {
  const Shape swap_tokens_and_heads = {0, 2, 1, 3};
  Node& context = *steps.context;
  double scale = steps.scale;
  std::vector<Value> inputs = attention_inputs(graph, steps, scale);
  Attributes attributes = steps.dropout;
  if (const Attribute* limits = attributes.find("limits"))
    attributes.set("limits", with_heads(std::get<Shape>(*limits), 1));
  attributes.set("scale", scale);
  const Value fused = graph.add("attention", std::move(inputs), std::move(attributes),
                                context.name() + ".fused", &context);
  for (Node* user : std::vector<Node*>(context.users())) {
    if (!is_inverse_of(*user, swap_tokens_and_heads)) continue;
    graph.replace_uses(user->result(), fused);
    graph.erase(*user);
  }
  if (graph.is_read(context)) {
    const Shape& shape = context.types()[0].shape;
    graph.replace_uses(context.result(),
                       shape.size() == 3
                           ? reshaped(graph, fused, shape, context.name() + ".tokens", context)
                           : graph.add("transpose", {fused}, {{"axes", swap_tokens_and_heads}},
                                       context.name() + ".heads", &context));
  }
  graph.erase(context);
  for (Node* step : steps.before) graph.erase(*step);
  for (Node* read : std::set<Node*>{steps.query.node, steps.key.node, steps.value.node})
    erase_unread(graph, *read);
}

}  // namespace

bool fuse_attention(Graph& graph) {
  // Fusing erases no `matmul` after the current one, so the list stays valid.
  bool changed = false;
  for (Node* product : graph.operations("matmul")) {
    const std::optional<Steps> steps = steps_of(graph, *product);
    if (!steps) continue;
    fuse(graph, *steps);
    changed = true;
  }
  return changed;
}

PassDef fuse_attention_pass() {
  return {.name = "fuse_attention",
          .summary = "replace each attention by one operation that does not store all scores",
          .run = [](Graph& graph, ParameterStore&, const Attributes&, const Session&) {
            return fuse_attention(graph);
          }};
}

}  // namespace hone
