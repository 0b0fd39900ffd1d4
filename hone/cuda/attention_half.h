#pragma once

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Attention of bf16 and fp16 values and its gradient on tensor cores, with masks, dropout and unpadded texts:
/// hone/cuda/source/attention_half.cu and attention_half_gradient.cu.
namespace hone::cuda {

struct AttentionCall;  // in source/attention_call.cuh, which the kernels include, too

/// Returns whether the kernels support the call: queries, keys and values all have 32, 64, 96 or 128 elements, and
/// addresses and strides are multiples of 16 bytes. `call` contains all operands and results.
bool fits_half_attention(DType dtype, const AttentionCall& call);

/// Puts a call that fits on the queue. The gradient needs `call.statistics`: three floats for each query of all heads.
void half_attention(Device& device, DType dtype, const AttentionCall& call);
void half_attention_gradient(Device& device, DType dtype, AttentionCall call);

}  // namespace hone::cuda
