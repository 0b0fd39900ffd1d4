#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/graph.h"

/// Shared type rules of operation records, and the context that builds gradients.
namespace hone {

/// Broadcasts as numpy does: shapes are aligned at the right, extents are equal or 1. Throws `UserError`.
Shape broadcast(const Shape& a, const Shape& b);

/// Checks of a type rule; `what` is the input's name. They throw `UserError` with the actual type.
void expect_dtype(const Type& type, DType dtype, std::string_view what);
/// Returns whether this is a type of values: f32, bf16 or f16.
bool is_value(DType dtype);
/// Checks that the type is f32, bf16 or f16, and returns it.
DType expect_float(const Type& type, std::string_view what);
void expect_rank(const Type& type, std::int64_t rank, std::string_view what);
void expect_equal(const Dim& got, const Dim& expected, std::string_view what);

/// Returns the extents of a shape read from a file. Throws `UserError` for symbols, extents below 1, and more than 2^48
/// elements, so that sizes derived from them cannot overflow.
Sizes constant_sizes(const Shape& shape);

/// Type rules shared by many operations.
std::vector<Type> same_as_first(
    const TypeContext& context);  ///< floats of one type and shape in and out
std::vector<Type> broadcast_of_two(const TypeContext& context);  ///< floats of one type, broadcast

/// Returns the number of elements of a type, with the symbols bound.
double elements(const Type& type, const Bindings& bindings);
/// Cost rule: one operation per element of the first input.
double one_per_element(const TypeContext& context, const Bindings& bindings);

/// The context that builds the gradient of an operation.
struct GradientContext {
  Graph& graph;
  const Node& node;
  const std::vector<Value>& output_gradients;  ///< empty values for outputs without a gradient

  Value input(std::size_t index) const { return node.inputs()[index]; }
  bool has_input(std::size_t index) const { return index < node.inputs().size(); }
  Value result(int index = 0) const { return {const_cast<Node*>(&node), index}; }
  Value output_gradient(std::size_t index = 0) const { return output_gradients[index]; }
  /// Adds a node named "<node>.gradient".
  Node& add_node(std::string_view op, std::vector<Value> inputs, Attributes attributes = {}) const {
    return graph.add_node(op, std::move(inputs), std::move(attributes), node.name() + ".gradient");
  }
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes = {}) const {
    return {&add_node(op, std::move(inputs), std::move(attributes)), 0};
  }
};

}  // namespace hone
