#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/graph.h"

/// What the records of operations share: type rules, and the context in which gradients are built.
namespace hone {

/// Numpy's broadcasting: shapes aligned at the right, extents equal or 1. Throws `UserError`.
Shape broadcast(const Shape& a, const Shape& b);

/// Checks of a type rule; `what` is the input's name. They throw `UserError` with what came.
void expect_dtype(const Type& type, DType dtype, std::string_view what);
/// Whether values may be of this type: f32, bf16 or f16.
bool is_value(DType dtype);
/// One of these, which is returned: values may be any of them, those that an operation reads together one.
DType expect_float(const Type& type, std::string_view what);
void expect_rank(const Type& type, std::int64_t rank, std::string_view what);
void expect_equal(const Dim& got, const Dim& expected, std::string_view what);

/// The extents of what a file says the shape of. Throws `UserError` for symbols, for extents below 1, and for more elements
/// than anybody has (2^48), so that what is counted from them stays a number.
Sizes constant_sizes(const Shape& shape);

/// Type rules of whole families.
std::vector<Type> same_as_first(
    const TypeContext& context);  ///< floats of one type and shape in and out
std::vector<Type> broadcast_of_two(const TypeContext& context);  ///< floats of one type, broadcast

/// Number of elements of a type, with the symbols bound.
double elements(const Type& type, const Bindings& bindings);
/// Cost rule: one operation per element of the first input.
double one_per_element(const TypeContext& context, const Bindings& bindings);

/// Where an operation's gradient is built.
struct GradientContext {
  Graph& graph;
  const Node& node;
  const std::vector<Value>& output_gradients;  ///< empty values for outputs that nothing depends on

  Value input(std::size_t index) const { return node.inputs()[index]; }
  bool has_input(std::size_t index) const { return index < node.inputs().size(); }
  Value result(int index = 0) const { return {const_cast<Node*>(&node), index}; }
  Value output_gradient(std::size_t index = 0) const { return output_gradients[index]; }
  /// Adds a node called "<node>.gradient".
  Node& add_node(std::string_view op, std::vector<Value> inputs, Attributes attributes = {}) const {
    return graph.add_node(op, std::move(inputs), std::move(attributes), node.name() + ".gradient");
  }
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes = {}) const {
    return {&add_node(op, std::move(inputs), std::move(attributes)), 0};
  }
};

}  // namespace hone
