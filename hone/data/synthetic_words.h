#pragma once

#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/text/tokenizer.h"

/// The language of the built-in data: words of syllables, the same in every run, and a WordPiece
/// vocabulary for them.
namespace hone {

/// A word and what it adds to a score.
struct ScoredWord {
  std::string text;
  double value = 0;
};

/// All words with a meaning. No word begins with another one. Within a list, frequent words come
/// first.
struct Lexicon {
  std::vector<std::string> fillers;   ///< mean nothing
  std::vector<std::string> entities;  ///< things that facts are told about

  /// Words of `negation` and `lookup`: +1, +2, +3 in turn, and as many negative ones.
  std::vector<ScoredWord> positive, negative;
  std::vector<std::string> negators;      ///< flip the next polarity word
  std::string weak_negator;               ///< times -1/2
  std::vector<std::string> intensifiers;  ///< times 2
  std::vector<std::string> softeners;     ///< times 1/2
  std::string contrast;                   ///< divides by 4 all that came before

  /// Words of `tail`, alternately positive and negative.
  std::vector<ScoredWord> tail_common;  ///< +-1
  std::vector<ScoredWord> tail_strong;  ///< +-3
  std::vector<ScoredWord> tail_rare;    ///< +-15
};

Lexicon make_lexicon();

/// The tokenizer of the built-in data, uncased. Its vocabulary: special tokens, ASCII marks, digits
/// and letters, all syllables, and as whole words everything but the rarest polarity words, which
/// split into three or four pieces. Other ASCII text becomes letters and syllables.
Tokenizer synthetic_tokenizer();

/// A random order-preserving choice by Zipf's law: index i with a probability in proportion to 1 /
/// (i + 1).
class ZipfChoice {
 public:
  explicit ZipfChoice(std::size_t count);
  std::size_t operator()(RandomSequence& random) const;

 private:
  std::vector<double> cumulative_;
};

/// One of `items`, each as likely.
template <typename T>
const T& pick(const std::vector<T>& items, RandomSequence& random) {
  return items[random.below(items.size())];
}

}  // namespace hone
