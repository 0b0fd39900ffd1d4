#pragma once

#include <gtest/gtest.h>

#include "hone/cuda/compiler.h"
#include "hone/cuda/device.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/products.h"
#include "hone/runtime/library.h"

namespace hone::testing {

/// Tests on the first GPU. They are skipped, with the reason, if there is none.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = cuda::driver_missing(); !missing.empty())
      GTEST_SKIP() << "not run without a GPU: " << missing;
    for (const std::string& missing : {cuda::compiler_state().missing, cuda::products_missing()})
      ASSERT_EQ(missing, "");
  }

  static cuda::CudaDevice& gpu() { return cuda::device(0); }

  /// The builtin tables, with the kernels for GPUs.
  static const Library& library() {
    static const Library built = [] {
      Library with_gpus = builtin_library();
      const KernelTable kernels = cuda::kernels();
      with_gpus.kernels.insert(with_gpus.kernels.end(), kernels.begin(), kernels.end());
      return with_gpus;
    }();
    return built;
  }
};

}  // namespace hone::testing
