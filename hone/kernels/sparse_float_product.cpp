// Lanes are rows of activations, so the multiply-adds of a weight read whole vectors whatever its column. Rows are
// split into tiles of some vectors, and every tile and block of K is packed into a panel, [column][row of the tile]. A
// list of weights keeps its sums in registers: an entry loads one line of the panel and multiplies it by each of its
// values. The sums of a strip of outputs, [output][row], stay in the L1 cache, where they are transposed and added to
// y.
//
// A tile by a piece of the outputs is computed block by block, so that the panel stays in the L2 cache. Lists of single
// rows are bound by the bandwidth of that cache, since every multiply-add reads another vector.
#include "hone/kernels/sparse_float_product.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "hone/base/error.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/sparse_float_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/epilogue-inl.h"
#include "hone/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Outputs whose sums are transposed together.
constexpr std::int64_t kStrip = 64;

template <class D>
HWY_INLINE hn::Vec<D> word_at(D d, const std::uint8_t* bytes) {
  float word;
  std::memcpy(&word, bytes, sizeof(word));
  return hn::Set(d, word);
}

// Extracts the upper half of a word. With 16 registers, a tile needs all of them for sums, activations and a weight, so
// the mask is kept in memory. Otherwise the compiler would spill a sum.
template <class D>
class Upper {
 public:
  HWY_INLINE Upper() : mask_(hn::BitCast(D(), hn::Set(Words(), 0xffff0000u))) {}
  // Returns the upper half of the word at `bytes` in all lanes.
  HWY_INLINE hn::Vec<D> of(const std::uint8_t* bytes) {
#if HWY_TARGET == HWY_AVX2
    asm("" : "+m"(mask_.raw));
#endif
    return hn::And(word_at(D(), bytes), mask_);
  }

 private:
  using Words = hn::RebindToUnsigned<D>;
  hn::Vec<D> mask_;
};

// How entries are stored and processed. kMostVectors is the largest number of vectors of rows with which sums fit in
// registers and panels in the L2 cache. lists_at_once is the number of lists summed at the same time, because the sums
// of one list by few vectors wait for each other.
template <int kTogether_, bool kHalves_>
struct Entries {
  static constexpr int kTogether = kTogether_;
  static constexpr bool kHalves = kHalves_;
  static constexpr std::int64_t kBytes = kTogether * (kHalves ? 2 : 4);
  static constexpr int kMaxVectors = kTogether == 4 ? 3 : kLanes == 16 ? 4 : 6;
  static constexpr int lists_at_once(int vectors) {
    const int sums = kTogether * vectors;
    return sums <= 2 ? 4 : sums <= 4 ? 2 : 1;
  }

  // Returns value `i` of an entry in all lanes. A bfloat16 is read as the upper half of the word that ends with it.
  template <class D>
  static HWY_INLINE hn::Vec<D> value(D d, const std::uint8_t* values, int i, Upper<D>& upper) {
    return kHalves ? upper.of(values + 2 * i - 2) : word_at(d, values + 4 * i);
  }
};

// Computes the sums of kLists consecutive lists over a panel [column][kVectors vectors] to
// sums[output * kStride + row].
template <class D, class E, int kLists, int kVectors>
void sum_lists(const float* HWY_RESTRICT panel, const SparseFloatParts& parts, std::int64_t list,
               float* HWY_RESTRICT sums) {
  const D d;
  using V = hn::Vec<D>;
  constexpr std::int64_t kVectorRows = static_cast<std::int64_t>(hn::MaxLanes(D()));
  constexpr std::int64_t kStride = kVectors * kVectorRows;
  constexpr int kTogether = E::kTogether;
  V sum[kLists][kTogether][kVectors];
  const std::uint16_t* columns[kLists];
  const std::uint8_t* values[kLists];
  std::int64_t count[kLists], common = 0;
  Upper<D> upper;
#pragma GCC unroll 4
  for (int j = 0; j < kLists; ++j) {
    const std::int64_t begin = parts.begin(list + j);
    columns[j] = parts.columns + begin;
    values[j] = parts.values + begin * E::kBytes;
    count[j] = parts.end(list + j) - begin;
    common = j == 0 ? count[j] : std::min(common, count[j]);
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[j][i][v] = hn::Zero(d);
    }
  }
  const auto add = [&](V(&sum_of_list)[kTogether][kVectors], const std::uint16_t* column,
                       const std::uint8_t* value) HWY_ATTR {
    const float* const from = panel + *column * kStride;
    V x[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) x[v] = hn::Load(d, from + v * kVectorRows);
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) {
      const V weight = E::value(d, value, i, upper);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        sum_of_list[i][v] = hn::MulAdd(x[v], weight, sum_of_list[i][v]);
    }
  };
  if constexpr (kLists > 1) {
    for (std::int64_t s = 0; s < common; ++s) {
#pragma GCC unroll 4
      for (int j = 0; j < kLists; ++j) add(sum[j], columns[j] + s, values[j] + s * E::kBytes);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kLists; ++j) {
    for (std::int64_t s = kLists > 1 ? common : 0; s < count[j]; ++s)
      add(sum[j], columns[j] + s, values[j] + s * E::kBytes);
#pragma GCC unroll 4
    for (int i = 0; i < kTogether; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v)
        hn::Store(sum[j][i][v], d, sums + (j * kTogether + i) * kStride + v * kVectorRows);
    }
  }
}

// Computes the sums of lists [begin, end), one after the other.
template <class D, class E, int kVectors>
void sum_strip(const float* panel, const SparseFloatParts& parts, std::int64_t begin,
               std::int64_t end, float* sums) {
  constexpr int kLists = E::lists_at_once(kVectors);
  constexpr std::int64_t kFloats =
      kVectors * static_cast<std::int64_t>(hn::MaxLanes(D())) * E::kTogether;
  for (; begin + kLists <= end; begin += kLists, sums += kLists * kFloats)
    sum_lists<D, E, kLists, kVectors>(panel, parts, begin, sums);
  for (; begin < end; ++begin, sums += kFloats)
    sum_lists<D, E, 1, kVectors>(panel, parts, begin, sums);
}

using SumStrip = void (*)(const float*, const SparseFloatParts&, std::int64_t, std::int64_t,
                          float*);

template <class D, class E, int... kVector>
SumStrip sum_of(std::int64_t vectors, std::integer_sequence<int, kVector...>) {
  static constexpr std::array<SumStrip, sizeof...(kVector)> kTable = {
      sum_strip<D, E, kVector + 1>...};
  return kTable[static_cast<std::size_t>(vectors - 1)];
}

// Rows of activations, split into tiles of nearly equal numbers of vectors.
struct Tiles {
  std::int64_t rows, columns;
  std::int64_t lanes, vectors, count;

  std::int64_t begin(std::int64_t tile) const { return vectors * tile / count * lanes; }
  std::int64_t width(std::int64_t tile) const { return begin(tile + 1) - begin(tile); }
  std::int64_t rows_of(std::int64_t tile) const {
    return std::min(width(tile), rows - begin(tile));
  }
};

template <class D, class E>
class Product {
 public:
  Product(const FloatRows& x, const SparseFloatWeight& weight, const Epilogue& epilogue, float* y,
          std::int64_t y_stride)
      : x_(x),
        matrix_(weight.matrix),
        parts_(sparse_parts(weight.matrix, weight.packed)),
        epilogue_(epilogue),
        y_(y),
        y_stride_(y_stride),
        blocks_(matrix_.blocks()) {
    tiles_ = {x.rows, matrix_.columns, kVectorRows, ceil_div(x.rows, kVectorRows), 0};
    tiles_.count = ceil_div(tiles_.vectors, kMaxVectors);
  }

  // With many tiles, every chunk packs its own panels, once per piece of the outputs. With few tiles, chunks share
  // panels that are packed first.
  void run(ThreadPool& pool) const {
    constexpr std::int64_t kMinChunks = 16;
    if (tiles_.count >= kMinChunks) return multiply_pieces(pool, largest_piece(), nullptr);
    static thread_local Scratch scratch;
    float* const panels =
        scratch.floats(static_cast<std::size_t>(tiles_.begin(tiles_.count) * matrix_.columns));
    pool.run(tiles_.count * blocks_, [&](std::int64_t chunk) {
      const std::int64_t tile = chunk % tiles_.count, block = chunk / tiles_.count;
      pack(tile, block, panel_of(panels, tile, block));
    });
    const std::int64_t even = ceil_div(matrix_.rows, ceil_div(kMinChunks, tiles_.count));
    multiply_pieces(pool, std::min(largest_piece(), round_up(even, kStrip)), panels);
  }

 private:
  static constexpr auto kVectorRows = static_cast<std::int64_t>(hn::MaxLanes(D()));
  static constexpr int kMaxVectors = kVectorRows < kLanes ? 1 : E::kMaxVectors;

  // Returns the number of outputs whose weights stay in a cache while all tiles are multiplied by them.
  std::int64_t largest_piece() const {
    constexpr std::int64_t kPieceBytes = 4 << 20;
    const std::int64_t bytes = parts_.end(matrix_.lists() - 1) * (E::kBytes + 2);
    return round_up(kPieceBytes / ceil_div(std::max<std::int64_t>(1, bytes), matrix_.rows),
                    kStrip) +
           kStrip;
  }

  void multiply_pieces(ThreadPool& pool, std::int64_t outputs, float* panels) const {
    pool.run(tiles_.count * ceil_div(matrix_.rows, outputs), [&](std::int64_t chunk) {
      const std::int64_t begin = chunk / tiles_.count * outputs;
      multiply(chunk % tiles_.count, panels, begin, std::min(begin + outputs, matrix_.rows));
    });
  }

  float* panel_of(float* panels, std::int64_t tile, std::int64_t block) const {
    return panels + tiles_.begin(tile) * matrix_.columns +
           matrix_.block_begin(block) * tiles_.width(tile);
  }

  // Missing rows are zero.
  void pack(std::int64_t tile, std::int64_t block, float* panel) const {
    const std::int64_t begin = matrix_.block_begin(block);
    const std::int64_t depth = matrix_.block_begin(block + 1) - begin;
    const std::int64_t width = tiles_.width(tile), rows = tiles_.rows_of(tile);
    transpose_block(x_.data + tiles_.begin(tile) * x_.stride + begin, x_.stride, rows, depth, panel,
                    width);
    for (std::int64_t k = 0; rows < width && k < depth; ++k)
      std::fill(panel + k * width + rows, panel + (k + 1) * width, 0.0f);
  }

  // Computes outputs [begin, end) of a tile; begin is a multiple of kStrip. `panels`: of all tiles; null: packed here.
  void multiply(std::int64_t tile, float* panels, std::int64_t begin, std::int64_t end) const {
    static thread_local Scratch scratch;
    const std::int64_t width = tiles_.width(tile), rows = tiles_.rows_of(tile);
    float* const sums = scratch.floats(static_cast<std::size_t>((2 * kStrip + kGemmDepth) * width));
    float* const transposed = sums + kStrip * width;
    const SumStrip sum =
        sum_of<D, E>(width / kVectorRows, std::make_integer_sequence<int, kMaxVectors>());
    for (std::int64_t block = 0; block < blocks_; ++block) {
      float* panel = transposed + kStrip * width;
      if (panels != nullptr) {
        panel = panel_of(panels, tile, block);
      } else {
        pack(tile, block, panel);
      }
      for (std::int64_t output = begin; output < end; output += kStrip) {
        const std::int64_t outputs = std::min(kStrip, end - output), row = tiles_.begin(tile);
        const Piece piece{y_ + row * y_stride_ + output, y_stride_, row, output, rows, outputs};
        fetch(piece);
        const std::int64_t list = block * matrix_.groups() + output / E::kTogether;
        sum(panel, parts_, list, list + ceil_div(outputs, E::kTogether), sums);
        transpose_block(sums, width, outputs, rows, transposed, kStrip);
        add_sums(transposed, kStrip, piece, epilogue_, block == 0);
        if (block + 1 == blocks_ && epilogue_.has_more_steps()) finish_piece(piece, epilogue_);
      }
    }
  }

  // A piece of y is needed only after its sums, which leaves time to fetch it.
  static void fetch(const Piece& piece) {
    constexpr std::int64_t kLine = 64 / sizeof(float);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      for (std::int64_t j = 0; j < piece.columns; j += kLine)
        __builtin_prefetch(piece.c + i * piece.c_stride + j, 1);
    }
  }

  const FloatRows& x_;
  const SparseFloatMatrix& matrix_;
  SparseFloatParts parts_;
  const Epilogue& epilogue_;
  float* y_;
  std::int64_t y_stride_;
  std::int64_t blocks_;
  Tiles tiles_{};
};

// Few rows use narrower vectors.
template <class E>
void multiply_by(ThreadPool& pool, const FloatRows& x, const SparseFloatWeight& weight,
                 const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  if (x.rows <= 4)
    return Product<hn::CappedTag<float, 4>, E>(x, weight, epilogue, y, y_stride).run(pool);
  if (x.rows <= 8)
    return Product<hn::CappedTag<float, 8>, E>(x, weight, epilogue, y, y_stride).run(pool);
  Product<Floats, E>(x, weight, epilogue, y, y_stride).run(pool);
}

void multiply(ThreadPool& pool, const FloatRows& x, const SparseFloatWeight& weight,
              const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  const bool halves = weight.matrix.bits == 16;
  const auto by = weight.matrix.together == 4
                      ? halves ? multiply_by<Entries<4, true>> : multiply_by<Entries<4, false>>
                  : halves ? multiply_by<Entries<1, true>>
                           : multiply_by<Entries<1, false>>;
  by(pool, x, weight, epilogue, y, y_stride);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(multiply);

// Products of fewer multiply-adds take less than a few microseconds: not worth a second thread. Few rows cost as much
// as full lanes.
constexpr std::int64_t kSmallWork = std::int64_t{1} << 18, kFullRows = 16;

}  // namespace

void sparse_product(ThreadPool& pool, const FloatRows& x, const SparseFloatWeight& weight,
                    const Epilogue& epilogue, float* y, std::int64_t y_stride) {
  const SparseFloatMatrix& matrix = weight.matrix;
  HONE_ASSERT(
      (matrix.together == 1 || matrix.together == 4) && (matrix.bits == 16 || matrix.bits == 32),
      "a product with sparse weights of {} bits, {} together", matrix.bits, matrix.together);
  if (x.rows == 0 || matrix.rows == 0) return;
  const std::int64_t entries =
      sparse_parts(matrix, weight.packed).end(matrix.lists() - 1) * matrix.together;
  if (std::max(x.rows, kFullRows) * entries > kSmallWork) {
    HWY_DYNAMIC_DISPATCH(multiply)(pool, x, weight, epilogue, y, y_stride);
  } else {
    ThreadPool alone(1);
    HWY_DYNAMIC_DISPATCH(multiply)(alone, x, weight, epilogue, y, y_stride);
  }
}

std::optional<std::int64_t> fewest_sparse_float_rows(const CountedSparseFloats& weight) {
  for (const SparseFloatLimit& limit : kSparseFloatLimits)
    if (weight.kept().within(weight.matrix.together == 4 ? limit.blocks : limit.single))
      return limit.rows;
  return std::nullopt;
}

std::optional<CountedSparseFloats> faster_sparse_matrix(ThreadPool& pool, std::int64_t rows,
                                                        std::int64_t columns, const float* dense) {
  constexpr double kSingleCost = 1.7;  // of a single weight, relative to a block
  CountedSparseFloats blocks{{rows, columns, 4, 32}}, single{{rows, columns, 1, 32}};
  const auto count = [&](CountedSparseFloats& one) {
    one.entries = sparse_entries(pool, one.matrix, dense);
    return one.kept();
  };
  const KeptBlocks of_single = count(single);
  // The number of nonzero blocks is at least a quarter of the number of nonzero weights. For most matrices this avoids
  // counting blocks.
  if (!CountedSparseFloats{blocks.matrix, single.entries / 4}.kept().within(kMaxSparseFloatBlocks))
    return std::nullopt;
  const KeptBlocks of_blocks = count(blocks);
  const bool takes_single = of_single.within(kMaxSparseFloats);
  if (of_blocks.within(kMaxSparseFloatBlocks) &&
      (!takes_single || of_blocks.share() <= kSingleCost * of_single.share()))
    return blocks;
  return takes_single ? std::optional(single) : std::nullopt;
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
