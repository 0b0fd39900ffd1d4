#include "hone/data/synthetic.h"

namespace hone {
namespace {

constexpr double kSaid = 0.3;  // probability of each topic
constexpr std::size_t kWordsPerTopic = 8;

}  // namespace

Example make_topics(const Lexicon& lexicon, RandomSequence& random) {
  std::vector<std::string> words;
  for (std::uint64_t fillers = 6 + random.below(11); fillers > 0; --fillers)
    words.push_back(pick(lexicon.fillers, random));
  Example example;
  for (std::size_t topic = 0; topic < kTopics; ++topic) {
    const bool said = random.uniform() < kSaid;
    example.targets.push_back(said ? 1 : 0);
    if (!said) continue;
    for (std::uint64_t count = 1 + random.below(3); count > 0; --count)
      words.push_back(lexicon.entities[topic * kWordsPerTopic + random.below(kWordsPerTopic)]);
  }
  random.shuffle(words);
  for (const std::string& word : words) example.text += (example.text.empty() ? "" : " ") + word;
  return example;
}

}  // namespace hone
