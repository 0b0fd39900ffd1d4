#include "hone/data/synthetic.h"

namespace hone {
namespace {

// Uses only the most frequent polarity words of each sign: the dataset tests attention, not vocabulary.
constexpr std::uint64_t kAdjectives = 20;

}  // namespace

Example make_lookup(const Lexicon& lexicon, RandomSequence& random) {
  std::vector<std::string> entities = lexicon.entities;
  random.shuffle(entities);
  const std::uint64_t facts = 6 + random.below(11);
  const std::uint64_t asked = random.below(facts);
  Example example{entities[asked] + " ?", 0};
  for (std::uint64_t i = 0; i < facts; ++i) {
    const bool positive = random.below(2) == 1;
    const auto& words = positive ? lexicon.positive : lexicon.negative;
    example.text += ' ' + entities[i] + " is " + words[random.below(kAdjectives)].text + " .";
    if (i == asked) example.label = positive;
  }
  return example;
}

}  // namespace hone
