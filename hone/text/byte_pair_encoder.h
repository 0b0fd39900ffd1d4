#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/byte_pair.h"

namespace hone {

/// What GPT-2 and RoBERTa do to text: its words, with the space before them, are joined from bytes.
struct BytePairModel {
  std::vector<Merge> merges = {};
  /// Text that does not begin with a space gets one, also behind an added token.
  bool prefix_space = false;
  bool split_words = true;  ///< else a text is one word
};

/// The ids of texts by a `BytePairModel`. The functions are those of `WordPieceEncoder`.
class BytePairEncoder {
 public:
  /// Throws `UserError` as `BytePair` does.
  BytePairEncoder(const BytePairModel& model, const std::vector<std::string>& tokens);

  /// Well-formed UTF-8: no other normalization is supported.
  std::string normalized(std::string_view text, std::int64_t& replaced) const;
  std::int64_t encode(std::string_view text, bool is_normalized, std::size_t limit,
                      std::vector<std::int32_t>& ids) const;
  /// None: bytes spell everything.
  std::vector<std::string> unknown_words(std::string_view, bool) const { return {}; }
  /// Whether a token begins with a letter, a number or inside of a character. So the first word of
  /// a text and one behind a bracket, which have no space before them, count as continued.
  bool continues_word(std::string_view token) const;
  std::string shown(std::string_view token) const;

 private:
  BytePair pieces_;
  bool prefix_space_, split_words_;
};

}  // namespace hone
