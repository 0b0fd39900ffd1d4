#include "hone/cuda/sums.h"

#include <algorithm>
#include <bit>
#include <map>

#include "hone/cuda/convert.h"
#include "hone/kernels/loop_nest.h"

namespace hone::cuda {
namespace {

using SumNest = kernels::LoopNest<1>;

constexpr std::int64_t kSumThreads = 256;  // as in sum.cu
// The least terms of a chunk that are worth a second kernel: if results are adjacent in memory, and if terms are.
constexpr std::int64_t kColumnTerms = 64, kRowTerms = 8192;
constexpr std::int64_t kMaxChunks = 256;
constexpr std::int64_t kMaxPartialSums = 1 << 20;

// How terms are split.
struct Chunks {
  std::int64_t count, terms;
};

// Returns no more chunks than there is room for sums. Up to twice `least` terms remain one chunk.
Chunks chunks_of(std::int64_t terms, std::int64_t results, std::int64_t least) {
  if (terms <= 2 * least) return {1, terms};
  const std::int64_t most = std::clamp<std::int64_t>(kMaxPartialSums / results, 1, kMaxChunks);
  const std::int64_t terms_of_one = ceil_divide(terms, std::min(most, ceil_divide(terms, least)));
  return {ceil_divide(terms, terms_of_one), terms_of_one};
}

// Returns `count` rounded up to a power of two, but at most `most`, which is one.
std::int64_t threads_for(std::int64_t count, std::int64_t most) {
  return std::min<std::int64_t>(
      most, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count))));
}

// Returns the program for types that are each f32, bf16 or f16.
const Program& sum_program(DType from, DType to) {
  static const auto programs = [] {
    std::map<std::pair<DType, DType>, Program> all;
    for (const DType a : {DType::f32, DType::bf16, DType::f16})
      for (const DType b : {DType::f32, DType::bf16, DType::f16})
        all[{a, b}] = {"sum.cu", {value_definition(a), value_definition(b, "RESULT")}};
    return all;
  }();
  return programs.at({from, to});
}

/// The destination of sums.
struct SumTarget {
  void* data;
  DType dtype;
};

bool is_aligned_to_four(const void* pointer, DType dtype) {
  return std::bit_cast<std::uintptr_t>(pointer) % (4 * info(dtype).size_bytes) == 0;
}

/// A dense tensor, split into results and the terms of each.
struct SumGrid {
  SumNest kept, terms;

  // Returns whether adjacent elements belong to different results.
  bool keeps_innermost() const { return kept.inner_stride(0) == 1 && kept.elements() > 1; }
};

SumGrid sum_grid(const Sizes& shape, const Sizes& kept) {
  Sizes summed = shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (kept[i] == shape[i]) summed[i] = 1;
  const Sizes strides = contiguous_strides(shape);
  return {{kept, {strides}}, {summed, {strides}}};
}

void sum_columns(Device& device, const SumGrid& grid, const Chunks& chunks, const Summands& x,
                 const SumTarget& to) {
  const std::int64_t columns = grid.kept.inner_size(), results = grid.kept.elements();
  const std::int64_t terms = grid.terms.elements();
  const bool aligned = columns % 4 == 0 && is_aligned_to_four(x.data, x.dtype) &&
                       is_aligned_to_four(to.data, to.dtype);
  const std::int64_t packs = aligned ? columns / 4 : columns;
  const std::int64_t width = threads_for(packs, 32), tiles = ceil_divide(packs, width);
  const std::int64_t height = threads_for(chunks.terms, kSumThreads / width);
  SumNest outer = grid.kept;
  --outer.rank;
  launch(device,
         {sum_program(x.dtype, to.dtype),
          aligned ? "sum_columns" : "sum_columns_unaligned",
          {tiles * (results / columns), chunks.count},
          {width, height}},
         outer, grid.terms, x.data, to.data, columns, tiles, results, terms, chunks.terms);
}

void sum_rows(Device& device, const SumGrid& grid, const Chunks& chunks, const Summands& x,
              const SumTarget& to) {
  const std::int64_t results = grid.kept.elements(), terms = grid.terms.elements();
  const std::int64_t width = threads_for(chunks.terms, kSumThreads), height = kSumThreads / width;
  launch(device,
         {sum_program(x.dtype, to.dtype),
          "sum_rows",
          {ceil_divide(results, height), chunks.count},
          {width, height}},
         grid.kept, grid.terms, x.data, to.data, results, terms, chunks.terms);
}

void sum_rows_of(Device& device, std::int64_t rows, std::int64_t columns, const float* x,
                 const SumTarget& y) {
  const Sizes shape = {rows, columns}, strides = contiguous_strides(shape);
  const Sizes kept = {1, columns}, summed = {rows, 1};
  sum_columns(device, {{kept, {strides}}, {summed, {strides}}}, {1, rows}, {x}, y);
}

}  // namespace

void sum_of_rows(Device& device, std::int64_t rows, std::int64_t columns, const float* x,
                 float* y) {
  if (columns > 0) sum_rows_of(device, rows, columns, x, {y, DType::f32});
}

void sum_to(Device& device, const Sizes& shape, const Summands& x, const Sizes& kept, void* y,
            float* workspace) {
  const SumGrid grid = sum_grid(shape, kept);
  const std::int64_t results = grid.kept.elements(), terms = grid.terms.elements();
  if (results == 0) return;
  if (terms == 0)
    return fill_zeros(device, y, static_cast<std::size_t>(results) * info(x.dtype).size_bytes);
  const bool by_columns = grid.keeps_innermost();
  const Chunks chunks = chunks_of(terms, results, by_columns ? kColumnTerms : kRowTerms);
  const SumTarget result{y, x.dtype};
  const SumTarget to = chunks.count == 1 ? result : SumTarget{workspace, DType::f32};
  (by_columns ? sum_columns : sum_rows)(device, grid, chunks, x, to);
  if (chunks.count > 1) sum_rows_of(device, chunks.count, results, workspace, result);
}

std::int64_t sum_workspace_bytes(std::int64_t terms, std::int64_t results) {
  if (terms <= 2 * kColumnTerms) return 0;
  const std::int64_t chunks = std::min(kMaxChunks, ceil_divide(terms, kColumnTerms));
  return static_cast<std::int64_t>(sizeof(float)) * std::min(kMaxPartialSums, chunks * results);
}

}  // namespace hone::cuda
