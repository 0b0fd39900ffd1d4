#include "hone/text/byte_level.h"

#include <gtest/gtest.h>

#include <set>

#include "hone/text/normalizer.h"

namespace hone {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = word_end(text, begin);
    words.emplace_back(text.substr(begin, end - begin));
  }
  return words;
}

TEST(ByteLevel, EveryByteHasAVisibleCharacterOfItsOwn) {
  std::set<char32_t> characters;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t c = byte_character(static_cast<unsigned char>(byte));
    EXPECT_TRUE(characters.insert(c).second);
    EXPECT_TRUE(c > ' ' && c != 0x7f && c != 0xa0 && c != 0xad) << byte;
    std::string token;
    append_utf8(c, token);
    EXPECT_EQ(bytes_of(token), std::string(1, static_cast<char>(byte)));
  }
}

TEST(ByteLevel, TokensSpellBytes) {
  EXPECT_EQ(bytes_of("Ġfilm"), " film");
  EXPECT_EQ(bytes_of("Ã©"), "é");
  EXPECT_EQ(bytes_of(""), "");
  EXPECT_EQ(bytes_of("a b"), std::nullopt);
  EXPECT_EQ(bytes_of("a▁"), std::nullopt);
}

TEST(ByteLevel, BytesAreShownAsTextWhereTheyAreText) {
  EXPECT_EQ(shown_bytes(" film é"), "␣film␣é");
  EXPECT_EQ(shown_bytes("\xf0\x9f"), "\\xf0\\x9f");
  EXPECT_EQ(shown_bytes("a\x8d"), "a\\x8d");
}

TEST(ByteLevel, WordsTakeOneSpaceBeforeThem) {
  EXPECT_EQ(words_of("A film, 42 !?"), (Words{"A", " film", ",", " 42", " !?"}));
  EXPECT_EQ(words_of("a1b_c"), (Words{"a", "1", "b", "_", "c"}));
  EXPECT_EQ(words_of(""), Words{});
}

TEST(ByteLevel, OfSeveralSpacesTheLastGoesToTheNextWord) {
  EXPECT_EQ(words_of("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(words_of("a  \n"), (Words{"a", "  \n"}));
  EXPECT_EQ(words_of("a \t b"), (Words{"a", " \t", " b"}));
  EXPECT_EQ(words_of("a\nb"), (Words{"a", "\n", "b"}));
  EXPECT_EQ(words_of("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words_of("a\u00a0\u3000b"), (Words{"a", "\u00a0", "\u3000", "b"}));
  EXPECT_EQ(words_of(" \u00a0"), (Words{" \u00a0"}));
}

TEST(ByteLevel, ContractionsStandAlone) {
  EXPECT_EQ(words_of("I'll don't it's'"), (Words{"I", "'ll", " don", "'t", " it", "'s", "'"}));
  EXPECT_EQ(words_of("I'LL 'sx ''s"), (Words{"I", "'", "LL", " '", "sx", " ''", "s"}));
  EXPECT_EQ(words_of("'rex"), (Words{"'re", "x"}));
}

}  // namespace
}  // namespace hone
