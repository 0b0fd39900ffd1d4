#pragma once
// What a call of attention or of its gradient is, as the host tells it to the kernels: for both compilers.
#include <cstdint>

namespace hone::cuda {

/// The vector of token t of head n of text b begins at element `b * text_stride + n * head_stride + t * token_stride`;
/// its elements are neighbours. Of texts one behind the other, t is the number of the token among those of all, and b
/// is 0.
struct AttentionHeads {
  void* data;  ///< null: none
  std::int64_t text_stride, head_stride, token_stride;
};

struct AttentionCall {
  AttentionHeads query, key, value, dy;        ///< read
  AttentionHeads y, dquery, dkey, dvalue;      ///< written
  float* statistics;                           ///< of each head and query: shift, inverse, delta
  std::int64_t texts, heads, queries, keys;    ///< of each text, or of all one behind the other
  const std::int64_t *begins, *lengths;        ///< of the keys of texts one behind the other; null: padded
  const float* mask;                           ///< null: none
  std::int64_t mask_stride;                    ///< from text to text
  const std::int64_t* random_key;              ///< null: no weights are dropped
  std::uint64_t stream;                        ///< of random words
  std::int64_t word_strides[3];                ///< of texts, heads and queries
  std::uint32_t threshold;                     ///< words below it drop a weight
  float factor;                                ///< of those that stay
  float scale;
  std::int32_t head_size, value_size;
  std::int32_t query_runs;     ///< queries, too, stand one behind the other
  std::int32_t packed;         ///< all vectors begin at whole packs of four elements, and are whole packs
  std::int32_t column_rows;    ///< what there is memory for, of a tile that goes by
  std::int32_t query_rows;     ///< of a block of the kernel of the queries' gradients
};

}  // namespace hone::cuda
