// Speed of the kernels beside what the machine can do:
//
//     kernels_bench --benchmark_filter=gemm
//
// GFLOP/s and GB/s count the operations and bytes a kernel needs at least; `share` divides them by
// the measured peak of the same number of threads (multiply-adds on registers, or a copy of 64
// MiB). oneDNN stands beside our products.
#include <benchmark/benchmark.h>
#include <dnnl.h>
#include <omp.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/peak.h"

namespace {

using namespace hone;
using namespace hone::kernels;

ThreadPool& pool_of(int threads) {
  static std::map<int, ThreadPool> pools;
  return pools.try_emplace(threads, threads).first->second;
}

double peak_gflops(int threads) {
  static std::map<int, double> peaks;
  if (!peaks.contains(threads)) peaks[threads] = measure_fma_gflops(pool_of(threads));
  return peaks[threads];
}

std::vector<float> random_floats(std::int64_t count) {
  RandomSequence random(7, static_cast<std::uint64_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.uniform()) - 0.5f;
  return values;
}

void report_flops(benchmark::State& state, double operations, int threads) {
  const double total = operations * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate);
  state.counters["share"] =
      benchmark::Counter(total * 1e-9 / peak_gflops(threads), benchmark::Counter::kIsRate);
}

// A product and how its operands are stored.
struct Product {
  GemmShape shape;
  bool a_transposed;  // A is stored as (K,M)
  bool b_transposed;  // B is stored as (N,K)
};

std::string name_of(const Product& product) {
  const auto letter = [](bool transposed) { return transposed ? "T" : "N"; };
  return std::to_string(product.shape.m) + "x" + std::to_string(product.shape.n) + "x" +
         std::to_string(product.shape.k) + "/" + letter(product.a_transposed) +
         letter(product.b_transposed);
}

ConstMatrix view(const float* data, std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? ConstMatrix{data, 1, rows} : ConstMatrix{data, columns, 1};
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

void register_products() {
  const std::vector<Product> products = {
      {{1024, 768, 768}, false, true},  {{1024, 768, 768}, false, false},
      {{1024, 3072, 768}, false, true}, {{1024, 768, 3072}, false, true},
      {{768, 768, 1024}, true, false},  {{1024, 128, 128}, false, true},
      {{1024, 512, 128}, false, true},  {{1024, 128, 512}, false, true},
      {{128, 128, 1024}, true, false},  {{16, 768, 768}, false, true}};
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

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);  // oneDNN is compared on one thread
  register_products();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
