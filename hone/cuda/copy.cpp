#include "hone/cuda/copy.h"

#include <algorithm>
#include <limits>

#include "hone/cuda/launch.h"

namespace hone::cuda {
namespace {

constexpr std::size_t kMaxCopiedAxes = 6;

struct CopiedAxis {
  std::int64_t size, from, to;  // distances in elements
};

// The same structs as in hone/cuda/source/copy.cu.
struct Walk {
  std::int64_t count = 1;
  std::int64_t axes = 0;
  std::int64_t sizes[kMaxCopiedAxes] = {}, from[kMaxCopiedAxes] = {}, to[kMaxCopiedAxes] = {};
};
struct TransposedCopy {
  std::int64_t rows, columns;
  std::int64_t from_row, to_column;
  std::int64_t axes = 0;
  std::int64_t sizes[kMaxCopiedAxes] = {}, from[kMaxCopiedAxes] = {}, to[kMaxCopiedAxes] = {};
};

template <typename Places>
void add_axis(Places& places, const CopiedAxis& axis) {
  const auto at = static_cast<std::size_t>(places.axes++);
  HONE_ASSERT(at < kMaxCopiedAxes, "a copy of more than {} dimensions", kMaxCopiedAxes);
  places.sizes[at] = axis.size;
  places.from[at] = axis.from;
  places.to[at] = axis.to;
}

// Merges axes that are contiguous in both tensors, so that as few as possible remain.
std::vector<CopiedAxis> merged_axes(const Tensor& from, const Tensor& to) {
  std::vector<CopiedAxis> axes;
  for (std::size_t i = 0; i < from.sizes().size(); ++i) {
    const CopiedAxis axis{from.sizes()[i], from.strides()[i], to.strides()[i]};
    if (axis.size == 1) continue;
    if (!axes.empty() && axes.back().from == axis.size * axis.from &&
        axes.back().to == axis.size * axis.to) {
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

bool is_copied_aligned(const void* pointer, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(bytes) == 0;
}

// Returns how many adjacent elements are copied at once.
std::int64_t neighbours_at_once(const std::vector<CopiedAxis>& axes, std::int64_t size_bytes,
                                const void* from, const void* to) {
  if (axes.empty() || axes.back().from != 1 || axes.back().to != 1) return 1;
  for (std::int64_t n = 16 / size_bytes; n > 1; n /= 2) {
    const auto is_even = [&](const CopiedAxis& axis) {
      return &axis == &axes.back() ? axis.size % n == 0 : axis.from % n == 0 && axis.to % n == 0;
    };
    if (is_copied_aligned(from, n * size_bytes) && is_copied_aligned(to, n * size_bytes) &&
        std::ranges::all_of(axes, is_even))
      return n;
  }
  return 1;
}

// Copies tiles by way of shared memory if elements adjacent in one tensor are not adjacent in the other. Returns false
// if that does not apply or would not pay off.
bool copy_transposed(Device& device, const Program& program, const std::vector<CopiedAxis>& axes,
                     const std::byte* from, std::byte* to) {
  constexpr std::int64_t kTile = 32, kTileRows = 8, kMin = 8;
  if (axes.size() < 2 || axes.back().to != 1 || axes.back().from == 1) return false;
  const auto read = std::ranges::find(axes, 1, &CopiedAxis::from);
  if (read == axes.end() || read->size < kMin || axes.back().size < kMin) return false;
  TransposedCopy transposed{axes.back().size, read->size, axes.back().from, read->to};
  std::int64_t tiles = ceil_divide(transposed.rows, kTile) * ceil_divide(transposed.columns, kTile);
  for (auto axis = axes.begin(); axis + 1 != axes.end(); ++axis) {
    if (axis == read) continue;
    add_axis(transposed, *axis);
    tiles *= axis->size;
  }
  if (tiles > std::numeric_limits<std::int32_t>::max()) return false;
  launch(device, {program, "copy_transposed", {tiles}, {kTile, kTileRows}}, transposed, from, to);
  return true;
}

}  // namespace

void copy_elements(Device& device, const Tensor& from, const Tensor& to) {
  HONE_ASSERT(from.sizes() == to.sizes() && from.dtype() == to.dtype(), "a copy of {} to {}",
              hone::to_string(from.sizes()), hone::to_string(to.sizes()));
  if (from.count() == 0) return;
  const auto size_bytes = static_cast<std::int64_t>(info(from.dtype()).size_bytes);
  const std::byte* const source = from.device_pointer();
  std::byte* const target = to.device_pointer();
  std::vector<CopiedAxis> axes = merged_axes(from, to);
  if (axes.empty() || (axes.size() == 1 && axes[0].from == 1 && axes[0].to == 1))
    return device.copy(target, source, from.size_bytes());
  const std::int64_t at_once = neighbours_at_once(axes, size_bytes, source, target);
  for (CopiedAxis& axis : axes) {
    if (&axis == &axes.back()) {
      axis.size /= at_once;
    } else {
      axis.from /= at_once;
      axis.to /= at_once;
    }
  }
  const Program program{"copy.cu", {fmt::format("UNIT={}", at_once * size_bytes)}};
  if (at_once == 1 && copy_transposed(device, program, axes, source, target)) return;
  Walk walk;
  for (const CopiedAxis& axis : axes) {
    add_axis(walk, axis);
    walk.count *= axis.size;
  }
  constexpr std::int64_t kThreads = 256;
  const bool is_small = walk.count <= std::numeric_limits<std::int32_t>::max();
  launch(device,
         {program,
          is_small ? "copy_few" : "copy_many",
          {ceil_divide(walk.count, kThreads)},
          {kThreads}},
         walk, source, target);
}

}  // namespace hone::cuda
