#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

/// The word count of the Why of every lab in every run.
namespace hone::testing {

inline constexpr std::int64_t kFewestWords = 150, kMostWords = 300;

inline std::int64_t words_of(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t words = 0;
  for (std::string word; stream >> word;) ++words;
  return words;
}

inline void expect_usual_length(const std::vector<std::string>& why) {
  std::int64_t words = 0;
  std::string text;
  for (const std::string& paragraph : why) {
    words += words_of(paragraph);
    text += paragraph + "\n";
  }
  EXPECT_GE(words, kFewestWords) << text;
  EXPECT_LE(words, kMostWords) << text;
}

}  // namespace hone::testing
