#include <cmath>

#include "hone/data/synthetic.h"

namespace hone {
namespace {

// Share of clauses with a negator: close enough to one half that single words tell little, but not so close that a
// model finds no signal to start from.
constexpr double kNegated = 0.42;
constexpr double kWeak = 0.2;       // share of "hardly" among them
constexpr double kModified = 0.3;   // share of clauses with an intensifier or a softener
constexpr double kContrast = 0.15;  // share of clauses joined by "but"
constexpr double kMinScore = 0.75;

// A text under construction, and its score so far.
struct Review {
  const Lexicon& lexicon;
  RandomSequence& random;
  std::string text = {};
  double score = 0;

  void say(std::string_view word) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  void say_fillers(std::uint64_t least, std::uint64_t most) {
    for (std::uint64_t count = least + random.below(most - least + 1); count > 0; --count) {
      say(pick(lexicon.fillers, random));
    }
  }
  bool chance(double probability) { return random.uniform() < probability; }
};

// fillers [negator, 0 to 2 fillers] [intensifier or softener] polarity word
void say_clause(Review& review, const ZipfChoice& zipf) {
  const Lexicon& lexicon = review.lexicon;
  double factor = 1;
  review.say_fillers(1, 2);
  if (review.chance(kNegated)) {
    const bool weak = review.chance(kWeak);
    review.say(weak ? lexicon.weak_negator : pick(lexicon.negators, review.random));
    factor = weak ? -0.5 : -1;
    review.say_fillers(0, 2);
  }
  if (review.chance(kModified)) {
    const bool strong = review.chance(0.5);
    review.say(pick(strong ? lexicon.intensifiers : lexicon.softeners, review.random));
    factor *= strong ? 2 : 0.5;
  }
  const ScoredWord& word =
      (review.chance(0.5) ? lexicon.positive : lexicon.negative)[zipf(review.random)];
  review.say(word.text);
  review.score += factor * word.value;
}

void say_joint(Review& review) {
  if (review.chance(kContrast)) {
    review.say(review.lexicon.contrast);
    review.score /= 4;
  } else if (review.chance(0.5)) {
    review.say("and");
  } else {
    review.text += ',';
  }
}

}  // namespace

Example make_negation(const Lexicon& lexicon, RandomSequence& random) {
  const ZipfChoice zipf(lexicon.positive.size());
  for (;;) {
    Review review{lexicon, random};
    for (std::uint64_t clauses = 3 + random.below(5); clauses > 0; --clauses) {
      say_clause(review, zipf);
      if (clauses > 1) say_joint(review);
    }
    review.text += '.';
    if (std::abs(review.score) >= kMinScore) return {std::move(review.text), review.score > 0};
  }
}

}  // namespace hone
