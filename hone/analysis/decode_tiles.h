#pragma once

#include <cstdint>

/// How mase-cuda's MXINT8 decoder divides its work on a GPU, with one thread per element. (hone's own:
/// `kernels::DequantizePartition`.)
///
/// It treats the array as a (group, groups) matrix with one group per column: element (row, column) has offset
/// column * group + row. A block of 1024 threads handles a tile of tile_rows by tile_columns. Thread t handles element
/// (t mod tile_rows, t div tile_rows) of the tile with the scale of its column. Threads beyond the edge of the matrix
/// do nothing, so every element has exactly one thread.
///
///     const DecodeTiling tiling = mase_cuda_tiling(4096, 32);   // tiles of 32 x 32, a grid of 1 x 4
///     const TileWork work = work_of(tiling, {.block_y = 1, .thread = 33});   // element 1057, scale 33
namespace hone {

inline constexpr std::int64_t kTileThreads = 1024;

struct DecodeTiling {
  std::int64_t elements = 0;
  std::int64_t group = 0;
  std::int64_t groups = 0;
  std::int64_t tile_rows = 0;        ///< BLK_M
  std::int64_t tile_columns = 0;     ///< BLK_K
  std::int64_t calls = 0;            ///< kernel calls; more than one for very many groups
  std::int64_t groups_per_call = 0;  ///< the last call may have fewer

  std::int64_t groups_of(std::int64_t call) const;
  std::int64_t grid_x() const;                   ///< blocks along a group
  std::int64_t grid_y(std::int64_t call) const;  ///< blocks across the groups of a call
  std::int64_t threads() const;                  ///< in all blocks of all calls
};

/// Throws `UserError` unless `elements` is a multiple of `group` and both are at least 1, as mase-cuda requires.
DecodeTiling mase_cuda_tiling(std::int64_t elements, std::int64_t group);

/// A thread of a block of a kernel call.
struct TileThread {
  std::int64_t call = 0;
  std::int64_t block_x = 0;
  std::int64_t block_y = 0;
  std::int64_t thread = 0;
  bool operator==(const TileThread&) const = default;
};

struct TileWork {
  bool has_element = false;  ///< the edge predicate
  std::int64_t element = 0;  ///< offset in the array; valid if `has_element`
  std::int64_t scale = 0;    ///< offset of the group's scale; valid if `has_element`
  bool loads_scale =
      false;  ///< whether it loads a scale for its block: thread i loads that of column i
};
TileWork work_of(const DecodeTiling& tiling, const TileThread& thread);

/// Returns the thread that decodes an element.
TileThread owner_of(const DecodeTiling& tiling, std::int64_t element);

}  // namespace hone
