#include "hone/kernels/attention.h"
#include "hone/kernels/attention_gradient.h"
#include "hone/runtime/attention_call.h"
#include "hone/runtime/cpu_kernels.h"

// Attention in f32.
namespace hone {
namespace {

kernels::ConstHeads heads_of(const Call& call, std::size_t index) {
  return heads_of_operand(call, index, floats(call, index));
}
kernels::Heads heads_of_output(Call& call, std::size_t index) {
  return heads_of_result(call, index, call.output(index).data<float>());
}

void attention(Call& call) {
  const AttentionCall c(call, 3);
  if (!c.is_valid) return call.op.reference(call);
  clear_rest(call);
  kernels::attention(call.pool(), c.shape, c.scale, heads_of(call, 0), heads_of(call, 1),
                     heads_of(call, 2), c.mask, heads_of_output(call, 0), c.dropout, c.runs);
}

void attention_gradient(Call& call) {
  const AttentionCall c(call, 4);
  if (!c.is_valid) return call.op.reference(call);
  clear_rest(call);
  kernels::attention_gradient(call.pool(), c.shape, c.scale, heads_of(call, 0), heads_of(call, 1),
                              heads_of(call, 2), c.mask, heads_of(call, 3),
                              heads_of_output(call, 0), heads_of_output(call, 1),
                              heads_of_output(call, 2), c.dropout, c.runs);
}

}  // namespace

KernelTable attention_kernels() {
  return {
      {"attention", "cpu", "fused", anything, attention, Layout::rows},
      {"attention_gradient", "cpu", "fused", anything, attention_gradient, Layout::rows},
  };
}

}  // namespace hone
