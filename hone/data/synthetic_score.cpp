#include <algorithm>
#include <cmath>

#include "hone/data/synthetic.h"

namespace hone {
namespace {

constexpr double kPolarity = 0.4;  // share of words with a value; the others are fillers
// Uses only the most frequent words of each sign: the dataset tests regression, not vocabulary.
constexpr std::uint64_t kWords = 20;
constexpr double kNoise = 0.25;  // standard deviation, a lower bound of any model's error

}  // namespace

Example make_score(const Lexicon& lexicon, RandomSequence& random) {
  std::string text;
  double sum = 0;
  for (std::uint64_t words = 6 + random.below(11); words > 0; --words) {
    if (!text.empty()) text += ' ';
    if (random.uniform() >= kPolarity) {
      text += pick(lexicon.fillers, random);
      continue;
    }
    const auto& sign = random.below(2) == 1 ? lexicon.positive : lexicon.negative;
    const ScoredWord& word = sign[random.below(kWords)];
    text += word.text;
    sum += word.value;
  }
  const double score = 5 / (1 + std::exp(-sum / 3)) + kNoise * random.normal();
  const double written = std::round(100 * std::clamp(score, 0.0, 5.0)) / 100;
  return {.text = std::move(text), .targets = {static_cast<float>(written)}};
}

}  // namespace hone
