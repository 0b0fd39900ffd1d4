#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/normalizer.h"
#include "hone/text/word_piece.h"
#include "hone/text/word_splitter.h"

namespace hone {

/// BERT's tokenization: text is normalized, split into words, and these into the longest pieces.
struct WordPieceModel {
  Normalization normalization = {};
  WordPieceOptions pieces = {};
};

/// Encodes texts by a `WordPieceModel`.
class WordPieceEncoder {
 public:
  /// The id of a token is its index; `unknown_id` represents words that cannot be split.
  WordPieceEncoder(const WordPieceModel& model, const std::vector<std::string>& tokens,
                   std::int32_t unknown_id);

  /// Normalizes `text`. Adds the number of ill-formed UTF-8 sequences, which become U+FFFD, to `replaced`.
  std::string normalized(std::string_view text, std::int64_t& replaced) const;
  /// Appends the ids of `text`, which is already normalized if `is_normalized`; may stop once there are more than
  /// `limit`. Returns the number of ill-formed UTF-8 sequences that were read as U+FFFD.
  std::int64_t encode(std::string_view text, bool is_normalized, std::size_t limit,
                      std::vector<std::int32_t>& ids) const;
  /// Returns the normalized words that become the unknown token, in order.
  std::vector<std::string> unknown_words(std::string_view text, bool is_normalized) const;
  /// Returns whether a token continues a word.
  bool continues_word(std::string_view token) const;
  /// Returns a token in readable form.
  std::string shown(std::string_view token) const { return std::string(token); }

 private:
  Normalization normalization_;
  WordSplitter splitter_, splitter_of_normalized_;
  WordPiece pieces_;
  std::int32_t unknown_id_;
  std::string continuation_prefix_;
};

}  // namespace hone
