#include <gtest/gtest.h>

#include "hone/base/cpu.h"
#include "hone/base/random.h"
#include "hone/ir/parse.h"
#include "hone/passes/pack.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/library.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/mapped.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/sanitized.h"

// Compares the predicted size of prepared copies of constant weights with the actual size.
namespace hone {
namespace {

// Returns a weight (N,K) of normal values, in which a share of the blocks of `rows` x `columns` is kept. Few quantized
// values need two entries.
Tensor pruned_weight(const Sizes& sizes, double kept, std::int64_t rows, std::int64_t columns) {
  RandomSequence random(3, 1);
  Tensor weight = Tensor::zeros(DType::f32, sizes);
  float* const values = weight.data<float>();
  for (std::int64_t n = 0; n < sizes[0]; n += rows)
    for (std::int64_t k = 0; k < sizes[1]; k += columns) {
      if (random.uniform() >= kept) continue;
      for (std::int64_t r = n; r < n + rows; ++r)
        for (std::int64_t c = k; c < k + columns; ++c)
          values[r * sizes[1] + c] = static_cast<float>(random.normal());
    }
  return weight;
}

/// One linear layer, prepared for inference.
struct Layer {
  const Library library = builtin_library();
  ThreadPool pool{1};
  const Session session{library, pool};
  Graph graph;
  ParameterStore parameters;
  std::int64_t inputs;

  // `is_native`: int8 weights and inputs, packed.
  Layer(Tensor weight, bool is_native)
      : graph(parse_graph(text(weight.size(0), weight.size(1), is_native), library.ops,
                          library.formats)),
        inputs(weight.size(1)) {
    parameters.set("b", Tensor::zeros(DType::f32, {weight.size(0)}));
    parameters.set("w", std::move(weight));
    pack_weights(graph, parameters, pool);
    prepare_for_inference(graph, parameters, session);
  }

  static std::string text(std::int64_t outputs, std::int64_t inputs, bool is_native) {
    const std::string formats =
        is_native ? fmt::format(
                        "%q = quantize(%x) {{format=int(bits=8,per=token)}} : f32[B, {1}]\n"
                        "%v = quantize(%w) {{format=int(bits=8,per=row,scale=dynamic)}} : "
                        "f32[{0}, {1}]\n",
                        outputs, inputs)
                  : "";
    return fmt::format(
        "%x = input : f32[B, {1}]\n%w = parameter weight trainable : f32[{0}, {1}]\n"
        "%b = parameter bias trainable : f32[{0}]\n{2}%y = linear({3}, %b) : f32[B, {0}]\n"
        "output y = %y\n",
        outputs, inputs, formats, is_native ? "%q, %v" : "%x, %w");
  }

  std::int64_t predicted() const {
    std::int64_t bytes = 0;
    for (const PreparedCopy& copy : prepared_copies(graph, parameters, session))
      bytes += copy.bytes;
    return bytes;
  }

  // Returns the memory that the second run adds to the process.
  double kept() {
    Interpreter interpreter(graph, library, pool);
    const NamedTensors given = {{"x", Tensor::zeros(DType::f32, {1, inputs})}};
    interpreter.run(given, parameters);
    const auto before = static_cast<double>(resident_bytes());
    interpreter.run(given, parameters);
    return static_cast<double>(resident_bytes()) - before;
  }
};

void expect_kept_as_predicted(Layer layer) {
  // The kernel updates its page counts with a delay.
  constexpr double kPages = 1 << 20;
  const auto predicted = static_cast<double>(layer.predicted());
  EXPECT_GT(predicted, 6 * kPages) << "too small to be told from the rest of the process";
  if (testing::kSanitized) return;
  layer.kept();  // memory that threads keep once
  EXPECT_NEAR(layer.kept(), predicted, kPages);
}

TEST(PreparedCopies, OfSparseFloatsAreWhatThePredictionSays) {
  expect_kept_as_predicted(Layer(pruned_weight({2048, 2048}, 0.4, 4, 1), false));
}

TEST(PreparedCopies, OfSparseIntegersAreWhatThePredictionSays) {
  expect_kept_as_predicted(Layer(pruned_weight({4096, 4096}, 0.4, 1, 4), true));
}

// Products of few rows do not use a copy with many entries and would read the weight again.
TEST(PreparedCopies, ReleaseTheWeightOnlyWhereProductsOfAnyRowsReadTheCopy) {
  for (const auto& [kept, is_released] :
       {std::pair{0.2, true}, std::pair{0.4, false}, std::pair{0.9, true}}) {
    SCOPED_TRACE(kept);
    const Tensor weight = in_unlinked_file({{"w", pruned_weight({256, 256}, kept, 4, 1)}}).at("w");
    Layer layer(weight, false);
    const std::vector<PreparedCopy> copies =
        prepared_copies(layer.graph, layer.parameters, layer.session);
    ASSERT_EQ(copies.size(), 1);
    EXPECT_EQ(copies[0].released.size(), is_released ? 1 : 0);
    layer.kept();
    EXPECT_EQ(unread_bytes(weight) > weight.size_bytes() / 2, is_released);
  }
}

TEST(PreparedCopies, OfDenseWeightsInMemoryAreNone) {
  const Layer floats(pruned_weight({64, 64}, 0.9, 1, 1), false);
  EXPECT_EQ(floats.predicted(), 0);
  const Layer integers(pruned_weight({64, 64}, 0.9, 1, 1), true);
  EXPECT_EQ(integers.predicted(), 64 * 4) << "the scales of rows";
}

TEST(PreparedCopies, AreNoneOfWeightsThatAreNotThere) {
  const Layer layer(pruned_weight({64, 64}, 0.1, 4, 1), false);
  EXPECT_GT(layer.predicted(), 0);
  EXPECT_TRUE(prepared_copies(layer.graph, {}, layer.session).empty());
}

}  // namespace
}  // namespace hone
