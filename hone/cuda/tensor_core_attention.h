#pragma once

#include <cstdint>

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Attention by kernels for the tensor cores of Hopper GPUs: hone/cuda/source/attention_tensor_core.cu.
namespace hone::cuda {

/// An operand of `attention`: (texts, tokens, heads, size), each head's values dense.
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
  const float* mask = nullptr;   ///< in GPU memory, (keys) for each text; null: none
  std::int64_t mask_stride = 0;  ///< between texts, in elements; 0: one mask for all
};

/// Returns whether a GPU has the instructions that the kernels use.
bool has_hopper_tensor_cores(CudaDevice& device);

/// Returns whether the kernels support it: a Hopper GPU, head sizes 64 and 128, a scale above 0, and addresses and
/// strides that are multiples of 16 bytes.
bool fits_tensor_cores(CudaDevice& device, const HeadsAttention& attention);

/// Puts an attention that fits on the queue.
void tensor_core_attention(CudaDevice& device, const HeadsAttention& attention);

}  // namespace hone::cuda
