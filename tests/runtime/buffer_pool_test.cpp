#include "hone/runtime/buffer_pool.h"

#include <gtest/gtest.h>

#include "tests/support/evaluate.h"

namespace hone::testing {
namespace {

TEST(BufferPool, HandsAReturnedBlockOutAgain) {
  BufferPool pool(cpu());
  const std::byte* first = nullptr;
  {
    const Tensor tensor = pool.allocate(DType::f32, {10, 10});
    first = tensor.device_pointer();
  }
  const std::size_t reserved = pool.reserved_bytes();
  const Tensor again = pool.allocate(DType::i64, {50});
  EXPECT_EQ(again.device_pointer(), first);
  EXPECT_EQ(again.sizes(), (Sizes{50}));
  EXPECT_EQ(again.dtype(), DType::i64);
  EXPECT_EQ(pool.reserved_bytes(), reserved);
}

TEST(BufferPool, KeepsLivingTensorsApart) {
  BufferPool pool(cpu());
  const Tensor a = pool.allocate(DType::f32, {4}), b = pool.allocate(DType::f32, {4});
  EXPECT_NE(a.device_pointer(), b.device_pointer());
  EXPECT_EQ(pool.reserved_bytes(), 512u);
}

TEST(BufferPool, WaitsForTheLastView) {
  BufferPool pool(cpu());
  Tensor tensor = pool.allocate(DType::f32, {4});
  const Tensor view = tensor.slice(0, 1, 2);
  const std::byte* first = tensor.device_pointer();
  tensor = Tensor();
  EXPECT_NE(pool.allocate(DType::f32, {4}).device_pointer(), first);
}

TEST(BufferPool, KeepsBlocksThatAreMuchTooLarge) {
  BufferPool pool(cpu());
  pool.allocate(DType::f32, {1 << 20});
  const std::size_t large = pool.reserved_bytes();
  pool.allocate(DType::f32, {4});
  EXPECT_EQ(pool.reserved_bytes(), large + 256);
}

TEST(BufferPool, GivesSizesThatAlmostAgreeTheSameBlock) {
  BufferPool pool(cpu());
  pool.allocate(DType::f32, {1000, 100});
  const std::size_t reserved = pool.reserved_bytes();
  for (const std::int64_t rows : {999, 980, 960}) pool.allocate(DType::f32, {rows, 100});
  EXPECT_EQ(pool.reserved_bytes(), reserved);
  EXPECT_LE(reserved, 400000u * 5 / 4);
}

TEST(BufferPool, MayGoBeforeItsTensors) {
  Tensor tensor;
  {
    BufferPool pool(cpu());
    tensor = pool.allocate(DType::f32, {2});
  }
  tensor.values<float>()[1] = 7;
  EXPECT_EQ(tensor.values<float>()[1], 7);
}

TEST(BufferPool, AllocatesTensorsWithoutElements) {
  BufferPool pool(cpu());
  EXPECT_EQ(pool.allocate(DType::f32, {0, 4}).count(), 0);
}

}  // namespace
}  // namespace hone::testing
