#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// A token that is split off texts literally, before words are looked for.
struct AddedToken {
  std::string text;
  bool strip_left = false;   ///< the white space before it belongs to it
  bool strip_right = false;  ///< the white space behind it belongs to it
  /// Its normalized form is searched for in normalized text, between tokens that are not
  /// normalized. Otherwise the token is searched for in the raw text.
  bool normalized = false;
  bool single_word = false;  ///< not found beside a letter, a digit, a mark or "_"
  bool is_piece = true;      ///< words may also be cut into it
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// Finds added tokens in texts as the library `tokenizers` does (added_vocabulary.rs): from left to
/// right, and of those that begin at one place the longest.
class AddedTokens {
 public:
  /// Searches for `pattern` (not empty) from now on, by the rules of `token`. Of equal patterns the
  /// first one added is found.
  void add(const AddedToken& token, std::string pattern, std::int32_t id);
  bool empty() const { return first_bytes_.empty(); }

  /// Calls `use(stretch, id)` for the stretches of `text` between the tokens, each with the id of
  /// the token behind it, or -1, in order and until it returns false. A stretch may be empty.
  /// Returns whether it came to the end.
  template <typename Use>
  bool split(std::string_view text, const Use& use) const {
    std::size_t begin = 0;
    for (Match match = find(text, 0); match.id >= 0; match = find(text, match.end)) {
      const Stretch taken = stretch_of(match, text, begin);
      if (taken.begin > taken.end) continue;
      if (!use(text.substr(begin, taken.begin - std::min(begin, taken.begin)), match.id))
        return false;
      begin = taken.end;
    }
    return begin >= text.size() || use(text.substr(begin), -1);
  }

 private:
  struct Known {
    AddedToken token;
    std::string pattern;
    std::int32_t id;
  };
  struct Stretch {
    std::size_t begin, end;
  };
  struct Match {
    const Known* known = nullptr;
    std::size_t begin = 0, end = 0;
    std::int32_t id = -1;
  };

  Match find(std::string_view text, std::size_t from) const;
  std::size_t candidate(std::string_view text, std::size_t from) const;
  static Stretch stretch_of(const Match& match, std::string_view text, std::size_t begin);

  std::array<std::vector<Known>, 256> tokens_;  // by first byte, longest first
  std::string first_bytes_;                     // each once
};

}  // namespace hone
