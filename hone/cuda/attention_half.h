#pragma once

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Attention and its gradient of bf16 and fp16 values on tensor cores, with all that training asks for:
/// hone/cuda/source/attention_half.cu and attention_half_gradient.cu.
namespace hone::cuda {

struct AttentionCall;  // in source/attention_call.cuh, which kernels include, too

/// Whether the kernels can do it: queries, keys and values of the same 32, 64, 96 or 128 elements, and addresses and
/// strides in whole units of 16 bytes. `call` says all that is read and written.
bool fits_half_attention(DType dtype, const AttentionCall& call);

/// Put it, which fits, on the queue. The gradient needs `call.statistics`: three floats for each query of all heads.
void half_attention(Device& device, DType dtype, const AttentionCall& call);
void half_attention_gradient(Device& device, DType dtype, AttentionCall call);

}  // namespace hone::cuda
