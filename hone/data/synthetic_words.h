#pragma once

#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/text/tokenizer.h"

/// The language of the built-in data: words of syllables, identical in every run, and a WordPiece vocabulary for them.
namespace hone {

/// A word and its contribution to a score.
struct ScoredWord {
  std::string text;
  double value = 0;
};

/// All words with a role. No word begins with another one. Lists are sorted by decreasing frequency.
struct Lexicon {
  std::vector<std::string> fillers;   ///< without meaning
  std::vector<std::string> entities;  ///< subjects of facts

  /// Words of `negation`, `lookup` and `score`: values cycle through 1, 2, 3, or their negatives.
  std::vector<ScoredWord> positive, negative;
  std::vector<std::string> negators;      ///< multiply the next polarity word by -1
  std::string weak_negator;               ///< multiplies by -1/2
  std::vector<std::string> intensifiers;  ///< multiply by 2
  std::vector<std::string> softeners;     ///< multiply by 1/2
  std::string contrast;                   ///< divides the score so far by 4

  /// Words of `tail`, alternately positive and negative.
  std::vector<ScoredWord> tail_common;  ///< +-1
  std::vector<ScoredWord> tail_strong;  ///< +-3
  std::vector<ScoredWord> tail_rare;    ///< +-15
};

Lexicon make_lexicon();

/// Returns the uncased tokenizer of the built-in data. Its vocabulary contains special tokens, ASCII punctuation,
/// digits and letters, all syllables, and all words except the rarest polarity words, which split into three or four
/// pieces. Other ASCII text is split into letters and syllables.
Tokenizer synthetic_tokenizer();

/// Draws indices by Zipf's law: index i with a probability proportional to 1 / (i + 1).
class ZipfChoice {
 public:
  explicit ZipfChoice(std::size_t count);
  std::size_t operator()(RandomSequence& random) const;

 private:
  std::vector<double> cumulative_;
};

/// Returns one of `items`, drawn uniformly.
template <typename T>
const T& pick(const std::vector<T>& items, RandomSequence& random) {
  return items[random.below(items.size())];
}

}  // namespace hone
