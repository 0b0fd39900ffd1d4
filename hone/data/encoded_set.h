#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/data/data_set.h"
#include "hone/data/image_set.h"
#include "hone/text/tokenizer.h"

/// Converts labelled examples to the arrays that a model takes.
///
///     const EncodedSet set = encode_examples(pool, tokenizer, data.train, 512);
///     const Batch batch = make_batch(set, rows);
namespace hone {

/// Tokenized examples, or images; each image is stored as one token, its index in `images`.
struct EncodedSet {
  std::vector<std::vector<std::int32_t>> ids;  ///< per text, with the special tokens
  std::vector<std::int32_t> labels;
  Task task = Task::single_label;
  std::vector<float> targets = {};  ///< (texts, target_width), row-major: `Example::targets`
  std::int64_t target_width = 0;    ///< 0 for classification
  /// Per pair, the index of the first token of type 1 (`Encoding::type_1_begin`); empty for single texts.
  std::vector<std::int32_t> type_1_begins = {};
  std::vector<char> truncated = {};  ///< per text
  std::int64_t truncated_texts = 0;
  /// Per text, `text_numbers` (hone/data/row_hash.h) in sets for evaluation; else empty.
  std::vector<std::int32_t> text_numbers = {};
  /// `unseen_rows` in sets for evaluation; else empty.
  std::vector<std::int64_t> unseen = {};
  /// Ill-formed UTF-8 sequences in the parts of the texts that were read.
  std::int64_t replaced_bytes = 0;
  std::int32_t pad_id = 0;                           ///< pads shorter texts of a batch
  std::shared_ptr<const ImageSet> images = nullptr;  ///< null for texts

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
  /// Returns the word for the examples: "texts" or "images".
  std::string_view noun() const { return images ? "images" : "texts"; }
};

/// Tokenizes all examples, pairs or single texts, on all threads of the pool. `task` is that of their dataset; all have
/// the same number of targets. `max_length` and `truncation` are as in `Tokenizer::encode`.
EncodedSet encode_examples(ThreadPool& pool, const Tokenizer& tokenizer,
                           std::span<const Example> examples, std::size_t max_length,
                           Task task = Task::single_label,
                           std::optional<Truncation> truncation = {});

/// Returns the rows whose `Example::seen` is false, or nothing if that is every row.
std::vector<std::int64_t> unseen_rows(std::span<const Example> examples);

/// Returns the examples `rows` of a set, in this order.
EncodedSet select_examples(const EncodedSet& set, std::span<const std::int64_t> rows);

/// A batch of texts, padded to the longest. All arrays but `labels` and `targets` are row-major (batch, tokens).
struct Batch {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::vector<std::int64_t> input_ids;
  std::vector<std::int64_t> attention_mask;  ///< 1 for text, 0 for padding
  std::vector<std::int64_t> token_type_ids;  ///< 0 or 1, see `Framing`
  std::vector<std::int64_t> labels;          // (batch)
  std::vector<float> targets;                // (batch, target_width)
  std::int64_t target_width = 0;
};

/// Returns the number of tokens of each text.
std::vector<std::int64_t> lengths_of(const EncodedSet& set);
/// Returns the number of tokens of the longest text; 0 without texts.
std::int64_t longest_text(const EncodedSet& set);

/// Returns the examples `rows` of `set` in this order, padded to the longest, or to `least_tokens` if that is more.
/// `rows` must not be empty.
Batch make_batch(const EncodedSet& set, std::span<const std::int64_t> rows,
                 std::int64_t least_tokens = 0);

}  // namespace hone
