#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// A token that is matched literally in texts, before they are split into words.
struct AddedToken {
  std::string text;
  bool strip_left = false;   ///< includes preceding white space
  bool strip_right = false;  ///< includes following white space
  /// Its normalized form is searched in normalized text, between matches of tokens that are not normalized. False: the
  /// token is searched in the raw text.
  bool normalized = false;
  bool single_word = false;  ///< not matched next to a letter, digit, mark or "_"
  bool is_piece = true;      ///< also a piece of the model's vocabulary
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// Finds added tokens in texts as the `tokenizers` library does (added_vocabulary.rs): from left to right, the longest
/// match at each position.
class AddedTokens {
 public:
  /// Adds `pattern` (not empty), which is matched by the rules of `token`. Of equal patterns the first one added is
  /// found.
  void add(const AddedToken& token, std::string pattern, std::int32_t id);
  bool empty() const { return first_bytes_.empty(); }

  /// Calls `use(stretch, id)` for each stretch of `text` between tokens, in order, with the id of the token after it,
  /// or -1. A stretch may be empty. Stops if `use` returns false. Returns whether the end was reached.
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
  struct Entry {
    AddedToken token;
    std::string pattern;
    std::int32_t id;
  };
  struct Stretch {
    std::size_t begin, end;
  };
  struct Match {
    const Entry* known = nullptr;
    std::size_t begin = 0, end = 0;
    std::int32_t id = -1;
  };

  Match find(std::string_view text, std::size_t from) const;
  std::size_t candidate(std::string_view text, std::size_t from) const;
  static Stretch stretch_of(const Match& match, std::string_view text, std::size_t begin);

  std::array<std::vector<Entry>, 256> tokens_;  // by first byte, longest first
  std::string first_bytes_;                     // distinct
};

}  // namespace hone
