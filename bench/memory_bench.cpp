#include "bench/kernels_bench.h"
#include "hone/base/random.h"
#include "hone/kernels/activation.h"
#include "hone/kernels/adamw.h"
#include "hone/kernels/binary_cross_entropy.h"
#include "hone/kernels/cross_entropy.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/embedding.h"
#include "hone/kernels/fixed_point.h"
#include "hone/kernels/half_conversion.h"
#include "hone/kernels/layer_norm.h"
#include "hone/kernels/mean_squared_error.h"
#include "hone/kernels/quantize.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sum.h"

namespace hone::kernels {
namespace {

// The activations of one layer of BERT base for 1024 tokens, and memory for the kernels' results.
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

}  // namespace

void register_memory_kernels() {
  for (const MemoryKernel& kernel : memory_kernels()) {
    for (const int threads : {1, 2}) {
      const std::string name = std::string("memory/") + std::to_string(threads) + "/" + kernel.name;
      benchmark::RegisterBenchmark(name.c_str(), memory_bound, kernel, threads)->UseRealTime();
    }
  }
}

}  // namespace hone::kernels
