#include "hone/text/word_piece.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
namespace {

RollingHash hash_of(std::string_view piece) {
  RollingHash hash;
  for (const char c : piece) hash.add(c);
  return hash;
}

// The low bits of FNV-1a depend on the low bits of the text alone; the high half stirs them.
std::size_t slot_of(std::uint64_t hash) { return hash ^ hash >> 32; }

}  // namespace

void PieceTable::insert(std::string_view piece, std::int32_t id) {
  if (++count_ * 2 > slots_.size()) {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, slots_.size() * 2)));
    for (const Slot& slot : old) {
      if (slot.id >= 0) place(slot);
    }
  }
  longest_ = std::max(longest_, piece.size());
  place({hash_of(piece).value, static_cast<std::uint32_t>(text_.size()),
         static_cast<std::uint32_t>(piece.size()), id});
  text_ += piece;
}

void PieceTable::place(const Slot& slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = slot_of(slot.hash) & mask;
  while (slots_[at].id >= 0) at = (at + 1) & mask;
  slots_[at] = slot;
}

std::int32_t PieceTable::find(std::string_view piece, RollingHash hash) const {
  if (slots_.empty()) return -1;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = slot_of(hash.value) & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash.value && std::string_view(text_).substr(slot.begin, slot.size) == piece)
      return slot.id;
  }
  return -1;
}

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
