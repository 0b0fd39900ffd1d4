#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/text/pair_table.h"
#include "hone/text/piece_table.h"

/// Byte pair encoding: a word begins as bytes, and the two neighbours that come first in a list of
/// merges are joined, the leftmost of several such, until none are in the list. (Sennrich, Haddow
/// and Birch, "Neural machine translation of rare words with subword units", 2016; over bytes as in
/// GPT-2.)
namespace hone {

/// Two tokens that are joined to the token of both texts.
struct Merge {
  std::string left, right;
  friend bool operator==(const Merge&, const Merge&) = default;
};

/// The merges are at fault, not the tokens: they may stand in a file of their own.
class MergesError : public UserError {
 public:
  /// `at`: which of them, from 0 on; none: all together.
  MergesError(std::string message, std::optional<std::size_t> at)
      : UserError(std::move(message)), merge(at) {}
  std::optional<std::size_t> merge;
};

class BytePair {
 public:
  BytePair() = default;
  /// The id of a token, written in the alphabet of byte_level.h, is its index; the merge that comes
  /// first is made first. Throws `UserError` for a byte without a token, `MergesError` for merges that
  /// make few of the tokens, and for a merge that stands twice or of which a part or the result is no
  /// token.
  BytePair(const std::vector<std::string>& tokens, const std::vector<Merge>& merges);

  /// Appends the ids of the pieces of `word`, bytes of any number. The time grows with their number
  /// times its logarithm.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  void read_merges(const std::vector<std::string>& tokens, const std::vector<Merge>& merges);
  void find_whole_words(const std::vector<std::string>& tokens);
  std::uint32_t rank(std::int32_t left, std::int32_t right) const;
  void join(std::string_view word, std::vector<std::int32_t>& ids) const;
  void join_short(std::string_view word, std::vector<std::int32_t>& ids) const;
  void join_long(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::array<std::int32_t, 256> byte_ids_{};
  PairTable ranks_;                   // of two ids the number of their merge
  std::vector<std::int32_t> joined_;  // of a merge the id of its result
  PieceTable whole_;                  // words that become one token, which most are
};

}  // namespace hone
