#include "hone/analysis/decode_tiles.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::int64_t kSmallestTileColumns = 8;
constexpr std::int64_t kLargestGridY = 65535;  // CUDA's limit
// If the grid of the narrowest tiles is too large, mase-cuda splits the work into calls of this many groups, even for
// wider tiles.
constexpr std::int64_t kGroupsOfManyCalls = kSmallestTileColumns * 65408;

std::int64_t rounded_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

}  // namespace

std::int64_t DecodeTiling::groups_of(std::int64_t call) const {
  return std::min(groups_per_call, groups - call * groups_per_call);
}

std::int64_t DecodeTiling::grid_x() const { return rounded_up(group, tile_rows); }

std::int64_t DecodeTiling::grid_y(std::int64_t call) const {
  return rounded_up(groups_of(call), tile_columns);
}

std::int64_t DecodeTiling::threads() const {
  return ((calls - 1) * grid_y(0) + grid_y(calls - 1)) * grid_x() * kTileThreads;
}

DecodeTiling mase_cuda_tiling(std::int64_t elements, std::int64_t group) {
  user_check(elements >= 1 && group >= 1 && elements % group == 0,
             "tiles: expected a number of elements that is a multiple of the group size {}, "
             "got {}; use {}",
             grouped(group), grouped(elements),
             grouped(std::max<std::int64_t>(group, 1) *
                     std::max<std::int64_t>(elements / std::max<std::int64_t>(group, 1), 1)));
  DecodeTiling tiling{.elements = elements, .group = group, .groups = elements / group};
  tiling.tile_rows = 8;
  while (tiling.tile_rows < 128 && tiling.tile_rows < group) tiling.tile_rows *= 2;
  tiling.tile_columns = kTileThreads / tiling.tile_rows;
  const bool is_one_call = rounded_up(tiling.groups, kSmallestTileColumns) <= kLargestGridY;
  tiling.groups_per_call = is_one_call ? tiling.groups : kGroupsOfManyCalls;
  tiling.calls = rounded_up(tiling.groups, tiling.groups_per_call);
  return tiling;
}

TileWork work_of(const DecodeTiling& tiling, const TileThread& thread) {
  const std::int64_t row = thread.block_x * tiling.tile_rows + thread.thread % tiling.tile_rows;
  const std::int64_t first_column = thread.block_y * tiling.tile_columns;
  const std::int64_t column = first_column + thread.thread / tiling.tile_rows;
  const std::int64_t groups = tiling.groups_of(thread.call);
  TileWork work{.has_element = row < tiling.group && column < groups};
  work.loads_scale = thread.thread < std::min(tiling.tile_columns, groups - first_column);
  if (!work.has_element) return work;
  work.scale = thread.call * tiling.groups_per_call + column;
  work.element = work.scale * tiling.group + row;
  return work;
}

TileThread owner_of(const DecodeTiling& tiling, std::int64_t element) {
  const std::int64_t group = element / tiling.group, row = element % tiling.group;
  const std::int64_t column = group % tiling.groups_per_call;
  return {.call = group / tiling.groups_per_call,
          .block_x = row / tiling.tile_rows,
          .block_y = column / tiling.tile_columns,
          .thread = column % tiling.tile_columns * tiling.tile_rows + row % tiling.tile_rows};
}

}  // namespace hone
