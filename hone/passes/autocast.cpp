#include "hone/passes/autocast.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hone {
namespace {

/// How an operation is cast; operations without a row read f32.
enum class Part {
  begins,     ///< always computes in halves: a product
  convolves,  ///< the same if convolutions are enabled
  goes_on     ///< computes in halves if one of its values is one
};

struct Participant {
  std::string_view op;
  Part part;
  /// Operands that are cast; all others keep their type.
  std::vector<std::size_t> values;
};

// Losses, norms, softmax outside of attention, quantizers and updates have no row, because low precision harms them
// most.
const Participant* participant(std::string_view op) {
  static const std::vector<Participant> rows = {{"linear", Part::begins, {0, 1, 2}},
                                                {"fused_linear", Part::begins, {0, 1, 2, 3}},
                                                {"matmul", Part::begins, {0, 1}},
                                                {"attention", Part::begins, {0, 1, 2}},
                                                {"conv2d", Part::convolves, {0, 1, 2}},
                                                {"fused_conv2d", Part::convolves, {0, 1, 2, 3}},
                                                {"batch_norm", Part::goes_on, {0}},
                                                {"max_pool2d", Part::goes_on, {0}},
                                                {"global_average_pool", Part::goes_on, {0}},
                                                {"add", Part::goes_on, {0, 1}},
                                                {"mul", Part::goes_on, {0, 1}},
                                                {"scale", Part::goes_on, {0}},
                                                {"gelu", Part::goes_on, {0}},
                                                {"relu", Part::goes_on, {0}},
                                                {"tanh", Part::goes_on, {0}},
                                                {"dropout", Part::goes_on, {0}},
                                                {"layer_norm", Part::goes_on, {0}},
                                                {"reshape", Part::goes_on, {0}},
                                                {"transpose", Part::goes_on, {0}},
                                                {"slice", Part::goes_on, {0}},
                                                {"take_rows", Part::goes_on, {0}}};
  const auto found = std::ranges::find(rows, op, &Participant::op);
  return found == rows.end() ? nullptr : &*found;
}

// Products of codes, and operations that round values to codes. Their values are bias and residual.
const Participant* coded_participant(const Node& node) {
  static const Participant encoder = {"encode_rows", Part::goes_on, {0}},
                           norm = {"layer_norm_codes", Part::goes_on, {0}},
                           product = {"native_linear", Part::begins, {3}},
                           adding = {"native_linear", Part::begins, {3, 4}};
  if (node.is("encode_rows")) return &encoder;
  if (node.is("layer_norm_codes")) return &norm;
  if (!node.is("native_linear") && !node.is("native_linear_codes")) return nullptr;
  return node.attributes().get<bool>("residual") ? &adding : &product;
}

/// Rebuilds the graph, because types that depend on each other cannot change one at a time.
class Caster {
 public:
  Caster(const Graph& graph, DType values, const AutocastParts& parts)
      : graph_(graph), built_(graph.ops()), values_(values), parts_(parts) {}

  Graph run() {
    for (const auto& node : graph_.nodes()) copy(*node);
    // Outputs keep their types.
    for (const auto& [name, value] : graph_.outputs())
      built_.set_output(name, as(twin(value), value.type().dtype));
    return std::move(built_);
  }
  bool changed() const { return changed_; }

 private:
  void copy(const Node& node) {
    if (node.kind() == NodeKind::input) {
      twins_[{const_cast<Node*>(&node), 0}] = built_.add_input(node.name(), node.types()[0]);
      return;
    }
    if (node.kind() == NodeKind::parameter) {
      twins_[{const_cast<Node*>(&node), 0}] =
          built_.add_parameter(node.name(), node.types()[0], node.role(), node.trainable());
      return;
    }
    const Participant* row = participant(node.op().name);
    if (row == nullptr && parts_.codes) row = coded_participant(node);
    const bool in_halves = row != nullptr && takes_part(node, *row);
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const bool is_value = in_halves && std::ranges::find(row->values, i) != row->values.end();
      const DType before = node.inputs()[i].type().dtype;
      inputs.push_back(as(twin(node.inputs()[i]), is_value ? values_ : before));
    }
    Node& made = built_.add_node(node.op().name, std::move(inputs), node.attributes(), node.name());
    for (std::size_t i = 0; i < node.types().size(); ++i) {
      const int index = static_cast<int>(i);
      twins_[{const_cast<Node*>(&node), index}] = {&made, index};
    }
  }

  // Returns whether a node is cast: if all of its values are floats.
  bool takes_part(const Node& node, const Participant& row) {
    for (const std::size_t i : row.values)
      if (i < node.inputs().size() && node.inputs()[i].type().dtype != DType::f32) return false;
    const auto is_half = [&](std::size_t i) {
      return i < node.inputs().size() && twin(node.inputs()[i]).type().dtype == values_;
    };
    if (row.part == Part::convolves) return parts_.convolutions;
    return row.part == Part::begins || std::ranges::any_of(row.values, is_half);
  }

  Value twin(Value value) const { return twins_.at(value); }

  // Casts each value once per type, at its first use.
  Value as(Value value, DType dtype) {
    if (value.type().dtype == dtype) return value;
    changed_ = true;
    Value& cast = casts_[{value, dtype}];
    if (!cast)
      cast = built_.add("cast", {value}, {{"dtype", std::string(info(dtype).name)}},
                        value.node->name() + ".cast");
    return cast;
  }

  const Graph& graph_;
  Graph built_;
  DType values_;
  AutocastParts parts_;
  std::map<Value, Value> twins_;
  std::map<std::pair<Value, DType>, Value> casts_;
  bool changed_ = false;
};

bool run_autocast(Graph& graph, ParameterStore&, const Attributes& options, const Session&) {
  return autocast(
      graph, parse_dtype(options.get<std::string>("values")),
      {.convolutions = options.get<bool>("convolutions"), .codes = options.get<bool>("codes")});
}

}  // namespace

bool autocast(Graph& graph, DType values, const AutocastParts& parts) {
  user_check(values == DType::bf16 || values == DType::f16, "`values` must be bf16 or f16, got {}",
             info(values).name);
  Caster caster(graph, values, parts);
  Graph built = caster.run();
  if (!caster.changed()) return false;
  graph = std::move(built);
  return true;
}

PassDef autocast_pass() {
  return {.name = "autocast",
          .summary = "compute matrix products, and the operations between them, in bf16 or f16",
          .options = {{"values", "bf16 or f16", std::string("bf16")},
                      {"convolutions", "whether to include convolutions", false},
                      {"codes", "whether to include products of codes", false}},
          .example = "values=f16",
          .of_runs = true,
          .run = run_autocast};
}

}  // namespace hone
