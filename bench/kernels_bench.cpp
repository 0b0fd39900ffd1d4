// Measures the speed of the kernels relative to the peak of the machine:
//
//     kernels_bench --benchmark_filter=gemm
//
// GFLOP/s and GB/s count the operations and bytes that a kernel needs at least; `share` divides them by the measured
// peak with the same number of threads (multiply-adds or sums of products of bytes in registers, or a copy of 64 MiB).
// Products are compared with oneDNN. Decoding is compared with moving the same bytes (`share`) and with the loop of
// mase-cuda's host (`times_mase`: how many times as fast ours is).
#include "bench/kernels_bench.h"

#include <omp.h>

#include <map>

#include "hone/base/random.h"
#include "hone/kernels/peak.h"
#include "hone/kernels/target.h"

namespace hone::kernels {
namespace {

// Returns the result of `measure`, which runs once for each number of threads.
double once(double (*measure)(ThreadPool&), int threads) {
  static std::map<std::pair<double (*)(ThreadPool&), int>, double> measured;
  const auto [at, is_new] = measured.try_emplace({measure, threads}, 0.0);
  if (is_new) at->second = measure(pool_of(threads));
  return at->second;
}

void report(benchmark::State& state, const char* unit, double count, double peak) {
  const double total = count * static_cast<double>(state.iterations()) * 1e-9;
  state.counters[unit] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["share"] = benchmark::Counter(total / peak, benchmark::Counter::kIsRate);
}

}  // namespace

ThreadPool& pool_of(int threads) {
  static std::map<int, ThreadPool> pools;
  return pools.try_emplace(threads, threads).first->second;
}

double peak_gflops(int threads) { return once(measure_fma_gflops, threads); }
double peak_gbps(int threads) { return once(measure_copy_gbps, threads); }
double peak_read_gbps(int threads) { return once(measure_read_gbps, threads); }
double peak_int8_gops(int threads) { return once(measure_int8_gops, threads); }
double peak_sign_gops(int threads) { return once(measure_sign_gops, threads); }
double peak_bf16_gflops(int threads) {
  const double peak = once(measure_bf16_gflops, threads);
  return peak > 0 ? peak : peak_gflops(threads);
}

std::vector<float> random_floats(std::int64_t count) {
  RandomSequence random(7, static_cast<std::uint64_t>(count));
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.uniform()) - 0.5f;
  return values;
}

void report_flops(benchmark::State& state, double operations, int threads) {
  report(state, "GFLOP/s", operations, peak_gflops(threads));
}
void report_bf16(benchmark::State& state, double operations, int threads) {
  report(state, "GFLOP/s", operations, peak_bf16_gflops(threads));
}
void report_integers(benchmark::State& state, double operations, int threads) {
  report(state, "GOP/s", operations, peak_int8_gops(threads));
}
void report_signs(benchmark::State& state, double operations, int threads) {
  report(state, "GOP/s", operations, peak_sign_gops(threads));
}
void report_bytes(benchmark::State& state, double bytes, int threads) {
  report(state, "GB/s", bytes, peak_gbps(threads));
}
void report_read(benchmark::State& state, double bytes, int threads) {
  report(state, "GB/s", bytes, peak_read_gbps(threads));
}

}  // namespace hone::kernels

int main(int argc, char** argv) {
  hone::kernels::choose_vector_target();
  omp_set_num_threads(1);  // oneDNN is compared on one thread
  hone::kernels::register_products();
  hone::kernels::register_low_bit();
  hone::kernels::register_sparse_float();
  hone::kernels::register_weight_only();
  hone::kernels::register_attention();
  hone::kernels::register_memory_kernels();
  hone::kernels::register_mxint();
  hone::kernels::register_sparse_int8();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
