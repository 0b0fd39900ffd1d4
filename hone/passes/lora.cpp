#include "hone/passes/lora.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

// Operands of `linear`.
constexpr std::size_t kLinearInput = 0, kLinearWeight = 1;

bool is_linear(const Node& node) { return node.is("linear"); }

// "query" matches "bert.encoder.layer.0.attention.self.query".
bool names(std::string_view glob, std::string_view module) {
  if (glob.find_first_of("*?") != std::string_view::npos || glob == module)
    return glob_match(glob, module);
  return module.size() > glob.size() && module.ends_with(glob) &&
         module[module.size() - glob.size() - 1] == '.';
}

bool names_module(const std::vector<std::string>& globs, std::string_view module) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return names(glob, module); });
}

std::string_view module_of(const Node& parameter) {
  const std::string_view name = parameter.name();
  return name.substr(0, name.rfind('.'));
}

void check_matches_linear(const std::string& glob, const std::vector<Node*>& linears) {
  std::set<std::string> last, whole;
  for (const Node* node : linears) {
    if (names(glob, node->name())) return;
    whole.insert(node->name());
    last.insert(node->name().substr(node->name().rfind('.') + 1));
  }
  std::vector<std::string> known(last.begin(), last.end());
  known.insert(known.end(), whole.begin(), whole.end());
  const std::string near = did_you_mean(glob, known);
  fail("no linear layer matches '{}' of target{} linear layers end in {}; `hone plan` lists them",
       glob, near.empty() ? "; the model's" : near + " The model's", fmt::join(last, ", "));
}

std::vector<Node*> targets(const Graph& graph, const LoraOptions& options) {
  std::vector<Node*> linears = graph.of_kind(NodeKind::operation);
  std::erase_if(linears, [](const Node* node) {
    return !is_linear(*node) || is_adapter(*node->inputs()[kLinearWeight].node);
  });
  for (const std::string& glob : options.target) check_matches_linear(glob, linears);
  std::erase_if(linears, [&](const Node* node) {
    return !names_module(options.target, node->name()) ||
           is_within(options.modules_to_save, node->name());
  });
  user_check(!linears.empty(), "`modules_to_save` includes all linear layers of `target`");
  return linears;
}

void check(const Graph& graph, const LoraOptions& options) {
  user_check(options.rank >= 1, "`r` must be at least 1, got {}", options.rank);
  user_check(options.dropout >= 0 && options.dropout < 1,
             "`dropout` must be at least 0 and below 1, got {}", options.dropout);
  user_check(std::isfinite(options.alpha), "`alpha` must be a number, got {}", options.alpha);
  for (const std::string& glob : options.modules_to_save) {
    const std::vector<Node*> parameters = graph.of_kind(NodeKind::parameter);
    user_check(std::ranges::any_of(parameters,
                                   [&](const Node* p) { return is_within({glob}, module_of(*p)); }),
               "no module matches '{}' of `modules_to_save`; `hone inspect` lists them", glob);
  }
}

// The random stream of dropout before an adapter is selected by its name. Its words are indexed by the position of a
// token in its text, as in the model's own dropouts (see ops/dropout.cpp).
Value with_dropout(Graph& graph, Value x, const std::string& name, double p, const Node* before) {
  if (p == 0) return x;
  Value key;
  Shape limits;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is("dropout")) continue;
    key = node->inputs()[1];
    const Shape& known = node->attributes().get<Shape>("limits");
    if (known.size() != static_cast<std::size_t>(x.type().rank())) continue;
    limits = known;
    limits.back() = x.type().dim(-1);
  }
  if (!key) key = graph.add_input("random_key", {DType::i64, {}});
  const auto stream = static_cast<std::int64_t>(stream_of(name) >> 1);  // attributes are signed
  return graph.add("dropout", {x, key}, {{"p", p}, {"stream", stream}, {"limits", limits}}, name,
                   before);
}

Tensor kaiming_uniform(const Sizes& sizes, std::uint64_t seed, std::string_view name) {
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  const double bound = 1 / std::sqrt(static_cast<double>(sizes[1]));
  RandomSequence random(seed, stream_of(name));
  for (float& value : tensor.values<float>())
    value = static_cast<float>(bound * (2 * random.uniform() - 1));
  return tensor;
}

void insert_at(Graph& graph, ParameterStore& parameters, Node& linear, const LoraOptions& options) {
  const std::string name = linear.name();
  const Value own_input = linear.inputs()[kLinearInput];
  const Value x = is_quantizer(*own_input.node) ? own_input.node->inputs()[0] : own_input;
  const std::int64_t outputs = linear.types()[0].dim(-1).size, inputs = x.type().dim(-1).size;
  const auto parameter = [&](const char* which, const Sizes& sizes) {
    const std::string own = fmt::format("{}.lora_{}.weight", name, which);
    user_check(graph.find(own) == nullptr, "{} has an adapter already; fuse it first", name);
    return graph.add_parameter(own, {DType::f32, {Dim(sizes[0]), Dim(sizes[1])}},
                               ParameterRole::adapter, /*trainable=*/true);
  };
  const Sizes a_sizes = {options.rank, inputs}, b_sizes = {outputs, options.rank};
  const Value a = parameter("A", a_sizes), b = parameter("B", b_sizes);
  parameters.set(a.node->name(), kaiming_uniform(a_sizes, options.seed, a.node->name()));
  parameters.set(b.node->name(), Tensor::zeros(DType::f32, b_sizes));
  const auto& nodes = graph.nodes();
  auto next = std::ranges::find(nodes, &linear, [](const auto& node) { return node.get(); });
  ++next;
  const Node* const before = next == nodes.end() ? nullptr : next->get();
  const Value dropped = with_dropout(graph, x, name + ".lora_dropout", options.dropout, before);
  const Value low = graph.add("linear", {dropped, a}, {}, name + ".lora_A", before);
  const Value scaled =
      graph.add("scale", {low}, {{"factor", options.factor()}}, name + ".lora_scale", before);
  const Value high = graph.add("linear", {scaled, b}, {}, name + ".lora_B", before);
  // Its first input becomes the linear after the linear's readers have moved to it.
  Node& sum = graph.add_node("add", {high, high}, {}, name + ".lora", before);
  graph.replace_uses({&linear, 0}, {&sum, 0});
  graph.set_input(sum, 0, {&linear, 0});
}

// Returns the parameter that a linear multiplies with; null if it is packed.
Node* weight_of(const Node& linear) {
  Node* weight = linear.inputs()[kLinearWeight].node;
  if (is_unpacked(*weight)) return nullptr;
  return is_quantizer(*weight) ? weight->inputs()[0].node : weight;
}

bool is_pruned(const Node& linear) {
  const Node* weight = linear.inputs()[kLinearWeight].node;
  if (is_quantizer(*weight)) weight = weight->inputs()[0].node;
  return is_mask(*weight);
}

// weight + factor B A
Tensor merged(const Tensor& weight, const Tensor& a, const Tensor& b, double factor) {
  Tensor sum = weight.contiguous_copy();
  const std::int64_t rank = a.size(0), columns = a.size(1);
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (std::int64_t n = 0; n < b.size(0); ++n) {
    std::ranges::fill(row, 0.0);
    for (std::int64_t r = 0; r < rank; ++r) {
      const double by = factor * static_cast<double>(b.data<float>()[n * rank + r]);
      const float* const low = a.data<float>() + r * columns;
      for (std::int64_t k = 0; k < columns; ++k)
        row[static_cast<std::size_t>(k)] += by * static_cast<double>(low[k]);
    }
    float* const to = sum.data<float>() + n * columns;
    for (std::int64_t k = 0; k < columns; ++k)
      to[k] = static_cast<float>(static_cast<double>(to[k]) + row[static_cast<std::size_t>(k)]);
  }
  return sum;
}

// Erases a node without readers, and its inputs that become unread. Among graph inputs only the key of a dropout is
// erased: all others are the graph's signature.
void erase_unread_inputs(Graph& graph, Node& node) {
  if (!node.users().empty() || graph.is_output(node)) return;
  std::vector<std::string> read;
  for (const Value& input : node.inputs())
    if (input.node->kind() != NodeKind::input || node.is("dropout"))
      read.push_back(input.node->name());
  graph.erase(node);
  for (const std::string& name : read)
    if (Node* input = graph.find(name)) erase_unread_inputs(graph, *input);
}

}  // namespace

double LoraOptions::factor() const {
  const auto r = static_cast<double>(rank);
  return alpha / (rank_stabilized ? std::sqrt(r) : r);
}

bool is_adapter(const Node& node) {
  return node.kind() == NodeKind::parameter && node.role() == ParameterRole::adapter;
}

bool is_within(const std::vector<std::string>& modules, std::string_view name) {
  for (;; name = name.substr(0, name.rfind('.'))) {
    if (names_module(modules, name)) return true;
    if (name.find('.') == std::string_view::npos) return false;
  }
}

std::vector<std::string> shortest_targets(const Graph& graph,
                                          const std::vector<std::string>& linears) {
  std::vector<std::string> last;
  for (const std::string& name : linears) {
    const std::string own = name.substr(name.rfind('.') + 1);
    if (std::ranges::find(last, own) == last.end()) last.push_back(own);
  }
  const auto named = std::ranges::count_if(graph.of_kind(NodeKind::operation), [&](const Node* n) {
    return is_linear(*n) && !is_adapter(*n->inputs()[kLinearWeight].node) &&
           names_module(last, n->name());
  });
  return static_cast<std::size_t>(named) == linears.size() ? last : linears;
}

bool insert_lora(Graph& graph, ParameterStore& parameters, const LoraOptions& options) {
  check(graph, options);
  const std::vector<Node*> linears = targets(graph, options);
  for (Node* linear : linears) insert_at(graph, parameters, *linear, options);
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (!is_adapter(*parameter) && !is_within(options.modules_to_save, module_of(*parameter)))
      graph.set_trainable(*parameter, false);
  return true;
}

std::vector<Adapter> adapters(const Graph& graph) {
  std::vector<Adapter> found;
  for (Node* sum : graph.of_kind(NodeKind::operation)) {
    if (!sum->is("add")) continue;
    Node *linear = sum->inputs()[0].node, *high = sum->inputs()[1].node;
    if (!is_linear(*linear) || !is_linear(*high) ||
        !is_adapter(*high->inputs()[kLinearWeight].node))
      continue;
    const Node& scaled = *high->inputs()[kLinearInput].node;
    const Node& low = *scaled.inputs()[0].node;
    found.push_back({linear, low.inputs()[kLinearWeight].node, high->inputs()[kLinearWeight].node,
                     sum, scaled.attributes().get<double>("factor")});
  }
  return found;
}

bool fuse_lora(Graph& graph, ParameterStore& parameters) {
  const std::vector<Adapter> all = adapters(graph);
  for (const Adapter& adapter : all) {
    user_check(!is_pruned(*adapter.linear),
               "the weight of {} is pruned, and its mask would apply to the merged adapter, "
               "too; keep the adapter separate, or run the pass unprune first, which removes "
               "the mask",
               adapter.linear->name());
    user_check(
        weight_of(*adapter.linear) != nullptr,
        "the weight of {} is packed, and nothing can be added to its codes; unpack the model "
        "first",
        adapter.linear->name());
  }
  for (const Adapter& adapter : all) {
    const std::string& weight = weight_of(*adapter.linear)->name();
    parameters.set(weight, merged(parameters.at(weight), parameters.at(adapter.a->name()),
                                  parameters.at(adapter.b->name()), adapter.factor));
    graph.replace_uses({adapter.sum, 0}, {adapter.linear, 0});
    erase_unread_inputs(graph, *adapter.sum);
  }
  if (all.empty()) return false;
  for (Node* parameter : graph.of_kind(NodeKind::parameter)) {
    using enum ParameterRole;
    const ParameterRole role = parameter->role();
    if (role == weight || role == gain || role == bias) graph.set_trainable(*parameter, true);
  }
  return true;
}

LoraOptions lora_options(const Attributes& options) {
  const auto list = [&](std::string_view name) {
    std::vector<std::string> names;
    for (const std::string& word : split(options.get<std::string>(name), ','))
      names.emplace_back(trim(word));
    return names;
  };
  return {.target = list("target"),
          .rank = options.get<std::int64_t>("r"),
          .alpha = options.get<double>("alpha"),
          .dropout = options.get<double>("dropout"),
          .rank_stabilized = options.get<bool>("rslora"),
          .modules_to_save = list("modules_to_save"),
          .seed = static_cast<std::uint64_t>(options.get<std::int64_t>("seed"))};
}

std::string insert_lora_text(const LoraOptions& options) {
  const PassDef def = insert_lora_pass();
  Pass pass{&def, {}};
  const auto set = [&](const char* name, Attribute value) { pass.options.set(name, value); };
  const auto list = [](const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ","));
  };
  set("target", list(options.target));
  set("r", options.rank);
  set("alpha", options.alpha);
  set("dropout", options.dropout);
  set("rslora", options.rank_stabilized);
  set("modules_to_save", list(options.modules_to_save));
  set("seed", static_cast<std::int64_t>(options.seed));
  return to_string(pass);
}

PassDef insert_lora_pass() {
  return {
      .name = "insert_lora",
      .summary = "add low-rank adapters to linear layers and freeze everything else (LoRA)",
      .options = {{"target", "globs over linear layers, or their last names, separated by commas",
                   std::string("*")},
                  {"r", "rank of the adapters", std::int64_t{8}},
                  {"alpha", "scale of the adapters: alpha / r", 8.0},
                  {"dropout", "dropout of the adapters' inputs in training", 0.0},
                  {"rslora", "scale the adapters by alpha / sqrt(r) instead", false},
                  {"modules_to_save", "modules to train in full, separated by commas",
                   std::string()},
                  {"seed", "random seed of the adapters' initial weights", std::int64_t{42}}},
      .example = "target=query,value r=8 alpha=16",
      .run = [](Graph& graph, ParameterStore& parameters, const Attributes& options,
                const Session&) { return insert_lora(graph, parameters, lora_options(options)); }};
}

PassDef fuse_lora_pass() {
  return {.name = "fuse_lora",
          .summary = "merge adapters into the weights and remove them",
          .run = [](Graph& graph, ParameterStore& parameters, const Attributes&, const Session&) {
            return fuse_lora(graph, parameters);
          }};
}

}  // namespace hone
