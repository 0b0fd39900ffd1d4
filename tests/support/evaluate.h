#pragma once

#include <string_view>
#include <vector>

#include "hone/ir/parse.h"
#include "hone/runtime/interpreter.h"

/// Graphs as text and their results on reference kernels, for most tests of graphs.
///
///     EXPECT_EQ(evaluate("%x = input : f32[2]\n%y = relu(%x) : f32[2]\noutput y = %y\n",
///                        {{"x", Tensor::of<float>({2}, {-1, 3})}}),
///               (std::vector<float>{0, 3}));
namespace hone::testing {

/// Returns the builtin operations and formats without kernels, so that everything runs on the references.
inline const Library& references() {
  static const Library library{
      builtin_library().ops, builtin_formats(), {}, builtin_library().passes};
  return library;
}

inline Graph parse(std::string_view text) {
  return parse_graph(text, references().ops, references().formats);
}

/// Returns the elements in row-major order, for any device and strides.
template <typename T = float>
std::vector<T> elements_of(const Tensor& tensor) {
  const Tensor host = tensor.on(cpu());
  const Tensor dense = host.contiguous() ? host : host.contiguous_copy();
  const auto values = dense.values<T>();
  return {values.begin(), values.end()};
}

/// Returns a boolean tensor from ones and zeros.
inline Tensor booleans(const Sizes& sizes, const std::vector<int>& values) {
  Tensor tensor = Tensor::empty(DType::boolean, sizes);
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<bool>()[i] = values[i] != 0;
  return tensor;
}

/// Returns all outputs of a graph, computed on one thread.
inline NamedTensors run_graph(const Graph& graph, const NamedTensors& inputs,
                              ParameterStore parameters = {},
                              const Library& library = references()) {
  ThreadPool pool(1);
  return Interpreter(graph, library, pool).run(inputs, parameters);
}

/// Returns the elements of the output `y` of the graph `text`.
template <typename T = float>
std::vector<T> evaluate(std::string_view text, const NamedTensors& inputs) {
  return elements_of<T>(run_graph(parse(text), inputs).at("y"));
}

}  // namespace hone::testing
