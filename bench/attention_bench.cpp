#include "bench/kernels_bench.h"
#include "hone/kernels/attention_gradient.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/softmax.h"

namespace hone::kernels {
namespace {

// The attention of one layer over one long text, or several texts of about 1024 tokens in total. Queries, keys and
// values have the layout in which linears store them: (B, S, N, D).
struct AttentionSize {
  std::int64_t tokens;
  std::int64_t head_size;
  std::int64_t width;  // N D

  std::int64_t texts() const { return tokens >= 1024 ? 1 : 1024 / tokens; }
  std::int64_t heads() const { return width / head_size; }
  std::int64_t values() const { return texts() * tokens * width; }
  // Counts the two products alone.
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

// The gradients of attention, without dropout or with 10% of the weights dropped. One of their five products recomputes
// the scores.
void attention_backward(benchmark::State& state, AttentionSize size, int threads, bool drops) {
  AttentionArrays a(size);
  const std::int64_t B = size.texts(), S = size.tokens, N = size.heads(), D = size.head_size;
  std::vector<float> dy = random_floats(size.values()), dq(dy.size()), dk(dy.size()), dv(dy.size());
  const auto heads = [&](float* x) { return Heads{x, S * N * D, D, N * D}; };
  const auto read = [&](const float* x) { return ConstHeads{x, S * N * D, D, N * D}; };
  const WeightDropout dropout{drops ? 0.1 : 0.0, {1, 2}, N * S * S, S * S, S};
  for (auto _ : state) {
    attention_gradient(pool_of(threads), {B, N, S, S, D, D}, 0.125f, read(a.q.data()),
                       read(a.k.data()), read(a.v.data()), {a.mask.data(), S}, read(dy.data()),
                       heads(dq.data()), heads(dk.data()), heads(dv.data()), dropout);
  }
  report_flops(state, 2.5 * size.operations(), threads);
}

// Attention by separate kernels, the last of which copies the heads side by side.
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

}  // namespace

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
      for (const bool drops : {false, true})
        benchmark::RegisterBenchmark(
            ((drops ? "attention/gradient_dropped" : "attention/gradient") + way).c_str(),
            attention_backward, size, threads, drops)
            ->UseRealTime();
    }
  }
}

}  // namespace hone::kernels
