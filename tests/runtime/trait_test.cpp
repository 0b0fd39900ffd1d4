#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "hone/base/random.h"
#include "tests/runtime/image_kernel_cases.h"

// Checks what operations declare their results to depend on, by changing everything else.
namespace hone::testing {
namespace {

using Place = std::vector<std::int64_t>;

Place place_of(std::int64_t flat, const Sizes& sizes) {
  Place place(sizes.size());
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    place[axis] = flat % sizes[axis];
    flat /= sizes[axis];
  }
  return place;
}

// Returns whether an input element, broadcast to the output, is at `place` or, with `rows`, in the row of `place`.
bool lies_at(const Place& element, const Sizes& sizes, const Place& place, bool rows) {
  const std::size_t shift = place.size() - std::min(place.size(), element.size());
  for (std::size_t axis = 0; axis < element.size(); ++axis) {
    const bool inside_row = rows && axis + 1 == element.size();
    if (sizes[axis] == 1 || inside_row) continue;
    if (axis + shift >= place.size() || element[axis] != place[axis + shift]) return false;
  }
  return true;
}

// Large enough to change the scales of blocks.
template <typename T>
T far_from(T value) {
  return 16 * value;
}
template <>
bool far_from(bool value) {
  return !value;
}

// Returns `drawn` with all elements changed that the result at `place` must not depend on.
template <typename T>
Tensor spliced(const Tensor& drawn, const Tensor& other, const Place& place, bool rows) {
  Tensor tensor = drawn.contiguous_copy();
  const std::span<T> values = tensor.values<T>();
  const std::span<const T> others = other.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Place element = place_of(static_cast<std::int64_t>(i), tensor.sizes());
    if (!lies_at(element, tensor.sizes(), place, rows)) values[i] = far_from(others[i]);
  }
  return tensor;
}

// Returns the operation if it is the only one and declares a dependency that can be checked, and null otherwise.
const Node* claiming(const Graph& graph) {
  const std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
  if (operations.size() != 1 || operations[0]->types()[0].dtype != DType::f32) return nullptr;
  const Trait trait = operations[0]->trait();
  return trait == Trait::element_wise || trait == Trait::row_reduction ? operations[0] : nullptr;
}

std::int64_t element_count(const Node& node) {
  std::int64_t count = 1;
  for (const std::int64_t size : resolve(node.types()[0].shape, {})) count *= size;
  return count;
}

const Library& builtin_with_kernels() {
  static const Library library = builtin_library();
  return library;
}

constexpr std::int64_t kMostElements = 200'000;  // larger cases take long and show no more

class TraitsHold : public ::testing::TestWithParam<bool> {};

TEST_P(TraitsHold, WhateverIsElsewhere) {
  const Library& library = GetParam() ? builtin_with_kernels() : references();
  std::set<std::string> held;
  for (const KernelCase& kernel_case : all_kernel_cases()) {
    const Graph graph = parse_graph(kernel_case.text, library.ops, library.formats);
    const Node* node = claiming(graph);
    if (node == nullptr || element_count(*node) > kMostElements) continue;
    const bool rows = node->trait() == Trait::row_reduction;
    const NamedTensors drawn = draw_inputs(graph, kernel_case),
                       others = draw_inputs(graph, kernel_case, /*seed=*/2);
    const std::string output = graph.outputs()[0].first;
    const Tensor before = run_graph(graph, drawn, {}, library).at(output);
    const std::vector<float> expected = elements_of(before);
    RandomSequence random(3, stream_of(kernel_case.text));
    for (int trial = 0; trial < 4; ++trial) {
      const auto at = static_cast<std::int64_t>(random.below(expected.size()));
      const Place place = place_of(at, before.sizes());
      NamedTensors inputs;
      for (const auto& [name, tensor] : drawn)
        inputs.emplace(name, tensor.dtype() == DType::f32
                                 ? spliced<float>(tensor, others.at(name), place, rows)
                             : tensor.dtype() == DType::boolean
                                 ? spliced<bool>(tensor, others.at(name), place, rows)
                                 : spliced<std::int64_t>(tensor, others.at(name), place, rows));
      const Tensor after = run_graph(graph, inputs, {}, library).at(output);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(elements_of(after)[static_cast<std::size_t>(at)]),
                std::bit_cast<std::uint32_t>(expected[static_cast<std::size_t>(at)]))
          << "element " << at << " of\n"
          << kernel_case.text;
    }
    held.insert(std::string(node->op().name));
  }
  for (const auto& [name, op] : library.ops) {
    const bool claims = op.trait == Trait::element_wise || op.trait == Trait::row_reduction;
    EXPECT_TRUE(!claims || held.contains(name)) << name << " claims what no case holds it to";
  }
}

INSTANTIATE_TEST_SUITE_P(OfReferencesAndKernels, TraitsHold, ::testing::Bool());

// Outputs share memory with inputs only if they declare it. All values are outputs here, so every input is still
// needed.
TEST_P(TraitsHold, OfMemoryThatOutputsShare) {
  const Library& library = GetParam() ? builtin_with_kernels() : references();
  std::set<std::string> held;
  for (const KernelCase& kernel_case : all_kernel_cases()) {
    Graph graph = parse_graph(kernel_case.text, library.ops, library.formats);
    if (!graph.of_kind(NodeKind::parameter).empty()) continue;
    const NamedTensors drawn = draw_inputs(graph, kernel_case);
    std::map<Value, std::string> name_of;
    for (const auto& node : graph.nodes())
      for (int index = 0; index < static_cast<int>(node->types().size()); ++index) {
        const Value value = {node.get(), index};
        name_of[value] = fmt::format("value {}", name_of.size());
        graph.set_output(name_of[value], value);
      }
    const NamedTensors values = run_graph(graph, drawn, {}, library);
    for (Node* node : graph.of_kind(NodeKind::operation)) {
      const OpDef& op = node->op();
      for (std::size_t index = 0; index < node->types().size(); ++index)
        for (std::size_t i = 0; i < node->inputs().size(); ++i) {
          const Tensor& input = values.at(name_of.at(node->inputs()[i]));
          const Tensor& output = values.at(name_of.at(Value{node, static_cast<int>(index)}));
          const bool declared = index < op.aliases.size() && op.aliases[index] == i;
          ASSERT_EQ(output.storage() == input.storage(),
                    declared && !(op.closes_gaps && !input.contiguous()))
              << "output " << index << " and input " << i << " of " << op.name << " in\n"
              << kernel_case.text;
        }
      held.insert(std::string(op.name));
    }
  }
  for (const auto& [name, op] : library.ops)
    EXPECT_TRUE(op.aliases.empty() || held.contains(name)) << name;
}

// Operations give the same bits in place and in separate memory.
TEST(Traits, InPlaceIsNoOtherResult) {
  const Library& library = builtin_with_kernels();
  std::set<std::string> held;
  for (const KernelCase& kernel_case : all_kernel_cases()) {
    Graph graph = parse_graph(kernel_case.text, library.ops, library.formats);
    const std::vector<Node*> operations = graph.of_kind(NodeKind::operation);
    if (operations.size() != 1 || !operations[0]->op().in_place) continue;
    Node& node = *operations[0];
    const std::size_t index = *node.op().in_place;
    if (index >= node.inputs().size() || node.inputs()[index].type() != node.types()[0]) continue;
    const std::string output = graph.outputs()[0].first;
    const NamedTensors drawn = draw_inputs(graph, kernel_case);
    const std::vector<float> apart = elements_of(run_graph(graph, drawn, {}, library).at(output));
    // The new value has no other reader, so the operation may overwrite it.
    const Value read = node.inputs()[index];
    graph.set_input(node, index, graph.add("scale", {read}, {{"factor", 1.0}}, "own", &node));
    ASSERT_EQ(elements_of(run_graph(graph, drawn, {}, library).at(output)), apart)
        << kernel_case.text;
    held.insert(std::string(node.op().name));
  }
  for (const auto& [name, op] : library.ops)
    EXPECT_TRUE(!op.in_place || held.contains(name)) << name;
}

}  // namespace
}  // namespace hone::testing
