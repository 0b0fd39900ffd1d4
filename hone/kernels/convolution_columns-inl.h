// Writes the columns of convolutions, panel by panel. Compiled once per Highway target.
//
// A column is a place (n, i, j) of a grid over images. For each channel c and tap (u, v) of the kernel it contains the
// value
//
//     images[n, c, i step + u, j step + v],   zero outside the image.
//
// Neighbouring columns are `step` apart in memory, across rows too if the grid is as wide as the image. So a vector of
// them is one load with masks, which are the same for all channels. Where they jump, as from one image to the next,
// each piece between jumps takes one load. With steps above 2, and where such loads would exceed the images, columns
// are read one by one.
#if defined(HONE_KERNELS_CONVOLUTION_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HONE_KERNELS_CONVOLUTION_COLUMNS_INL_H_
#undef HONE_KERNELS_CONVOLUTION_COLUMNS_INL_H_
#else
#define HONE_KERNELS_CONVOLUTION_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hone/kernels/convolution_grid.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Floats>;

// The positions that columns [begin, end) of a grid read, for any channel.
class Columns {
 public:
  // Columns are padded to whole vectors with zeros.
  void take(const Grid& grid, std::int64_t begin, std::int64_t end) {
    vectors_ = (end - begin + kLanes - 1) / kLanes;
    const auto padded = static_cast<std::size_t>(vectors_ * kLanes);
    bases_.assign(padded, 0);
    rows_.assign(padded, kNowhere);
    columns_.assign(padded, kNowhere);
    GridPlace place = grid.place(begin);
    for (std::int64_t j = 0; j < end - begin; ++j, grid.advance(place)) {
      const auto at = static_cast<std::size_t>(j);
      rows_[at] = static_cast<std::int32_t>(place.row * grid.step);
      columns_[at] = static_cast<std::int32_t>(place.column * grid.step);
      bases_[at] = place.image * grid.image_stride + place.row * grid.step * grid.width +
                   place.column * grid.step;
    }
    find_pieces(grid.step, end - begin);
    find_masks(rows_, grid.row_taps, grid.height, row_masks_);
    find_masks(columns_, grid.column_taps, grid.width, column_masks_);
    find_reach(grid);
  }

  std::int64_t vectors() const { return vectors_; }

  // Sets to[((c - channel_begin) taps + t) stride + j] to the value of column j for channel c and tap t.
  void write(const Grid& grid, std::int64_t channel_begin, std::int64_t channel_end, float* to,
             std::int64_t stride) const {
    // Masked lanes may read neighbouring values, but nothing outside the images.
    const auto is_inside = [&](std::int64_t c) {
      return grid.step <= 2 && least_ + c * grid.channel_stride >= 0 &&
             most_ + c * grid.channel_stride <= grid.elements;
    };
    for (std::int64_t c = channel_begin, next = c; c < channel_end; c = next) {
      const Target target{to + (c - channel_begin) * grid.taps() * stride, stride};
      while (next < channel_end && is_inside(next)) ++next;
      if (next == c) {
        write_one_by_one(grid, next++, target);
      } else if (grid.step == 1) {
        write_channels<1>(grid, c, next, target);
      } else {
        write_channels<2>(grid, c, next, target);
      }
    }
  }

 private:
  static constexpr std::int32_t kNowhere = INT32_MIN / 2;  // outside of any image for every tap

  // Lanes of a vector from `lane` on, up to the next piece, that are `step` apart; lane 0 would read at `base`.
  struct Piece {
    std::int64_t lane, base;
  };
  struct Target {
    float* to;
    std::int64_t stride;
  };

  void find_pieces(std::int64_t step, std::int64_t count) {
    pieces_.clear();
    first_piece_.assign(1, 0);
    for (std::int64_t begin = 0; begin < count; begin += kLanes) {
      const std::int64_t lanes = std::min(kLanes, count - begin);
      const std::int64_t* const bases = bases_.data() + begin;
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        if (lane == 0 || bases[lane] != bases[lane - 1] + step)
          pieces_.push_back({lane, bases[lane] - lane * step});
      first_piece_.push_back(pieces_.size());
    }
  }

  // Computes masks (taps, columns) with all bits set if a column is inside the image for a tap.
  void find_masks(const std::vector<std::int32_t>& places, const std::vector<std::int64_t>& taps,
                  std::int64_t size, std::vector<std::int32_t>& masks) const {
    const Integers d;
    masks.resize(taps.size() * places.size());
    std::int32_t* to = masks.data();
    const auto last = hn::Set(d, static_cast<std::int32_t>(size - 1));
    for (const std::int64_t tap : taps) {
      const auto shift = hn::Set(d, static_cast<std::int32_t>(tap));
      for (std::int64_t j = 0; j < vectors_ * kLanes; j += kLanes, to += kLanes) {
        const auto place = hn::Add(hn::LoadU(d, places.data() + j), shift);
        const auto is_inside = hn::Eq(place, hn::Min(hn::Max(place, hn::Zero(d)), last));
        hn::StoreU(hn::VecFromMask(d, is_inside), d, to);
      }
    }
  }

  // Finds where loads of channel 0 begin and end, including padding and skipped elements between columns.
  void find_reach(const Grid& grid) {
    least_ = most_ = 0;
    if (grid.taps() == 0 || pieces_.empty()) return;
    const auto [first_row, last_row] = std::ranges::minmax(grid.row_taps);
    const auto [first_column, last_column] = std::ranges::minmax(grid.column_taps);
    const auto [first, last] = std::ranges::minmax(pieces_, {}, &Piece::base);
    least_ = first.base + first_row * grid.width + first_column;
    most_ = last.base + last_row * grid.width + last_column + grid.step * kLanes;
  }

  template <int kStep>
  static HWY_INLINE hn::Vec<Floats> read(const float* from) {
    const Floats d;
    if constexpr (kStep == 1) {
      return hn::LoadU(d, from);
    } else {
      return hn::ConcatEven(d, hn::LoadU(d, from + kLanes), hn::LoadU(d, from));
    }
  }

  // Copies members and the grid to local variables, because the compiler assumes that stores of floats may change them.
  template <int kStep>
  HWY_NOINLINE void write_channels(const Grid& grid, std::int64_t begin, std::int64_t end,
                                   const Target& target) const {
    const Integers d_mask;
    const std::int64_t *const row_taps = grid.row_taps.data(), *const column_taps =
                                                                   grid.column_taps.data();
    const auto rows = static_cast<std::int64_t>(grid.row_taps.size()),
               columns = static_cast<std::int64_t>(grid.column_taps.size());
    const Piece* const pieces = pieces_.data();
    const std::size_t* const first_piece = first_piece_.data();
    const std::int32_t *const row_masks = row_masks_.data(), *const column_masks =
                                                                 column_masks_.data();
    const std::int64_t width = grid.width, panel_width = vectors_ * kLanes, stride = target.stride;
    const float* channel = grid.images + begin * grid.channel_stride;
    float* panel = target.to;
    for (std::int64_t c = begin; c < end;
         ++c, channel += grid.channel_stride, panel += rows * columns * stride) {
      for (std::int64_t j = 0, v = 0; j < panel_width; j += kLanes, ++v) {
        const Piece *const first = pieces + first_piece[v], *const last =
                                                                pieces + first_piece[v + 1];
        float* to = panel + j;
        for (std::int64_t u = 0; u < rows; ++u) {
          const Floats d;
          const auto row_inside =
              hn::BitCast(d, hn::LoadU(d_mask, row_masks + u * panel_width + j));
          const float* const row = channel + row_taps[u] * width + first->base;
          for (std::int64_t w = 0; w < columns; ++w, to += stride) {
            auto value = read<kStep>(row + column_taps[w]);
            for (const Piece* piece = first + 1; piece < last; ++piece)
              value = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(piece->lane)), value,
                                     read<kStep>(row + column_taps[w] + piece->base - first->base));
            const auto column_inside =
                hn::BitCast(d, hn::LoadU(d_mask, column_masks + w * panel_width + j));
            hn::StoreU(hn::And(hn::And(value, row_inside), column_inside), d, to);
          }
        }
      }
    }
  }

  void write_one_by_one(const Grid& grid, std::int64_t channel, const Target& target) const {
    const std::int64_t width = vectors_ * kLanes;
    float* to = target.to;
    const std::int32_t* row_mask = row_masks_.data();
    for (const std::int64_t row_tap : grid.row_taps) {
      const std::int32_t* column_mask = column_masks_.data();
      for (const std::int64_t column_tap : grid.column_taps) {
        const float* const from =
            grid.images + channel * grid.channel_stride + row_tap * grid.width + column_tap;
        for (std::int64_t j = 0; j < width; ++j)
          to[j] = (row_mask[j] & column_mask[j]) != 0 ? from[bases_[static_cast<std::size_t>(j)]]
                                                      : 0.0f;
        column_mask += width;
        to += target.stride;
      }
      row_mask += width;
    }
  }

  std::int64_t vectors_ = 0;
  std::vector<std::int64_t> bases_;  // offset of each column in channel 0, for a tap at (0, 0)
  std::vector<std::int32_t> rows_, columns_;  // row and column of each in its image
  std::vector<Piece> pieces_;                 // of all vectors, in order
  std::vector<std::size_t> first_piece_;      // of each vector, and the end
  std::vector<std::int32_t> row_masks_, column_masks_;
  std::int64_t least_ = 0, most_ = 0;  // range of loads of channel 0
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
