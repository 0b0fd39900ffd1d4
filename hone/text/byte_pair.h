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

/// Byte pair encoding: a word starts as bytes. The adjacent pair that comes first in a list of merges is joined, the
/// leftmost if there are several, until no pair is in the list. (Sennrich, Haddow and Birch, "Neural machine
/// translation of rare words with subword units", 2016; over bytes as in GPT-2.)
namespace hone {

/// Two tokens that are joined into the token of their concatenated texts.
struct Merge {
  std::string left, right;
  friend bool operator==(const Merge&, const Merge&) = default;
};

/// The merges are invalid, rather than the tokens; they may come from a separate file.
class MergesError : public UserError {
 public:
  /// `at`: index of the merge, from 0; nothing: all of them.
  MergesError(std::string message, std::optional<std::size_t> at)
      : UserError(std::move(message)), merge(at) {}
  std::optional<std::size_t> merge;
};

class BytePair {
 public:
  BytePair() = default;
  /// The id of a token, in the alphabet of byte_level.h, is its index. Merges are ordered by priority. Throws
  /// `UserError` for a byte without a token; `MergesError` for merges that produce few of the tokens, a duplicate
  /// merge, and a merge whose parts or result are not tokens.
  BytePair(const std::vector<std::string>& tokens, const std::vector<Merge>& merges);

  /// Appends the ids of the pieces of `word`, which may be any bytes. Takes O(n log n) time.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  void read_merges(const std::vector<std::string>& tokens, const std::vector<Merge>& merges);
  void find_whole_words(const std::vector<std::string>& tokens);
  std::uint32_t rank(std::int32_t left, std::int32_t right) const;
  void join(std::string_view word, std::vector<std::int32_t>& ids) const;
  void join_short(std::string_view word, std::vector<std::int32_t>& ids) const;
  void join_long(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::array<std::int32_t, 256> byte_ids_{};
  PairTable ranks_;                   // number of the merge of two ids
  std::vector<std::int32_t> joined_;  // id of each merge's result
  PieceTable whole_;                  // words that become one token, as most do
};

}  // namespace hone
