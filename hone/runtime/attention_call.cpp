#include "hone/runtime/attention_call.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace hone {
namespace {

// Returns the dropout of weights (B, N, S, T); the operand `key` is the random key.
kernels::WeightDropout weight_dropout(const Call& call, const Sizes& weights, std::size_t key) {
  const Shape& limits = call.attributes.get<Shape>("limits");
  const Sizes words = contiguous_strides(limits.empty() ? weights : resolve(limits, call.bindings));
  return {call.attributes.get<double>("p"),
          {static_cast<std::uint64_t>(*call.input(key).data<std::int64_t>()),
           static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))},
          words[0],
          words[1],
          words[2]};
}

// The reference reports weights larger than their limits.
bool fits_limits(const Call& call, const Sizes& weights) {
  const Shape& limits = call.attributes.get<Shape>("limits");
  return limits.empty() ||
         std::ranges::equal(weights, resolve(limits, call.bindings), std::less_equal<>());
}

}  // namespace

AttentionCall::AttentionCall(const Call& call, std::size_t operands) {
  const Tensor &q = call.input(0), &k = call.input(1), &v = call.input(2);
  shape = {q.size(0), q.size(2), q.size(1), k.size(1), q.size(3), v.size(3)};
  scale = static_cast<float>(call.attributes.get<double>("scale"));
  const bool drops = call.attributes.get<double>("p") > 0;
  const std::size_t texts_at = drops ? operands + 1 : operands;
  if (call.attributes.get<bool>("unpadded")) {
    take_runs(call, texts_at);
  } else {
    if (call.has_input(texts_at)) mask.data = call.input(texts_at).data<float>();
    if (call.has_input(texts_at) && call.input(texts_at).size(0) > 1)
      mask.batch_stride = call.input(texts_at).strides()[0];
  }
  if (!drops) return;
  const Sizes weights = {shape.batch, shape.heads, shape.queries, shape.keys};
  is_valid = is_valid && fits_limits(call, weights);
  dropout = weight_dropout(call, weights, operands);
}

void AttentionCall::take_runs(const Call& call, std::size_t texts_at) {
  const Tensor &q = call.input(0), &k = call.input(1);
  runs = {call.input(texts_at).data<std::int64_t>(), call.input(texts_at + 1).data<std::int64_t>(),
          q.size(0) == 1 && q.size(1) == k.size(1)};
  shape.batch = call.input(texts_at).count();
  std::int64_t next = 0, longest = 0;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    is_valid = is_valid && runs.begins[b] == next && runs.lengths[b] >= 1;
    next += runs.lengths[b];
    longest = std::max(longest, runs.lengths[b]);
  }
  const bool has_rest = call.attributes.get<bool>("rest");
  is_valid = is_valid && (has_rest ? next <= k.size(1) : next == k.size(1));
  shape.keys = longest;
  if (runs.queries) shape.queries = longest;
}

void clear_rest(Call& call) {
  if (!call.attributes.get<bool>("rest")) return;
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    std::memset(call.output(i).device_pointer(), 0, call.output(i).size_bytes());
}

}  // namespace hone
