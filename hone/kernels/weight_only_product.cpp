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
// Rows up to which weights are decoded for every row anew.
constexpr std::int64_t kFewRows = 4;
// `gemm` sums over the fewest blocks of at most this depth, all of nearly the same.
constexpr std::int64_t kMaxDepth = 384;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Where results go.
struct Target {
  Epilogue epilogue;
  float* y;
  std::int64_t y_stride;
};

// A panel of weights as bytes, 128 above their values, with the floats that one of them stands for.
class Panel {
 public:
  Panel(const Int8Weight& weight, std::int64_t block, std::int64_t panel)
      : weight_(weight), block_(block == 0 ? weight.columns : block), row_(panel * kPackedRows) {
    const std::int64_t columns = packed_columns({weight.rows, weight.columns, weight.bits});
    const std::uint8_t* const codes =
        weight.codes + panel * kPackedRows * columns * weight.bits / 8;
    if (weight.block_scales != nullptr)
      scales_ = weight.block_scales + row_ * ceil_div(weight.columns, block_);
    codes_ = weight.bits == 8 ? codes : unpacked(columns / 4, codes);
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
    const auto codes = hn::LoadU(bytes, scales_ + column / block_ * kPackedRows + at);
    const auto power = hn::ShiftLeft<23>(hn::PromoteTo(Words(), codes));
    return hn::Mul(hn::BitCast(d, power), hn::Set(d, weight_.unit));
  }
  // Columns before which the scale is another one.
  std::int64_t scale_end(std::int64_t column) const { return (column / block_ + 1) * block_; }

  // The weights of a vector of rows at a column.
  HWY_INLINE V weights(std::int64_t column, std::int64_t at, V scale) const {
    const std::uint8_t* const quad = codes_ + column / 4 * kPackedRows * 4 + at * 4;
    const hn::Repartition<std::uint8_t, Floats> bytes;
    const auto signs = hn::Set(bytes, std::uint8_t{0x80});
    const auto codes = hn::BitCast(Words(), hn::Xor(hn::LoadU(bytes, quad), signs));
    const int up = 24 - static_cast<int>(column % 4) * 8;
    const auto code = hn::ShiftRight<24>(hn::ShiftLeftSame(codes, up));
    return hn::Mul(hn::ConvertTo(Floats(), code), scale);
  }

 private:
  const std::uint8_t* unpacked(std::int64_t quads, const std::uint8_t* codes) const {
    static thread_local Scratch scratch;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(
        scratch.floats(static_cast<std::size_t>(quads * kPackedRows)));
    const auto zero = static_cast<std::uint8_t>(128 - (1 << (weight_.bits - 1)));
    unpack_panel(weight_.bits, quads, codes, bytes, [&](auto d, auto code) HWY_ATTR {
      return weight_.bits > 4
                 ? hn::Add(code, hn::Set(d, zero))
                 : hn::TableLookupBytes(hn::LoadDup128(d, weight_.values.data()), code);
    });
    return bytes;
  }

  const Int8Weight& weight_;
  std::int64_t block_;
  std::int64_t row_;
  const std::uint8_t* codes_ = nullptr;
  const std::uint8_t* scales_ = nullptr;
};

// Calls body(column, end) for runs of columns that share their scales, from `begin` to `end`.
template <class Body>
HWY_INLINE void for_scales(const Panel& panel, std::int64_t begin, std::int64_t end, Body&& body) {
  while (begin < end) {
    const std::int64_t stop = std::min(end, panel.scale_end(begin));
    body(begin, stop);
    begin = stop;
  }
}

// sums[i] of kRows rows with the vector of a panel's rows from `at` on: as `gemm` adds them up.
template <int kRows>
HWY_INLINE void add_up(const Panel& panel, const FloatRows& x, std::int64_t at, std::int64_t begin,
                       std::int64_t end, V (&sums)[kRows]) {
  const Floats d;
  for_scales(panel, begin, end, [&](std::int64_t first, std::int64_t stop) HWY_ATTR {
    const V scale = panel.scale(first, at);
    const auto add = [&](std::int64_t k) HWY_ATTR {
      const V weight = panel.weights(k, at, scale);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i)
        sums[i] = hn::MulAdd(hn::Set(d, x.data[i * x.stride + k]), weight, sums[i]);
    };
    std::int64_t k = first;
    for (; k < stop && k % 4 != 0; ++k) add(k);
    for (; k + 4 <= stop; k += 4) {
      add(k);
      add(k + 1);
      add(k + 2);
      add(k + 3);
    }
    for (; k < stop; ++k) add(k);
  });
}

template <int kRows>
void multiply_few(const Panel& panel, const FloatRows& x, std::int64_t depth, std::int64_t column,
                  std::int64_t columns, const Target& to) {
  const Floats d;
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(depth, kMaxDepth));
  const float* const bias = to.epilogue.bias;
  float* const y = to.y + column;
  for_vectors(d, columns, [&](std::int64_t at, auto part) HWY_ATTR {
    V totals[kRows];
    for (std::int64_t block = 0; block < blocks; ++block) {
      V sums[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) sums[i] = hn::Zero(d);
      add_up<kRows>(panel, x, at, depth * block / blocks, depth * (block + 1) / blocks, sums);
      const V term = block > 0 || bias == nullptr ? hn::Zero(d) : load(d, bias + column + at, part);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        const V sum = hn::Add(sums[i], term);
        if (block > 0) {
          totals[i] = hn::Add(totals[i], sum);
        } else {
          totals[i] =
              to.epilogue.accumulate ? hn::Add(load(d, y + i * to.y_stride + at, part), sum) : sum;
        }
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) store(totals[i], d, y + i * to.y_stride + at, part);
  });
}

using MultiplyFew = void (*)(const Panel&, const FloatRows&, std::int64_t, std::int64_t,
                             std::int64_t, const Target&);
constexpr std::array<MultiplyFew, kFewRows> kMultiplyFew = {multiply_few<1>, multiply_few<2>,
                                                            multiply_few<3>, multiply_few<4>};

// `to` (depth, stride) from `to` on: 32 of its columns become the weights of a panel.
void decode(const Panel& panel, std::int64_t depth, std::int64_t stride, float* to) {
  for (std::int64_t at = 0; at < kPackedRows; at += kLanes) {
    for_scales(panel, 0, depth, [&](std::int64_t first, std::int64_t stop) HWY_ATTR {
      const V scale = panel.scale(first, at);
      for (std::int64_t k = first; k < stop; ++k)
        hn::StoreU(panel.weights(k, at, scale), Floats(), to + k * stride + at);
    });
  }
}

void multiply_many(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                   std::int64_t block, const Target& to, std::int64_t begin, std::int64_t end) {
  static thread_local Scratch scratch;
  const std::int64_t stride = (end - begin) * kPackedRows, column = begin * kPackedRows;
  float* const floats =
      scratch.floats(static_cast<std::size_t>(std::max<std::int64_t>(1, weight.columns * stride)));
  for (std::int64_t p = begin; p < end; ++p)
    decode({weight, block, p}, weight.columns, stride, floats + (p - begin) * kPackedRows);
  const std::int64_t columns = std::min(stride, weight.rows - column);
  const float* const bias = to.epilogue.bias == nullptr ? nullptr : to.epilogue.bias + column;
  gemm(pool, {x.rows, columns, weight.columns}, {x.data, x.stride, 1}, {floats, stride, 1},
       to.y + column, to.y_stride, {.bias = bias, .accumulate = to.epilogue.accumulate});
}

// Panels [begin, end).
void multiply_panels(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight,
                     std::int64_t block, const Target& to, std::int64_t begin, std::int64_t end) {
  const std::int64_t column = begin * kPackedRows;
  if (x.rows > kFewRows) {
    multiply_many(pool, x, weight, block, to, begin, end);
  } else {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t columns = std::min(kPackedRows, weight.rows - p * kPackedRows);
      kMultiplyFew[static_cast<std::size_t>(x.rows - 1)]({weight, block, p}, x, weight.columns,
                                                         p * kPackedRows, columns, to);
    }
  }
  if (!to.epilogue.goes_on()) return;
  const std::int64_t columns = std::min(end * kPackedRows, weight.rows) - column;
  finish_piece({to.y + column, to.y_stride, 0, column, x.rows, columns}, to.epilogue);
}

void multiply(ThreadPool& pool, const FloatRows& x, const Int8Weight& weight, std::int64_t block,
              const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  const Target to{epilogue, y, y_stride};
  // few rows: as many panels as are worth claiming them; many: what fits beside activations
  constexpr std::int64_t kChunkBytes = 64 << 10, kDecodedFloats = 96 << 10;
  const std::int64_t panel = kPackedRows * std::max<std::int64_t>(1, weight.columns);
  const std::int64_t together =
      x.rows <= kFewRows ? kChunkBytes / panel : std::min<std::int64_t>(3, kDecodedFloats / panel);
  parallel_ranges(pool, ceil_div(weight.rows, kPackedRows), std::max<std::int64_t>(1, together),
                  [&](std::int64_t begin, std::int64_t end) {
                    multiply_panels(pool, x, weight, block, to, begin, end);
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
  (pool, x, weight, weight.scales != nullptr ? 0 : block, epilogue, y, y_stride);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
