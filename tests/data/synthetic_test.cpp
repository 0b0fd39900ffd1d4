#include "hone/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "hone/data/encoded_set.h"
#include "hone/text/tokenizer_files.h"
#include "tests/data/bag_of_words.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

DataSet make(const std::string& source) { return make_synthetic(parse_synthetic(source)); }

// Returns the words of a text. Punctuation marks are separate words.
std::vector<std::string> words_of(std::string text) {
  for (const char* mark : {",", ".", "?"}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += 2)
      text.insert(at, " ");
  }
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <typename T, typename U>
bool contains(const std::vector<T>& list, const U& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::map<std::string, double> values(std::initializer_list<const std::vector<ScoredWord>*> lists) {
  std::map<std::string, double> result;
  for (const auto* list : lists) {
    for (const ScoredWord& word : *list) result[word.text] = word.value;
  }
  return result;
}

// Scores a review by the rules of the generator.
double negation_score(const Lexicon& lexicon, const std::string& text) {
  const auto polarity = values({&lexicon.positive, &lexicon.negative});
  double score = 0;
  double factor = 1;
  for (const std::string& word : words_of(text)) {
    if (contains(lexicon.negators, word)) factor *= -1;
    if (word == lexicon.weak_negator) factor *= -0.5;
    if (contains(lexicon.intensifiers, word)) factor *= 2;
    if (contains(lexicon.softeners, word)) factor *= 0.5;
    if (word == lexicon.contrast) score /= 4;
    if (const auto found = polarity.find(word); found != polarity.end()) {
      score += factor * found->second;
      factor = 1;
    }
  }
  return score;
}

TEST(Negation, LabelFollowsFromTheWordsByTheRules) {
  const Lexicon lexicon = make_lexicon();
  for (const Example& example : make("synth:negation?n=3000").train) {
    const double score = negation_score(lexicon, example.text);
    ASSERT_GE(std::abs(score), 0.75) << example.text;
    ASSERT_EQ(example.label, score > 0) << example.text;
  }
}

TEST(Negation, HasThreeToSevenClauses) {
  const Lexicon lexicon = make_lexicon();
  const auto polarity = values({&lexicon.positive, &lexicon.negative});
  std::set<std::size_t> seen;
  for (const Example& example : make("synth:negation?n=2000").train) {
    std::size_t clauses = 0;
    for (const std::string& word : words_of(example.text)) clauses += polarity.contains(word);
    seen.insert(clauses);
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{3, 4, 5, 6, 7}));
}

// The generator is useful only if single words reveal almost nothing.
TEST(Negation, BagOfWordsStaysUnderSixtyPercent) {
  const DataSet data = make("synth:negation");
  const double accuracy = bag_of_words_accuracy(data.train, data.test, 2);
  EXPECT_LT(accuracy, 0.60);
  // 6,000 test texts: one standard deviation of chance is 0.65 points.
  EXPECT_GT(accuracy, 0.50 - 3 * 0.0065);
}

TEST(Tail, LabelIsTheSignOfTheSum) {
  const Lexicon lexicon = make_lexicon();
  const auto value = values({&lexicon.tail_common, &lexicon.tail_strong, &lexicon.tail_rare});
  std::size_t rare = 0;
  std::size_t all = 0;
  for (const Example& example : make("synth:tail?n=3000").train) {
    double sum = 0;
    const auto words = words_of(example.text);
    ASSERT_TRUE(words.size() >= 24 && words.size() <= 60);
    for (const std::string& word : words) {
      sum += value.at(word);
      rare += std::abs(value.at(word)) == 15;
    }
    all += words.size();
    ASSERT_EQ(example.label, sum > 0) << example.text;
  }
  // 1.5% of about 126,000 words; the tolerance is five standard deviations of 0.034 points.
  EXPECT_NEAR(static_cast<double>(rare) / static_cast<double>(all), 0.015, 0.0017);
}

TEST(Tail, BagOfWordsReadsIt) {
  const DataSet data = make("synth:tail");
  EXPECT_GT(bag_of_words_accuracy(data.train, data.test, 2), 0.90);
}

TEST(Compare, LabelSaysWhetherTheFirstNumberIsGreater) {
  const Tokenizer tokenizer = synthetic_tokenizer();
  int small = 0;
  const auto examples = make("synth:compare?n=3000").train;
  for (const Example& example : examples) {
    std::vector<int> numbers;
    for (const std::string& word : words_of(example.text)) {
      if (!std::isdigit(word[0])) continue;
      numbers.push_back(std::stoi(word));
      ASSERT_EQ(tokenizer.encode(word, 16).size(), 4u) << "a number is two tokens, got " << word;
    }
    ASSERT_EQ(numbers.size(), 2u) << example.text;
    ASSERT_EQ(example.label, numbers[0] > numbers[1]) << example.text;
    small += std::abs(numbers[0] - numbers[1]) <= 8;
  }
  // 1 - 0.75^8 = 0.90 of 3,000; the tolerance is five standard deviations of 0.55 points.
  EXPECT_NEAR(small / 3000.0, 0.90, 0.028);
}

TEST(Lookup, LabelIsThePolarityOfTheEntityAskedFor) {
  const Lexicon lexicon = make_lexicon();
  const auto polarity = values({&lexicon.positive, &lexicon.negative});
  std::set<std::size_t> sizes;
  for (const Example& example : make("synth:lookup?n=3000").train) {
    const auto words = words_of(example.text);  // QUERY ? (ENTITY is WORD .)*
    std::map<std::string, double> facts;
    for (std::size_t i = 2; i + 3 < words.size(); i += 4) {
      ASSERT_EQ(words[i + 1], "is");
      ASSERT_TRUE(facts.emplace(words[i], polarity.at(words[i + 2])).second)
          << "two facts about " << words[i];
    }
    sizes.insert(facts.size());
    ASSERT_EQ(example.label, facts.at(words[0]) > 0) << example.text;
  }
  EXPECT_EQ(*sizes.begin(), 6u);
  EXPECT_EQ(*sizes.rbegin(), 16u);
}

TEST(Score, FollowsFromTheWordsButForNoise) {
  const Lexicon lexicon = make_lexicon();
  const auto value = values({&lexicon.positive, &lexicon.negative});
  const DataSet data = make("synth:score?n=3000");
  EXPECT_EQ(data.task, Task::regression);
  EXPECT_EQ(data.label_names, std::vector<std::string>{"score"});
  double squared_error = 0, sum = 0, squares = 0;
  for (const Example& example : data.train) {
    double words = 0;
    for (const std::string& word : words_of(example.text))
      if (const auto found = value.find(word); found != value.end()) words += found->second;
    const double score = example.targets.at(0), expected = 5 / (1 + std::exp(-words / 3));
    ASSERT_TRUE(score >= 0 && score <= 5) << score;
    ASSERT_NEAR(score, expected, 6 * 0.25) << example.text;
    squared_error += (score - expected) * (score - expected) / 3000;
    sum += score / 3000;
    squares += score * score / 3000;
  }
  EXPECT_NEAR(sum, 2.5, 0.15);
  EXPECT_LT(squared_error, 0.25 * 0.25 * 1.1) << "less than the noise, for it is cut at 0 and 5";
  EXPECT_GT(squares - sum * sum, 20 * squared_error) << "there is something to learn";
}

TEST(Topics, AreThoseWhoseWordsAreSaid) {
  const Lexicon lexicon = make_lexicon();
  const DataSet data = make("synth:topics?n=3000");
  EXPECT_EQ(data.task, Task::multi_label);
  EXPECT_EQ(data.label_names,
            (std::vector<std::string>{"music", "sport", "food", "travel", "money"}));
  std::vector<int> said(kTopics);
  std::set<float> counts;
  for (const Example& example : data.train) {
    std::vector<float> expected(kTopics);
    for (const std::string& word : words_of(example.text)) {
      const auto at = std::find(lexicon.entities.begin(), lexicon.entities.end(), word);
      if (at != lexicon.entities.end())
        expected[static_cast<std::size_t>(at - lexicon.entities.begin()) / 8] = 1;
    }
    ASSERT_EQ(example.targets, expected) << example.text;
    float count = 0;
    for (std::size_t i = 0; i < kTopics; ++i) {
      said[i] += expected[i] != 0;
      count += expected[i];
    }
    counts.insert(count);
  }
  // 30% of 3,000; the tolerance is five standard deviations of 0.84 points.
  for (const int texts : said) EXPECT_NEAR(texts / 3000.0, 0.3, 0.042);
  EXPECT_EQ(counts, (std::set<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Synthetic, LabelsAreBalanced) {
  for (const Generator& generator : generators()) {
    if (generator.task != Task::single_label) continue;
    double positive = 0;
    for (const Example& example : make("synth:" + std::string(generator.name) + "?n=10000").train)
      positive += example.label;
    EXPECT_NEAR(positive / 10000, 0.5, 0.025) << generator.name;  // five standard deviations
  }
}

TEST(Synthetic, IsTheSameForTheSameSeed) {
  const auto texts = [](const std::vector<Example>& examples) {
    std::vector<std::string> result;
    for (const Example& example : examples) result.push_back(example.text);
    return result;
  };
  const DataSet data = make("synth:negation?seed=3&n=200");
  EXPECT_EQ(texts(data.train), texts(make("synth:negation?seed=3&n=200").train));
  EXPECT_NE(texts(data.train), texts(make("synth:negation?seed=4&n=200").train));
  auto longer = texts(make("synth:negation?seed=3&n=300").train);
  longer.resize(200);
  EXPECT_EQ(texts(data.train), longer);
  EXPECT_NE(texts(data.train)[0], texts(data.test)[0]);
}

// Published results use these exact texts. Changing generator, lexicon or random numbers must be a deliberate decision.
TEST(Synthetic, FirstTextsStayWhatTheyAre) {
  EXPECT_EQ(make("synth:negation?n=1").train[0].text,
            "mena not gote digipo and bizu hardly nebu pidi truly kerave and pume never tavu vupi "
            "nomofa.");
  EXPECT_EQ(make("synth:compare?n=1").train[0].text,
            "folu piga 93 sagi luno piga dipu vema koba sale fusi bisu sale 91 fuke mumu veda");
}

TEST(Synthetic, MakesAFifthAsManyTestTextsButAtLeastFiveHundred) {
  EXPECT_EQ(make("synth:compare?n=10").train.size(), 10u);
  EXPECT_EQ(make("synth:compare?n=10").test.size(), 500u);
  EXPECT_EQ(make("synth:compare?n=5000").test.size(), 1000u);
}

TEST(Synthetic, MakesAsManyTestTextsAsAreAskedFor) {
  const DataSet data = make("synth:compare?n=10&test=3");
  EXPECT_EQ(data.train.size(), 10u);
  EXPECT_EQ(data.description, "synth:compare?seed=7&n=10&test=3: 10 train, 3 test");
  const DataSet more = make("synth:compare?n=10");
  ASSERT_EQ(data.test.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(data.test[i].text, more.test[i].text);
  expect_user_error("synth: test: expected 1 to 10000000, got 0",
                    [] { parse_synthetic("synth:compare?test=0"); });
}

TEST(Synthetic, HasTheDefaultsOfTheSpecification) {
  const SyntheticOptions options = parse_synthetic("synth:negation");
  EXPECT_EQ(options.generator, &generators()[0]);
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.train_count, 30000);
}

TEST(Synthetic, SuggestsTheNearestName) {
  expect_user_error("topics; did you mean 'negation'?", [] { make("synth:negatoin"); });
  expect_user_error("expected one of: negation, tail, compare, lookup, score, topics",
                    [] { make("synth:poetry"); });
  expect_user_error("test=COUNT; did you mean 'seed'?", [] { make("synth:tail?sed=1"); });
  expect_user_error("n: expected a whole number, got 'many'", [] { make("synth:tail?n=many"); });
  expect_user_error("n: expected 1 to 10000000, got 0", [] { make("synth:tail?n=0"); });
  expect_user_error("parameter 'seed' has no value; write seed=NUMBER",
                    [] { make("synth:tail?seed"); });
}

TEST(SyntheticTokenizer, LeavesNothingUnknown) {
  const Tokenizer tokenizer = synthetic_tokenizer();
  for (const Generator& generator : generators()) {
    for (const Example& example : make("synth:" + std::string(generator.name) + "?n=500").train) {
      const auto ids = tokenizer.encode(example.text, 512);
      EXPECT_FALSE(contains(ids, tokenizer.unknown_id())) << example.text;
    }
  }
  EXPECT_FALSE(
      contains(tokenizer.encode("Any ASCII text: 3.5% of $42!", 512), tokenizer.unknown_id()));
}

TEST(SyntheticTokenizer, SplitsRareWordsOnly) {
  const Tokenizer tokenizer = synthetic_tokenizer();
  const Lexicon lexicon = make_lexicon();
  EXPECT_EQ(tokenizer.encode(lexicon.positive.front().text, 16).size(), 3u);
  EXPECT_GE(tokenizer.encode(lexicon.positive.back().text, 16).size(), 4u);
  EXPECT_EQ(tokenizer.encode(lexicon.tail_rare.back().text, 16).size(), 3u);
}

TEST(SyntheticTokenizer, SurvivesSaving) {
  TemporaryFolder folder;
  save_tokenizer(synthetic_tokenizer(), folder.path(), 64);
  EXPECT_EQ(load_tokenizer(folder.path()).definition().tokens,
            synthetic_tokenizer().definition().tokens);
}

TEST(Lexicon, NoWordBeginsWithAnother) {
  const Lexicon lexicon = make_lexicon();
  std::set<std::string> words(lexicon.fillers.begin(), lexicon.fillers.end());
  std::size_t count = lexicon.fillers.size() + lexicon.entities.size();
  words.insert(lexicon.entities.begin(), lexicon.entities.end());
  for (const auto* list : {&lexicon.positive, &lexicon.negative, &lexicon.tail_common,
                           &lexicon.tail_strong, &lexicon.tail_rare}) {
    for (const ScoredWord& word : *list) words.insert(word.text);
    count += list->size();
  }
  EXPECT_EQ(words.size(), count) << "a word stands in two lists";
  for (auto word = words.begin(); std::next(word) != words.end(); ++word) {
    EXPECT_FALSE(std::next(word)->starts_with(*word)) << *word << " " << *std::next(word);
  }
}

TEST(ZipfChoice, ChoosesInInverseProportionToRank) {
  const ZipfChoice choice(4);
  RandomSequence random(1, 2);
  int counts[4] = {};
  for (int i = 0; i < 25000; ++i) ++counts[choice(random)];
  // Expects 12,000, 6,000, 4,000 and 3,000; the tolerance is five standard deviations of at most 79.
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(counts[i], 12000.0 / (i + 1), 400);
}

}  // namespace
}  // namespace hone
