#include "hone/kernels/target.h"

#include <gtest/gtest.h>

#include "hone/base/cpu.h"

namespace hone::kernels {
namespace {

TEST(VectorTarget, GoesWithTheProcessor) {
  const std::string target = vector_target();
  if (instruction_sets().avx512f) {
    EXPECT_TRUE(target.starts_with("AVX3")) << target;
  } else if (instruction_sets().avx2) {
    EXPECT_EQ(target, "AVX2");
  }
  EXPECT_FALSE(target.empty());
}

}  // namespace
}  // namespace hone::kernels
