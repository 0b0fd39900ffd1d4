#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/text/piece_table.h"

/// WordPiece: a word is split into the longest piece of the vocabulary that it begins with, and the rest likewise.
/// (Schuster and Nakajima, "Japanese and Korean voice search", 2012; as in BERT.)
namespace hone {

/// Options of splitting words.
struct WordPieceOptions {
  std::string continuation_prefix = "##";     ///< marks pieces that continue a word
  std::size_t longest_word_characters = 100;  ///< longer words are unknown as a whole
};

class WordPiece {
 public:
  WordPiece() = default;
  /// The id of a token is its index. `unknown_id` represents words that cannot be split.
  WordPiece(const std::vector<std::string>& tokens, std::int32_t unknown_id,
            const WordPieceOptions& options);

  /// Appends the ids of the pieces of `word` (normalized UTF-8, not empty), or only the unknown id.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  bool too_long(std::string_view word) const;

  PieceTable beginnings_;
  PieceTable continuations_;
  std::int32_t unknown_id_ = -1;
  std::size_t longest_word_characters_ = 0;
};

}  // namespace hone
