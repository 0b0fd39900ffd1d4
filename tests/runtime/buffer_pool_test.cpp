#include "hone/runtime/buffer_pool.h"

#include <gtest/gtest.h>

#include <set>

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
  const Tensor small = pool.allocate(DType::f32, {4});
  EXPECT_EQ(pool.reserved_bytes(), large + 256);
  pool.allocate(DType::f32, {1 << 20});
  EXPECT_EQ(pool.reserved_bytes(), large + 256);
}

TEST(BufferPool, GivesSizesThatAlmostAgreeTheSameBlock) {
  BufferPool pool(cpu());
  pool.allocate(DType::f32, {1000, 100});
  const std::size_t reserved = pool.reserved_bytes();
  for (const std::int64_t rows : {999, 980, 960}) pool.allocate(DType::f32, {rows, 100});
  EXPECT_EQ(pool.reserved_bytes(), reserved);
  EXPECT_LT(reserved, 400000u + 256);
}

TEST(BufferPool, TakesTheNewestOfEqualBlocks) {
  BufferPool pool(cpu());
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.push_back(pool.allocate(DType::f32, {64}));
  const std::byte* last = tensors[1].device_pointer();
  tensors[0] = tensors[2] = Tensor();
  tensors[1] = Tensor();
  EXPECT_EQ(pool.allocate(DType::f32, {64}).device_pointer(), last);
}

// Many small tensors are cut from the freed block of a large one, and freeing them makes it whole again.
TEST(BufferPool, CutsALargeBlockWhereThereIsNoRoomForMore) {
  BufferPool pool(cpu());
  const std::int64_t large = 1 << 20, small = large / 8;
  const std::byte* block = pool.allocate(DType::f32, {large}).device_pointer();
  const std::size_t reserved = pool.reserved_bytes();
  {
    std::vector<Tensor> pieces;
    for (int i = 0; i < 8; ++i) pieces.push_back(pool.allocate(DType::f32, {small}));
    EXPECT_EQ(pool.reserved_bytes(), reserved);
    std::set<const std::byte*> places;
    for (const Tensor& piece : pieces) {
      places.insert(piece.device_pointer());
      EXPECT_EQ((piece.device_pointer() - block) % (small * 4), 0);
    }
    EXPECT_EQ(places.size(), 8u);
    std::swap(pieces[1], pieces[6]);  // frees them in another order
  }
  EXPECT_EQ(pool.allocate(DType::f32, {large}).device_pointer(), block);
  EXPECT_EQ(pool.reserved_bytes(), reserved);
}

// Separate blocks of 4 and 2 KiB would not hold a tensor of 6 KiB.
TEST(BufferPool, CutsWhatWasPreparedWithoutGaps) {
  BufferPool pool(cpu());
  pool.allocate(DType::f32, {64});
  pool.prepare(6144);
  EXPECT_EQ(pool.reserved_bytes(), 6144u) << "and what waited was given back";
  {
    const Tensor a = pool.allocate(DType::f32, {1024}), b = pool.allocate(DType::f32, {512});
    EXPECT_EQ(pool.reserved_bytes(), 6144u);
  }
  const Tensor both = pool.allocate(DType::f32, {1536});
  EXPECT_EQ(pool.reserved_bytes(), 6144u);
  pool.prepare(256);
  EXPECT_EQ(pool.reserved_bytes(), 6144u + 256u) << "a living tensor stays where it is";
}

// Growing tensors, only one of which lives at a time.
TEST(BufferPool, GivesBackWhatIsTooSmallForWhatComes) {
  BufferPool pool(cpu());
  for (std::int64_t count = 1000; count < 100000; count += 1000) {
    pool.allocate(DType::f32, {count});
    EXPECT_LE(pool.reserved_bytes(), static_cast<std::size_t>(count * 4 * 17 / 16 + 256)) << count;
  }
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
