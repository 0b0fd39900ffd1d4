// The columns that convolutions are products with, written panel after panel, compiled once per Highway target.
//
// A column is a place of a grid (n, i, j) over images; for each channel c and tap (a place of the kernel) it holds the value
//
//     images[n, c, i step + tap.row, j step + tap.column],   zero outside the image.
//
// Neighbouring columns lie `step` apart in memory, also from one row to the next where the grid is as wide as the image. So a
// vector of them is a load and a mask, which is the same for all channels; where they jump once, as from one image to the next, two
// loads; only where they jump more often are they fetched one by one.
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

// What the columns [begin, end) of a grid read, whatever the channel.
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
    find_neighbours(grid, end - begin);
    find_masks(grid);
    find_reach(grid, end - begin);
  }

  std::int64_t vectors() const { return vectors_; }

  // to[((c - channel_begin) taps + t) stride + j] = what column j reads of channel c by tap t.
  void write(const Grid& grid, std::int64_t channel_begin, std::int64_t channel_end, float* to,
             std::int64_t stride) const {
    const auto taps = static_cast<std::int64_t>(grid.taps.size());
    for (std::int64_t c = channel_begin; c < channel_end; ++c, to += taps * stride) {
      const std::int64_t channel = c * grid.channel_stride;
      // A masked lane may read a neighbour's value, but nothing that is not of these images.
      const bool inside = least_ + channel >= 0 && most_ + channel <= grid.elements;
      if (inside && grid.step == 1) {
        write_channel<1>(grid.images + channel, to, stride);
      } else if (inside && grid.step == 2) {
        write_channel<2>(grid.images + channel, to, stride);
      } else {
        write_one_by_one(grid.images + channel, to, stride);
      }
    }
  }

 private:
  static constexpr std::int32_t kNowhere = INT32_MIN / 2;  // of no image, whatever the tap
  static constexpr std::int64_t kOften = -1;

  void find_neighbours(const Grid& grid, std::int64_t count) {
    jumps_.assign(static_cast<std::size_t>(vectors_), grid.step <= 2 ? 0 : kOften);
    for (std::int64_t j = 1; j < count; ++j) {
      if (j % kLanes == 0) continue;
      const auto at = static_cast<std::size_t>(j);
      std::int64_t& jump = jumps_[static_cast<std::size_t>(j / kLanes)];
      if (bases_[at] != bases_[at - 1] + grid.step)
        jump = jump == 0 && grid.step == 1 && bases_[at] > bases_[at - 1] ? j % kLanes : kOften;
    }
  }

  // Where vectors of channel 0 begin and end, padding and what lies between two columns included.
  void find_reach(const Grid& grid, std::int64_t count) {
    shifts_.clear();
    for (const Tap& tap : grid.taps) shifts_.push_back(tap.row * grid.width + tap.column);
    least_ = most_ = 0;
    if (shifts_.empty() || count == 0) return;
    const auto [first, last] = std::ranges::minmax(shifts_);
    least_ = bases_[0] + first;
    for (std::int64_t j = 0; j < count; j += kLanes) {
      const std::int64_t jump =
          std::max<std::int64_t>(0, jumps_[static_cast<std::size_t>(j / kLanes)]);
      const std::int64_t furthest =
          std::max(bases_[static_cast<std::size_t>(j)],
                   bases_[static_cast<std::size_t>(j + jump)] - jump * grid.step);
      most_ = std::max(most_, furthest + last + grid.step * kLanes);
    }
  }

  // All bits where a column reads inside the image by a tap.
  void find_masks(const Grid& grid) {
    const Integers d;
    masks_.resize(grid.taps.size() * bases_.size());
    std::int32_t* to = masks_.data();
    const auto below = [&](hn::Vec<Integers> value, std::int64_t size) HWY_ATTR {
      return hn::And(hn::Gt(value, hn::Set(d, -1)),
                     hn::Lt(value, hn::Set(d, static_cast<std::int32_t>(size))));
    };
    for (const Tap& tap : grid.taps) {
      const auto row_shift = hn::Set(d, static_cast<std::int32_t>(tap.row)),
                 column_shift = hn::Set(d, static_cast<std::int32_t>(tap.column));
      for (std::int64_t j = 0; j < vectors_ * kLanes; j += kLanes, to += kLanes) {
        const auto row = hn::Add(hn::LoadU(d, rows_.data() + j), row_shift),
                   column = hn::Add(hn::LoadU(d, columns_.data() + j), column_shift);
        hn::StoreU(hn::VecFromMask(d, hn::And(below(row, grid.height), below(column, grid.width))),
                   d, to);
      }
    }
  }

  template <int kStep>
  void write_channel(const float* channel, float* to, std::int64_t stride) const {
    const Floats d;
    const std::int32_t* mask = masks_.data();
    for (const std::int64_t shift : shifts_) {
      for (std::int64_t v = 0; v < vectors_; ++v, mask += kLanes) {
        const std::int64_t* const bases = bases_.data() + v * kLanes;
        float* const at = to + v * kLanes;
        const std::int64_t jump = jumps_[static_cast<std::size_t>(v)];
        if (jump == kOften) {
          write_lanes(channel + shift, bases, mask, at);
          continue;
        }
        const auto inside = hn::BitCast(d, hn::LoadU(Integers(), mask));
        if constexpr (kStep == 1) {
          auto value = hn::LoadU(d, channel + shift + bases[0]);
          if (jump > 0)
            value = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(jump)), value,
                                   hn::LoadU(d, channel + shift + bases[jump] - jump));
          hn::StoreU(hn::And(inside, value), d, at);
        } else {
          hn::Vec<Floats> even, odd;
          hn::LoadInterleaved2(d, channel + shift + bases[0], even, odd);
          hn::StoreU(hn::And(inside, even), d, at);
        }
      }
      to += stride;
    }
  }

  void write_one_by_one(const float* channel, float* to, std::int64_t stride) const {
    const std::int32_t* mask = masks_.data();
    for (const std::int64_t shift : shifts_) {
      for (std::int64_t v = 0; v < vectors_; ++v, mask += kLanes)
        write_lanes(channel + shift, bases_.data() + v * kLanes, mask, to + v * kLanes);
      to += stride;
    }
  }

  static void write_lanes(const float* from, const std::int64_t* bases, const std::int32_t* mask,
                          float* to) {
    for (std::int64_t j = 0; j < kLanes; ++j) to[j] = mask[j] != 0 ? from[bases[j]] : 0.0f;
  }

  std::int64_t vectors_ = 0;
  std::vector<std::int64_t> bases_;  // place of each column in channel 0, for a tap at (0, 0)
  std::vector<std::int32_t> rows_, columns_;  // the same in its image
  // Of each vector: the column that does not lie `step` behind the one before it; 0: all do; kOften: several do not.
  std::vector<std::int64_t> jumps_;
  std::vector<std::int32_t> masks_;    // (taps, columns)
  std::vector<std::int64_t> shifts_;   // of each tap, from the place of a column
  std::int64_t least_ = 0, most_ = 0;  // what vectors read of channel 0
};

}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
