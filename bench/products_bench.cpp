#include <dnnl.h>

#include "bench/kernels_bench.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/gemm_bf16.h"
#include "hone/kernels/half_conversion.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/tensor/tensor.h"

namespace hone::kernels {
namespace {

ConstMatrix view(const float* data, std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? ConstMatrix{data, 1, rows} : ConstMatrix{data, columns, 1};
}

void gemm_onednn(benchmark::State& state, Product product) {
  const auto [m, n, k] = product.shape;
  const auto a = random_floats(m * k);
  const auto b = random_floats(k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  for (auto _ : state) {
    dnnl_sgemm(product.a_transposed ? 'T' : 'N', product.b_transposed ? 'T' : 'N', m, n, k, 1.0f,
               a.data(), product.a_transposed ? m : k, b.data(), product.b_transposed ? k : n, 0.0f,
               c.data(), n);
  }
  report_flops(state, 2.0 * static_cast<double>(m * n * k), 1);
}

// The share is relative to the peak of bfloat16 products, or of multiply-adds if the CPU has none.
void gemm_of_pairs(benchmark::State& state, GemmShape shape, int threads) {
  ThreadPool& pool = pool_of(threads);
  const auto [m, n, k] = shape;
  const auto a = random_floats(m * k), w = random_floats(n * k);
  std::vector<std::uint16_t> halves(w.size());
  float_to_bfloat16(pool, n * k, w.data(), halves.data());
  const PackedMatrix matrix{n, k, 16};
  const Tensor packed = Tensor::empty(DType::u8, {static_cast<std::int64_t>(packed_bytes(matrix))});
  arrange(pool, matrix, halves.data(), packed.data<std::uint8_t>());
  std::vector<float> c(static_cast<std::size_t>(m * n));
  for (auto _ : state)
    gemm_bf16(pool, shape, a.data(), k, packed.data<std::uint8_t>(), c.data(), n);
  report_bf16(state, 2.0 * static_cast<double>(m * n * k), threads);
}

void batched_ours(benchmark::State& state, Product product, std::int64_t items, int threads) {
  const auto [m, n, k] = product.shape;
  const auto a = random_floats(items * m * k);
  const auto b = random_floats(items * k * n);
  std::vector<float> c(static_cast<std::size_t>(items * m * n));
  const ConstMatrixBatch left{view(a.data(), m, k, product.a_transposed), {m * k, 0}};
  const ConstMatrixBatch right{view(b.data(), k, n, product.b_transposed), {k * n, 0}};
  for (auto _ : state)
    gemm_batched(pool_of(threads), {items, 1}, product.shape, left, right,
                 {c.data(), n, {m * n, 0}});
  report_flops(state, 2.0 * static_cast<double>(items * m * n * k), threads);
}

void batched_onednn(benchmark::State& state, Product product, std::int64_t items) {
  const auto [m, n, k] = product.shape;
  const auto a = random_floats(items * m * k);
  const auto b = random_floats(items * k * n);
  std::vector<float> c(static_cast<std::size_t>(items * m * n));
  for (auto _ : state) {
    for (std::int64_t i = 0; i < items; ++i) {
      dnnl_sgemm(product.a_transposed ? 'T' : 'N', product.b_transposed ? 'T' : 'N', m, n, k, 1.0f,
                 a.data() + i * m * k, product.a_transposed ? m : k, b.data() + i * k * n,
                 product.b_transposed ? k : n, 0.0f, c.data() + i * m * n, n);
    }
  }
  report_flops(state, 2.0 * static_cast<double>(items * m * n * k), 1);
}

// Few rows times the weights of many layers, which exceed all caches, so that memory limits the speed. The share is
// relative to a copy, which reads only half of its bytes, so it may exceed 1.
void few_rows(benchmark::State& state, std::int64_t m, bool packed, int threads) {
  constexpr std::int64_t kLayers = 64, n = 1536, k = 768;
  ThreadPool& pool = pool_of(threads);
  const auto a = random_floats(m * k);
  const Tensor weights = Tensor::empty(DType::f32, {kLayers, n, k});
  fill(pool, weights.count(), 0.5f, weights.data<float>());
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const GemmShape shape{m, n, k};
  for (auto _ : state) {
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      const float* weight = weights.data<float>() + layer * n * k;
      if (packed) {
        gemm_packed(pool, shape, {a.data(), k, 1}, weight, c.data(), n);
      } else {
        gemm(pool, shape, {a.data(), k, 1}, {weight, 1, k}, c.data(), n);
      }
    }
  }
  report_bytes(state, static_cast<double>(weights.size_bytes()), threads);
}

void register_few_rows() {
  for (const std::int64_t rows : {1, 8, 16, 32}) {
    for (const bool packed : {false, true}) {
      for (const int threads : {1, 2}) {
        const std::string name = "few_rows/" + std::string(packed ? "packed/" : "plain/") +
                                 std::to_string(threads) + "/" + std::to_string(rows);
        benchmark::RegisterBenchmark(name.c_str(), few_rows, rows, packed, threads)->UseRealTime();
      }
    }
  }
}

}  // namespace

std::string name_of(const Product& product) {
  const auto letter = [](bool transposed) { return transposed ? "T" : "N"; };
  return std::to_string(product.shape.m) + "x" + std::to_string(product.shape.n) + "x" +
         std::to_string(product.shape.k) + "/" + letter(product.a_transposed) +
         letter(product.b_transposed);
}

void gemm_ours(benchmark::State& state, Product product, int threads) {
  const auto [m, n, k] = product.shape;
  const auto a = random_floats(m * k);
  const auto b = random_floats(k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  const ConstMatrix left = view(a.data(), m, k, product.a_transposed);
  const ConstMatrix right = view(b.data(), k, n, product.b_transposed);
  for (auto _ : state) gemm(pool_of(threads), product.shape, left, right, c.data(), n);
  report_flops(state, 2.0 * static_cast<double>(m * n * k), threads);
}

void register_products() {
  register_few_rows();
  const std::vector<Product> products = {
      {{1024, 768, 768}, false, true},  {{1024, 768, 768}, false, false},
      {{1024, 3072, 768}, false, true}, {{1024, 768, 3072}, false, true},
      {{768, 768, 1024}, true, false},  {{1024, 128, 128}, false, true},
      {{1024, 512, 128}, false, true},  {{1024, 128, 512}, false, true},
      {{128, 128, 1024}, true, false},  {{512, 128, 1024}, true, false},
      {{128, 512, 1024}, true, false},  {{16, 768, 768}, false, true}};
  for (const Product& product : products) {
    benchmark::RegisterBenchmark(("gemm/onednn/1/" + name_of(product)).c_str(), gemm_onednn,
                                 product);
    for (const int threads : {1, 2}) {
      const std::string name = "gemm/hone/" + std::to_string(threads) + "/" + name_of(product);
      benchmark::RegisterBenchmark(name.c_str(), gemm_ours, product, threads)
          ->MeasureProcessCPUTime()
          ->UseRealTime();
    }
  }
  for (const GemmShape& shape : {GemmShape{1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}}) {
    for (const int threads : {1, 2}) {
      const std::string name =
          "gemm_bf16/hone/" + std::to_string(threads) + "/" + name_of({shape, false, true});
      benchmark::RegisterBenchmark(name.c_str(), gemm_of_pairs, shape, threads)->UseRealTime();
    }
  }
  const std::vector<Product> attention = {{{128, 128, 64}, false, true},
                                          {{128, 64, 128}, false, false}};
  for (const Product& product : attention) {
    benchmark::RegisterBenchmark(("batched/onednn/1/" + name_of(product)).c_str(), batched_onednn,
                                 product, 96);
    for (const int threads : {1, 2}) {
      const std::string name = "batched/hone/" + std::to_string(threads) + "/" + name_of(product);
      benchmark::RegisterBenchmark(name.c_str(), batched_ours, product, 96, threads)->UseRealTime();
    }
  }
}

}  // namespace hone::kernels
