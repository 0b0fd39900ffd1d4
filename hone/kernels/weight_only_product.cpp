#include "hone/kernels/weight_only_product.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/weight_only_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/coded_panel-inl.h"
#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

using V = FloatLanes;

// Rows that are multiplied together by a weight as it is decoded; and the number of rows up to which decoding it again
// for each such group is faster than storing and reloading it.
constexpr int kTogether = kLanes == 16 ? 8 : 4;
constexpr std::int64_t kFewRows = 32;
// A single row is multiplied by this many panels at once: sums of one panel depend on each other, those of different
// panels do not.
constexpr int kPanelsOfOneRow = 2;

struct Target {
  Epilogue epilogue;
  float* y;
  std::int64_t y_stride;
};

// The columns of one of the blocks that `gemm` sums over.
struct DepthBlock {
  std::int64_t begin, end;
  bool first;
};

template <class Body>
void for_depth_blocks(std::int64_t depth, Body&& body) {
  const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(depth, kGemmDepth));
  for (std::int64_t b = 0; b < blocks; ++b)
    body(DepthBlock{depth * b / blocks, depth * (b + 1) / blocks, b == 0});
}

// Computes `sums` (kPanels, kRows, 32) over the columns of a block, for all rows of consecutive panels. Prefetches the
// panels after them, which are too short for the hardware prefetcher.
template <class PanelDecoder, int kRows, int kPanels>
void sum_few(const PanelDecoder& decoder, const CodedPanel* panels, const FloatRows& x,
             const DepthBlock& block, float* sums) {
  const Floats d;
  constexpr int kVectors = 2, kAll = kPanels * kVectors;
  const CodedWeight& all = panels[0].weight;
  const std::int64_t ahead = kPanels * kPackedRows * CodedPanel::row_bytes(all), bits = all.bits;
  for (std::int64_t at = 0; at < kPackedRows; at += kVectors * kLanes) {
    V sum[kAll][kRows], scale[kAll], offset[kAll];
#pragma GCC unroll 4
    for (int v = 0; v < kAll; ++v) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[v][i] = hn::Zero(d);
    }
    const auto words = [&](int v, std::int64_t k) HWY_ATTR {
      const CodedPanel& panel = panels[v / kVectors];
      return decoder.load(panel.codes, k, at + v % kVectors * kLanes);
    };
    const auto add = [&](int v, V value, std::int64_t k) HWY_ATTR {
      const V weight = hn::Mul(PanelDecoder::kAdds ? hn::Add(value, offset[v]) : value, scale[v]);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i)
        sum[v][i] = hn::MulAdd(hn::Set(d, x.data[i * x.stride + k]), weight, sum[v][i]);
    };
    for (std::int64_t begin = block.begin; begin < block.end;) {
      const std::int64_t end = std::min(block.end, panels[0].scale_end(begin));
#pragma GCC unroll 4
      for (int v = 0; v < kAll; ++v) {
        const CodedPanel& panel = panels[v / kVectors];
        scale[v] = panel.scale(begin, at + v % kVectors * kLanes);
        if (PanelDecoder::kAdds)
          offset[v] = panel.offset(decoder.first, begin, at + v % kVectors * kLanes);
      }
      for_words<PanelDecoder::kColumns>(
          begin, end,
          [&](std::int64_t k) HWY_ATTR {
            typename PanelDecoder::Loaded word[kAll];
#pragma GCC unroll 4
            for (int v = 0; v < kAll; ++v) {
              word[v] = words(v, k);
              __builtin_prefetch(panels[v / kVectors].codes + ahead + k * bits * 4 +
                                 (at + v % kVectors * kLanes) * 4);
            }
            for_places<PanelDecoder::kColumns>([&]<int kPlace>() HWY_ATTR {
#pragma GCC unroll 4
              for (int v = 0; v < kAll; ++v)
                add(v, decoder.template value<kPlace>(word[v]), k + kPlace);
            });
          },
          [&](std::int64_t k) HWY_ATTR {
            const int place = static_cast<int>(k % PanelDecoder::kColumns);
#pragma GCC unroll 4
            for (int v = 0; v < kAll; ++v) add(v, decoder.value_at(words(v, k), place), k);
          });
      begin = end;
    }
#pragma GCC unroll 4
    for (int v = 0; v < kAll; ++v) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i)
        hn::StoreU(sum[v][i], d,
                   sums + (v / kVectors * kRows + i) * kPackedRows + at + v % kVectors * kLanes);
    }
  }
}

template <class PanelDecoder>
using SumFew = void (*)(const PanelDecoder&, const CodedPanel*, const FloatRows&, const DepthBlock&,
                        float*);

// Returns how many of the remaining rows are multiplied together.
constexpr std::int64_t together_of(std::int64_t rows) {
  return rows >= kTogether ? kTogether : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

template <class PanelDecoder>
SumFew<PanelDecoder> sum_for(std::int64_t rows, std::int64_t panels) {
  if (panels == kPanelsOfOneRow) return sum_few<PanelDecoder, 1, kPanelsOfOneRow>;
  return rows == kTogether ? sum_few<PanelDecoder, kTogether, 1>
         : rows == 4       ? sum_few<PanelDecoder, 4, 1>
         : rows == 2       ? sum_few<PanelDecoder, 2, 1>
                           : sum_few<PanelDecoder, 1, 1>;
}

// Rows from `row` on, and at most 32 columns from `column` on.
struct Place {
  std::int64_t row, rows;
  std::int64_t column, columns;
};

// Adds the sums of a block to y like `gemm` to C.
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

template <class PanelDecoder>
void multiply_few(const PanelDecoder& decoder, const FloatRows& x, const CodedWeight& weight,
                  const Target& to, std::int64_t begin, std::int64_t end) {
  HWY_ALIGN float sums[kTogether * kPackedRows];
  for (std::int64_t p = begin; p < end;) {
    const bool two = x.rows == 1 && p + kPanelsOfOneRow <= end;
    const int count = two ? kPanelsOfOneRow : 1;
    const CodedPanel panels[kPanelsOfOneRow] = {{weight, p}, {weight, two ? p + 1 : p}};
    for (std::int64_t row = 0; row < x.rows;) {
      const std::int64_t rows = together_of(x.rows - row);
      const FloatRows some{x.data + row * x.stride, rows, x.stride};
      const SumFew<PanelDecoder> sum = sum_for<PanelDecoder>(rows, count);
      for_depth_blocks(weight.columns, [&](const DepthBlock& block) {
        sum(decoder, panels, some, block, sums);
        for (int i = 0; i < count; ++i) {
          const std::int64_t column = (p + i) * kPackedRows;
          const std::int64_t columns = std::min(kPackedRows, weight.rows - column);
          take_sums(sums + i * kPackedRows, {row, rows, column, columns}, block.first, to);
        }
      });
      row += rows;
    }
    p += count;
  }
}

// A panel as the micro-kernel of `gemm` reads it: consecutive groups of two vectors of columns.
constexpr int kGroupVectors = 2;
constexpr std::int64_t kGroupColumns = kGroupVectors * kLanes;

// Decodes the weights of a panel at the columns of a block: value l of column j of a group is at
// [l * kGroupColumns + j].
template <class PanelDecoder>
void decode(const PanelDecoder& decoder, const CodedPanel& panel, const DepthBlock& block,
            float* to) {
  for (std::int64_t at = 0; at < kPackedRows; at += kLanes) {
    float* const group =
        to + at / kGroupColumns * kGroupColumns * (block.end - block.begin) + at % kGroupColumns;
    for (std::int64_t begin = block.begin; begin < block.end;) {
      const std::int64_t end = std::min(block.end, panel.scale_end(begin));
      const V scale = panel.scale(begin, at), offset = panel.offset(decoder.first, begin, at);
      const auto put = [&](V value, std::int64_t k) HWY_ATTR {
        if (PanelDecoder::kAdds) value = hn::Add(value, offset);
        hn::StoreU(hn::Mul(value, scale), Floats(), group + (k - block.begin) * kGroupColumns);
      };
      for_words<PanelDecoder::kColumns>(
          begin, end,
          [&](std::int64_t k) HWY_ATTR {
            const typename PanelDecoder::Loaded words = decoder.load(panel.codes, k, at);
            for_places<PanelDecoder::kColumns>([&]<int kPlace>() HWY_ATTR {
              put(decoder.template value<kPlace>(words), k + kPlace);
            });
          },
          [&](std::int64_t k) HWY_ATTR {
            const typename PanelDecoder::Loaded words = decoder.load(panel.codes, k, at);
            put(decoder.value_at(words, static_cast<int>(k % PanelDecoder::kColumns)), k);
          });
      begin = end;
    }
  }
}

// Decodes every panel once, into the cache of the core that multiplies it.
template <class PanelDecoder>
void multiply_many(const PanelDecoder& decoder, const FloatRows& x, const CodedWeight& weight,
                   const Target& to, std::int64_t begin, std::int64_t end) {
  static thread_local Scratch scratch;
  float* const floats = scratch.floats(static_cast<std::size_t>(kGemmDepth * kPackedRows));
  HWY_ALIGN float sums[kPanelRows * kPackedRows];
  for (std::int64_t p = begin; p < end; ++p) {
    const std::int64_t column = p * kPackedRows;
    const std::int64_t columns = std::min(kPackedRows, weight.rows - column);
    for_depth_blocks(weight.columns, [&](const DepthBlock& block) {
      const std::int64_t depth = block.end - block.begin;
      decode(decoder, CodedPanel(weight, p), block, floats);
      for (std::int64_t row = 0; row < x.rows; row += kPanelRows) {
        const std::int64_t rows = std::min<std::int64_t>(kPanelRows, x.rows - row);
        const RowPanel left{x.data + row * x.stride + block.begin, x.stride, 1};
        for (std::int64_t j = 0; j < kPackedRows; j += kGroupColumns) {
          micro_kernel<KeepSums>(rows, kGroupVectors)(left, depth, {floats + j * depth},
                                                      {sums + j, kPackedRows, false});
        }
        take_sums(sums, {row, rows, column, columns}, block.first, to);
      }
    });
  }
}

// Multiplies panels [begin, end) by rows from `first` on.
template <class PanelDecoder>
void multiply_panels(const PanelDecoder& decoder, const FloatRows& x, const CodedWeight& weight,
                     const Target& to, std::int64_t first, std::int64_t begin, std::int64_t end) {
  if (x.rows > kFewRows) {
    multiply_many(decoder, x, weight, to, begin, end);
  } else {
    multiply_few(decoder, x, weight, to, begin, end);
  }
  if (!to.epilogue.has_more_steps()) return;
  const std::int64_t column = begin * kPackedRows;
  const std::int64_t columns = std::min(end * kPackedRows, weight.rows) - column;
  finish_piece({to.y + column, to.y_stride, first, column, x.rows, columns}, to.epilogue);
}

void multiply(ThreadPool& pool, const FloatRows& x, const CodedWeight& weight,
              const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  // Few rows: enough panels to be worth claiming a chunk. Many rows: enough panels and rows that decoding takes little
  // time compared with multiplying, few enough that parts of both stay in the private caches.
  constexpr std::int64_t kChunkElements = 64 << 10, kPanels = 4, kRows = 512;
  const bool few = x.rows <= kFewRows;
  const std::int64_t panel = kPackedRows * std::max<std::int64_t>(1, weight.columns);
  const std::int64_t together =
      few ? ceil_div(std::max<std::int64_t>(1, kChunkElements / panel), kPanelsOfOneRow) *
                kPanelsOfOneRow
          : kPanels;
  const std::int64_t row_tiles = ceil_div(x.rows, kRows);
  const std::int64_t panels = ceil_div(weight.rows, kPackedRows);
  with_decoder(weight, [&](const auto& decoder) {
    pool.run(row_tiles * ceil_div(panels, together), [&](std::int64_t chunk) {
      const std::int64_t first = x.rows * (chunk % row_tiles) / row_tiles;
      const std::int64_t last = x.rows * (chunk % row_tiles + 1) / row_tiles;
      const std::int64_t begin = chunk / row_tiles * together;
      multiply_panels(decoder, {x.data + first * x.stride, last - first, x.stride}, weight,
                      {epilogue, y + first * y_stride, y_stride}, first, begin,
                      std::min(begin + together, panels));
    });
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

void weight_only_product(ThreadPool& pool, const FloatRows& x, const CodedWeight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  HONE_ASSERT(weight.half ? weight.bits == 16 : weight.bits >= 1 && weight.bits <= 8,
              "a product with weights of {} bits", weight.bits);
  HONE_ASSERT((weight.scales == nullptr) != (weight.block_scales == nullptr),
              "a product needs scales per row or scales per block");
  HONE_ASSERT(weight.scales != nullptr || weight.block > 0, "blocks of {} columns", weight.block);
  HONE_ASSERT(weight.scale_bytes >= 1 && weight.scale_bytes <= 3, "scales of {} bytes",
              weight.scale_bytes);
  if (x.rows == 0 || weight.rows == 0) return;
  HWY_DYNAMIC_DISPATCH(multiply)
  (pool, x, weight, epilogue, y, y_stride);
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
