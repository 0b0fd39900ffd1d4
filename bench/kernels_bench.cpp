// Speed of the kernels beside what the machine can do:
//
//     kernels_bench --benchmark_filter=gemm
//
// GFLOP/s and GB/s count the operations and bytes a kernel needs at least; `share` divides them by
// the measured peak of the same number of threads (multiply-adds or sums of products of bytes on
// registers, or a copy of 64 MiB). oneDNN stands beside our products, the loop of mase-cuda's host beside decoding
// (`times_mase`: how often one run of ours goes into one of it), whose share is of moving the same bytes.
#include <benchmark/benchmark.h>
#include <dnnl.h>
#include <omp.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/base/thread_pool.h"
#include "hone/kernels/activation.h"
#include "hone/kernels/adamw.h"
#include "hone/kernels/attention.h"
#include "hone/kernels/binary_cross_entropy.h"
#include "hone/kernels/cross_entropy.h"
#include "hone/kernels/dequantize.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/embedding.h"
#include "hone/kernels/fixed_point.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/gemm_bf16.h"
#include "hone/kernels/half_conversion.h"
#include "hone/kernels/int8_product.h"
#include "hone/kernels/layer_norm.h"
#include "hone/kernels/mean_squared_error.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/kernels/peak.h"
#include "hone/kernels/quantize.h"
#include "hone/kernels/scratch.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sum.h"
#include "hone/kernels/weight_only_product.h"
#include "hone/tensor/tensor.h"

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

double peak_gbps(int threads) {
  static std::map<int, double> peaks;
  if (!peaks.contains(threads)) peaks[threads] = measure_copy_gbps(pool_of(threads));
  return peaks[threads];
}

double peak_int8_gops(int threads) {
  static std::map<int, double> peaks;
  if (!peaks.contains(threads)) peaks[threads] = measure_int8_gops(pool_of(threads));
  return peaks[threads];
}

double peak_read_gbps(int threads) {
  static std::map<int, double> peaks;
  if (!peaks.contains(threads)) peaks[threads] = measure_read_gbps(pool_of(threads));
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

void report_bytes(benchmark::State& state, double bytes, int threads) {
  const double total = bytes * static_cast<double>(state.iterations());
  state.counters["GB/s"] = benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate);
  state.counters["share"] =
      benchmark::Counter(total * 1e-9 / peak_gbps(threads), benchmark::Counter::kIsRate);
}

void report_integers(benchmark::State& state, double operations, int threads) {
  const double total = operations * static_cast<double>(state.iterations());
  state.counters["GOP/s"] = benchmark::Counter(total * 1e-9, benchmark::Counter::kIsRate);
  state.counters["share"] =
      benchmark::Counter(total * 1e-9 / peak_int8_gops(threads), benchmark::Counter::kIsRate);
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

// The share is of the peak of products of pairs, or of multiply-adds where there are none.
void gemm_of_pairs(benchmark::State& state, GemmShape shape, int threads) {
  static std::map<int, double> peaks;
  ThreadPool& pool = pool_of(threads);
  if (!peaks.contains(threads)) peaks[threads] = measure_bf16_gflops(pool);
  const double peak = peaks[threads] > 0 ? peaks[threads] : peak_gflops(threads);
  const auto [m, n, k] = shape;
  const auto a = random_floats(m * k), w = random_floats(n * k);
  const Tensor packed =
      Tensor::empty(DType::f32, {static_cast<std::int64_t>(gemm_bf16_packed_words(n, k))});
  auto* const words = reinterpret_cast<std::uint32_t*>(packed.data<float>());
  gemm_bf16_pack(pool, n, k, w.data(), words);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  for (auto _ : state) gemm_bf16(pool, shape, a.data(), k, words, c.data(), n);
  const double total =
      2e-9 * static_cast<double>(m * n * k) * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["share"] = benchmark::Counter(total / peak, benchmark::Counter::kIsRate);
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

// Few rows by the weights of many layers, which no cache holds: as fast as memory gives them. The share
// is of a copy's bytes, of which half are read, so that reading alone may pass it.
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

// Weights of `layers` linear layers in panels, and activations rounded for them. `block` = 0 is one
// scale for every row.
struct LowBit {
  GemmShape shape;
  std::int64_t block;
  int bits;
  std::vector<float> x, y, scales;
  std::vector<Tensor> codes, block_scales;
  Scratch memory;
  Int8Rows rows;

  LowBit(const GemmShape& shape_, std::int64_t block_, int bits_, std::int64_t layers)
      : shape(shape_), block(block_), bits(bits_) {
    x = random_floats(shape.m * shape.k);
    y.resize(static_cast<std::size_t>(shape.m * shape.n));
    scales = random_floats(shape.n);
    const Int8Shape rounded{shape.m, shape.k, block == 0 ? shape.k : block};
    rows = int8_rows(rounded, memory.floats(int8_rows_bytes(rounded) / sizeof(float)));
    const auto code_bytes = static_cast<std::int64_t>(packed_bytes({shape.n, shape.k, bits}));
    const auto scale_bytes =
        static_cast<std::int64_t>(packed_scale_bytes(shape.n, block == 0 ? 0 : rounded.blocks()));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      codes.push_back(Tensor::empty(DType::u8, {code_bytes}));
      RandomSequence random(7, static_cast<std::uint64_t>(layer));
      for (std::int64_t i = 0; i < code_bytes; ++i)
        codes.back().data<std::uint8_t>()[i] = static_cast<std::uint8_t>(random.below(256));
      block_scales.push_back(Tensor::empty(DType::u8, {scale_bytes}));
      std::fill_n(block_scales.back().data<std::uint8_t>(), scale_bytes, std::uint8_t{120});
    }
    round(pool_of(1));
  }
  void round(ThreadPool& pool) {
    if (block == 0) return round_rows(pool, x.data(), {}, rows);
    round_rows_in_blocks(pool, x.data(), {}, rows);
  }
  void multiply(ThreadPool& pool, std::size_t layer, const Epilogue& epilogue = {}) {
    Int8Weight weight{shape.n, shape.k, bits, codes[layer].data<std::uint8_t>()};
    if (block == 0) {
      weight.scales = scales.data();
    } else {
      weight.block_scales = block_scales[layer].data<std::uint8_t>();
    }
    int8_product(pool, rows, weight, epilogue, y.data(), shape.n);
  }
  double bytes() const {
    return static_cast<double>(codes.size()) *
           static_cast<double>(codes[0].size_bytes() + block_scales[0].size_bytes());
  }
};

std::string low_bit_name(std::int64_t block, int bits, int threads, const GemmShape& shape) {
  return std::to_string(bits) + "bit/" + (block == 0 ? "row" : "g" + std::to_string(block)) + "/" +
         std::to_string(threads) + "/" + name_of({shape, false, true});
}

// The product alone, with the rounding of its activations, or with bias and gelu as well.
enum class LowBitPart { product, rounded, gelu };

void low_bit_product(benchmark::State& state, GemmShape shape, std::int64_t block, int bits,
                     LowBitPart part, int threads) {
  LowBit work(shape, block, bits, 1);
  ThreadPool& pool = pool_of(threads);
  Epilogue epilogue;
  if (part == LowBitPart::gelu)
    epilogue = {.bias = work.scales.data(), .activation = Activation::gelu_erf};
  for (auto _ : state) {
    if (part != LowBitPart::product) work.round(pool);
    work.multiply(pool, 0, epilogue);
  }
  report_integers(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

// Weights of many layers, which no cache holds. The share is of reading.
void low_bit_few_rows(benchmark::State& state, std::int64_t m, std::int64_t block, int bits,
                      int threads) {
  constexpr std::int64_t kLayers = 96;
  LowBit work({m, 1536, 768}, block, bits, kLayers);
  for (auto _ : state) {
    for (std::size_t layer = 0; layer < kLayers; ++layer) work.multiply(pool_of(threads), layer);
  }
  const double total = work.bytes() * static_cast<double>(state.iterations()) * 1e-9;
  state.counters["GB/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["share"] =
      benchmark::Counter(total / peak_read_gbps(threads), benchmark::Counter::kIsRate);
}

// Float activations by packed weights, beside the float product of the same size.
void weight_only(benchmark::State& state, GemmShape shape, int bits, int threads) {
  LowBit work(shape, 32, bits, 1);
  Int8Weight weight{shape.n, shape.k, bits, work.codes[0].data<std::uint8_t>()};
  weight.block_scales = work.block_scales[0].data<std::uint8_t>();
  for (auto _ : state) {
    weight_only_product(pool_of(threads), {work.x.data(), shape.m, shape.k}, weight, 32, {},
                        work.y.data(), shape.n);
  }
  report_flops(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}

void low_bit_rounding(benchmark::State& state, std::int64_t block, int threads) {
  LowBit work({1024, 32, 768}, block, 8, 1);
  for (auto _ : state) work.round(pool_of(threads));
  report_bytes(state, 5.0 * 1024 * 768, threads);
}

void register_low_bit() {
  const std::vector<GemmShape> shapes = {
      {1024, 768, 768}, {1024, 3072, 768}, {1024, 768, 3072}, {128, 768, 768}, {16, 768, 768}};
  const auto add = [](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->UseRealTime();
  };
  for (const int threads : {1, 2}) {
    for (const std::int64_t block : {0, 16, 32, 64, 128}) {
      add("low_bit_rounding/" + std::to_string(block) + "/" + std::to_string(threads),
          low_bit_rounding, block, threads);
      for (const int bits : {8, 4}) {
        for (const GemmShape& shape : shapes) {
          const std::string name = low_bit_name(block, bits, threads, shape);
          add("low_bit/product/" + name, low_bit_product, shape, block, bits, LowBitPart::product,
              threads);
          add("low_bit/rounded/" + name, low_bit_product, shape, block, bits, LowBitPart::rounded,
              threads);
          add("low_bit/gelu/" + name, low_bit_product, shape, block, bits, LowBitPart::gelu,
              threads);
        }
      }
    }
    for (const std::int64_t rows : {1, 16, 1024}) {
      const GemmShape shape{rows, 3072, 768};
      add("weight_only/fp32/" + std::to_string(threads) + "/" + name_of({shape, false, true}),
          gemm_ours, Product{shape, false, true}, threads);
      for (const int bits : {8, 6, 4}) {
        add("weight_only/" + low_bit_name(32, bits, threads, shape), weight_only, shape, bits,
            threads);
      }
    }
    for (const std::int64_t block : {0, 32}) {
      for (const int bits : {8, 4}) {
        for (const std::int64_t rows : {1, 4, 16}) {
          add("low_bit_few_rows/" + low_bit_name(block, bits, threads, {rows, 1536, 768}),
              low_bit_few_rows, rows, block, bits, threads);
        }
      }
    }
  }
}

// The attention of one layer over texts of some length, about 1024 tokens of them, as its linears leave queries, keys and
// values: (B, S, N, D).
struct AttentionSize {
  std::int64_t tokens;
  std::int64_t head_size;
  std::int64_t width;  // N D

  std::int64_t texts() const { return tokens >= 1024 ? 1 : 1024 / tokens; }
  std::int64_t heads() const { return width / head_size; }
  std::int64_t values() const { return texts() * tokens * width; }
  // Of the two products alone.
  double operations() const { return 4.0 * static_cast<double>(texts() * tokens * tokens * width); }
};

struct AttentionArrays {
  std::vector<float> q, k, v, mask, y;

  explicit AttentionArrays(const AttentionSize& size)
      : q(random_floats(size.values())),
        k(random_floats(size.values())),
        v(random_floats(size.values())),
        mask(static_cast<std::size_t>(size.texts() * size.tokens)),
        y(q.size()) {}
};

void attention_fused(benchmark::State& state, AttentionSize size, int threads) {
  AttentionArrays a(size);
  const std::int64_t B = size.texts(), S = size.tokens, N = size.heads(), D = size.head_size;
  const auto heads = [&](float* x) { return HeadsOf<float>{x, S * N * D, D, N * D}; };
  const auto read = [&](const float* x) { return ConstHeads{x, S * N * D, D, N * D}; };
  for (auto _ : state) {
    attention(pool_of(threads), {B, N, S, S, D, D}, 0.125f, read(a.q.data()), read(a.k.data()),
              read(a.v.data()), {a.mask.data(), S}, heads(a.y.data()));
  }
  report_flops(state, size.operations(), threads);
}

// The same by one kernel after the other, the last a copy that brings heads together.
void attention_by_steps(benchmark::State& state, AttentionSize size, int threads) {
  AttentionArrays a(size);
  ThreadPool& pool = pool_of(threads);
  const std::int64_t B = size.texts(), S = size.tokens, N = size.heads(), D = size.head_size;
  std::vector<float> scores(static_cast<std::size_t>(B * N * S * S)), context(a.y.size());
  const std::int64_t all[] = {B, N, S, S}, dense[] = {N * S * S, S * S, S, 1},
                     keys[] = {S, 0, 0, 1};
  const std::int64_t tokens[] = {B, S, N, D}, joined[] = {N * S * D, D, S * D, 1};
  for (auto _ : state) {
    gemm_batched(pool, {B, N}, {S, S, D}, {{a.q.data(), N * D, 1}, {S * N * D, D}},
                 {{a.k.data(), 1, N * D}, {S * N * D, D}}, {scores.data(), S, {N * S * S, S * S}});
    scale(pool, B * N * S * S, 0.125f, scores.data(), scores.data());
    add(pool, all, {scores.data(), dense}, {a.mask.data(), keys}, scores.data());
    softmax(pool, B * N * S, S, scores.data(), scores.data());
    gemm_batched(pool, {B, N}, {S, D, S}, {{scores.data(), S, 1}, {N * S * S, S * S}},
                 {{a.v.data(), N * D, 1}, {S * N * D, D}}, {context.data(), D, {N * S * D, S * D}});
    copy(pool, tokens, {context.data(), joined}, a.y.data());
  }
  report_flops(state, size.operations(), threads);
}

void register_attention() {
  const AttentionSize sizes[] = {{128, 64, 768},  {384, 64, 768},  {512, 64, 768}, {1024, 64, 768},
                                 {3072, 64, 768}, {384, 64, 1024}, {384, 32, 384}, {384, 128, 768}};
  for (const AttentionSize& size : sizes) {
    const std::string shape = std::to_string(size.tokens) + "/" + std::to_string(size.heads()) +
                              "x" + std::to_string(size.head_size);
    for (const int threads : {1, 2}) {
      const std::string way = "/" + std::to_string(threads) + "/" + shape;
      benchmark::RegisterBenchmark(("attention/steps" + way).c_str(), attention_by_steps, size,
                                   threads)
          ->UseRealTime();
      benchmark::RegisterBenchmark(("attention/fused" + way).c_str(), attention_fused, size,
                                   threads)
          ->UseRealTime();
    }
  }
}

// The activations of one layer of BERT base for 1024 tokens and what kernels make of them.
constexpr std::int64_t kTokens = 1024;
constexpr std::int64_t kHidden = 768;
constexpr std::int64_t kElements = kTokens * kHidden;
constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kTinyHidden = 128;

struct Arrays {
  std::vector<float> x = random_floats(kElements);
  std::vector<float> dy = random_floats(kElements);
  std::vector<float> y = std::vector<float>(kElements);
  std::vector<float> m = std::vector<float>(kElements);
  std::vector<float> v = std::vector<float>(kElements, 1.0f);
  std::vector<float> gamma = random_floats(kHidden);
  std::vector<float> beta = random_floats(kHidden);
  std::vector<float> dgamma = std::vector<float>(kHidden);
  std::vector<float> dbeta = std::vector<float>(kHidden);
  std::vector<float> table = std::vector<float>(kVocabulary * kTinyHidden);
  std::vector<std::uint16_t> halves = std::vector<std::uint16_t>(kElements);
  std::vector<std::int64_t> ids = std::vector<std::int64_t>(kTokens);

  Arrays() {
    RandomSequence random(1, 1);
    for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(kVocabulary));
  }
};

// A kernel and the bytes it has to read and write.
struct MemoryKernel {
  const char* name;
  double bytes;
  void (*run)(ThreadPool&, Arrays&);
};

template <std::int64_t Columns>
void softmax_of(ThreadPool& pool, Arrays& a) {
  softmax(pool, kElements / Columns, Columns, a.x.data(), a.y.data());
}

template <std::int64_t Columns>
void softmax_gradient_of(ThreadPool& pool, Arrays& a) {
  softmax_gradient(pool, kElements / Columns, Columns, a.x.data(), a.dy.data(), a.y.data());
}

const std::vector<MemoryKernel>& memory_kernels() {
  constexpr double kPass = 4.0 * kElements;
  static const std::vector<MemoryKernel> kernels = {
      {"gelu_erf", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) { gelu_erf(pool, kElements, a.x.data(), a.y.data()); }},
      {"gelu_erf_gradient", 3 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         gelu_erf_gradient(pool, kElements, a.x.data(), a.dy.data(), a.y.data());
       }},
      {"gelu_tanh", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) { gelu_tanh(pool, kElements, a.x.data(), a.y.data()); }},
      {"softmax 128", 2 * kPass, softmax_of<128>},
      {"softmax_gradient 128", 3 * kPass, softmax_gradient_of<128>},
      {"softmax 37", 2 * kPass, softmax_of<37>},
      {"softmax_gradient 37", 3 * kPass, softmax_gradient_of<37>},
      {"softmax 125", 2 * kPass, softmax_of<125>},
      {"softmax_gradient 125", 3 * kPass, softmax_gradient_of<125>},
      {"layer_norm", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         layer_norm(pool, kTokens, kHidden, a.x.data(), a.gamma.data(), a.beta.data(), 1e-12f,
                    a.y.data());
       }},
      {"layer_norm_gradient", 3 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         layer_norm_gradient(pool, kTokens, kHidden, a.x.data(), a.gamma.data(), 1e-12f,
                             a.dy.data(), a.y.data(), a.dgamma.data(), a.dbeta.data());
       }},
      {"add", 3 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kElements};
         const std::int64_t unit[] = {1};
         add(pool, shape, {a.x.data(), unit}, {a.dy.data(), unit}, a.y.data());
       }},
      {"add row", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kTokens, kHidden};
         const std::int64_t matrix[] = {kHidden, 1};
         const std::int64_t row[] = {0, 1};
         add(pool, shape, {a.x.data(), matrix}, {a.beta.data(), row}, a.y.data());
       }},
      {"copy heads", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {8, 12, 128, 64};
         const std::int64_t strides[] = {128 * kHidden, 64, kHidden, 1};
         copy(pool, shape, {a.x.data(), strides}, a.y.data());
       }},
      {"copy transposed", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kHidden, kTokens};
         const std::int64_t strides[] = {1, kHidden};
         copy(pool, shape, {a.x.data(), strides}, a.y.data());
       }},
      {"sum_to row", kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kTokens, kHidden};
         const std::int64_t row[] = {1, kHidden};
         sum_to(pool, shape, a.dy.data(), row, a.dbeta.data());
       }},
      {"dropout", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kElements};
         const std::int64_t unit[] = {1};
         dropout(pool, 0.1, {1, 2}, shape, unit, a.x.data(), a.y.data());
       }},
      {"dropout 37 of 512", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::int64_t shape[] = {kElements / 37 / 37, 37, 37};
         const std::int64_t words[] = {512 * 512, 512, 1};
         dropout(pool, 0.1, {1, 2}, shape, words, a.x.data(), a.y.data());
       }},
      {"gather_rows_gradient", 4.0 * kVocabulary * kTinyHidden,
       [](ThreadPool& pool, Arrays& a) {
         gather_rows_gradient(pool, kVocabulary, kTinyHidden, kTokens, a.ids.data(), a.dy.data(),
                              a.table.data());
       }},
      {"cross_entropy", kPass,
       [](ThreadPool& pool, Arrays& a) {
         const std::vector<std::int64_t> labels(kTokens, 5);
         benchmark::DoNotOptimize(cross_entropy(pool, kTokens, kHidden, a.x.data(), labels.data()));
       }},
      {"mean_squared_error", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         benchmark::DoNotOptimize(mean_squared_error(pool, kElements, a.x.data(), a.v.data()));
       }},
      {"binary_cross_entropy", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         benchmark::DoNotOptimize(binary_cross_entropy(pool, kElements, a.x.data(), a.v.data()));
       }},
      {"binary_cross_entropy_gradient", 3 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         binary_cross_entropy_gradient(pool, kElements, a.x.data(), a.v.data(), 1.0f, a.y.data());
       }},
      {"adamw_step", 7 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         adamw_step(pool, {}, 10, 1.0, kElements, a.dy.data(), a.y.data(), a.m.data(), a.v.data());
       }},
      {"sum_of_squares", kPass,
       [](ThreadPool& pool, Arrays& a) {
         benchmark::DoNotOptimize(sum_of_squares(pool, kElements, a.x.data()));
       }},
      {"round_to_fixed_point", 2 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         round_to_fixed_point(pool, {4, -128, 127}, kElements, a.x.data(), a.y.data());
       }},
      {"float_to_bfloat16", 1.5 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         float_to_bfloat16(pool, kElements, a.x.data(), a.halves.data());
       }},
      {"float_to_float16", 1.5 * kPass,
       [](ThreadPool& pool, Arrays& a) {
         float_to_float16(pool, kElements, a.x.data(), a.halves.data());
       }},
  };
  return kernels;
}

void memory_bound(benchmark::State& state, MemoryKernel kernel, int threads) {
  Arrays arrays;
  for (auto _ : state) kernel.run(pool_of(threads), arrays);
  report_bytes(state, kernel.bytes, threads);
}

void register_memory_kernels() {
  for (const MemoryKernel& kernel : memory_kernels()) {
    for (const int threads : {1, 2}) {
      const std::string name = std::string("memory/") + std::to_string(threads) + "/" + kernel.name;
      benchmark::RegisterBenchmark(name.c_str(), memory_bound, kernel, threads)->UseRealTime();
    }
  }
}

// MXINT codes and their scales, which lie behind them, and memory for what they are decoded to.
struct Codes {
  std::int64_t count;
  std::int64_t group;
  Tensor bytes, values;

  Codes(std::int64_t elements, std::int64_t group_elements)
      : count(elements),
        group(group_elements),
        bytes(Tensor::empty(DType::u8, {elements + elements / group_elements})),
        values(Tensor::zeros(DType::f32, {elements})) {
    auto* const code = bytes.data<std::uint8_t>();
    for (std::int64_t i = 0; i < bytes.count(); ++i)
      code[i] = static_cast<std::uint8_t>(i < count ? i * 2654435761 >> 13 : 100 + i % 50);
  }
  MxintCodes view(int bits) const {
    const auto* const code = bytes.data<std::uint8_t>();
    return {.count = count, .group = group, .bits = bits, .codes = code, .scales = code + count};
  }
};

// What mase-cuda's host function does, from its description: copies of both inputs, one thread, a division for each
// element; bits 6 … 0 of the magnitude as the unit and the fraction, and the difference of two bfloat16.
void mase_cuda_host(const MxintCodes& x, std::uint16_t* y) {
  const std::vector<std::int8_t> mantissas(x.codes, x.codes + x.count);
  const std::vector<std::uint8_t> scales(x.scales, x.scales + x.groups());
  const auto count = static_cast<int>(x.count), group = static_cast<int>(x.group);
  const auto widened = [](int bits) { return std::bit_cast<float>(bits << 16); };
  for (int i = 0; i < count; ++i) {
    const int mantissa = mantissas[static_cast<std::size_t>(i)];
    const int exponent = scales[static_cast<std::size_t>(i / group)] << 7;
    const int sign = mantissa & 0x8000;
    const int magnitude = mantissa < 0 ? -mantissa : mantissa;
    const int out = sign | exponent | (magnitude & 0x3f) << 1;
    const float difference = widened(out) - widened(sign | exponent);
    y[i] = static_cast<std::uint16_t>(
        (magnitude & 0x40) != 0 ? out : std::bit_cast<std::uint32_t>(difference) >> 16);
  }
}

// The least seconds of three runs.
template <typename Body>
double best_of_three(Body&& body) {
  double best = 1e30;
  for (int run = 0; run < 3; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// The least of the seconds of runs, between which the bytes are moved that they move, so that both see the same machine.
template <typename Value>
void decode(benchmark::State& state, std::int64_t count, std::int64_t group, int bits,
            int threads) {
  const Codes codes(count, group);
  const MxintCodes x = codes.view(bits);
  ThreadPool& pool = pool_of(threads);
  auto* const y = codes.values.data<float>();
  constexpr std::int64_t kValueBytes = sizeof(Value);
  const DequantizePartition partition = dequantize_partition(count, kValueBytes);
  double moved = 1e30, decoded = 1e30;
  for (auto _ : state) {
    const double seconds = best_of_three(
        [&] { dequantize(pool, x, MxintDialect::mase, reinterpret_cast<Value*>(y)); });
    state.SetIterationTime(seconds);
    decoded = std::min(decoded, seconds);
    moved = std::min(moved, best_of_three([&] {
                       move_bytes(pool, partition.chunks, partition.around_caches,
                                  x.code_bytes() + x.groups(), x.codes, count * kValueBytes,
                                  reinterpret_cast<std::uint8_t*>(y));
                     }));
  }
  const double bytes = static_cast<double>(x.code_bytes() + x.groups() + count * kValueBytes);
  state.counters["Gelem/s"] = static_cast<double>(count) / decoded * 1e-9;
  state.counters["GB/s"] = bytes / decoded * 1e-9;
  state.counters["share"] = moved / decoded;
  if (bits == 8 && kValueBytes == 2)
    state.counters["times_mase"] =
        best_of_three([&] { mase_cuda_host(x, reinterpret_cast<std::uint16_t*>(y)); }) / decoded;
}

void encode(benchmark::State& state, std::int64_t count, std::int64_t group, int threads) {
  const std::vector<float> x = random_floats(count);
  const Tensor codes = Tensor::zeros(DType::u8, {count + count / group});
  auto* const code = codes.data<std::uint8_t>();
  for (auto _ : state)
    quantize_mxint8(pool_of(threads), count, group, MxintDialect::ocp, x.data(), code,
                    code + count);
  report_bytes(state, static_cast<double>(5 * count + count / group), threads);
}

// In the caches, and of a matrix that none holds.
void register_mxint() {
  for (const std::int64_t count : {std::int64_t{1} << 20, std::int64_t{4096} * 14336}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t group : {8, 16, 32, 512}) {
        const std::string what =
            std::to_string(threads) + "/" + std::to_string(count) + "/" + std::to_string(group);
        for (const int bits : {8, 4}) {
          const std::string name = "decode/mxint" + std::to_string(bits) + "/" + what;
          benchmark::RegisterBenchmark((name + "/bf16").c_str(), decode<std::uint16_t>, count,
                                       group, bits, threads)
              ->UseManualTime();
          benchmark::RegisterBenchmark((name + "/fp32").c_str(), decode<float>, count, group, bits,
                                       threads)
              ->UseManualTime();
        }
        benchmark::RegisterBenchmark(("encode/mxint8/" + what).c_str(), encode, count, group,
                                     threads)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);  // oneDNN is compared on one thread
  register_products();
  register_few_rows();
  register_low_bit();
  register_attention();
  register_memory_kernels();
  register_mxint();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
