#include "hone/runtime/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/tensor/mapped.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr std::string_view kQuantized = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%frac = parameter weight frozen : f32[]
%doubled = scale(%w) {factor=2.0} : f32[2, 2]
%w.quantizer = quantize(%doubled, %frac) {format=integer(width=8,frac=auto)} : f32[2, 2]
%turned = transpose(%w.quantizer) {axes=[1, 0]} : f32[2, 2]
%y = linear(%x, %w.quantizer) : f32[B, 2]
%z = linear(%y, %turned) : f32[B, 2]
output z = %z
)";

ParameterStore weights() {
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({2, 2}, {0.3f, -0.4f, 0.1f, 1.0f}));
  parameters.set("frac", Tensor::scalar(2.0f));
  return parameters;
}

// File pages that nothing reads any more are released to the system.
TEST(Fold, LetsGoOfTheFilesPagesThatValuesWereMadeOf) {
  constexpr std::int64_t kRows = 512, kColumns = 64;
  Graph graph = parse(R"(%x = input : f32[B, 64]
%w = parameter weight trainable : f32[512, 64]
%doubled = scale(%w) {factor=2.0} : f32[512, 64]
%y = linear(%x, %doubled) : f32[B, 512]
output y = %y
)");
  Tensor weight = Tensor::empty(DType::f32, {kRows, kColumns});
  std::ranges::fill(weight.values<float>(), 1.0f);
  const TemporaryFolder folder;
  const SharedBytes file =
      map_file(folder.file("w", std::string(reinterpret_cast<const char*>(weight.device_pointer()),
                                            weight.size_bytes())));
  const Tensor in_file = Tensor::view_of(storage_in_file(file, file.text, DType::f32), DType::f32,
                                         {kRows, kColumns}, {kColumns, 1}, 0);
  ParameterStore parameters;
  parameters.set("w", in_file);
  ThreadPool pool(1);
  EXPECT_EQ(elements_of(in_file)[7], 1.0f);
  EXPECT_EQ(unread_bytes(in_file), 0u);
  EXPECT_TRUE(fold_parameters(graph, parameters, Session{references(), pool}));
  EXPECT_GT(unread_bytes(in_file), weight.size_bytes() / 2);
  EXPECT_EQ(elements_of(in_file)[7], 1.0f);
}

TEST(Fold, ReplacesWhatDependsOnParametersAlone) {
  Graph graph = parse(kQuantized);
  ParameterStore parameters = weights();
  const NamedTensors inputs = {{"x", Tensor::of<float>({1, 2}, {1, 10})}};
  const std::vector<float> expected = elements_of(run_graph(graph, inputs, parameters).at("z"));
  ThreadPool pool(1);
  EXPECT_TRUE(fold_parameters(graph, parameters, Session{references(), pool}));
  verify(graph);
  EXPECT_EQ(to_string(graph), R"(%x = input : f32[B, 2]
%turned.folded = parameter buffer frozen : f32[2, 2]
%w.quantizer.folded = parameter buffer frozen : f32[2, 2]
%y = linear(%x, %w.quantizer.folded) : f32[B, 2]
%z = linear(%y, %turned.folded) : f32[B, 2]
output z = %z
)");
  EXPECT_EQ(elements_of(parameters.at("w.quantizer.folded")),
            (std::vector<float>{0.5, -0.75, 0.25, 2}));
  EXPECT_TRUE(parameters.at("turned.folded").contiguous());
  EXPECT_EQ(elements_of(run_graph(graph, inputs, parameters).at("z")), expected);
  EXPECT_FALSE(fold_parameters(graph, parameters, Session{references(), pool}));
}

// The weight then stays in the mapped file, from which kernels rearrange it.
TEST(Fold, KeepsTheWeightThatHasTheZerosOfItsMask) {
  constexpr std::string_view kMasked = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%kept = parameter mask frozen : bool[2, 2]
%w.masked = mask(%w, %kept) : f32[2, 2]
%y = linear(%x, %w.masked) : f32[B, 2]
output y = %y
)";
  for (const float removed : {0.0f, -0.0f, 3.0f}) {
    SCOPED_TRACE(removed);
    const bool is_kept = removed == 0 && !std::signbit(removed);
    Graph graph = parse(kMasked);
    ParameterStore parameters;
    parameters.set("w", Tensor::of<float>({2, 2}, {1, removed, 2, 4}));
    Tensor kept = Tensor::zeros(DType::boolean, {2, 2});
    for (const std::int64_t i : {0, 2, 3}) kept.data<bool>()[i] = true;
    parameters.set("kept", kept);
    ThreadPool pool(1);
    EXPECT_TRUE(fold_parameters(graph, parameters, Session{references(), pool}));
    verify(graph);
    EXPECT_EQ(graph.find("w") != nullptr, is_kept);
    EXPECT_EQ(graph.find("w.masked.folded") != nullptr, !is_kept);
    EXPECT_EQ(graph.find("kept"), nullptr);
    EXPECT_EQ(
        elements_of(
            run_graph(graph, {{"x", Tensor::of<float>({1, 2}, {1, 10})}}, parameters).at("y")),
        (std::vector<float>{1, 42}));
  }
}

TEST(Fold, LeavesACopyOfTheStoreAlone) {
  Graph graph = parse(kQuantized);
  const ParameterStore original = weights();
  ParameterStore parameters = original;
  ThreadPool pool(1);
  fold_parameters(graph, parameters, {references(), pool});
  EXPECT_FALSE(original.contains("w.quantizer.folded"));
  EXPECT_EQ(elements_of(original.at("w")), elements_of(weights().at("w")));
}

TEST(Fold, FoldsAnOutput) {
  Graph graph = parse(R"(%w = parameter weight frozen : f32[2]
%y = relu(%w) : f32[2]
output y = %y
)");
  ParameterStore parameters;
  parameters.set("w", Tensor::of<float>({2}, {-1, 2}));
  ThreadPool pool(1);
  EXPECT_TRUE(fold_parameters(graph, parameters, Session{references(), pool}));
  EXPECT_EQ(to_string(graph),
            "%y.folded = parameter buffer frozen : f32[2]\noutput y = %y.folded\n");
  EXPECT_EQ(elements_of(run_graph(graph, {}, parameters).at("y")), (std::vector<float>{0, 2}));
}

TEST(Fold, LeavesWhatARunDecides) {
  constexpr std::string_view text = R"(%x = input : f32[S]
%table = parameter weight frozen : f32[9]
%part = slice(%table) {axis=0, begin=0, size=[S]} : f32[S]
%y = add(%x, %part) : f32[S]
output y = %y
)";
  Graph graph = parse(text);
  ParameterStore parameters;
  parameters.set("table", Tensor::zeros(DType::f32, {9}));
  ThreadPool pool(1);
  EXPECT_FALSE(fold_parameters(graph, parameters, Session{references(), pool}));
  EXPECT_EQ(to_string(graph), text);
}

}  // namespace
}  // namespace hone::testing
