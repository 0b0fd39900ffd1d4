#include "hone/text/byte_pair.h"

#include <algorithm>
#include <queue>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/text/byte_level.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

constexpr std::size_t kShortWord = 40;  // bytes up to which a linear search beats a queue

/// A pair that could be joined when it entered the queue.
struct RankedPair {
  std::uint32_t rank;
  std::size_t at;
  bool operator>(const RankedPair& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};
using RankedPairs =
    std::priority_queue<RankedPair, std::vector<RankedPair>, std::greater<RankedPair>>;

/// A piece of a long word, and the indices of its neighbors.
struct Piece {
  std::int32_t id;  // -1 after it was merged into the previous piece
  std::size_t before, after;
};

}  // namespace

BytePair::BytePair(const std::vector<std::string>& tokens, const std::vector<Merge>& merges) {
  read_merges(tokens, merges);
  find_whole_words(tokens);
}

void BytePair::read_merges(const std::vector<std::string>& tokens,
                           const std::vector<Merge>& merges) {
  PieceTable table;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    table.insert(tokens[i], static_cast<std::int32_t>(i));
  const auto find = [&](std::string_view token) { return table.find(token, hash_of(token)); };
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(byte_character(static_cast<unsigned char>(byte)), letter);
    byte_ids_[byte] = find(letter);
    user_check(
        byte_ids_[byte] >= 0,
        "vocabulary: there is no token for the byte 0x{:02x}, written '{}'; expected one for "
        "each of the 256 bytes, as GPT-2 and RoBERTa have them",
        byte, letter);
  }
  joined_.reserve(merges.size());
  for (const Merge& merge : merges) {
    const auto number = static_cast<std::uint32_t>(joined_.size());
    const auto refuse = [&](std::string message) { throw MergesError(std::move(message), number); };
    const auto id_of = [&](const std::string& token) {
      const std::int32_t id = find(token);
      if (id < 0)
        refuse(fmt::format(
            "merge {}, '{} {}': '{}' is not among the {} tokens; merges and vocabulary do not "
            "belong together",
            number + 1, shown_name(merge.left), shown_name(merge.right), shown_name(token),
            tokens.size()));
      return id;
    };
    const std::int32_t left = id_of(merge.left), right = id_of(merge.right);
    joined_.push_back(id_of(merge.left + merge.right));
    const std::uint32_t first = ranks_.find_or_insert(
        PairTable::key(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right)),
        number);
    if (first != number)
      refuse(fmt::format("the merge '{} {}' is listed twice, as numbers {} and {}",
                         shown_name(merge.left), shown_name(merge.right), first + 1, number + 1));
  }
}

void BytePair::find_whole_words(const std::vector<std::string>& tokens) {
  std::vector<std::int32_t> ids;
  std::size_t longer = 0, tokens_without_merge =
                              0;  // tokens of several bytes, and those that no merges produce
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::optional<std::string> word = bytes_of(tokens[i]);
    if (!word || word->empty()) continue;
    ids.clear();
    join(*word, ids);
    if (ids.size() == 1) whole_.insert(*word, ids[0]);
    longer += word->size() > 1;
    tokens_without_merge += ids.size() > 1;
  }
  // No merges produce special tokens and a few others; a truncated merges file misses most tokens.
  constexpr std::size_t kFew = 32;
  if (tokens_without_merge > kFew && 2 * tokens_without_merge > longer)
    throw MergesError(
        fmt::format("the merges make only {} of the {} tokens of several bytes; merges and "
                    "vocabulary do not belong together, or the merges are damaged",
                    longer - tokens_without_merge, longer),
        std::nullopt);
}

std::uint32_t BytePair::rank(std::int32_t left, std::int32_t right) const {
  return ranks_.find(
      PairTable::key(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right)));
}

void BytePair::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (word.size() <= whole_.longest()) {
    const std::int32_t id = whole_.find(word, hash_of(word));
    if (id >= 0) return ids.push_back(id);
  }
  join(word, ids);
}

void BytePair::join(std::string_view word, std::vector<std::int32_t>& ids) const {
  word.size() <= kShortWord ? join_short(word, ids) : join_long(word, ids);
}

void BytePair::join_short(std::string_view word, std::vector<std::int32_t>& ids) const {
  std::int32_t piece[kShortWord];
  std::uint32_t ranks[kShortWord];  // of each piece and the next
  std::size_t count = 0;
  for (const char byte : word) piece[count++] = byte_ids_[static_cast<unsigned char>(byte)];
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = rank(piece[i], piece[i + 1]);
  while (count > 1) {
    const auto at = static_cast<std::size_t>(std::min_element(ranks, ranks + count - 1) - ranks);
    if (ranks[at] == PairTable::kNone) break;
    piece[at] = joined_[ranks[at]];
    std::copy(piece + at + 2, piece + count, piece + at + 1);
    std::copy(ranks + at + 1, ranks + count - 1, ranks + at);
    --count;
    if (at + 1 < count) ranks[at] = rank(piece[at], piece[at + 1]);
    if (at > 0) ranks[at - 1] = rank(piece[at - 1], piece[at]);
  }
  ids.insert(ids.end(), piece, piece + count);
}

void BytePair::join_long(std::string_view word, std::vector<std::int32_t>& ids) const {
  std::vector<Piece> pieces;
  pieces.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i)
    pieces.push_back({byte_ids_[static_cast<unsigned char>(word[i])], i - 1, i + 1});
  RankedPairs queue;
  const auto rank_at = [&](std::size_t at) {
    const std::size_t after = pieces[at].after;
    return after < pieces.size() ? rank(pieces[at].id, pieces[after].id) : PairTable::kNone;
  };
  const auto offer = [&](std::size_t at) {
    const std::uint32_t found = rank_at(at);
    if (found != PairTable::kNone) queue.push({found, at});
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) offer(i);
  while (!queue.empty()) {
    const RankedPair best = queue.top();
    queue.pop();
    Piece& left = pieces[best.at];
    if (left.id < 0 || rank_at(best.at) != best.rank) continue;  // stale
    Piece& right = pieces[left.after];
    left.id = joined_[best.rank];
    left.after = right.after;
    right.id = -1;
    if (left.after < pieces.size()) pieces[left.after].before = best.at;
    offer(best.at);
    if (left.before < pieces.size()) offer(left.before);
  }
  for (const Piece& piece : pieces)
    if (piece.id >= 0) ids.push_back(piece.id);
}

}  // namespace hone
