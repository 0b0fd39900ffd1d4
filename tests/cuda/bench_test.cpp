#include "hone/cuda/captured.h"
#include "hone/jobs/bench_attention.h"
#include "hone/jobs/bench_dequantize.h"
#include "hone/jobs/bench_linear.h"
#include "tests/cuda/gpu.h"

// Checks the results of the work that `hone bench` times on a GPU.
namespace hone::testing {
namespace {

class CudaBench : public OnGpu {
 protected:
  static Context& gpu_context() {
    static Context context(1, true, {}, {}, {}, [](Context& made) {
      made.library = library();
      made.device = &gpu();
      made.executor = cuda::captured;
    });
    return context;
  }
};

// Sizes that the tensor-core kernel supports and one that it does not, with one text and several, and tokens that do
// not fill a tile.
TEST_F(CudaBench, ComputesAttentionOfEveryTypeBothWays) {
  for (const AttentionShape& shape : {AttentionShape{2, 3, 130, 64}, AttentionShape{1, 2, 300, 128},
                                      AttentionShape{3, 1, 1, 64}, AttentionShape{2, 2, 70, 32}}) {
    const AttentionResult result =
        bench_attention({.shape = shape, .runs = 2, .profile = true}, gpu_context());
    ASSERT_EQ(result.times.size(), 6u);
    for (const AttentionTimes& times : result.times) {
      const double epsilon = times.type.dtype == DType::f32    ? 1e-5
                             : times.type.dtype == DType::bf16 ? 0x1p-6
                                                               : 0x1p-9;
      EXPECT_LT(times.relative_difference.value(), epsilon)
          << times.type.name << " " << to_string(times.implementation) << ", heads of "
          << shape.size;
      EXPECT_GT(times.min_ms, 0);
      EXPECT_FALSE(times.operators.empty());
    }
  }
}

// Few rows and many rows have different kernels. Formats without a kernel report why.
TEST_F(CudaBench, ComputesLinearsInEveryWayOrSaysWhyNot) {
  const FormatTable& formats = gpu_context().library.formats;
  const LinearResult result = bench_linear(
      {.rows = {1, 16, 130},
       .inputs = 512,
       .outputs = 384,
       .formats = {parse_format("mxint(bits=8)", formats), parse_format("int(bits=8)", formats)},
       .runs = 6},
      gpu_context());
  ASSERT_EQ(result.bench.times.size(), 3 * 6u);
  for (const LinearTimes& times : result.bench.times) {
    if (!times.was_run()) {
      EXPECT_EQ(times.implementation, LinearImplementation::native) << *times.not_run;
      EXPECT_NE(times.not_run->find("no kernel of"), std::string::npos) << *times.not_run;
      continue;
    }
    EXPECT_LT(times.relative_difference,
              times.implementation == LinearImplementation::fp32 ? 1e-5 : 0.05)
        << times.name() << ", rows " << times.rows;
    EXPECT_GT(times.min_ms, 0);
    EXPECT_LE(times.min_ms, times.median_ms);
    EXPECT_TRUE(times.speedup);
  }
}

// Decoded bits are compared with those of the CPU before they are timed.
TEST_F(CudaBench, DecodesTheBitsOfTheProcessor) {
  for (const int bits : {8, 4})
    for (const bool to_float : {false, true}) {
      const DequantizeResult result = bench_dequantize({.elements = {1, 1001, 1 << 20},
                                                        .groups = {1, 7, 8, 32, 512},
                                                        .bits = bits,
                                                        .to_float = to_float,
                                                        .runs = 2},
                                                       gpu_context());
      ASSERT_EQ(result.times.size(), 15u);
      for (const DequantizeTimes& times : result.times) {
        EXPECT_GT(times.gbps(), 0);
        EXPECT_TRUE(times.in_cache);
        EXPECT_FALSE(times.partition);
      }
      EXPECT_TRUE(result.fields["times"][0]["partition"].is_null());
      EXPECT_EQ(times_of(from_json<BenchDequantizeFields>(result.fields)).size(), 15u);
    }
}

// Memory that tensors freed is available again, although it stays in the GPU's pool.
TEST_F(CudaBench, KnowsWhatMemoryIsTaken) {
  const std::size_t before = gpu().held_bytes(), free = gpu().free_bytes().value();
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  gpu().reset_peak_held();
  { const StoragePointer some = gpu().allocate(kBytes); }
  EXPECT_GE(gpu().peak_held_bytes(), before + kBytes);
  EXPECT_EQ(gpu().held_bytes(), before);
  EXPECT_GE(gpu().free_bytes().value() + (std::size_t{64} << 20), free);
}

}  // namespace
}  // namespace hone::testing
