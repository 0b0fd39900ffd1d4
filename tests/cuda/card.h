#pragma once

#include <gtest/gtest.h>

#include "hone/cuda/compiler.h"
#include "hone/cuda/device.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/products.h"
#include "hone/runtime/library.h"

namespace hone::testing {

/// Tests on the first GPU. Without a GPU they are skipped, and say why.
class OnCard : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = cuda::driver_missing(); !missing.empty())
      GTEST_SKIP() << "not run without a GPU: " << missing;
    for (const std::string& missing : {cuda::compiler_state().missing, cuda::products_missing()})
      ASSERT_EQ(missing, "");
  }

  static cuda::CudaDevice& card() { return cuda::device(0); }

  /// The builtin tables with the cards' kernels.
  static const Library& library() {
    static const Library built = [] {
      Library with_cards = builtin_library();
      const KernelTable kernels = cuda::kernels();
      with_cards.kernels.insert(with_cards.kernels.end(), kernels.begin(), kernels.end());
      return with_cards;
    }();
    return built;
  }
};

}  // namespace hone::testing
