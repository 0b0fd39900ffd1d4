#include "tests/data/bag_of_words.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hone/base/error.h"
#include "hone/data/row_order.h"
#include "hone/text/character.h"

namespace hone {
namespace {

constexpr int kEpochs = 6;
constexpr double kLearningRate = 0.1;

using WordIds = std::vector<std::uint32_t>;

// Numbers words in order of first occurrence.
class WordIndex {
 public:
  // Returns the words of `text`. New words are added if `grow`, and skipped otherwise.
  WordIds read(std::string_view text, bool grow) {
    WordIds ids;
    std::string word;
    const auto flush = [&] {
      if (!word.empty()) look_up(word, grow, ids);
      word.clear();
    };
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      const bool mark = byte < 0x80 && is_punctuation(byte);
      if (mark || byte <= ' ') flush();
      if (byte > ' ') word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
      if (mark) flush();
    }
    flush();
    return ids;
  }
  std::size_t size() const { return index_.size(); }

 private:
  void look_up(const std::string& word, bool grow, WordIds& ids) {
    const auto found =
        grow ? index_.try_emplace(word, static_cast<std::uint32_t>(index_.size())).first
             : index_.find(word);
    if (found != index_.end()) ids.push_back(found->second);
  }

  std::unordered_map<std::string, std::uint32_t> index_;
};

// Softmax regression on word counts: one row of weights per word, and one row for the bias.
class Regression {
 public:
  Regression(std::size_t words, std::size_t classes)
      : classes_(classes),
        weights_((words + 1) * classes),
        squares_(weights_.size(), 1e-8),
        scores_(classes) {}

  void learn(const WordIds& text, std::size_t label) {
    score(text);
    const double top = *std::max_element(scores_.begin(), scores_.end());
    double sum = 0;
    for (double& s : scores_) sum += s = std::exp(s - top);
    for (std::size_t k = 0; k < classes_; ++k)
      scores_[k] = scores_[k] / sum - (k == label ? 1.0 : 0.0);
    step(bias());
    for (const std::uint32_t word : text) step(word);
  }

  std::size_t predict(const WordIds& text) {
    score(text);
    return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) -
                                    scores_.begin());
  }

 private:
  std::size_t bias() const { return weights_.size() / classes_ - 1; }

  void score(const WordIds& text) {
    for (std::size_t k = 0; k < classes_; ++k) scores_[k] = weights_[bias() * classes_ + k];
    for (const std::uint32_t word : text) {
      for (std::size_t k = 0; k < classes_; ++k) scores_[k] += weights_[word * classes_ + k];
    }
  }

  // AdaGrad (Duchi, Hazan and Singer, 2011) with the gradient in `scores_`.
  void step(std::size_t row) {
    for (std::size_t k = 0; k < classes_; ++k) {
      const std::size_t i = row * classes_ + k;
      squares_[i] += scores_[k] * scores_[k];
      weights_[i] -= kLearningRate * scores_[k] / std::sqrt(squares_[i]);
    }
  }

  std::size_t classes_;
  std::vector<double> weights_, squares_, scores_;
};

}  // namespace

double bag_of_words_accuracy(std::span<const Example> train, std::span<const Example> test,
                             std::int32_t classes) {
  HONE_ASSERT(!train.empty() && !test.empty() && classes > 0,
              "{} training and {} test texts of {} classes", train.size(), test.size(), classes);
  WordIndex index;
  std::vector<WordIds> texts;
  for (const Example& example : train) texts.push_back(index.read(example.text, true));
  Regression regression(index.size(), static_cast<std::size_t>(classes));
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (const std::int64_t i :
         epoch_order(static_cast<std::int64_t>(train.size()), 0, epoch, true)) {
      const auto at = static_cast<std::size_t>(i);
      regression.learn(texts[at], static_cast<std::size_t>(train[at].label));
    }
  }
  const auto right = std::count_if(test.begin(), test.end(), [&](const Example& example) {
    return regression.predict(index.read(example.text, false)) ==
           static_cast<std::size_t>(example.label);
  });
  return static_cast<double>(right) / static_cast<double>(test.size());
}

}  // namespace hone
