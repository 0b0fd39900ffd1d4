#include <algorithm>

#include "bench/kernels_bench.h"
#include "hone/base/random.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/sparse_float_product.h"

namespace hone::kernels {
namespace {

// Returns weights (N, K) with a share `sparsity` of blocks of `together` x 1 that are zero.
std::vector<float> pruned_weights(const SparseFloatMatrix& matrix, double sparsity) {
  RandomSequence random(7, 3);
  std::vector<float> dense = random_floats(matrix.rows * matrix.columns);
  for (std::int64_t row = 0; row < matrix.rows; row += matrix.together) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      if (random.uniform() >= sparsity) continue;
      for (std::int64_t r = row; r < std::min(row + matrix.together, matrix.rows); ++r)
        dense[static_cast<std::size_t>(r * matrix.columns + column)] = 0;
    }
  }
  return dense;
}

// The rate counts the operations of the dense product.
void sparse_float(benchmark::State& state, GemmShape shape, SparseFloatMatrix matrix,
                  double sparsity, int threads) {
  ThreadPool& pool = pool_of(threads);
  matrix.rows = shape.n;
  matrix.columns = shape.k;
  const auto dense = pruned_weights(matrix, sparsity), x = random_floats(shape.m * shape.k);
  std::vector<float> y(static_cast<std::size_t>(shape.m * shape.n));
  const std::size_t bytes = sparse_bytes(matrix, sparse_entries(pool, matrix, dense.data()));
  Scratch memory;
  auto* const packed = reinterpret_cast<std::uint8_t*>(memory.floats(bytes / sizeof(float) + 1));
  sparse_arrange(pool, matrix, dense.data(), packed);
  for (auto _ : state)
    sparse_product(pool, {x.data(), shape.m, shape.k}, {matrix, packed}, {}, y.data(), shape.n);
  report_flops(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
  state.counters["bytes"] =
      static_cast<double>(bytes) / (4 * static_cast<double>(shape.n * shape.k));  // of dense floats
}

// The baseline of sparse products. Its weights are packed in advance, too.
void dense_float(benchmark::State& state, GemmShape shape, int threads) {
  ThreadPool& pool = pool_of(threads);
  const auto x = random_floats(shape.m * shape.k), weights = random_floats(shape.n * shape.k);
  std::vector<float> y(static_cast<std::size_t>(shape.m * shape.n));
  Scratch memory;
  float* const packed = memory.floats(gemm_packed_floats(shape.n, shape.k));
  gemm_pack(pool, shape.n, shape.k, {weights.data(), 1, shape.k}, packed);
  for (auto _ : state) gemm_packed(pool, shape, {x.data(), shape.k, 1}, packed, y.data(), shape.n);
  report_flops(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

}  // namespace

void register_sparse_float() {
  const std::vector<GemmShape> shapes = {
      {1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}, {128, 768, 768}, {32, 512, 128},
      {1, 768, 768},    {2, 768, 768},     {4, 768, 768},     {8, 768, 768},   {16, 768, 768}};
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    for (const GemmShape& shape : shapes) {
      const std::string size = std::to_string(threads) + "/" + name_of({shape, false, true});
      add("sparse_float/dense/" + size, dense_float, shape, threads);
      for (const int together : {4, 1}) {
        for (const int bits : {32, 16}) {
          for (const int percent : {50, 70, 80, 90, 95}) {
            add("sparse_float/" + std::to_string(together) + "x1/" + std::to_string(bits) + "bit/" +
                    std::to_string(percent) + "/" + size,
                sparse_float, shape, SparseFloatMatrix{0, 0, together, bits}, percent / 100.0,
                threads);
          }
        }
      }
    }
  }
}

}  // namespace hone::kernels
