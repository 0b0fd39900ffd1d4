#include "hone/data/synthetic_words.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace hone {
namespace {

constexpr std::string_view kConsonants = "bdfgklmnprstvz";
constexpr std::string_view kVowels = "aeiou";
// Number of polarity words per sign, and of those that are whole tokens.
constexpr std::size_t kPolarityWords = 200;
constexpr std::size_t kWholePolarityWords = 150;

std::vector<std::string> syllables() {
  std::vector<std::string> result;
  for (const char consonant : kConsonants) {
    for (const char vowel : kVowels) result.push_back({consonant, vowel});
  }
  return result;
}

// Draws new words. Shorter words must be drawn first: a word that begins with an earlier one is redrawn.
class WordMaker {
 public:
  std::string draw(std::size_t syllable_count) {
    for (;;) {
      std::string word;
      bool fresh = true;
      for (std::size_t i = 0; i < syllable_count && fresh; ++i) {
        word += pick(syllables_, random_);
        fresh = !used_.contains(word);
      }
      if (fresh && used_.insert(word).second) return word;
    }
  }

  std::vector<std::string> draw(std::size_t syllable_count, std::size_t count) {
    std::vector<std::string> words(count);
    for (std::string& word : words) word = draw(syllable_count);
    return words;
  }

 private:
  std::vector<std::string> syllables_ = syllables();
  std::set<std::string> used_;
  RandomSequence random_{0, stream_of("lexicon")};
};

std::vector<ScoredWord> draw_polarity(WordMaker& maker, double sign) {
  std::vector<ScoredWord> words;
  for (std::size_t i = 0; i < kPolarityWords; ++i) {
    words.push_back(
        {maker.draw(i < kWholePolarityWords ? 3 : 4), sign * static_cast<double>(i % 3 + 1)});
  }
  return words;
}

std::vector<ScoredWord> draw_alternating(WordMaker& maker, std::size_t count, double value) {
  std::vector<ScoredWord> words;
  for (std::size_t i = 0; i < count; ++i)
    words.push_back({maker.draw(3), i % 2 == 0 ? value : -value});
  return words;
}

void append_ascii(std::vector<std::string>& tokens) {
  for (char c = '!'; c <= '~'; ++c) {
    if (c >= 'A' && c <= 'Z') continue;
    tokens.push_back({c});
    const bool in_words = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    if (in_words) tokens.push_back({'#', '#', c});
  }
}

}  // namespace

Lexicon make_lexicon() {
  WordMaker maker;
  Lexicon lexicon;
  lexicon.fillers = maker.draw(2, 120);
  lexicon.entities = maker.draw(2, 40);
  // Three syllables before four, so that no word begins with a later one.
  lexicon.tail_common = draw_alternating(maker, 100, 1);
  lexicon.tail_strong = draw_alternating(maker, 200, 3);
  lexicon.tail_rare = draw_alternating(maker, 1000, 15);
  lexicon.positive = draw_polarity(maker, 1);
  lexicon.negative = draw_polarity(maker, -1);
  lexicon.negators = {"not", "never", "cannot"};
  lexicon.weak_negator = "hardly";
  lexicon.intensifiers = {"very", "really", "truly"};
  lexicon.softeners = {"slightly", "somewhat", "rather"};
  lexicon.contrast = "but";
  return lexicon;
}

Tokenizer synthetic_tokenizer() {
  const Lexicon lexicon = make_lexicon();
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  const auto append = [&](const std::vector<std::string>& words) {
    tokens.insert(tokens.end(), words.begin(), words.end());
  };
  const auto append_scored = [&](const std::vector<ScoredWord>& words, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) tokens.push_back(words[i].text);
  };
  append_ascii(tokens);
  for (const std::string& syllable : syllables()) append({syllable, "##" + syllable});
  append({"and", "is", lexicon.contrast, lexicon.weak_negator});
  append(lexicon.negators);
  append(lexicon.intensifiers);
  append(lexicon.softeners);
  append(lexicon.fillers);
  append(lexicon.entities);
  append_scored(lexicon.positive, kWholePolarityWords);
  append_scored(lexicon.negative, kWholePolarityWords);
  append_scored(lexicon.tail_common, lexicon.tail_common.size());
  append_scored(lexicon.tail_strong, lexicon.tail_strong.size());
  append_scored(lexicon.tail_rare, lexicon.tail_rare.size());
  TokenizerDefinition definition;
  definition.tokens = std::move(tokens);
  return Tokenizer(std::move(definition));
}

ZipfChoice::ZipfChoice(std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    cumulative_.push_back(sum += 1.0 / static_cast<double>(i + 1));
}

std::size_t ZipfChoice::operator()(RandomSequence& random) const {
  const double at = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
  return static_cast<std::size_t>(std::min(found, cumulative_.end() - 1) - cumulative_.begin());
}

}  // namespace hone
