#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// A token that is recognised literally in the raw text, before anything else is done to it.
struct AddedToken {
  std::string text;
  bool strip_left = false;   ///< the white space before it belongs to it
  bool strip_right = false;  ///< the white space behind it belongs to it
  /// Looked for only between those that are not late. ("normalized" in Hugging Face's files, where
  /// no normalization changes the text.)
  bool late = false;
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// Finds added tokens in texts as Hugging Face does: of those that begin at one place the longest.
class AddedTokens {
 public:
  /// `token` (not empty, each once) is recognised from now on.
  void add(const AddedToken& token, std::int32_t id);

  /// Calls `use(stretch, id)` for the stretches of `text` between the tokens, each with the id of
  /// the token behind it, or -1, in order and until it returns false. A stretch may be empty.
  template <typename Use>
  void split(std::string_view text, const Use& use) const {
    while (!text.empty()) {
      const Found early = early_.find(text);
      std::string_view between = text.substr(0, early.begin);
      while (!between.empty()) {
        const Found late = late_.find(between);
        if (!use(between.substr(0, late.begin), late.id)) return;
        between.remove_prefix(late.end);
      }
      if (early.id >= 0 && !use(std::string_view(), early.id)) return;
      text.remove_prefix(early.end);
    }
  }

 private:
  struct Known {
    AddedToken token;
    std::int32_t id;
  };
  struct Found {
    std::size_t begin, end;  // both the size of the text where there is none
    std::int32_t id = -1;
  };
  /// Tokens that are looked for together.
  class Round {
   public:
    void add(const AddedToken& token, std::int32_t id);
    /// The first token of the text.
    Found find(std::string_view text) const;

   private:
    std::size_t candidate(std::string_view text, std::size_t from) const;

    std::vector<Known> tokens_;       // longest first
    std::array<bool, 256> begins_{};  // first bytes of tokens
    std::string first_bytes_;         // each once
  };

  Round early_, late_;
};

}  // namespace hone
