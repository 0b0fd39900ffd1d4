#pragma once

#include <cstdint>

/// How mase-cuda's decoder of MXINT8 cuts up its work on a GPU, an element a thread. (Ours: `kernels::DequantizePartition`.)
///
/// It sees the array as a matrix whose columns are the groups, (group, groups), element (row, column) behind
/// column group + row others. A block of 1024 threads owns a tile of it, tile_rows by tile_columns, thread t the element
/// (t mod tile_rows, t div tile_rows) of the tile and the scale of its column. A thread whose row or column lies beyond the
/// matrix does nothing, so all elements have one owner.
///
///     const DecodeTiling tiling = mase_cuda_tiling(4096, 32);   // tiles of 32 x 32, a grid of 1 x 4
///     const TileWork work = work_of(tiling, {.block_y = 1, .thread = 33});   // element 1057, scale 33
namespace hone {

inline constexpr std::int64_t kTileThreads = 1024;

struct DecodeTiling {
  std::int64_t elements = 0;
  std::int64_t group = 0;
  std::int64_t groups = 0;
  std::int64_t tile_rows = 0;     ///< BLK_M
  std::int64_t tile_columns = 0;  ///< BLK_K
  std::int64_t calls = 0;         ///< of the kernel; more than one where there are very many groups
  std::int64_t groups_per_call = 0;  ///< the last call may have fewer

  std::int64_t groups_of(std::int64_t call) const;
  std::int64_t grid_x() const;                   ///< blocks along a group
  std::int64_t grid_y(std::int64_t call) const;  ///< blocks across the groups of a call
  std::int64_t threads() const;                  ///< of all blocks of all calls
};

/// Throws `UserError` unless `elements` is a multiple of `group` and both are at least 1: mase-cuda takes no other.
DecodeTiling mase_cuda_tiling(std::int64_t elements, std::int64_t group);

/// A thread of a block of a call.
struct TileThread {
  std::int64_t call = 0;
  std::int64_t block_x = 0;
  std::int64_t block_y = 0;
  std::int64_t thread = 0;
  bool operator==(const TileThread&) const = default;
};

struct TileWork {
  bool has_element = false;  ///< the edge predicate
  std::int64_t element = 0;  ///< of the array; where there is one
  std::int64_t scale = 0;    ///< of the array, the group's; where there is an element
  bool loads_scale = false;  ///< whether it loads one for its block: the thread of that number does
};
TileWork work_of(const DecodeTiling& tiling, const TileThread& thread);

/// The one thread that decodes an element.
TileThread owner_of(const DecodeTiling& tiling, std::int64_t element);

}  // namespace hone
