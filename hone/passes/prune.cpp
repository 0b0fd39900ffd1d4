#include "hone/passes/prune.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "hone/base/text.h"
#include "hone/passes/quantize.h"
#include "hone/tensor/dense.h"

namespace hone {
namespace {

// Operands of `mask`.
constexpr std::size_t kMasked = 0, kKept = 1;

// Returns the products that compute the graph's outputs: for each output the last product before it.
std::set<const Node*> last_products(const Graph& graph) {
  std::set<const Node*> last;
  for (const auto& [name, value] : graph.outputs()) {
    const Node* node = value.node;
    while (!node->inputs().empty() && !product_weight(*node)) node = node->inputs()[0].node;
    if (product_weight(*node)) last.insert(node);
  }
  return last;
}

Node* mask_operation(const Node& weight) {
  for (Node* user : weight.users())
    if (is_mask(*user) && user->inputs()[kMasked].node == &weight) return user;
  return nullptr;
}

// Returns the first reader, before which the mask is inserted.
const Node* first_reader(const Graph& graph, const Node& weight) {
  for (const auto& node : graph.nodes())
    if (std::ranges::find(weight.users(), node.get()) != weight.users().end()) return node.get();
  return nullptr;
}

void add_mask(Graph& graph, Node& weight) {
  const Value value = {&weight, 0};
  const Value kept =
      graph.add_parameter(weight.name() + ".mask", {DType::boolean, weight.types()[0].shape},
                          ParameterRole::mask, /*trainable=*/false);
  Node& operation = graph.add_node(kMask, {value, kept}, {}, weight.name() + ".masked",
                                   first_reader(graph, weight));
  graph.replace_uses(value, {&operation, 0});
  graph.set_input(operation, kMasked, value);
}

Tensor tensor_in(const std::map<std::string, Tensor>& tensors, const Node& weight) {
  const auto found = tensors.find(weight.name());
  return found == tensors.end() ? Tensor() : found->second;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return std::equal(a.data<bool>(), a.data<bool>() + a.count(), b.data<bool>());
}

std::vector<Node*> mask_operations(const Graph& graph) {
  std::vector<Node*> masks;
  for (Node* node : graph.of_kind(NodeKind::operation))
    if (is_mask(*node) && stored_parameter({node, 0})) masks.push_back(node);
  return masks;
}

PruneOptions options_of(const Attributes& options) {
  PruneOptions wanted;
  for (const std::string& glob : split(options.get<std::string>("target"), ','))
    if (!trim(glob).empty()) wanted.target.emplace_back(trim(glob));
  const auto word = [&](const char* name, auto parse) {
    return with_context(name, [&] { return parse(options.get<std::string>(name)); });
  };
  wanted.rule = {.sparsity = options.get<double>("sparsity"),
                 .method = word("method", parse_prune_method),
                 .scope = word("scope", parse_prune_scope),
                 .mode = word("mode", parse_prune_mode),
                 .structure = word("structure", parse_structure),
                 .seed = static_cast<std::uint64_t>(options.get<std::int64_t>("seed"))};
  return wanted;
}

}  // namespace

Value product_weight(const Node& node) {
  if (node.kind() != NodeKind::operation || node.op().trait != Trait::contraction) return {};
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (operand_role(node, i) != OperandRole::weight) continue;
    Value value = node.inputs()[i];
    while (is_quantizer(*value.node)) value = value.node->inputs()[0];
    const Node* stored = stored_parameter(value);
    if (is_unpacked(*value.node) || (stored && stored->role() == ParameterRole::weight))
      return value;
  }
  return {};
}

Value product_input(const Node& product) {
  for (std::size_t i = 0; i < product.inputs().size(); ++i)
    if (operand_role(product, i) == OperandRole::input) return product.inputs()[i];
  return product.inputs()[0];
}

bool is_mask(const Node& node) { return node.is(kMask); }

Node* stored_parameter(Value value) {
  Node* node = value.node;
  if (is_mask(*node)) node = node->inputs()[kMasked].node;
  return node->kind() == NodeKind::parameter ? node : nullptr;
}

Tensor stored_values(Value value, const ParameterStore& parameters) {
  Tensor values = dense_on(parameters.at(stored_parameter(value)->name()), cpu());
  if (!is_mask(*value.node)) return values;
  return masked(values, dense_on(parameters.at(value.node->inputs()[kKept].node->name()), cpu()));
}

std::vector<Node*> prunable_products(const Graph& graph, const std::vector<std::string>& globs) {
  std::vector<Node*> products = graph.of_kind(NodeKind::operation);
  std::erase_if(products, [](const Node* node) { return !product_weight(*node); });
  if (globs.empty()) {
    const std::set<const Node*> last = last_products(graph);
    std::erase_if(products, [&](const Node* node) { return last.contains(node); });
    user_check(!products.empty(),
               "there is nothing to prune: the only products with weights are those that "
               "compute the outputs");
    return products;
  }
  for (const std::string& glob : globs)
    user_check(std::ranges::any_of(
                   products, [&](const Node* node) { return glob_match(glob, node->name()); }),
               "no operation with weights matches '{}' of `target`; `hone plan` lists them", glob);
  std::erase_if(products, [&](const Node* node) {
    return std::ranges::none_of(
        globs, [&](const std::string& glob) { return glob_match(glob, node->name()); });
  });
  return products;
}

std::vector<Node*> prunable_weights(const Graph& graph, const std::vector<std::string>& target) {
  std::vector<Node*> weights;
  for (const Node* product : prunable_products(graph, target)) {
    const Value value = product_weight(*product);
    user_check(!is_unpacked(*value.node),
               "the weight of {} is packed; `hone unpack` writes a copy with weights that can be "
               "pruned",
               product->name());
    Node* const weight = stored_parameter(value);
    if (std::ranges::find(weights, weight) == weights.end()) weights.push_back(weight);
  }
  return weights;
}

bool prune(Graph& graph, ParameterStore& parameters, const PruneOptions& options) {
  const std::vector<Node*> weights = prunable_weights(graph, options.target);
  const bool can_regrow = options.rule.method == PruneMethod::movement;
  std::vector<PrunedTensor> tensors;
  std::vector<Tensor> before;
  for (const Node* weight : weights) {
    before.push_back(is_masked(*weight) ? dense_on(parameters.at(mask_of(*weight).name()), cpu())
                                        : Tensor());
    tensors.push_back({weight->name(), dense_on(parameters.at(weight->name()), cpu()),
                       can_regrow ? tensor_in(options.final_masks, *weight) : before.back(),
                       tensor_in(options.statistics, *weight)});
  }
  const std::vector<Tensor> kept = kept_elements(options.rule, tensors);
  bool changed = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (before[i].defined() && same_elements(before[i], kept[i])) continue;
    (can_regrow ? set_mask : insert_mask)(graph, parameters, *weights[i], kept[i]);
    changed = true;
  }
  return changed;
}

std::vector<Node*> pruned_weights(const Graph& graph) {
  std::vector<Node*> weights;
  for (const Node* operation : mask_operations(graph))
    weights.push_back(operation->inputs()[kMasked].node);
  return weights;
}

Node& mask_of(const Node& weight) { return *masked_value(weight).node->inputs()[kKept].node; }

bool is_masked(const Node& weight) { return mask_operation(weight) != nullptr; }

Value masked_value(const Node& weight) {
  Node* const operation = mask_operation(weight);
  HONE_ASSERT(operation != nullptr, "{} has no mask", weight.name());
  return {operation, 0};
}

void set_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept) {
  if (!is_masked(weight)) add_mask(graph, weight);
  parameters.set(mask_of(weight).name(), kept.on(parameters.at(weight.name()).device()));
}

void insert_mask(Graph& graph, ParameterStore& parameters, Node& weight, const Tensor& kept) {
  const Tensor& values = parameters.at(weight.name());
  Device& device = values.device();
  Tensor left = masked(dense_on(values, cpu()), kept).on(device);
  parameters.set(weight.name(), std::move(left));
  set_mask(graph, parameters, weight, kept);
}

Tensor masked(const Tensor& values, const Tensor& kept) {
  Tensor left = values.contiguous_copy();
  float* const at = left.data<float>();
  const bool* const is_kept = kept.data<bool>();
  for (std::int64_t i = 0; i < left.count(); ++i)
    if (!is_kept[i]) at[i] = 0;
  return std::memcmp(at, values.data<float>(), left.size_bytes()) == 0 ? values : left;
}

void apply_masks(const Graph& graph, ParameterStore& parameters) {
  for (const Node* operation : mask_operations(graph)) {
    const Node& weight = *operation->inputs()[kMasked].node;
    Device& device = parameters.at(weight.name()).device();
    parameters.set(weight.name(),
                   stored_values({const_cast<Node*>(operation), 0}, parameters).on(device));
  }
}

bool unprune(Graph& graph, ParameterStore& parameters) {
  apply_masks(graph, parameters);
  return remove_masks(graph);
}

bool remove_masks(Graph& graph) {
  const std::vector<Node*> masks = mask_operations(graph);
  for (Node* operation : masks) {
    const Value weight = operation->inputs()[kMasked];
    Node& kept = *operation->inputs()[kKept].node;
    graph.replace_uses({operation, 0}, weight);
    graph.erase(*operation);
    if (kept.users().empty() && !graph.is_output(kept)) graph.erase(kept);
  }
  return !masks.empty();
}

std::string prune_text(const PruneOptions& options) {
  const PassDef def = prune_pass();
  Pass pass{&def, {}};
  const auto set = [&](const char* name, Attribute value) { pass.options.set(name, value); };
  const PruneRule& rule = options.rule;
  const std::optional<NOfM>& pattern = rule.structure.pattern;
  set("sparsity", pattern
                      ? 1 - static_cast<double>(pattern->kept) / static_cast<double>(pattern->of)
                      : rule.sparsity);
  set("method", std::string(to_string(rule.method)));
  set("scope", std::string(to_string(rule.scope)));
  set("mode", std::string(to_string(rule.mode)));
  set("structure", structure_text(rule.structure));
  set("target", fmt::format("{}", fmt::join(options.target, ",")));
  set("seed", static_cast<std::int64_t>(rule.seed));
  return to_string(pass);
}

PassDef prune_pass() {
  return {
      .name = "prune",
      .summary = "set weights to 0 by masks that training respects",
      .options = {{"sparsity", "fraction of weights to remove", 0.5},
                  {"method",
                   "criterion: l1 (smallest magnitudes first) or random; `hone prune` has others, "
                   "which read examples",
                   std::string("l1")},
                  {"scope", "apply the sparsity to each tensor (local) or to all together (global)",
                   std::string("local")},
                  {"mode", "exact: round(sparsity n) of n weights; mase: all up to the quantile",
                   std::string("exact")},
                  {"structure",
                   "weights: any; N:M: keep N of every M consecutive weights; 4x1: blocks of 4 "
                   "rows by 1 column",
                   std::string("weights")},
                  {"target",
                   "globs over operations, separated by commas; by default all but those that "
                   "compute outputs",
                   std::string()},
                  {"seed", "random seed of method random", std::int64_t{42}}},
      .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                const Session&) { return prune(graph, parameters, options_of(options)); }};
}

PassDef unprune_pass() {
  return {.name = "unprune",
          .summary = "remove masks; pruned weights stay 0 until they are trained",
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes&, const Session&) {
            return unprune(graph, parameters);
          }};
}

}  // namespace hone
