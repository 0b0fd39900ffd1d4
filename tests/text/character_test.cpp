#include "hone/text/character.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/text/normalizer.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

bool is_surrogate(char32_t c) { return c >= 0xd800 && c <= 0xdfff; }

const Json& golden() {
  static const Json file = read_json(test_data() / "text/golden/characters.json");
  return file;
}

void expect_ranges(const char* name, bool (*predicate)(char32_t)) {
  std::vector<bool> expected(0x110000);
  for (const Json& range : golden().at(name)) {
    for (int c = range[0]; c <= range[1]; ++c) expected[c] = true;
  }
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (is_surrogate(c)) continue;
    ASSERT_EQ(predicate(c), expected[c])
        << name << fmt::format(" of U+{:04X}", static_cast<std::uint32_t>(c));
  }
}

void expect_block_hashes(const char* name, void (*step)(const CodePoints&, CodePoints&)) {
  for (char32_t block = 0; block < 0x110; ++block) {
    std::string forms;
    for (char32_t c = block << 12; c < (block + 1) << 12; ++c) {
      CodePoints form;
      if (!is_surrogate(c)) step({c}, form);
      for (const char32_t part : form) append_utf8(part, forms);
      forms.push_back('\0');
    }
    EXPECT_EQ(fmt::format("{:016x}", stream_of(forms)), golden().at(name)[block])
        << name << " block " << static_cast<int>(block);
  }
}

TEST(Character, RemovedCharactersAreThoseOfHuggingFace) { expect_ranges("removed", is_removed); }
TEST(Character, WhiteSpaceIsThatOfHuggingFace) { expect_ranges("white_space", is_white_space); }
TEST(Character, PunctuationIsThatOfHuggingFace) { expect_ranges("punctuation", is_punctuation); }
TEST(Character, LettersAreThoseOfHuggingFace) { expect_ranges("letter", is_letter); }
TEST(Character, NumbersAreThoseOfHuggingFace) { expect_ranges("number", is_number); }
TEST(Character, WordCharactersAreThoseOfHuggingFace) { expect_ranges("word", is_word_character); }
TEST(Character, IdeographsAreThoseOfHuggingFace) {
  expect_ranges("cjk_ideograph", is_cjk_ideograph);
}
TEST(Character, MarksAreThoseOfHuggingFace) {
  expect_ranges("nonspacing_mark", is_nonspacing_mark);
}
TEST(Character, StrippedFormsAreThoseOfHuggingFace) {
  expect_block_hashes("strip_accents", strip_accents);
}
TEST(Character, LowerCaseIsThatOfHuggingFace) { expect_block_hashes("lowercase", lowercase); }

}  // namespace
}  // namespace hone
