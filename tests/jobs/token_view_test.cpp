#include "hone/jobs/token_view.h"

#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "hone/text/tokenizer_files.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

Tokenizer byte_pair_tokenizer() { return load_tokenizer(test_data() / "text/golden/byte_pair"); }

TEST(TokenView, ShowsTokensWithTheirIdsBelowThem) {
  const TokenView view = view_tokens(synthetic_tokenizer(), {"42 ☃"}, 512);
  EXPECT_EQ(view.shown, view.tokens);
  const std::string text = to_text(view, 0);
  EXPECT_NE(text.find("  [CLS]"), std::string::npos) << text;
  EXPECT_NE(text.find("; unknown: ☃"), std::string::npos) << text;
}

TEST(TokenView, ShowsBytesAsTheTextTheySpell) {
  TokenView view = view_tokens(byte_pair_tokenizer(), {" film é 🎬\n", 0, "It's"}, 512);
  view.split = "train";
  view.row = 3;
  EXPECT_EQ(to_text(view, 0),
            "train 3:  film é 🎬 \n"
            "  second text: It's\n"
            "  <s>  ␣film   ␣é  ␣\\xf0\\x9f  \\x8e  \\xac   \\n  </s>  </s>   I   t   's  </s>\n"
            "    0    618  464        303   241   110  203     2     2  45  88  310     2\n"
            "  13 tokens\n");
}

TEST(TokenView, GivesProgramsTheVocabularysTokens) {
  const Json json = to_json(view_tokens(byte_pair_tokenizer(), {" film é"}, 3));
  EXPECT_EQ(json["tokens"], Json::parse(R"(["<s>", "Ġfilm", "</s>"])"));
  EXPECT_EQ(json["cut_tokens"], 1);
  EXPECT_EQ(json["unknown_words"], Json::array());
}

}  // namespace
}  // namespace hone
