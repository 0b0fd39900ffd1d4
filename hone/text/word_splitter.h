#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "hone/text/character.h"
#include "hone/text/normalizer.h"

/// Splits text into BERT's words: normalized text, split at white space and around punctuation, each mark a word.
///
///     const WordSplitter splitter({});
///     WordSplitter::Scratch scratch;
///     splitter.split("It's FINE.", scratch, [](std::string_view word) { … });   // it ' s fine .
namespace hone {

class WordSplitter {
 public:
  explicit WordSplitter(const Normalization& normalization);

  /// Reusable buffers, and the number of replacements.
  struct Scratch {
    std::string word;
    CodePoints points, buffer;
    std::int64_t replaced = 0;  ///< ill-formed UTF-8 sequences that were read as U+FFFD
  };

  /// Calls `use(word)` for every word of `text` in order; the word is valid only during the call.
  template <typename Use>
  void split(std::string_view text, Scratch& scratch, const Use& use) const {
    while (!text.empty()) {
      const Run run = take_run(text);
      split_run(run, scratch, use);
    }
  }
  /// Text without ASCII white space.
  struct Run {
    std::string_view text;  ///< may be empty
    bool ascii = true;      ///< whether all of it is ASCII
  };
  /// Removes the run before the first ASCII white space, and that space, from the front of `text`, which is not empty.
  Run take_run(std::string_view& text) const {
    Run run;
    std::size_t size = 0;
    for (; size < text.size(); ++size) {
      const auto byte = static_cast<unsigned char>(text[size]);
      if (byte >= 0x80) {
        run.ascii = false;
      } else if (ascii_[byte] == kSpace) {
        break;
      }
    }
    run.text = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return run;
  }
  /// Splits one run. Runs are independent: no normalization step crosses white space.
  template <typename Use>
  void split_run(const Run& run, Scratch& scratch, const Use& use) const {
    run.ascii ? split_ascii(run.text, scratch, use) : split_unicode(run.text, scratch, use);
  }

 private:
  enum AsciiClass : std::uint8_t { kLetter, kPunctuation, kSpace, kRemoved };

  template <typename Use>
  void split_ascii(std::string_view run, Scratch& scratch, const Use& use) const {
    scratch.word.clear();
    for (const char c : run) {
      const auto byte = static_cast<unsigned char>(c);
      if (ascii_[byte] == kLetter) {
        scratch.word.push_back(lower_[byte]);
      } else if (ascii_[byte] == kPunctuation) {
        finish(scratch, use);
        use(std::string_view(&c, 1));
      }
    }
    finish(scratch, use);
  }

  template <typename Use>
  void split_unicode(std::string_view run, Scratch& scratch, const Use& use) const {
    normalize_run(run, scratch);
    scratch.word.clear();
    for (const char32_t c : scratch.points) {
      const bool apart = is_punctuation(c), space = is_white_space(c);
      if (apart || space) finish(scratch, use);
      if (!space) append_utf8(c, scratch.word);
      if (apart) finish(scratch, use);
    }
    finish(scratch, use);
  }

  template <typename Use>
  static void finish(Scratch& scratch, const Use& use) {
    if (!scratch.word.empty()) use(std::string_view(scratch.word));
    scratch.word.clear();
  }

  void normalize_run(std::string_view run, Scratch& scratch) const;

  Normalization normalization_;
  std::array<AsciiClass, 128> ascii_{};  // after normalization
  std::array<char, 128> lower_{};        // ASCII after normalization
};

}  // namespace hone
