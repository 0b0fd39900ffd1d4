#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/byte_pair.h"

namespace hone {

/// Byte-level BPE of GPT-2 and RoBERTa: words, with the space before them, are encoded as byte pairs.
struct BytePairModel {
  std::vector<Merge> merges = {};
  /// Adds a space to text that does not begin with one, also after an added token.
  bool prefix_space = false;
  bool split_words = true;  ///< false: a text is one word
};

/// Encodes texts by a `BytePairModel`. The functions are those of `WordPieceEncoder`.
class BytePairEncoder {
 public:
  /// Throws `UserError` as `BytePair` does.
  BytePairEncoder(const BytePairModel& model, const std::vector<std::string>& tokens);

  /// Returns the text as well-formed UTF-8; no other normalization is supported.
  std::string normalized(std::string_view text, std::int64_t& replaced) const;
  std::int64_t encode(std::string_view text, bool is_normalized, std::size_t limit,
                      std::vector<std::int32_t>& ids) const;
  /// Returns nothing: bytes can represent any text.
  std::vector<std::string> unknown_words(std::string_view, bool) const { return {}; }
  /// Returns whether a token begins with a letter, a number or inside a character. So the first word of a text, and a
  /// word after a bracket, which have no space before them, count as continued.
  bool continues_word(std::string_view token) const;
  std::string shown(std::string_view token) const;

 private:
  BytePair pieces_;
  bool prefix_space_, split_words_;
};

}  // namespace hone
