#include "hone/analysis/tile_drawing.h"

#include <gtest/gtest.h>

#include "hone/analysis/draw.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

std::string drawn(std::int64_t elements, std::int64_t group) {
  return draw_tiles(mase_cuda_tiling(elements, group), {.chunk_elements = 400,
                                                        .chunks = (elements + 399) / 400,
                                                        .block_elements = 200,
                                                        .vector_elements = 16});
}

void expect_all(const std::string& dot, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(dot.find(part), std::string::npos) << part << "\n" << dot;
}

TEST(DrawTiles, ShowsWhoDecodesWhatBothWays) {
  const std::string dot = drawn(1000, 40);  // 25 groups in tiles of 64 x 16
  expect_all(dot, {"1,000 elements in 25 groups of 40: a grid of 1 × 2 blocks",
                   "block (0, 0)</b><br/>640 threads", "block (0, 1)</b><br/>360 threads",
                   "groups 16 – 24", "thread 65<br/>element 41", "thread 63<br/>nothing",
                   "15<br/>no group", "2,048 threads for 1,000 elements: 48.8% of them work",
                   "chunk 2</b><br/>elements 800 – 999", "elements 32 – 47", "scales 0 – 1",
                   "results go through the caches"});
}

TEST(DrawTiles, SaysWhereTheKernelIsCalledSeveralTimes) {
  expect_all(drawn(16777216, 32), {"of 1 × 16,352 blocks, the first of 2 calls"});
}

TEST(DrawTiles, IsDrawnByGraphviz) {
  const TemporaryFolder folder;
  for (const auto& [elements, group] :
       {std::pair{1024, 8}, std::pair{90000, 300}, std::pair{1, 1}}) {
    write_dot(drawn(elements, group), folder.path() / "tiles.svg");
    EXPECT_NE(read_file(folder.path() / "tiles.svg").find("hone on a CPU"), std::string::npos);
  }
}

}  // namespace
}  // namespace hone::testing
