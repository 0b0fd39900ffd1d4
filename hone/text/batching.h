#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/text/data_set.h"
#include "hone/text/tokenizer.h"

/// From labelled texts to the integer arrays a model takes.
///
///     const EncodedSet set = encode_examples(pool, tokenizer, data.train, 512);
///     const auto order = epoch_order(set.size(), seed, epoch, /*shuffle=*/true);
///     for (const auto& rows : batches(order, 64)) {
///       train_on(make_batch(set, rows, tokenizer.pad_id()));
///     }
namespace hone {

/// Tokenized examples.
struct EncodedSet {
  std::vector<std::vector<std::int32_t>> ids;  ///< per text, with the special tokens
  std::vector<std::int32_t> labels;
  /// Per pair, where its tokens of type 1 begin (`Encoding::type_1_begin`); empty for single texts.
  std::vector<std::int32_t> type_1_begins = {};
  std::vector<char> truncated = {};  ///< per text, whether pieces were left out
  std::int64_t truncated_texts = 0;
  /// Per text, `text_numbers` (hone/text/row_hash.h), where something is measured; else empty.
  std::vector<std::int32_t> text_numbers = {};
  /// Ill-formed parts of UTF-8 in the parts of the texts that were read.
  std::int64_t replaced_bytes = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Tokenizes all examples, pairs or single texts, by all threads of the pool.
EncodedSet encode_examples(ThreadPool& pool, const Tokenizer& tokenizer,
                           std::span<const Example> examples, std::size_t max_length);

/// Rows of texts, padded to the longest of them. All arrays but `labels` are row-major (batch,
/// tokens).
struct Batch {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::vector<std::int64_t> input_ids;
  std::vector<std::int64_t> attention_mask;  ///< 1 for text, 0 for padding
  std::vector<std::int64_t> token_type_ids;  ///< 0 or 1, see `Framing`
  std::vector<std::int64_t> labels;          // (batch)
};

/// The examples `rows` of `set` in this order, padded to the longest, or to `least_tokens` if that is more. `rows` must
/// not be empty.
Batch make_batch(const EncodedSet& set, std::span<const std::int64_t> rows, std::int32_t pad_id,
                 std::int64_t least_tokens = 0);

/// The order in which epoch `epoch` sees `count` examples: 0, 1, … or, with `shuffle`, a
/// permutation that depends on count, seed and epoch alone.
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle);

/// `most` of `count` rows (all, if there are fewer) in a random order that depends on count, seed and purpose alone. A
/// smaller sample is the beginning of a greater one.
std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                      std::string_view purpose);

/// Rearranges `order` so that texts of like length share a batch and little is padded: stretches of 50 batches are sorted
/// by length, then their batches shuffled by seed and epoch. The counterpart of Hugging Face's `group_by_length`.
void group_by_length(const EncodedSet& set, std::int64_t batch_size, std::uint64_t seed,
                     std::int64_t epoch, std::vector<std::int64_t>& order);

/// `order` cut into stretches of `batch_size`; the last may be shorter. The spans point into
/// `order`.
std::vector<std::span<const std::int64_t>> batches(std::span<const std::int64_t> order,
                                                   std::int64_t batch_size);

/// Share of padding among all tokens of the batches that `order` is cut into, in [0, 1): work that
/// is thrown away.
double padding_share(const EncodedSet& set, std::span<const std::int64_t> order,
                     std::int64_t batch_size);

}  // namespace hone
