#include "tests/data/bag_of_words.h"

#include <gtest/gtest.h>

#include "hone/base/random.h"

namespace hone {
namespace {

// Returns texts of ten words out of a hundred. `label` receives the words.
std::vector<Example> random_texts(std::uint64_t stream, int count,
                                  std::int32_t (*label)(const std::vector<int>&)) {
  RandomSequence random(1, stream);
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) {
    std::vector<int> words(10);
    std::string text;
    for (int& word : words) {
      word = static_cast<int>(random.below(100));
      text += "w" + std::to_string(word) + " ";
    }
    examples.push_back({text, label(words)});
  }
  return examples;
}

TEST(BagOfWords, LearnsWhatWordsSay) {
  const auto third = [](const std::vector<int>& words) -> std::int32_t {
    int sum = 0;
    for (const int word : words) sum += word % 3;
    return sum < 8 ? 0 : sum < 12 ? 1 : 2;
  };
  EXPECT_GT(bag_of_words_accuracy(random_texts(0, 4000, third), random_texts(1, 1000, third), 3),
            0.85);
}

TEST(BagOfWords, SeesNoOrder) {
  const auto first_is_greater = [](const std::vector<int>& words) -> std::int32_t {
    return words[0] > words[1];
  };
  const auto train = random_texts(0, 4000, first_is_greater);
  EXPECT_LT(bag_of_words_accuracy(train, random_texts(1, 1000, first_is_greater), 2), 0.6);
}

TEST(BagOfWords, IgnoresCaseAndUnknownWords) {
  const std::vector<Example> train = {{"Good!", 1}, {"bad.", 0}, {"GOOD", 1}, {"Bad", 0}};
  const std::vector<Example> test = {{"good unheard-of", 1}, {"BAD,bad", 0}};
  EXPECT_EQ(bag_of_words_accuracy(train, test, 2), 1.0);
}

}  // namespace
}  // namespace hone
