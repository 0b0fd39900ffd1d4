#include "hone/jobs/zero_skipping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/jobs/native/native_copy.h"
#include "hone/models/transform.h"
#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone::testing {
namespace {

Model pruned_model(std::string_view structure) {
  Model model = tiny_model();
  transform(model, fmt::format("prune(sparsity=0.8,structure={})", structure),
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
    // All but the head are pruned.
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

// Native products skip zero codes; formats with a scale for each block have no kernel that does.
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
  // The head is not native, and the pooler, which has one row for each example, reads floats.
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

}  // namespace
}  // namespace hone::testing
