#pragma once
// Arguments of attention and of its gradient. The host's compiler and NVRTC both compile this header.
#include <cstdint>

namespace hone::cuda {

/// The vector of token t of head n of text b begins at element `b * text_stride + n * head_stride + t * token_stride`;
/// its elements are adjacent. For texts stored back to back, t is the index among all tokens, and b is 0.
struct AttentionHeads {
  void* data;  ///< null: none
  std::int64_t text_stride, head_stride, token_stride;
};

struct AttentionCall {
  AttentionHeads query, key, value, dy;        ///< read
  AttentionHeads y, dquery, dkey, dvalue;      ///< written
  float* statistics;                           ///< shift, inverse and delta of each head and query
  std::int64_t texts, heads, queries, keys;    ///< tokens of each text, or of all texts stored back to back
  const std::int64_t *begins, *lengths;        ///< of the keys of texts stored back to back; null: padded
  const float* mask;                           ///< null: none
  std::int64_t mask_stride;                    ///< from text to text
  const std::int64_t* random_key;              ///< null: no dropout
  std::uint64_t stream;                        ///< of random words
  std::int64_t word_strides[3];                ///< of texts, heads and queries
  std::uint32_t threshold;                     ///< words below it drop a weight
  float factor;                                ///< of weights that are kept
  float scale;
  std::int32_t head_size, value_size;
  std::int32_t query_runs;     ///< queries are stored back to back, too
  std::int32_t packed;         ///< all vectors consist of aligned packs of four elements
  std::int32_t column_rows;    ///< columns of a tile that there is shared memory for
  std::int32_t query_rows;     ///< of a block of the kernel for the queries' gradients
};

}  // namespace hone::cuda
