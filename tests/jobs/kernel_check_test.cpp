#include "hone/jobs/kernel_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

std::string_view by_erf(const CallSite& site) {
  return site.attributes.get<std::string>("approximate") == "none" ? "" : "it is not by erf";
}
std::string_view refuses_all(const CallSite&) { return "it is of no use"; }

template <int kWrong>
void own_gelu(Call& call) {
  const std::int64_t count = call.input(0).count();
  const float* x = call.input(0).data<float>();
  float* y = call.output().data<float>();
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f)) + kWrong;
}

std::vector<KernelCheck> check_of(const Kernel& kernel) {
  Context context(/*threads=*/1, /*quiet=*/true);
  context.library.kernels.insert(context.library.kernels.begin(), kernel);
  return check_plugin_kernels({.model = "tiny", .batch = 2, .tokens = 8, .rounds = 6}, context);
}

TEST(KernelCheck, HoldsATakenKernelAgainstReferenceAndProgram) {
  const auto checks = check_of(
      {.op = "gelu", .device = "cpu", .name = "mine", .accepts = by_erf, .run = own_gelu<0>});
  // In fused inference gelu is part of the linear, so only unfused inference and the training step call it. The last
  // layer of a training step has one row per text.
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].operation.graph, "inference, nothing fused");
  EXPECT_EQ(checks[0].operation.nodes, 2) << "a layer each";
  EXPECT_EQ(checks[1].operation.graph, "training step");
  EXPECT_EQ(checks[2].operation.graph, "training step");
  for (const KernelCheck& check : checks) {
    EXPECT_EQ(check.refusal, "");
    EXPECT_TRUE(check.chosen);
    EXPECT_EQ(check.sizes.size(), 3u);
    EXPECT_TRUE(check.is_correct()) << check.sizes[0].own.share;
    ASSERT_TRUE(check.sizes[0].built_in);
    EXPECT_LT(check.sizes[0].built_in->share, kKernelTolerance);
    ASSERT_TRUE(check.times);
    EXPECT_GT(check.times->speedup, 0);
    EXPECT_NE(check.built_in, "mine");
  }
}

TEST(KernelCheck, LeavesOutAKernelThatAnotherOneComesBefore) {
  Context context(/*threads=*/1, /*quiet=*/true);
  for (const char* name : {"second", "first"})
    context.library.kernels.insert(
        context.library.kernels.begin(),
        {.op = "gelu", .device = "cpu", .name = name, .accepts = by_erf, .run = own_gelu<0>});
  const auto checks =
      check_plugin_kernels({.model = "tiny", .batch = 2, .tokens = 8, .rounds = 6}, context);
  ASSERT_EQ(checks.size(), 6u);
  EXPECT_TRUE(checks[0].chosen);
  EXPECT_EQ(checks[3].kernel, "second");
  EXPECT_FALSE(checks[3].chosen);
  EXPECT_EQ(checks[3].unchecked, "first comes first and runs instead");
  EXPECT_TRUE(checks[3].sizes.empty());
}

TEST(KernelCheck, FindsAWrongOne) {
  const auto checks = check_of(
      {.op = "gelu", .device = "cpu", .name = "mine", .accepts = by_erf, .run = own_gelu<1>});
  ASSERT_FALSE(checks.empty());
  EXPECT_FALSE(checks[0].is_correct());
  EXPECT_NEAR(checks[0].sizes[0].own.largest, 1, 1e-5);
}

TEST(KernelCheck, TellsWhyOneIsRefused) {
  const auto checks = check_of({.op = "layer_norm",
                                .device = "cpu",
                                .name = "mine",
                                .accepts = refuses_all,
                                .run = own_gelu<0>});
  ASSERT_FALSE(checks.empty());
  EXPECT_EQ(checks[0].refusal, "it is of no use");
  EXPECT_TRUE(checks[0].sizes.empty());
  EXPECT_FALSE(checks[0].times);
}

TEST(KernelCheck, AsksNobodyOfAnotherDevice) {
  EXPECT_TRUE(
      check_of(
          {.op = "gelu", .device = "cuda", .name = "mine", .accepts = by_erf, .run = own_gelu<0>})
          .empty());
}

}  // namespace
}  // namespace hone
