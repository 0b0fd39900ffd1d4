#include <gtest/gtest.h>

#include "hone/ir/print.h"
#include "hone/runtime/run_passes.h"
#include "tests/support/evaluate.h"
#include "tests/support/test_data.h"

// For every pass of the table, passes/NAME.txt has the pass with its options, a graph and, after the line `becomes`,
// the expected graph.
namespace hone::testing {
namespace {

struct Example {
  std::string pass, before, after;
};

fs::path file_of(std::string_view pass) {
  return test_data() / "runtime/passes" / fmt::format("{}.txt", pass);
}

Example example_of(std::string_view pass) {
  const std::string text = read_file(file_of(pass));
  constexpr std::string_view kBetween = "\nbecomes\n";
  const std::size_t line = text.find('\n'), between = text.find(kBetween);
  user_check(between != std::string::npos, "{} has no line 'becomes'", file_of(pass).string());
  return {text.substr(0, line), text.substr(line + 1, between - line),
          text.substr(between + kBetween.size())};
}

// Returns values for the parameters: all codes are zero, and masks keep everything.
ParameterStore values_of(const Graph& graph) {
  ParameterStore store;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const Type& type = parameter->types()[0];
    Tensor values = Tensor::empty(type.dtype, resolve(type.shape, {}));
    if (type.dtype == DType::f32) {
      std::ranges::fill(values.values<float>(), 0.5f);
    } else if (type.dtype == DType::boolean) {
      std::ranges::fill(values.values<bool>(), true);
    } else {
      std::ranges::fill(values.values<std::uint8_t>(), std::uint8_t{0});
    }
    store.set(parameter->name(), values);
  }
  return store;
}

class EveryPass : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPass, MakesOneTextOfTheOther) {
  static const Library library = builtin_library();
  const Example example = example_of(GetParam());
  Graph graph = parse_graph(example.before, library.ops, library.formats);
  EXPECT_EQ(to_string(graph), example.before);
  ParameterStore parameters = values_of(graph);
  ThreadPool pool(2);
  const Session session{.library = library, .pool = pool};
  const Pass pass = parse_pass(example.pass, library.passes, library.formats);
  EXPECT_EQ(pass.def->name, GetParam());
  EXPECT_TRUE(run_passes(graph, parameters, session, std::span(&pass, 1)));
  EXPECT_EQ(to_string(graph), example.after);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, def] : builtin_library().passes)
    if (def.run != nullptr) all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPass, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::testing
