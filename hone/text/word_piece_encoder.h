#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/normalizer.h"
#include "hone/text/word_piece.h"
#include "hone/text/word_splitter.h"

namespace hone {

/// What BERT does to text: it is normalized, cut into words, and these into the longest pieces.
struct WordPieceModel {
  Normalization normalization = {};
  WordPieceOptions pieces = {};
};

/// The ids of texts by a `WordPieceModel`.
class WordPieceEncoder {
 public:
  /// The id of a token is its index; `unknown_id` is the one of words that cannot be cut.
  WordPieceEncoder(const WordPieceModel& model, const std::vector<std::string>& tokens,
                   std::int32_t unknown_id);

  /// `text` as words are looked for in it. Adds the number of ill-formed parts of UTF-8, which were
  /// read as U+FFFD, to `replaced`.
  std::string normalized(std::string_view text, std::int64_t& replaced) const;
  /// Appends the ids of `text`, which is normalized if `is_normalized`, at least until there are
  /// more than `limit`. Returns how many ill-formed parts of UTF-8 were read as U+FFFD.
  std::int64_t encode(std::string_view text, bool is_normalized, std::size_t limit,
                      std::vector<std::int32_t>& ids) const;
  /// The words of such a text, normalized, that become the unknown token, in order.
  std::vector<std::string> unknown_words(std::string_view text, bool is_normalized) const;
  /// Whether a token stands inside of words.
  bool continues_word(std::string_view token) const;
  /// A token as people read it.
  std::string shown(std::string_view token) const { return std::string(token); }

 private:
  Normalization normalization_;
  WordSplitter splitter_, splitter_of_normalized_;
  WordPiece pieces_;
  std::int32_t unknown_id_;
  std::string continuation_prefix_;
};

}  // namespace hone
