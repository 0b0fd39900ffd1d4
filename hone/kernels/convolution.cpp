// A convolution is split into tiles of outputs by columns. For each block of channels, a tile writes its columns to
// panels as wide as the micro-kernel of gemm_tile-inl.h, small enough for the L1 cache, and multiplies all its outputs
// by one panel before the next. Sums stay in a buffer of the tile. The weight is packed in panels of kPanelRows
// outputs, block by block.
//
// The gradient of x is the same product over dy, with outputs and channels of the weight exchanged. With a stride of s,
// rows and columns of x form s·s phases, which read dy by different taps of the kernel. Each phase is a separate
// product.
#include "hone/kernels/convolution.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/convolution_grid.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/convolution.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/convolution_columns-inl.h"
#include "hone/kernels/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Destination of the results of a grid: row o of place (n, i, j) is stored at
// n image_stride + o channel_stride + i row_stride + j column_stride.
struct Results {
  float* data = nullptr;
  std::int64_t image_stride = 0, channel_stride = 0, row_stride = 0, column_stride = 1;
  const float* bias = nullptr;
  const float* residual = nullptr;  // same layout as the results
  Activation activation = Activation::none;
};

// The product results (rows, places) = weight (rows, channels taps) columns.
struct GridProduct {
  Grid grid;
  std::int64_t rows = 0;
  const float* packed = nullptr;
  Results results;
};

std::int64_t padded_rows(std::int64_t rows) { return ceil_div(rows, kPanelRows) * kPanelRows; }

// ---- the weight

// A view of a weight: tap t of row r, channel c is at r row_stride + c channel_stride + taps[t].
struct WeightView {
  const float* data;
  std::int64_t rows, channels;
  std::int64_t row_stride, channel_stride;
  std::vector<std::int64_t> taps;

  std::int64_t depth() const { return channels * static_cast<std::int64_t>(taps.size()); }
};

std::int64_t floats_of(std::int64_t rows, std::int64_t depth) { return padded_rows(rows) * depth; }

// Packs rows [row, row + kPanelRows) of a block of channels: value l of row i is at [l * kPanelRows + i].
void pack_rows(const WeightView& weight, std::int64_t row, std::int64_t channel_begin,
               std::int64_t channel_end, float* to) {
  const std::int64_t count = std::min<std::int64_t>(kPanelRows, weight.rows - row);
  for (std::int64_t c = channel_begin; c < channel_end; ++c) {
    for (const std::int64_t tap : weight.taps) {
      const float* const from =
          weight.data + row * weight.row_stride + c * weight.channel_stride + tap;
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * weight.row_stride];
      for (std::int64_t i = count; i < kPanelRows; ++i) to[i] = 0;
      to += kPanelRows;
    }
  }
}

void pack_weight(ThreadPool& pool, const WeightView& weight, float* packed) {
  const auto taps = static_cast<std::int64_t>(weight.taps.size());
  const std::int64_t blocks = channel_blocks(weight.channels, taps),
                     panels = ceil_div(weight.rows, kPanelRows);
  parallel_ranges(pool, panels, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) {
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t first = block_begin(weight.channels, blocks, block),
                           last = block_begin(weight.channels, blocks, block + 1);
        pack_rows(weight, panel * kPanelRows, first, last,
                  packed + first * taps * padded_rows(weight.rows) +
                      panel * kPanelRows * (last - first) * taps);
      }
    }
  });
}

// ---- the product

// How the results of a product are split, which does not change any sum.
struct Tiles {
  std::int64_t panels;        // of columns, each of 1 to kPanelVectors vectors
  std::int64_t column_tiles;  // parts of the panels
  std::int64_t row_tiles;     // parts of the panels of rows

  explicit Tiles(const GridProduct& product)
      : panels(ceil_div(ceil_div(product.grid.places(), kLanes), kPanelVectors)) {
    constexpr std::int64_t kMaxPanels = 4, kMaxRows = 256, kMinRows = 32, kEnough = 64;
    row_tiles = ceil_div(product.rows, kMaxRows);
    const std::int64_t tile_panels =
        std::clamp<std::int64_t>(panels * row_tiles / kEnough, 1, kMaxPanels);
    column_tiles = ceil_div(panels, tile_panels);
    while (row_tiles * column_tiles < kEnough / 4 && product.rows / row_tiles > kMinRows)
      row_tiles *= 2;
  }
  std::int64_t column_begin(const Grid& grid, std::int64_t panel) const {
    return std::min(grid.places(), panel * ceil_div(grid.places(), kLanes) / panels * kLanes);
  }
  std::int64_t panel_begin(std::int64_t tile) const { return tile * panels / column_tiles; }
  std::int64_t row_begin(std::int64_t rows, std::int64_t tile) const {
    return std::min(rows, tile * ceil_div(rows, kPanelRows) / row_tiles * kPanelRows);
  }
};

// Stores the sums (rows from `row_begin` on, columns) as results.
void write_results(const GridProduct& product, const float* sums, std::int64_t stride,
                   std::int64_t row_begin, std::int64_t row_end, std::int64_t column_begin,
                   std::int64_t column_end) {
  const Results to = product.results;  // a copy, which stores cannot alias
  const Grid& grid = product.grid;
  const Floats d;
  // A run is a number of places that are consecutive in memory: at most an image or a row.
  const bool is_relu = to.activation == Activation::relu;
  const bool whole_images = to.row_stride == grid.columns * to.column_stride;
  const std::int64_t run = whole_images ? grid.rows * grid.columns : grid.columns;
  for (std::int64_t column = column_begin; column < column_end;) {
    const GridPlace place = grid.place(column);
    const std::int64_t count = std::min(column_end - column, run - column % run);
    for (std::int64_t o = row_begin; o < row_end; ++o) {
      const float* const from = sums + (o - row_begin) * stride + column - column_begin;
      const std::int64_t at = place.image * to.image_stride + o * to.channel_stride +
                              place.row * to.row_stride + place.column * to.column_stride;
      float* const y = to.data + at;
      if (to.column_stride != 1) {
        for (std::int64_t j = 0; j < count; ++j) y[j * to.column_stride] = from[j];
        continue;
      }
      const auto bias = hn::Set(d, to.bias != nullptr ? to.bias[o] : 0.0f);
      const float* const residual = to.residual != nullptr ? to.residual + at : nullptr;
      for_vectors(d, count, [=](std::int64_t j, auto part) HWY_ATTR {
        auto value = hn::Add(load(d, from + j, part), bias);
        if (residual != nullptr) value = hn::Add(value, load(d, residual + j, part));
        if (is_relu) value = relu_of(d, value);
        store(value, d, y + j, part);
      });
      if (to.activation != Activation::none && !is_relu)
        finish_piece({y, count, 0, 0, 1, count}, {.activation = to.activation});
    }
    column += count;
  }
}

void compute_tile(const GridProduct& product, const Tiles& tiles, std::int64_t row_tile,
                  std::int64_t column_tile) {
  static thread_local Scratch panel_scratch, sums_scratch;
  static thread_local Columns columns;
  const Grid& grid = product.grid;
  const std::int64_t taps = grid.taps();
  const std::int64_t blocks = channel_blocks(grid.channels, taps);
  const std::int64_t most_depth = (grid.channels / blocks + 1) * taps;
  float* const panel =
      panel_scratch.floats(static_cast<std::size_t>(most_depth * kPanelVectors * kLanes));
  const std::int64_t row_begin = tiles.row_begin(product.rows, row_tile),
                     row_end = tiles.row_begin(product.rows, row_tile + 1);
  constexpr std::int64_t kStride = kPanelVectors * kLanes;
  float* const sums =
      sums_scratch.floats(static_cast<std::size_t>(padded_rows(row_end - row_begin) * kStride));
  for (std::int64_t p = tiles.panel_begin(column_tile); p < tiles.panel_begin(column_tile + 1);
       ++p) {
    const std::int64_t begin = tiles.column_begin(grid, p), end = tiles.column_begin(grid, p + 1);
    columns.take(grid, begin, end);
    const std::int64_t width = columns.vectors() * kLanes;
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t first = block_begin(grid.channels, blocks, block),
                         last = block_begin(grid.channels, blocks, block + 1),
                         depth = (last - first) * taps;
      columns.write(grid, first, last, panel, width);
      const float* const weight = product.packed + first * taps * padded_rows(product.rows);
      for (std::int64_t row = row_begin; row < row_end; row += kPanelRows) {
        const std::int64_t rows = std::min<std::int64_t>(kPanelRows, row_end - row);
        const bool is_last = row + kPanelRows >= padded_rows(product.rows) && block + 1 == blocks;
        micro_kernel<KeepSums>(rows, columns.vectors())(
            {weight + row * depth, 1, kPanelRows}, depth,
            {.data = panel,
             .ahead = is_last ? nullptr : weight + (row + kPanelRows) * depth,
             .ahead_step = kPanelRows},
            {sums + (row - row_begin) * kStride, kStride, block > 0});
      }
    }
    write_results(product, sums, kStride, row_begin, row_end, begin, end);
  }
}

void multiply_grid(ThreadPool& pool, const GridProduct& product) {
  if (product.grid.places() == 0 || product.rows == 0) return;
  const Tiles tiles(product);
  // Neighbouring chunks read the same columns.
  parallel_ranges(pool, tiles.row_tiles * tiles.column_tiles, 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      compute_tile(product, tiles, i % tiles.row_tiles, i / tiles.row_tiles);
                  });
}

// ---- convolutions

std::vector<std::int64_t> all_taps(const ConvolutionShape& s) {
  std::vector<std::int64_t> taps;
  for (std::int64_t i = 0; i < s.kernel_height * s.kernel_width; ++i) taps.push_back(i);
  return taps;
}

std::int64_t packed_floats(const ConvolutionShape& s) {
  return s.groups * floats_of(s.outputs / s.groups, s.depth());
}

void pack(ThreadPool& pool, const ConvolutionShape& s, const float* weight, float* packed) {
  const std::int64_t rows = s.outputs / s.groups, taps = s.kernel_height * s.kernel_width;
  for (std::int64_t g = 0; g < s.groups; ++g)
    pack_weight(
        pool,
        {weight + g * rows * s.depth(), rows, s.channels / s.groups, s.depth(), taps, all_taps(s)},
        packed + g * floats_of(rows, s.depth()));
}

void convolve(ThreadPool& pool, const ConvolutionShape& s, const float* x, const float* packed,
              float* y, const ConvolutionEpilogue& epilogue) {
  const std::int64_t rows = s.outputs / s.groups;
  const std::int64_t pixels = s.result_height() * s.result_width();
  for (std::int64_t g = 0; g < s.groups; ++g) {
    const std::int64_t at = g * rows * pixels;
    multiply_grid(pool, {forward_grid(s, x, g),
                         rows,
                         packed + g * floats_of(rows, s.depth()),
                         {y + at, s.outputs * pixels, pixels, s.result_width(), 1,
                          epilogue.bias != nullptr ? epilogue.bias + g * rows : nullptr,
                          epilogue.residual != nullptr ? epilogue.residual + at : nullptr,
                          epilogue.activation}});
  }
}

std::int64_t input_gradient_floats(const ConvolutionShape& s) {
  return floats_of(s.channels / s.groups, s.outputs / s.groups * s.kernel_height * s.kernel_width);
}

// For rows (or columns) `phase`, phase + stride, … of x: a place of the kernel that contributes to them, and the offset
// of its row of dy from the row's index in its phase.
struct PhaseTap {
  std::int64_t place, shift;
};
std::vector<PhaseTap> phase_taps(const ConvolutionShape& s, std::int64_t kernel,
                                 std::int64_t phase) {
  std::vector<PhaseTap> taps;
  for (std::int64_t u = 0; u < kernel; ++u) {
    const std::int64_t reached = phase + s.padding - u * s.dilation;
    if (reached % s.stride == 0) taps.push_back({u, reached / s.stride});
  }
  return taps;
}

void input_gradient(ThreadPool& pool, const ConvolutionShape& s, const float* weight,
                    const float* dy, float* dx, float* workspace) {
  const std::int64_t channels = s.channels / s.groups, outputs = s.outputs / s.groups,
                     taps = s.kernel_height * s.kernel_width,
                     dy_pixels = s.result_height() * s.result_width(),
                     x_pixels = s.height * s.width;
  for (std::int64_t g = 0; g < s.groups; ++g) {
    for (std::int64_t a = 0; a < std::min(s.stride, s.height); ++a) {
      for (std::int64_t b = 0; b < std::min(s.stride, s.width); ++b) {
        Grid grid{.images = dy + g * outputs * dy_pixels,
                  .elements = s.batch * s.outputs * dy_pixels - g * outputs * dy_pixels,
                  .batch = s.batch,
                  .channels = outputs,
                  .height = s.result_height(),
                  .width = s.result_width(),
                  .image_stride = s.outputs * dy_pixels,
                  .channel_stride = dy_pixels,
                  .rows = ceil_div(s.height - a, s.stride),
                  .columns = ceil_div(s.width - b, s.stride),
                  .step = 1,
                  .row_taps = {},
                  .column_taps = {}};
        WeightView view{weight + g * outputs * s.depth(), channels, outputs, taps, s.depth(), {}};
        const std::vector<PhaseTap> rows = phase_taps(s, s.kernel_height, a),
                                    columns = phase_taps(s, s.kernel_width, b);
        for (const PhaseTap& row : rows) grid.row_taps.push_back(row.shift);
        for (const PhaseTap& column : columns) grid.column_taps.push_back(column.shift);
        for (const PhaseTap& row : rows)
          for (const PhaseTap& column : columns)
            view.taps.push_back(row.place * s.kernel_width + column.place);
        pack_weight(pool, view, workspace);
        multiply_grid(pool, {std::move(grid),
                             channels,
                             workspace,
                             {dx + g * channels * x_pixels + a * s.width + b, s.channels * x_pixels,
                              x_pixels, s.stride * s.width, s.stride}});
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {

HWY_EXPORT(packed_floats);
HWY_EXPORT(pack);
HWY_EXPORT(convolve);
HWY_EXPORT(input_gradient_floats);
HWY_EXPORT(input_gradient);

std::size_t convolution_packed_floats(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(HWY_DYNAMIC_DISPATCH(packed_floats)(shape));
}

void convolution_pack(ThreadPool& pool, const ConvolutionShape& shape, const float* weight,
                      float* packed) {
  HWY_DYNAMIC_DISPATCH(pack)(pool, shape, weight, packed);
}

void convolution(ThreadPool& pool, const ConvolutionShape& shape, const float* x,
                 const float* packed, float* y, const ConvolutionEpilogue& epilogue) {
  HWY_DYNAMIC_DISPATCH(convolve)(pool, shape, x, packed, y, epilogue);
}

std::size_t convolution_input_gradient_floats(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(HWY_DYNAMIC_DISPATCH(input_gradient_floats)(shape));
}

void convolution_input_gradient(ThreadPool& pool, const ConvolutionShape& shape,
                                const float* weight, const float* dy, float* dx, float* workspace) {
  HWY_DYNAMIC_DISPATCH(input_gradient)(pool, shape, weight, dy, dx, workspace);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
