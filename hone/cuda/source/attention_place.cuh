#pragma once
// The rows that a block of the attention kernels works on. Files that include this define kBlockRows before: the number
// of queries, or keys, of a block.
#include "attention_call.cuh"
#include "numbers.cuh"
#include "random.cuh"

using hone::cuda::AttentionCall;
using hone::cuda::AttentionHeads;

inline float minus_infinity() { return __uint_as_float(0xff800000u); }  // -infinity

inline int smaller(std::int64_t a, int b) { return a < b ? int(a) : b; }
inline std::int64_t whole(std::int64_t count, int of) { return (count + of - 1) / of; }

// The text and head that a block works on, and its first row.
struct Place {
  std::int64_t text, head, first, queries, keys;
  std::int64_t query_text, query_begin, key_text, key_begin;
};

// `first` is the block's first row among the text's queries or keys.
inline Place place_in(const AttentionCall& call, std::int64_t text, std::int64_t head, std::int64_t first) {
  Place place;
  place.text = text;
  place.head = head;
  place.first = first;
  place.query_text = place.key_text = place.text;
  place.query_begin = place.key_begin = 0;
  place.queries = call.queries;
  place.keys = call.keys;
  if (call.begins == nullptr) return place;
  place.key_text = 0;
  place.key_begin = call.begins[place.text];
  place.keys = call.lengths[place.text];
  // A range outside of the tokens has no keys.
  if (place.key_begin < 0 || place.keys < 0 || place.keys > call.keys - place.key_begin)
    place.key_begin = place.keys = 0;
  if (call.query_runs == 0) return place;
  place.query_text = 0;
  place.query_begin = place.key_begin;
  place.queries = place.keys;
  return place;
}

// Texts stored back to back share one sequence of tiles, in which text b begins at tile begins[b] / kBlockRows + b.
// That leaves each text enough tiles, whatever its length, so the host need not know the lengths.
inline std::int64_t first_tile(const AttentionCall& call, std::int64_t text) {
  return call.begins[text] / kBlockRows + text;
}

template <bool kOwnKeys>
inline Place find_place(const AttentionCall& call) {
  const std::int64_t head = blockIdx.x % call.heads;
  std::int64_t text, tile = blockIdx.x / call.heads;
  if (kOwnKeys ? call.begins != nullptr : call.query_runs != 0) {
    std::int64_t low = 0, high = call.texts - 1;
    while (low < high) {
      const std::int64_t middle = (low + high + 1) / 2;
      if (first_tile(call, middle) <= tile) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    text = low;
    tile -= first_tile(call, low);
  } else {
    const std::int64_t tiles = whole(kOwnKeys ? call.keys : call.queries, kBlockRows);
    text = tile / tiles;
    tile %= tiles;
  }
  return place_in(call, text, head, tile * kBlockRows);
}

inline VALUE* of_queries(const AttentionHeads& x, const Place& place) {
  return static_cast<VALUE*>(x.data) + place.query_text * x.text_stride + place.head * x.head_stride +
         place.query_begin * x.token_stride;
}
inline VALUE* of_keys(const AttentionHeads& x, const Place& place) {
  return static_cast<VALUE*>(x.data) + place.key_text * x.text_stride + place.head * x.head_stride +
         place.key_begin * x.token_stride;
}

// Returns what is subtracted from scores with this maximum: 0 if all are -infinity, to avoid NaN.
inline float shift_of(float maximum) { return maximum == minus_infinity() ? 0 : maximum; }

// Returns the index of the random word of a weight.
inline std::uint64_t word_of(const AttentionCall& call, const Place& place, std::int64_t query,
                             std::int64_t key) {
  return std::uint64_t(place.text * call.word_strides[0] + place.head * call.word_strides[1] +
                       query * call.word_strides[2] + key);
}

// Three arrays of a number for each query of all heads.
struct Statistics {
  float *shift, *inverse, *delta;  // of the queries of one head of one text

  Statistics(const AttentionCall& call, const Place& place) {
    const std::int64_t tokens = call.query_runs != 0 ? call.queries : call.texts * call.queries;
    shift = call.statistics + place.head * tokens + place.query_text * call.queries + place.query_begin;
    inverse = shift + call.heads * tokens;
    delta = inverse + call.heads * tokens;
  }
};
