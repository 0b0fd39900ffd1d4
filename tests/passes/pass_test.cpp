#include "hone/passes/pass.h"

#include <gtest/gtest.h>

#include "hone/base/random.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

Pass pass_of(std::string_view text) {
  return parse_pass(text, references().passes, references().formats);
}

TEST(Pass, PrintsAsItIsRead) {
  for (const char* text :
       {"remove_dropout", "freeze(names=\"bert.embeddings.*,*.bias\")",
        "quantize(format=mxint(bits=8,block=32,axis=-1), layers=\"*.query\", operands=\"weight\")"})
    EXPECT_EQ(to_string(pass_of(text)), text);
}

TEST(Pass, TakesTextsWithoutQuotesAndFillsInDefaults) {
  EXPECT_EQ(to_string(pass_of("  quantize( operands = weight ,format=bf16 )")),
            "quantize(format=bf16, operands=\"weight\")");
  EXPECT_EQ(pass_of("quantize(format=bf16)").options.get<std::string>("op"), "linear");
  EXPECT_EQ(to_string(pass_of("remove_dropout()")), "remove_dropout");
}

TEST(Pass, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) { return message_of([&] { pass_of(text); }); };
  EXPECT_EQ(message("frezze(names=x)"),
            "there is no pass 'frezze'; `hone passes` lists them; did you mean 'freeze'?");
  EXPECT_EQ(message("freeze"),
            "pass freeze: needs names: globs over names of parameters, separated by commas");
  EXPECT_EQ(message("freeze(name=x)"),
            "pass freeze: has no option 'name'; it has names; did you mean 'names'?");
  EXPECT_EQ(message("freeze(names=x, names=y)"), "pass freeze: names is given twice");
  EXPECT_EQ(message("freeze(names=x"), "pass freeze: the bracket after freeze is not closed");
  EXPECT_TRUE(message("freeze(x)").starts_with("pass freeze: expected option=value, got 'x'; "));
  EXPECT_EQ(message("insert_lora(target=query,value,r=8)"),
            "pass insert_lora: expected option=value, got 'value,r'; a text that contains "
            "commas needs double quotes: option=\"a,b\"");
  EXPECT_EQ(message("remove_dropout(p=1)"), "pass remove_dropout: has no options, got 'p=1'");
  EXPECT_TRUE(message("quantize(format=bf17)").starts_with("pass quantize: format: "));
}

// Any text is either a pass that prints as it was read, or a UserError.
TEST(Pass, TakesAnyTextOrSaysWhatIsWrongWithIt) {
  const std::vector<std::string> seeds = {
      "freeze(names=\"bert.embeddings.*,*.bias\")",
      "quantize(format=mxint(bits=8,block=32,axis=-1), layers=\"*.query\", operands=weight)",
      "insert_lora(target=query, r=8, alpha=16, dropout=0.1, rslora=true, seed=-7)"};
  constexpr std::string_view kCharacters = "()=,\"\\ .*-+0123456789eabnqrtx\n\xc3";
  RandomSequence random(11, stream_of("texts of passes"));
  int read = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = seeds[random.below(seeds.size())];
    for (std::uint64_t change = random.below(4) + 1; change > 0 && !text.empty(); --change) {
      const std::size_t at = random.below(text.size());
      const char drawn = kCharacters[random.below(kCharacters.size())];
      switch (random.below(3)) {
        case 0:
          text.erase(at, 1 + random.below(4));
          break;
        case 1:
          text.insert(at, 1, drawn);
          break;
        default:
          text[at] = drawn;
      }
    }
    SCOPED_TRACE(text);
    try {
      const Pass pass = pass_of(text);
      ++read;
      EXPECT_EQ(pass_of(to_string(pass)).options, pass.options);
    } catch (const UserError& error) {
      ++refused;
      EXPECT_GT(std::string_view(error.what()).size(), 10u);
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace hone::testing
