#pragma once

#include <cstdint>

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Attention by kernels for the tensor cores of one generation of GPUs, Hopper:
/// hone/cuda/source/attention_tensor_core.cu.
namespace hone::cuda {

/// Heads of texts, as the operands of `attention` are: (texts, tokens, heads, size), each head's values dense.
struct Heads {
  Address address = 0;
  std::int64_t text_stride = 0, token_stride = 0, head_stride = 0;  ///< in elements
};

/// y[b, s, n] = sum_t softmax_t(scale q[b, s, n] . k[b, t, n] + mask[b, t]) v[b, t, n] of bf16 or fp16 values,
/// computed in fp32.
struct HeadsAttention {
  DType dtype = DType::bf16;
  std::int64_t texts = 0, queries = 0, keys = 0, heads = 0, size = 0;
  float scale = 1;
  Heads q, k, v, y;
  const float* mask = nullptr;   ///< on the GPU, (keys) of each text; null: none
  std::int64_t mask_stride = 0;  ///< of texts, in elements; 0: one for all
};

/// Whether a GPU has what the kernels are made of.
bool has_hopper_tensor_cores(CudaDevice& device);

/// Whether the kernels can do it: sizes 64 and 128, a scale above 0, and addresses and strides in whole units of 16
/// bytes.
bool fits_tensor_cores(CudaDevice& device, const HeadsAttention& attention);

/// Puts it, which fits, on the queue.
void tensor_core_attention(CudaDevice& device, const HeadsAttention& attention);

}  // namespace hone::cuda
