#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/kernels/gemm.h"

/// Shared code of the kernel benchmarks. Each family of kernels has a file, which registers its benchmarks.
namespace hone::kernels {

ThreadPool& pool_of(int threads);

/// Returns the peak rate of the machine with this number of threads, measured once.
double peak_gflops(int threads);
double peak_gbps(int threads);  ///< copied
double peak_read_gbps(int threads);
double peak_int8_gops(int threads);
double peak_sign_gops(int threads);
double peak_bf16_gflops(int threads);  ///< of multiply-adds if the CPU has no bfloat16 products

std::vector<float> random_floats(std::int64_t count);

/// Reports the rate of a benchmark with this many operations or bytes per iteration, and its `share` of the peak.
void report_flops(benchmark::State& state, double operations, int threads);
void report_bf16(benchmark::State& state, double operations, int threads);
void report_integers(benchmark::State& state, double operations, int threads);
void report_signs(benchmark::State& state, double operations, int threads);
void report_bytes(benchmark::State& state, double bytes, int threads);
void report_read(benchmark::State& state, double bytes, int threads);

/// A product and how its operands are stored.
struct Product {
  GemmShape shape;
  bool a_transposed;  ///< A is stored as (K,M)
  bool b_transposed;  ///< B is stored as (N,K)
};
std::string name_of(const Product& product);
void gemm_ours(benchmark::State& state, Product product, int threads);

void register_products();
void register_low_bit();
void register_sparse_float();
void register_weight_only();
void register_attention();
void register_memory_kernels();
void register_mxint();
void register_sparse_int8();

}  // namespace hone::kernels
