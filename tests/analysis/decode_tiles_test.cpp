#include "hone/analysis/decode_tiles.h"

#include <gtest/gtest.h>

#include "hone/base/error.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

// Calls `body` for all threads of all blocks of all calls.
template <typename Body>
void for_each_thread(const DecodeTiling& tiling, Body&& body) {
  for (std::int64_t call = 0; call < tiling.calls; ++call)
    for (std::int64_t y = 0; y < tiling.grid_y(call); ++y)
      for (std::int64_t x = 0; x < tiling.grid_x(); ++x)
        for (std::int64_t thread = 0; thread < kTileThreads; ++thread)
          body(TileThread{call, x, y, thread});
}

void check_tiling(std::int64_t elements, std::int64_t group) {
  SCOPED_TRACE(fmt::format("{} in groups of {}", elements, group));
  const DecodeTiling tiling = mase_cuda_tiling(elements, group);
  ASSERT_EQ(tiling.tile_rows * tiling.tile_columns, kTileThreads);
  std::vector<int> owners(static_cast<std::size_t>(elements));
  std::int64_t threads = 0, wrong = 0, scales = 0;
  for_each_thread(tiling, [&](const TileThread& thread) {
    ++threads;
    const TileWork work = work_of(tiling, thread);
    // A block loads the scales of its columns once.
    scales += work.loads_scale && thread.block_x == 0 ? 1 : 0;
    if (!work.has_element) return;
    ++owners.at(static_cast<std::size_t>(work.element));
    wrong += work.scale == work.element / group ? 0 : 1;
    wrong += owner_of(tiling, work.element) == thread ? 0 : 1;
    // A thread reads the scale at index thread div BLK_M among those of its block.
    const std::int64_t first =
        thread.call * tiling.groups_per_call + thread.block_y * tiling.tile_columns;
    wrong += work.scale == first + thread.thread / tiling.tile_rows ? 0 : 1;
  });
  EXPECT_EQ(std::ranges::count(owners, 1), elements);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(scales, tiling.groups);
  EXPECT_EQ(threads, tiling.threads());
}

TEST(DecodeTiles, EveryElementHasOneOwner) {
  for (const std::int64_t group : {1, 7, 8, 9, 16, 17, 32, 33, 64, 100, 128, 129, 300, 512, 1000})
    for (const std::int64_t groups : {1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 200})
      check_tiling(group * groups, group);
  check_tiling(1024, 8);
  check_tiling(16384, 512);
}

// More groups than one grid holds. The bound is always that for the narrowest tiles.
TEST(DecodeTiles, ManyGroupsTakeSeveralCalls) {
  EXPECT_EQ(mase_cuda_tiling(8 * 65535, 1).calls, 1);
  const DecodeTiling tiling = mase_cuda_tiling(8 * 65535 + 1, 1);
  EXPECT_EQ(tiling.calls, 2);
  EXPECT_EQ(tiling.groups_of(0), 8 * 65408);
  EXPECT_EQ(tiling.groups_of(1), 8 * (65535 - 65408) + 1);
  check_tiling(8 * 65535 + 1, 1);
  check_tiling(3 * (8 * 65535 + 7), 3);
  EXPECT_EQ(mase_cuda_tiling(4096 * 4096, 32).calls, 2);
  EXPECT_EQ(mase_cuda_tiling(8192 * 28672, 512).calls, 1);
}

TEST(DecodeTiles, HaveTheShapesOfTheTable) {
  const auto expect_tile = [](std::int64_t group, std::int64_t rows, std::int64_t columns) {
    const DecodeTiling tiling = mase_cuda_tiling(group * 1000, group);
    EXPECT_EQ(tiling.tile_rows, rows) << group;
    EXPECT_EQ(tiling.tile_columns, columns) << group;
  };
  for (const std::int64_t group : {1, 8}) expect_tile(group, 8, 128);
  for (const std::int64_t group : {9, 16}) expect_tile(group, 16, 64);
  for (const std::int64_t group : {17, 32}) expect_tile(group, 32, 32);
  for (const std::int64_t group : {33, 64}) expect_tile(group, 64, 16);
  for (const std::int64_t group : {65, 128, 129, 1000}) expect_tile(group, 128, 8);
}

// Computed by hand: 32 groups of 40 in tiles of 64 x 16; rows 40 … 63 have no element.
TEST(DecodeTiles, AThreadIsWorkedOut) {
  const DecodeTiling tiling = mase_cuda_tiling(32 * 40, 40);
  EXPECT_EQ(tiling.grid_x(), 1);
  EXPECT_EQ(tiling.grid_y(0), 2);
  const TileWork work = work_of(tiling, {.block_y = 1, .thread = 3 * 64 + 5});
  EXPECT_TRUE(work.has_element);
  EXPECT_EQ(work.scale, 19);
  EXPECT_EQ(work.element, 19 * 40 + 5);
  EXPECT_FALSE(work.loads_scale);
  EXPECT_TRUE(work_of(tiling, {.thread = 15}).loads_scale);
  EXPECT_FALSE(work_of(tiling, {.thread = 16}).loads_scale);
  EXPECT_FALSE(work_of(tiling, {.thread = 40}).has_element);
  EXPECT_EQ(owner_of(tiling, 19 * 40 + 5), (TileThread{0, 0, 1, 3 * 64 + 5}));
}

TEST(DecodeTiles, WantWholeGroups) {
  EXPECT_EQ(message_of([] { mase_cuda_tiling(1000, 32); }),
            "tiles: expected a number of elements that is a multiple of the group size 32, "
            "got 1,000; use 992");
  EXPECT_THROW(mase_cuda_tiling(0, 8), UserError);
  EXPECT_THROW(mase_cuda_tiling(8, 0), UserError);
}

}  // namespace
}  // namespace hone::testing
