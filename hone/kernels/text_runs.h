#pragma once

#include "hone/kernels/attention.h"

/// The tokens of one text in attention, padded or not.
namespace hone::kernels {

struct TextTokens {
  std::int64_t text = 0;
  std::int64_t queries = 0, keys = 0;           ///< numbers of tokens
  std::int64_t first_query = 0, first_key = 0;  ///< index among the tokens of all texts
  bool query_runs = false, key_runs = false;    ///< texts are stored back to back

  TextTokens(const AttentionShape& shape, const TextRuns& runs, std::int64_t number)
      : text(number), queries(shape.queries), keys(shape.keys) {
    if (runs.begins == nullptr) return;
    key_runs = true;
    keys = runs.lengths[text];
    first_key = runs.begins[text];
    if (!runs.queries) return;
    query_runs = true;
    queries = keys;
    first_query = first_key;
  }

  /// Returns head n of a tensor with one vector per query, from the first query of this text on.
  template <typename T>
  HeadsOf<T> of_queries(HeadsOf<T> x, std::int64_t n) const {
    return from(x, n, query_runs ? first_query * x.token_stride : text * x.batch_stride);
  }
  /// The same for a tensor with one vector per key.
  template <typename T>
  HeadsOf<T> of_keys(HeadsOf<T> x, std::int64_t n) const {
    return from(x, n, key_runs ? first_key * x.token_stride : text * x.batch_stride);
  }

 private:
  template <typename T>
  static HeadsOf<T> from(HeadsOf<T> x, std::int64_t n, std::int64_t offset) {
    x.data += offset + n * x.head_stride;
    return x;
  }
};

}  // namespace hone::kernels
