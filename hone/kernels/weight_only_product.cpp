#include "hone/kernels/weight_only_product.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hone/base/error.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/weight_only_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/unpack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Floats>;
using Words = hn::RebindToSigned<Floats>;

constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(Floats()));
// Rows that take a weight together as it is decoded, and the rows up to which decoding it again for
// every so many is less than writing it down and reading it.
constexpr std::int64_t kTogether = 4, kFewRows = 32;
// `gemm` sums over the fewest blocks of at most this depth, all of nearly the same.
constexpr std::int64_t kMaxDepth = 384;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Where results go.
struct Target {
  Epilogue epilogue;
  float* y;
  std::int64_t y_stride;
};

// Some columns of a panel of weights, as bytes 128 above their values, with the floats that one of
// them stands for. Those of 8 bits are read as they lie, and those of 4 bits (`half`) where they
// are used but once; others are unpacked first.
class Panel {
 public:
  // Columns [begin, end) of panel `panel`.
  Panel(const Int8Weight& weight, std::int64_t scale_block, std::int64_t panel, std::int64_t begin,
        std::int64_t end, bool half)
      : weight_(weight), scale_block_(scale_block), row_(panel * kPackedRows) {
    const std::int64_t columns = packed_columns({weight.rows, weight.columns, weight.bits});
    codes_ = weight.codes + row_ * columns * weight.bits / 8;
    if (weight.block_scales != nullptr)
      scales_ = weight.block_scales + row_ * ceil_div(weight.columns, scale_block);
    if (weight.bits != 8 && !half) unpack(columns / 4, begin / 4, ceil_div(end, 4));
  }

  // The scales of the vector of rows from `at` on, at a column.
  HWY_INLINE V scale(std::int64_t column, std::int64_t at) const {
    const Floats d;
    if (scales_ == nullptr) {
      const std::int64_t left = weight_.rows - row_ - at;
      if (left >= kLanes) return hn::LoadU(d, weight_.scales + row_ + at);
      return left > 0 ? load(d, weight_.scales + row_ + at, Partial{left}) : hn::Zero(d);
    }
    const hn::Rebind<std::uint8_t, Floats> bytes;
    const auto codes = hn::LoadU(bytes, scales_ + column / scale_block_ * kPackedRows + at);
    const auto power = hn::ShiftLeft<23>(hn::PromoteTo(Words(), codes));
    return hn::Mul(hn::BitCast(d, power), hn::Set(d, weight_.unit));
  }
  // Columns before which the scale is another one.
  std::int64_t scale_end(std::int64_t column) const {
    return scales_ == nullptr ? weight_.columns : (column / scale_block_ + 1) * scale_block_;
  }

  // The quad of columns that a column belongs to, of a vector of rows, as signed bytes.
  template <bool kHalf>
  HWY_INLINE hn::Vec<Words> quad(std::int64_t column, std::int64_t at) const {
    const hn::Repartition<std::uint8_t, Floats> d;
    const std::int64_t quad = column / 4 - first_quad_;
    auto codes = hn::LoadU(d, codes_ + (kHalf ? quad / 2 : quad) * kPackedRows * 4 + at * 4);
    if constexpr (kHalf) {
      const auto low = hn::And(quad % 2 == 0 ? codes : upper(codes), hn::Set(d, std::uint8_t{15}));
      codes = hn::TableLookupBytes(hn::LoadDup128(d, weight_.values.data()), low);
    }
    return hn::BitCast(Words(), hn::Xor(codes, hn::Set(d, std::uint8_t{0x80})));
  }

 private:
  template <class Bytes>
  static HWY_INLINE Bytes upper(Bytes codes) {
    const hn::Repartition<std::uint16_t, Floats> halves;
    const hn::Repartition<std::uint8_t, Floats> d;
    return hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(halves, codes)));
  }

  void unpack(std::int64_t quads, std::int64_t begin, std::int64_t end) {
    static thread_local Scratch scratch;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(
        scratch.floats(static_cast<std::size_t>((end - begin) * kPackedRows)));
    const auto zero = static_cast<std::uint8_t>(128 - (1 << (weight_.bits - 1)));
    unpack_panel(weight_.bits, quads, codes_, begin, end, bytes, [&](auto d, auto code) HWY_ATTR {
      return weight_.bits > 4
                 ? hn::Add(code, hn::Set(d, zero))
                 : hn::TableLookupBytes(hn::LoadDup128(d, weight_.values.data()), code);
    });
    codes_ = bytes;
    first_quad_ = begin;
  }

  const Int8Weight& weight_;
  std::int64_t scale_block_;
  std::int64_t row_;
  const std::uint8_t* codes_;
  const std::uint8_t* scales_ = nullptr;
  std::int64_t first_quad_ = 0;  // that codes_ begins with
};

// The weights of column kPart of a quad.
template <int kPart>
HWY_INLINE V weights(hn::Vec<Words> quad, V scale) {
  const auto code = hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kPart>(quad));
  return hn::Mul(hn::ConvertTo(Floats(), code), scale);
}

// Calls body<kPart>(column) for the columns [begin, end), kPart their places in their quads.
template <class Body>
HWY_INLINE void for_columns(std::int64_t begin, std::int64_t end, Body&& body) {
  for (std::int64_t k = begin; k < end;) {
    const std::int64_t part = k % 4;
    if (part == 0 && k + 4 <= end) {
      body.template operator()<0>(k);
      body.template operator()<1>(k + 1);
      body.template operator()<2>(k + 2);
      body.template operator()<3>(k + 3);
      k += 4;
      continue;
    }
    if (part == 0) body.template operator()<0>(k);
    if (part == 1) body.template operator()<1>(k);
    if (part == 2) body.template operator()<2>(k);
    if (part == 3) body.template operator()<3>(k);
    ++k;
  }
}

// The columns of the `block`th of the blocks that `gemm` sums over.
struct DepthBlock {
  std::int64_t begin, end;
  bool first;
};

template <class Body>
void for_depth_blocks(std::int64_t depth, Body&& body) {
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(depth, kMaxDepth));
  for (std::int64_t b = 0; b < blocks; ++b)
    body(DepthBlock{depth * b / blocks, depth * (b + 1) / blocks, b == 0});
}

// `sums` (kRows, 32) over the columns of a block with all rows of a panel.
template <bool kHalf, int kRows>
void sum_few(const Panel& panel, const FloatRows& x, const DepthBlock& block, float* sums) {
  const Floats d;
  constexpr int kVectors = 2;
  for (std::int64_t at = 0; at < kPackedRows; at += kVectors * kLanes) {
    V sum[kRows][kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
    }
    for (std::int64_t begin = block.begin; begin < block.end;) {
      const std::int64_t end = std::min(block.end, panel.scale_end(begin));
      V scale[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) scale[v] = panel.scale(begin, at + v * kLanes);
      for_columns(begin, end, [&]<int kPart>(std::int64_t k) HWY_ATTR {
        V weight[kVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v)
          weight[v] = weights<kPart>(panel.quad<kHalf>(k, at + v * kLanes), scale[v]);
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) {
          const V value = hn::Set(d, x.data[i * x.stride + k]);
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(value, weight[v], sum[i][v]);
        }
      });
      begin = end;
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(sum[i][v], d, sums + i * kPackedRows + at + v * kLanes);
    }
  }
}

using SumFew = void (*)(const Panel&, const FloatRows&, const DepthBlock&, float*);

SumFew sum_few_for(std::int64_t rows, bool half) {
  static constexpr std::array<SumFew, kTogether> kWhole = {sum_few<false, 1>, sum_few<false, 2>,
                                                           sum_few<false, 3>, sum_few<false, 4>};
  static constexpr std::array<SumFew, kTogether> kHalf = {sum_few<true, 1>, sum_few<true, 2>,
                                                          sum_few<true, 3>, sum_few<true, 4>};
  return (half ? kHalf : kWhole)[static_cast<std::size_t>(rows - 1)];
}

// Rows from `row` on, 32 columns at most from `column` on.
struct Place {
  std::int64_t row, rows;
  std::int64_t column, columns;
};

// y takes the sums of a block as `gemm` gives them to C.
void take_sums(const float* sums, const Place& place, bool first, const Target& to) {
  const Floats d;
  const float* const bias = first ? to.epilogue.bias : nullptr;
  for_vectors(d, place.columns, [&](std::int64_t j, auto part) HWY_ATTR {
    const V term = bias == nullptr ? hn::Zero(d) : load(d, bias + place.column + j, part);
    for (std::int64_t i = 0; i < place.rows; ++i) {
      float* const y = to.y + (place.row + i) * to.y_stride + place.column + j;
      V value = hn::Add(hn::LoadU(d, sums + i * kPackedRows + j), term);
      if (!first || to.epilogue.accumulate) value = hn::Add(load(d, y, part), value);
      store(value, d, y, part);
    }
  });
}

void multiply_few(const FloatRows& x, const Int8Weight& weight, std::int64_t scale_block,
                  const Target& to, std::int64_t begin, std::int64_t end) {
  HWY_ALIGN float sums[kTogether * kPackedRows];
  const bool half = weight.bits == 4 && x.rows <= kTogether;
  for (std::int64_t p = begin; p < end; ++p) {
    const Panel panel(weight, scale_block, p, 0, weight.columns, half);
    const std::int64_t column = p * kPackedRows;
    const std::int64_t columns = std::min(kPackedRows, weight.rows - column);
    for (std::int64_t row = 0; row < x.rows; row += kTogether) {
      const std::int64_t rows = std::min(kTogether, x.rows - row);
      const FloatRows some{x.data + row * x.stride, rows, x.stride};
      const SumFew sum = sum_few_for(rows, half);
      for_depth_blocks(weight.columns, [&](const DepthBlock& block) {
        sum(panel, some, block, sums);
        take_sums(sums, {row, rows, column, columns}, block.first, to);
      });
    }
  }
}

// 32 columns of `to`, rows `stride` apart, become the weights of a panel at the columns of a block.
void decode(const Panel& panel, const DepthBlock& block, std::int64_t stride, float* to) {
  for (std::int64_t at = 0; at < kPackedRows; at += kLanes) {
    for (std::int64_t begin = block.begin; begin < block.end;) {
      const std::int64_t end = std::min(block.end, panel.scale_end(begin));
      const V scale = panel.scale(begin, at);
      for_columns(begin, end, [&]<int kPart>(std::int64_t k) HWY_ATTR {
        float* const row = to + (k - block.begin) * stride + at;
        hn::StoreU(weights<kPart>(panel.quad<false>(k, at), scale), Floats(), row);
      });
      begin = end;
    }
  }
}

void multiply_many(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                   std::int64_t scale_block, const Target& to, std::int64_t begin,
                   std::int64_t end) {
  static thread_local Scratch scratch;
  const std::int64_t stride = (end - begin) * kPackedRows, column = begin * kPackedRows;
  const std::int64_t columns = std::min(stride, weight.rows - column);
  float* const floats = scratch.floats(static_cast<std::size_t>(kMaxDepth * stride));
  for_depth_blocks(weight.columns, [&](const DepthBlock& block) {
    for (std::int64_t p = begin; p < end; ++p) {
      const Panel panel(weight, scale_block, p, block.begin, block.end, false);
      decode(panel, block, stride, floats + (p - begin) * kPackedRows);
    }
    const float* const bias =
        block.first && to.epilogue.bias != nullptr ? to.epilogue.bias + column : nullptr;
    gemm(pool, {x.rows, columns, block.end - block.begin}, {x.data + block.begin, x.stride, 1},
         {floats, stride, 1}, to.y + column, to.y_stride,
         {.bias = bias, .accumulate = !block.first || to.epilogue.accumulate});
  });
}

// Panels [begin, end) by rows from `first` on.
void multiply_panels(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                     std::int64_t scale_block, const Target& to, std::int64_t first,
                     std::int64_t begin, std::int64_t end) {
  if (x.rows > kFewRows) {
    multiply_many(pool, x, weight, scale_block, to, begin, end);
  } else {
    multiply_few(x, weight, scale_block, to, begin, end);
  }
  if (!to.epilogue.goes_on()) return;
  const std::int64_t column = begin * kPackedRows;
  const std::int64_t columns = std::min(end * kPackedRows, weight.rows) - column;
  finish_piece({to.y + column, to.y_stride, first, column, x.rows, columns}, to.epilogue);
}

void multiply(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
              std::int64_t scale_block, const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  // Few rows: as many panels as are worth claiming them. Many: so many panels and rows that a part
  // of both stays in a cache near the processor, and decoding is little beside multiplying.
  constexpr std::int64_t kChunkElements = 64 << 10, kPanels = 4, kRows = 512;
  const bool few = x.rows <= kFewRows;
  const std::int64_t panel = kPackedRows * std::max<std::int64_t>(1, weight.columns);
  const std::int64_t together = few ? std::max<std::int64_t>(1, kChunkElements / panel) : kPanels;
  const std::int64_t row_tiles = ceil_div(x.rows, kRows);
  const std::int64_t panels = ceil_div(weight.rows, kPackedRows);
  pool.run(row_tiles * ceil_div(panels, together), [&](std::int64_t chunk) {
    const std::int64_t first = x.rows * (chunk % row_tiles) / row_tiles;
    const std::int64_t last = x.rows * (chunk % row_tiles + 1) / row_tiles;
    const std::int64_t begin = chunk / row_tiles * together;
    multiply_panels(pool, {x.data + first * x.stride, last - first, x.stride}, weight, scale_block,
                    {epilogue, y + first * y_stride, y_stride}, first, begin,
                    std::min(begin + together, panels));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);

}  // namespace

void weight_only_product(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                         std::int64_t block, const Epilogue& epilogue, float* y,
                         std::int64_t y_stride) {
  HONE_ASSERT(weight.bits >= 1 && weight.bits <= 8, "a product with weights of {} bits",
              weight.bits);
  HONE_ASSERT((weight.scales == nullptr) != (weight.block_scales == nullptr),
              "a product needs scales per row or scales per block");
  HONE_ASSERT(weight.scales != nullptr || block > 0, "blocks of {} columns", block);
  if (x.rows == 0 || weight.rows == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)
  (pool, x, weight, block, epilogue, y, y_stride);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
