// y is split into tiles of 2 x 2, numbered row by row and image by image. A chunk computes a panel of tiles, as wide as
// the micro-kernel of gemm_tile-inl.h. It transforms their part of x to 16 matrices of channels by tiles, one per
// point, in the L2 cache. Then, for some rows (outputs) at a time, it multiplies the 16 matrices of the weight by these
// and transforms the sums back while they are cached. The weight is packed in the order in which it is read.
//
// The gradient of x is the same convolution of dy by the weight, with outputs and channels exchanged and the order of
// taps reversed.
#include "hone/kernels/winograd.h"

#include <algorithm>
#include <array>
#include <span>

#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using Mask = hn::Mask<Floats>;

constexpr std::int64_t kPoints = 16, kTaps = 9;
// Height and width of an output tile.
constexpr std::int64_t kTileSide = 2;
constexpr std::int64_t kPanelTiles = kPanelVectors * kLanes;
// Rows (outputs) whose sums are transformed back together.
constexpr std::int64_t kGroupRows = 32;

// ---- the weight

// A view of a weight: tap t of row r, channel c is at r row_stride + c channel_stride + (rotated ? 8 - t : t).
struct WeightView {
  const float* data;
  std::int64_t rows, channels;
  std::int64_t row_stride, channel_stride;
  bool rotated;
};

using Rows = hn::CappedTag<float, kPanelRows>;

// Returns G g for three values g, with one row per lane.
template <class V>
HWY_INLINE std::array<V, 4> weight_points(V g0, V g1, V g2) {
  const Rows d;
  const V half = hn::Set(d, 0.5f), outer = hn::Mul(half, hn::Add(g0, g2)),
          inner = hn::Mul(half, g1);
  return {g0, hn::Add(outer, inner), hn::Sub(outer, inner), g2};
}

// Layout of a packed weight: groups of kGroupRows rows; in a group its points; in a point the panels of the group; in a
// panel kPanelRows values per channel.
struct PackedWeight {
  std::int64_t panels, channels;

  PackedWeight(std::int64_t rows, std::int64_t channels)
      : panels(ceil_div(rows, kPanelRows)), channels(channels) {}
  std::int64_t panel_floats() const { return channels * kPanelRows; }
  std::int64_t floats() const { return kPoints * panels * panel_floats(); }
  std::int64_t at(std::int64_t panel, std::int64_t point) const {
    constexpr std::int64_t kGroupPanels = kGroupRows / kPanelRows;
    const std::int64_t first = panel / kGroupPanels * kGroupPanels,
                       group_panels = std::min(kGroupPanels, panels - first);
    return (first * kPoints + point * group_panels + panel - first) * panel_floats();
  }
};

// Packs G g G^T for a panel of rows.
void pack_panel(const WeightView& weight, const PackedWeight& layout, std::int64_t panel,
                float* packed) {
  const std::int64_t row = panel * kPanelRows;
  float* to = packed + layout.at(panel, 0);
  const std::int64_t point_stride = layout.at(panel, 1) - layout.at(panel, 0);
  const Rows d;
  const std::int64_t count = std::min<std::int64_t>(kPanelRows, weight.rows - row);
  HWY_ALIGN float taps[kTaps][kPanelRows] = {};
  for (std::int64_t c = 0; c < weight.channels; ++c, to += kPanelRows) {
    const float* const from = weight.data + row * weight.row_stride + c * weight.channel_stride;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t t = 0; t < kTaps; ++t)
        taps[t][i] = from[i * weight.row_stride + (weight.rotated ? kTaps - 1 - t : t)];
    for (std::int64_t i = 0; i < kPanelRows; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto tap = [&](int t) HWY_ATTR { return hn::Load(d, taps[t] + i); };
      const auto left = weight_points(tap(0), tap(3), tap(6)),
                 middle = weight_points(tap(1), tap(4), tap(7)),
                 right = weight_points(tap(2), tap(5), tap(8));
      for (std::size_t u = 0; u < 4; ++u) {
        const auto points = weight_points(left[u], middle[u], right[u]);
        for (std::size_t v = 0; v < 4; ++v)
          hn::StoreU(points[v], d, to + static_cast<std::int64_t>(4 * u + v) * point_stride + i);
      }
    }
  }
}

std::int64_t packed_floats(std::int64_t rows, std::int64_t channels) {
  return PackedWeight(rows, channels).floats();
}

void pack_weight(ThreadPool& pool, const WeightView& weight, float* packed) {
  const PackedWeight layout(weight.rows, weight.channels);
  parallel_ranges(pool, layout.panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel)
      pack_panel(weight, layout, panel, packed);
  });
}

// ---- tiles

// Consecutive tiles in a row of tiles of an image, at most a vector of them.
struct Run {
  std::int64_t image, row, column, count;
  std::int64_t at;              // index of the first tile in the panel
  std::array<Mask, 4> columns;  // lanes inside the image for each load of `transform_run`
};

// Offsets of the loads of `transform_run` from a run's first column of x.
constexpr std::array<std::int64_t, 4> kLoads = {0, kLanes, 2, kLanes + 2};
constexpr std::int64_t kReach = 2 * kLanes + 2;

struct Problem {
  const ConvolutionShape& shape;  // satisfies `winograd_unsupported_reason`
  const float* x;
  const float* packed;
  float* y;
  ConvolutionEpilogue epilogue;
  // Rows and columns of tiles.
  std::int64_t rows = ceil_div(shape.result_height(), kTileSide);
  std::int64_t columns = ceil_div(shape.result_width(), kTileSide);

  std::int64_t tiles() const { return shape.batch * rows * columns; }
};

class Panel {
 public:
  Panel(const Problem& problem, std::int64_t begin, std::int64_t end)
      : vectors_(ceil_div(end - begin, kLanes)) {
    for (std::int64_t tile = begin; tile < end;) {
      Run& run = runs_[count_++];
      run.image = tile / (problem.rows * problem.columns);
      run.row = tile / problem.columns % problem.rows;
      run.column = tile % problem.columns;
      run.count = std::min({kLanes, end - tile, problem.columns - run.column});
      run.at = tile - begin;
      find_columns(problem.shape, run);
      tile += run.count;
    }
  }

  std::span<const Run> runs() const { return {runs_.data(), count_}; }
  std::int64_t vectors() const { return vectors_; }
  std::int64_t width() const { return vectors_ * kLanes; }

 private:
  static void find_columns(const ConvolutionShape& shape, Run& run) {
    const Floats d;
    const auto first = [&](std::int64_t count) HWY_ATTR {
      return hn::FirstN(d, static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kLanes)));
    };
    for (std::size_t i = 0; i < kLoads.size(); ++i) {
      const std::int64_t column = kTileSide * run.column - shape.padding + kLoads[i];
      run.columns[i] = hn::AndNot(first(-column), first(shape.width - column));
    }
  }

  std::array<Run, static_cast<std::size_t>(kPanelTiles)> runs_;
  std::size_t count_ = 0;
  std::int64_t vectors_;
};

// ---- x

// Computes B^T d B for the tiles of a run, with d from four rows of x: point p of the tiles is at to[p point_stride].
// With kHalf, the tiles are so few that half of the loads suffice.
template <bool kHalf>
HWY_INLINE void transform_run(const std::array<const float*, 4>& rows, const Run& run, float* to,
                              std::int64_t point_stride) {
  const Floats d;
  hn::Vec<Floats> down[4][4];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; i += kHalf ? 2 : 1) {
    const auto row = [&](std::size_t u) HWY_ATTR { return hn::LoadU(d, rows[u] + kLoads[i]); };
    const auto inside = run.columns[i];
    const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
    down[0][i] = hn::IfThenElseZero(inside, hn::Sub(r0, r2));
    down[1][i] = hn::IfThenElseZero(inside, hn::Add(r1, r2));
    down[2][i] = hn::IfThenElseZero(inside, hn::Sub(r2, r1));
    down[3][i] = hn::IfThenElseZero(inside, hn::Sub(r1, r3));
  }
#pragma GCC unroll 4
  for (std::size_t u = 0; u < 4; ++u, to += 4 * point_stride) {
    const auto first = down[u][0], first_end = kHalf ? first : down[u][1], third = down[u][2],
               third_end = kHalf ? third : down[u][3];
    const auto c0 = hn::ConcatEven(d, first_end, first), c1 = hn::ConcatOdd(d, first_end, first),
               c2 = hn::ConcatEven(d, third_end, third), c3 = hn::ConcatOdd(d, third_end, third);
    hn::StoreU(hn::Sub(c0, c2), d, to);
    hn::StoreU(hn::Add(c1, c2), d, to + point_stride);
    hn::StoreU(hn::Sub(c2, c1), d, to + 2 * point_stride);
    hn::StoreU(hn::Sub(c1, c3), d, to + 3 * point_stride);
  }
}

// Copies of rows of x, used when loads would exceed x.
struct Window {
  HWY_ALIGN float values[4][kReach] = {};
};
alignas(64) constexpr float kZeros[kReach] = {};

// Sets to[p point_stride + c width + j] to point p of tile j of channel c. A run writes a whole vector; the next run or
// channel overwrites its end. Values after the last tile of a panel affect no result.
void transform_x(const Problem& problem, const Panel& panel, float* to, std::int64_t point_stride) {
  static thread_local Window window;
  const ConvolutionShape& s = problem.shape;
  const std::int64_t pixels = s.height * s.width,
                     last_start = s.batch * s.channels * pixels - kReach;
  for (std::int64_t c = 0; c < s.channels; ++c, to += panel.width()) {
    for (const Run& run : panel.runs()) {
      const std::int64_t plane = (run.image * s.channels + c) * pixels,
                         row = kTileSide * run.row - s.padding,
                         column = kTileSide * run.column - s.padding;
      std::array<const float*, 4> rows;
      for (std::int64_t u = 0; u < 4; ++u) {
        const float*& at = rows[static_cast<std::size_t>(u)];
        const std::int64_t start = plane + (row + u) * s.width;
        if (row + u < 0 || row + u >= s.height) {
          at = kZeros;
        } else if (start + column >= 0 && start + column <= last_start) {
          at = problem.x + start + column;
        } else {
          const std::int64_t begin = std::max<std::int64_t>(0, column),
                             end = std::min(s.width, column + kReach);
          if (begin < end)
            std::copy(problem.x + start + begin, problem.x + start + end,
                      window.values[u] + begin - column);
          at = window.values[u];
        }
      }
      run.count <= kLanes / 2 ? transform_run<true>(rows, run, to + run.at, point_stride)
                              : transform_run<false>(rows, run, to + run.at, point_stride);
    }
  }
}

// ---- y

// Stores value + bias + residual, with ReLU if that is the activation, to `count` columns.
struct RowWriter {
  float* y;
  const float* residual;
  hn::Vec<Floats> bias;
  bool is_relu;

  HWY_INLINE void write(hn::Vec<Floats> value, std::int64_t column, std::int64_t count) const {
    if (count >= kLanes) {
      write_part(value, column, Whole{});
    } else if (count > 0) {
      write_part(value, column, Partial{count});
    }
  }

 private:
  template <class Part>
  HWY_INLINE void write_part(hn::Vec<Floats> value, std::int64_t column, Part part) const {
    const Floats d;
    value = hn::Add(value, bias);
    if (residual != nullptr) value = hn::Add(value, load(d, residual + column, part));
    if (is_relu) value = relu_of(d, value);
    store(value, d, y + column, part);
  }
};

// Interleaves lanes l with lanes kLanes / 2 + l.
HWY_INLINE hn::Vec<Floats> halves_in_turn(hn::Vec<Floats> value) {
  const Floats d;
  const hn::RebindToSigned<Floats> d_index;
  const auto lane = hn::Iota(d_index, 0);
  const auto is_odd = hn::BroadcastSignBit(hn::ShiftLeft<31>(lane));
  const auto half = hn::And(is_odd, hn::Set(d_index, static_cast<std::int32_t>(kLanes / 2)));
  return hn::TableLookupLanes(value, hn::IndicesFromVec(d, hn::Add(hn::ShiftRight<1>(lane), half)));
}

// Computes A^T m A for the sums of some rows (outputs).
// Point p of tile j of row i is at sums[p point_stride + i width + j].
void transform_back(const Problem& problem, const Panel& panel, const float* sums,
                    std::int64_t point_stride, std::int64_t row_begin, std::int64_t row_end) {
  const Floats d;
  const ConvolutionShape& s = problem.shape;
  const ConvolutionEpilogue& epilogue = problem.epilogue;
  const std::int64_t height = s.result_height(), width = s.result_width();
  const bool is_relu = epilogue.activation == Activation::relu,
             is_other = epilogue.activation != Activation::none && !is_relu;
  for (std::int64_t o = row_begin; o < row_end; ++o, sums += panel.width()) {
    const auto bias = hn::Set(d, epilogue.bias != nullptr ? epilogue.bias[o] : 0.0f);
    for (const Run& run : panel.runs()) {
      hn::Vec<Floats> down[2][4];
      const float* point = sums + run.at;
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v, point += point_stride) {
        const auto m0 = hn::LoadU(d, point), m1 = hn::LoadU(d, point + 4 * point_stride),
                   m2 = hn::LoadU(d, point + 8 * point_stride),
                   m3 = hn::LoadU(d, point + 12 * point_stride);
        down[0][v] = hn::Add(hn::Add(m0, m1), m2);
        down[1][v] = hn::Sub(hn::Sub(m1, m2), m3);
      }
      const std::int64_t row = kTileSide * run.row, column = kTileSide * run.column,
                         count = std::min(kTileSide * run.count, width - column),
                         at = ((run.image * s.outputs + o) * height + row) * width + column;
#pragma GCC unroll 2
      for (std::int64_t u = 0; u < kTileSide; ++u) {
        if (row + u == height) break;
        const auto& m = down[u];
        const auto even = hn::Add(hn::Add(m[0], m[1]), m[2]),
                   odd = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
        const RowWriter writer{
            problem.y + at + u * width,
            epilogue.residual != nullptr ? epilogue.residual + at + u * width : nullptr, bias,
            is_relu};
        writer.write(halves_in_turn(hn::ConcatLowerLower(d, odd, even)), 0, count);
        writer.write(halves_in_turn(hn::ConcatUpperUpper(d, odd, even)), kLanes, count - kLanes);
        if (is_other)
          finish_piece({problem.y + at + u * width, count, 0, 0, 1, count},
                       {.activation = epilogue.activation});
      }
    }
  }
}

// ---- the product

// How the results are split, which does not change any sum.
struct Chunks {
  std::int64_t panels, row_parts;

  explicit Chunks(const Problem& problem)
      : panels(ceil_div(ceil_div(problem.tiles(), kLanes), kPanelVectors)), row_parts(1) {
    // Every part of the rows transforms the same values of x again.
    constexpr std::int64_t kEnough = 6;
    while (row_parts * panels < kEnough && problem.shape.outputs / row_parts > 2 * kGroupRows)
      row_parts *= 2;
  }
  std::int64_t tile_begin(const Problem& problem, std::int64_t panel) const {
    return std::min(problem.tiles(), panel * ceil_div(problem.tiles(), kLanes) / panels * kLanes);
  }
  std::int64_t row_begin(const Problem& problem, std::int64_t part) const {
    return std::min(problem.shape.outputs,
                    part * ceil_div(problem.shape.outputs, kGroupRows) / row_parts * kGroupRows);
  }
};

void compute_chunk(const Problem& problem, const Chunks& chunks, std::int64_t panel_index,
                   std::int64_t part) {
  static thread_local Scratch x_scratch, sums_scratch;
  const Panel panel(problem, chunks.tile_begin(problem, panel_index),
                    chunks.tile_begin(problem, panel_index + 1));
  const std::int64_t channels = problem.shape.channels, width = panel.width();
  // One more vector, so that runs can read and write whole vectors and points do not all map to the same cache sets.
  const std::int64_t x_stride = channels * width + kLanes,
                     sums_stride = kGroupRows * width + kLanes;
  float* const x = x_scratch.floats(static_cast<std::size_t>(kPoints * x_stride));
  float* const sums = sums_scratch.floats(static_cast<std::size_t>(kPoints * sums_stride));
  transform_x(problem, panel, x, x_stride);
  const PackedWeight layout(problem.shape.outputs, channels);
  const std::int64_t row_end = chunks.row_begin(problem, part + 1);
  for (std::int64_t row = chunks.row_begin(problem, part); row < row_end; row += kGroupRows) {
    const std::int64_t group_end = std::min(row + kGroupRows, row_end);
    for (std::int64_t p = 0; p < kPoints; ++p) {
      for (std::int64_t r = row; r < group_end; r += kPanelRows) {
        const std::int64_t rows = std::min<std::int64_t>(kPanelRows, group_end - r),
                           at = layout.at(r / kPanelRows, p);
        const bool is_last = at + layout.panel_floats() == layout.floats();
        micro_kernel<KeepSums>(rows, panel.vectors())(
            {problem.packed + at, 1, kPanelRows}, channels,
            {.data = x + p * x_stride,
             .ahead = is_last ? nullptr : problem.packed + at + layout.panel_floats(),
             .ahead_step = kPanelRows},
            {sums + p * sums_stride + (r - row) * width, width, false});
      }
    }
    transform_back(problem, panel, sums, sums_stride, row, group_end);
  }
}

void convolve(ThreadPool& pool, const ConvolutionShape& shape, const float* x, const float* packed,
              float* y, const ConvolutionEpilogue& epilogue) {
  const Problem problem{shape, x, packed, y, epilogue};
  if (problem.tiles() == 0 || shape.outputs == 0) return;
  const Chunks chunks(problem);
  // Neighbouring chunks read the same part of x.
  parallel_ranges(pool, chunks.panels * chunks.row_parts, 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      compute_chunk(problem, chunks, i / chunks.row_parts, i % chunks.row_parts);
                  });
}

void pack(ThreadPool& pool, const ConvolutionShape& s, const float* weight, float* packed) {
  pack_weight(pool, {weight, s.outputs, s.channels, s.channels * kTaps, kTaps, false}, packed);
}

void pack_rotated(ThreadPool& pool, const ConvolutionShape& s, const float* weight, float* packed) {
  pack_weight(pool, {weight, s.channels, s.outputs, kTaps, s.channels * kTaps, true}, packed);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(packed_floats);
HWY_EXPORT(pack);
HWY_EXPORT(pack_rotated);
HWY_EXPORT(convolve);

namespace {

// Returns the shape of the convolution of dy whose result is dx.
ConvolutionShape gradient_shape(const ConvolutionShape& shape) {
  ConvolutionShape gradient = shape;
  gradient.channels = shape.outputs;
  gradient.height = shape.result_height();
  gradient.width = shape.result_width();
  gradient.outputs = shape.channels;
  gradient.padding = 2 - shape.padding;
  return gradient;
}

}  // namespace

std::string_view winograd_unsupported_reason(const ConvolutionShape& shape) {
  // With fewer channels, transforming takes longer than the products that it saves.
  constexpr std::int64_t kMinChannels = 8;
  if (shape.kernel_height != 3 || shape.kernel_width != 3) return "the kernel is not 3 x 3";
  if (shape.stride != 1) return "the stride is not 1";
  if (shape.dilation != 1) return "the kernel is dilated";
  if (shape.groups != 1) return "channels are in groups";
  if (shape.channels < kMinChannels) return "sums are over fewer than 8 channels";
  return "";
}

std::string_view winograd_input_gradient_unsupported_reason(const ConvolutionShape& shape) {
  if (shape.padding > 2) return "the padding is wider than the kernel";
  return winograd_unsupported_reason(gradient_shape(shape));
}

std::size_t winograd_packed_floats(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(
      HWY_DYNAMIC_DISPATCH(packed_floats)(shape.outputs, shape.channels));
}

void winograd_pack(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                   float* packed) {
  HWY_DYNAMIC_DISPATCH(pack)(pool, shape, weight, packed);
}

void winograd_convolution(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                          const float* packed, float* y, const ConvolutionEpilogue& epilogue) {
  HWY_DYNAMIC_DISPATCH(convolve)(pool, shape, x, packed, y, epilogue);
}

std::size_t winograd_input_gradient_floats(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(
      HWY_DYNAMIC_DISPATCH(packed_floats)(shape.channels, shape.outputs));
}

void winograd_input_gradient(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                             const float* dy, float* dx, float* workspace) {
  HWY_DYNAMIC_DISPATCH(pack_rotated)(pool, shape, weight, workspace);
  HWY_DYNAMIC_DISPATCH(convolve)(pool, gradient_shape(shape), dy, workspace, dx, {});
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
