#include "hone/jobs/zero_skipping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/random.h"
#include "hone/ir/parse.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/jobs/sparse_linears.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/run_passes.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Model pruned_model(std::string_view structure, double sparsity = 0.8) {
  Model model = tiny_model();
  transform(model, fmt::format("prune(sparsity={},structure={})", sparsity, structure),
            quiet_context().session());
  return model;
}

TEST(ZeroSkipping, CountsLayersByPattern) {
  const ZeroSkipping dense = zero_skipping(tiny_model(), quiet_context().session());
  EXPECT_EQ(dense.linear_layers, 14);
  EXPECT_EQ(dense.skipping_layers(), 0);
  EXPECT_EQ(dense.saved_bytes(), 0);
  ASSERT_EQ(dense.dense.size(), 1);
  EXPECT_EQ(dense.dense[0].layers, 14);
  for (const std::string_view structure : {"4x1", "weights"}) {
    SCOPED_TRACE(structure);
    const ZeroSkipping found = zero_skipping(pruned_model(structure), quiet_context().session());
    // All layers but the classifier are pruned.
    ASSERT_EQ(found.skipping.size(), 1);
    EXPECT_EQ(found.skipping[0].pattern, structure);
    EXPECT_GE(found.skipping[0].min_rows, 1);
    EXPECT_EQ(found.skipping_layers(), 13);
    EXPECT_EQ(found.saved_bytes(), found.skipping[0].dense_bytes - found.skipping[0].bytes);
    EXPECT_GT(found.saved_bytes(), 0);
    ASSERT_EQ(found.dense.size(), 1);
    EXPECT_EQ(found.dense[0].layers, 1);
  }
}

TEST(ZeroSkipping, TellsThePatternFromTheNumberOfZeros) {
  const auto reasons_of = [](const Model& model) {
    std::vector<std::pair<std::string, std::int64_t>> reasons;
    const ZeroSkipping found = zero_skipping(model, quiet_context().session());
    for (const DenseLayers& one : found.dense) reasons.emplace_back(one.reason, one.layers);
    std::ranges::sort(reasons, {}, [](const auto& one) { return one.second; });
    return reasons;
  };
  // The classifier is not pruned.
  const auto in_rows = reasons_of(pruned_model("1x4", 0.6)),
             too_few = reasons_of(pruned_model("4x1", 0.2));
  for (const auto* reasons : {&in_rows, &too_few}) {
    ASSERT_EQ(reasons->size(), 2);
    EXPECT_EQ((*reasons)[0].second, 1);
    EXPECT_EQ((*reasons)[1].second, 13);
  }
  EXPECT_EQ(in_rows[0], too_few[0]);
  EXPECT_NE(in_rows[1].first, too_few[1].first);
}

// Native products skip zero codes. Formats with a scale per block have no such kernel.
TEST(ZeroSkipping, DependsOnTheFormat) {
  Context& context = quiet_context();
  Model pruned = pruned_model("1x4");
  transform(pruned, "unprune", context.session());
  const auto found_in = [&](std::string_view format) {
    return zero_skipping(native_copy(pruned, "pruned", format_called(format), context),
                         context.session());
  };
  const ZeroSkipping rows = found_in("int(bits=8,per=row)"), blocks = found_in("mxint(bits=8)");
  EXPECT_EQ(rows.linear_layers, 14);
  // The classifier is not native. The pooler has one row per example and reads floats.
  EXPECT_EQ(rows.skipping_layers(), 12);
  for (const SkippingLayers& one : rows.skipping) EXPECT_EQ(one.pattern, "1x4");
  EXPECT_EQ(blocks.skipping_layers(), 0);
  ASSERT_GE(blocks.dense.size(), 1);
  const auto most = std::ranges::max_element(blocks.dense, {}, &DenseLayers::layers);
  EXPECT_NE(most->reason.find("mxint"), std::string::npos) << most->reason;
}

TEST(ZeroSkipping, CopiesNothingToADevice) {
  FakeDevice device;
  ThreadPool pool(1);
  const ZeroSkipping found = zero_skipping(
      pruned_model("4x1"), {.library = fake_library(), .pool = pool, .device = device});
  EXPECT_EQ(found.linear_layers, 14);
  EXPECT_EQ(found.skipping_layers(), 0);
  ASSERT_EQ(found.dense.size(), 1);
  EXPECT_EQ(found.dense[0].layers, 14);
  EXPECT_EQ(device.peak_bytes(), 0);
}

TEST(ZeroSkipping, HasTheThresholdsOfTheKernels) {
  const std::vector<SparsityThreshold> all = sparsity_thresholds();
  for (const auto& [products, pattern] :
       {std::pair{"fp32", "4x1"}, std::pair{"fp32", "weights"}, std::pair{"native int", "1x4"}})
    EXPECT_TRUE(std::ranges::any_of(all, [&](const SparsityThreshold& one) {
      return one.products == products && one.pattern == pattern;
    })) << products;
  // More rows of input need fewer zeros.
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].products == all[i - 1].products && all[i].pattern == all[i - 1].pattern) {
      EXPECT_LT(all[i].min_rows, all[i - 1].min_rows);
      EXPECT_GT(all[i].sparsity, all[i - 1].sparsity);
    }
}

Tensor normal_weight(const Sizes& sizes) {
  RandomSequence random(3, 1);
  Tensor weight = Tensor::empty(DType::f32, sizes);
  for (float& value : weight.values<float>()) value = static_cast<float>(random.normal());
  return weight;
}

// Returns how the kernel of a linear layer treats the zeros of this weight, which is packed in int8 for native
// products.
std::optional<WeightZeros> zeros_of_layer(const Tensor& weight, bool is_native) {
  const Session session = quiet_context().session();
  const std::string formats =
      is_native ? fmt::format(
                      "%q = quantize(%x) {{format=int(bits=8,per=token)}} : f32[B, {1}]\n"
                      "%v = quantize(%w) {{format=int(bits=8,per=row,scale=dynamic)}} : "
                      "f32[{0}, {1}]\n",
                      weight.size(0), weight.size(1))
                : "";
  Graph graph = parse_graph(
      fmt::format("%x = input : f32[B, {1}]\n%w = parameter weight trainable : f32[{0}, {1}]\n"
                  "%b = parameter bias trainable : f32[{0}]\n{2}"
                  "%y = linear({3}, %b) : f32[B, {0}]\noutput y = %y\n",
                  weight.size(0), weight.size(1), formats, is_native ? "%q, %v" : "%x, %w"),
      session.library.ops, session.library.formats);
  ParameterStore parameters;
  parameters.set("w", weight);
  parameters.set("b", Tensor::zeros(DType::f32, {weight.size(0)}));
  pack_weights(graph, parameters, session.pool);
  prepare_for_inference(graph, parameters, session);
  const std::vector<PreparedCopy> copies = prepared_copies(graph, parameters, session);
  const auto found =
      std::ranges::find_if(copies, [](const PreparedCopy& copy) { return copy.zeros.has_value(); });
  return found == copies.end() ? std::nullopt : found->zeros;
}

// In these shapes most thresholds are not a whole number of blocks, and pruning rounds them up or down. Some blocks of
// codes take two entries, and blocks at the edges are smaller.
TEST(ZeroSkipping, BeginsAtEachThreshold) {
  const std::vector<SparsityThreshold> all = sparsity_thresholds();
  for (const SparsityThreshold& one : all) {
    const PruneBlock block = parse_structure(one.pattern).block;
    for (const Sizes& sizes : {Sizes{192, 192}, Sizes{185, 191}}) {
      SCOPED_TRACE(fmt::format("{} {} from {} on, {} x {}", one.products, one.pattern, one.sparsity,
                               sizes[0], sizes[1]));
      const Tensor weight = normal_weight(sizes);
      const auto zeros_at = [&](double sparsity) {
        return zeros_of_layer(with_zeros(weight, sparsity, block), one.products == "native int");
      };
      const std::optional<WeightZeros> at = zeros_at(one.sparsity),
                                       below = zeros_at(one.sparsity - 0.01);
      ASSERT_TRUE(at && below);
      EXPECT_EQ(at->pattern, one.pattern);
      EXPECT_EQ(at->min_rows, one.min_rows);
      EXPECT_TRUE(!below->skips() || below->min_rows > one.min_rows);
    }
  }
}

}  // namespace
}  // namespace hone::testing
