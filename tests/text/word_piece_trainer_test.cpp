#include "hone/text/word_piece_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/json.h"
#include "hone/base/random.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using Tokens = std::vector<std::string>;

std::vector<std::string_view> views_of(const Tokens& texts) { return {texts.begin(), texts.end()}; }

Tokens learn(const Tokens& texts, const WordPieceTrainerOptions& options, int threads = 1) {
  ThreadPool pool(threads);
  return train_word_pieces(count_words(pool, views_of(texts), {}), options);
}

// A naive version of the trainer for words of ASCII letters: recounts all pairs for every new piece.
Tokens learn_slowly(const std::vector<CountedWord>& words, const WordPieceTrainerOptions& options) {
  Tokens tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::set<std::string> first, later;
  std::vector<Tokens> cut;
  for (const CountedWord& counted : words) {
    cut.emplace_back();
    for (std::size_t i = 0; i < counted.word.size(); ++i) {
      const std::string letter(1, counted.word[i]);
      first.insert(letter);
      if (i > 0) later.insert("##" + letter);
      cut.back().push_back(i > 0 ? "##" + letter : letter);
    }
  }
  tokens.insert(tokens.end(), first.begin(), first.end());
  tokens.insert(tokens.end(), later.begin(), later.end());
  const auto id = [&](const std::string& token) {
    return std::find(tokens.begin(), tokens.end(), token) - tokens.begin();
  };
  while (tokens.size() < options.vocab_size) {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    for (std::size_t w = 0; w < words.size(); ++w)
      for (std::size_t i = 0; i + 1 < cut[w].size(); ++i)
        counts[{cut[w][i], cut[w][i + 1]}] += words[w].count;
    std::pair<std::string, std::string> best;
    std::int64_t most = std::max<std::int64_t>(options.min_frequency, 1) - 1;
    for (const auto& [pair, count] : counts) {
      const bool first_of_ties =
          count == most && !best.first.empty() &&
          std::pair(id(pair.first), id(pair.second)) < std::pair(id(best.first), id(best.second));
      if (count > most || first_of_ties) best = pair;
      most = std::max(most, count);
    }
    if (best.first.empty()) break;
    const std::string joined = best.first + best.second.substr(2);
    tokens.push_back(joined);
    for (Tokens& word : cut)
      for (std::size_t i = 0; i + 1 < word.size(); ++i)
        if (word[i] == best.first && word[i + 1] == best.second) {
          word[i] = joined;
          word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
  }
  return tokens;
}

std::vector<CountedWord> random_words(RandomSequence& random, char last_letter) {
  std::map<std::string, std::int64_t> counts;
  const std::uint64_t letters = static_cast<std::uint64_t>(last_letter - 'a') + 1;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    for (std::uint64_t size = 1 + random.below(9); size > 0; --size)
      word += static_cast<char>('a' + random.below(letters));
    counts[word] += static_cast<std::int64_t>(1 + random.below(4));
  }
  std::vector<CountedWord> words;
  for (const auto& [word, count] : counts) words.push_back({word, count});
  return words;
}

TEST(TrainWordPieces, AgreesWithCountingEverythingAnew) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomSequence random(seed, stream_of("words to learn"));
    const std::vector<CountedWord> words = random_words(random, "abdz"[seed % 4]);
    const WordPieceTrainerOptions options{.vocab_size = 20 + 40 * (seed % 5),
                                          .min_frequency = static_cast<std::int64_t>(seed % 4)};
    ASSERT_EQ(train_word_pieces(words, options), learn_slowly(words, options)) << "seed " << seed;
  }
}

TEST(TrainWordPieces, LearnsWhatHuggingFaceLearns) {
  const Json cases = read_json(test_data() / "text/golden/word_pieces.json");
  ASSERT_GE(cases.size(), 10u);
  for (const Json& c : cases) {
    const WordPieceTrainerOptions options{.vocab_size = c["vocab_size"],
                                          .min_frequency = c["min_frequency"],
                                          .limit_alphabet = c["limit_alphabet"]};
    EXPECT_EQ(learn(c["texts"], options), c["vocabulary"].get<Tokens>()) << c["texts"][0];
  }
}

TEST(TrainWordPieces, DoesNotDependOnTheOrderOfWords) {
  RandomSequence random(7, stream_of("words to learn"));
  std::vector<CountedWord> words = random_words(random, 'c');
  const Tokens tokens = train_word_pieces(words, {.vocab_size = 100});
  std::reverse(words.begin(), words.end());
  EXPECT_EQ(train_word_pieces(words, {.vocab_size = 100}), tokens);
}

TEST(TrainWordPieces, DoesNotDependOnThreads) {
  RandomSequence random(3, stream_of("texts to learn"));
  Tokens texts(500);
  for (std::string& text : texts)
    for (const CountedWord& counted : random_words(random, 'h')) text += counted.word + ' ';
  const Tokens tokens = learn(texts, {.vocab_size = 400});
  EXPECT_EQ(tokens.size(), 400u);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(learn(texts, {.vocab_size = 400}, threads), tokens);
}

TEST(TrainWordPieces, KeepsTheMostFrequentLettersAlone) {
  // "b" and "c" are equally frequent; the first one stays.
  EXPECT_EQ(learn({"ab ac aa ab ac"}, {.vocab_size = 100, .limit_alphabet = 2}),
            (Tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b", "ab"}));
}

TEST(TrainWordPieces, LearnsNothingFromNothing) { EXPECT_EQ(learn({"", " \n"}, {}).size(), 5u); }

TEST(CountWords, CountsWordsAsTheyAreNormalized) {
  ThreadPool pool(2);
  const std::vector<std::string_view> texts = {"A b, a", "B!", "a\u0301", "c"};
  std::map<std::string, std::int64_t> counts;
  for (const CountedWord& counted : count_words(pool, texts, {}))
    EXPECT_TRUE(counts.emplace(counted.word, counted.count).second) << counted.word;
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{
                        {"a", 3}, {"b", 2}, {"c", 1}, {",", 1}, {"!", 1}}));
}

TEST(TrainTokenizer, KnowsTheWordsItWasTrainedOn) {
  ThreadPool pool(2);
  const std::vector<std::string_view> texts = {"The film, the FILM", "a fine film"};
  const Tokenizer tokenizer = train_tokenizer(pool, texts, {});
  std::vector<std::string> tokens;
  for (const std::int32_t id : tokenizer.encode("The film! fin", 512))
    tokens.push_back(tokenizer.token(id));
  EXPECT_EQ(tokens, (Tokens{"[CLS]", "the", "film", "[UNK]", "fi", "##n", "[SEP]"}));
  EXPECT_EQ(tokenizer.pad_id(), 0);
}

TEST(TrainTokenizer, RefusesWhatLeavesNoVocabulary) {
  ThreadPool pool(1);
  expect_user_error("a vocabulary cannot be learned: there are no words in the 2 texts", [&] {
    train_tokenizer(pool, views_of({"", " "}), {});
  });
  expect_user_error(
      "`vocab_size`: expected at least 10, for the special tokens and the letters of "
      "these texts, got 9",
      [&] { train_tokenizer(pool, views_of({"abc"}), {.vocab_size = 9}); });
}

}  // namespace
}  // namespace hone
