#include "hone/data/synthetic.h"

namespace hone {
namespace {

constexpr double kRare = 0.015;  // share of positions
constexpr double kStrong = 0.3;

const ScoredWord& pick_word(const Lexicon& lexicon, RandomSequence& random) {
  const double at = random.uniform();
  if (at < kRare) return pick(lexicon.tail_rare, random);
  return pick(at < kRare + kStrong ? lexicon.tail_strong : lexicon.tail_common, random);
}

}  // namespace

Example make_tail(const Lexicon& lexicon, RandomSequence& random) {
  for (;;) {
    std::string text;
    double sum = 0;
    for (std::uint64_t words = 24 + random.below(37); words > 0; --words) {
      const ScoredWord& word = pick_word(lexicon, random);
      if (!text.empty()) text += ' ';
      text += word.text;
      sum += word.value;
    }
    if (sum != 0) return {std::move(text), sum > 0};
  }
}

}  // namespace hone
