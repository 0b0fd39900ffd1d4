#include "hone/text/word_piece.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
WordPiece::WordPiece(const std::vector<std::string>& tokens, std::int32_t unknown_id,
                     const WordPieceOptions& options)
    : unknown_id_(unknown_id), longest_word_characters_(options.longest_word_characters) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string_view piece = tokens[i];
    const bool continues = piece.starts_with(options.continuation_prefix);
    if (continues) piece.remove_prefix(options.continuation_prefix.size());
    if (!piece.empty())
      (continues ? continuations_ : beginnings_).insert(piece, static_cast<std::int32_t>(i));
  }
}

bool WordPiece::too_long(std::string_view word) const {
  if (word.size() <= longest_word_characters_) return false;
  const auto characters =
      std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return static_cast<std::size_t>(characters) > longest_word_characters_;
}

void WordPiece::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  const std::size_t before = ids.size();
  const auto give_up = [&] {
    ids.resize(before);
    ids.push_back(unknown_id_);
  };
  if (too_long(word)) return give_up();
  constexpr std::size_t kLongestPiece = 512;
  RollingHash hashes[kLongestPiece];
  const PieceTable* table = &beginnings_;
  while (!word.empty()) {
    const std::size_t longest = std::min({word.size(), table->longest(), kLongestPiece});
    RollingHash hash;
    for (std::size_t i = 0; i < longest; ++i) {
      hash.add(word[i]);
      hashes[i] = hash;
    }
    std::size_t size = longest;
    std::int32_t id = -1;
    while (size > 0 && (id = table->find(word.substr(0, size), hashes[size - 1])) < 0) --size;
    if (id < 0) return give_up();
    ids.push_back(id);
    word.remove_prefix(size);
    table = &continuations_;
  }
}

}  // namespace hone
