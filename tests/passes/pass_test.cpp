#include "hone/passes/pass.h"

#include <gtest/gtest.h>

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
            "there is no pass 'frezze'; did you mean 'freeze'?; `hone passes` lists them");
  EXPECT_EQ(message("freeze"), "pass freeze: needs names: globs of parameters, apart by commas");
  EXPECT_EQ(message("freeze(name=x)"),
            "pass freeze: has no option 'name'; did you mean 'names'?; it has names");
  EXPECT_EQ(message("freeze(names=x, names=y)"), "pass freeze: names is given twice");
  EXPECT_EQ(message("freeze(names=x"), "pass freeze: the bracket after freeze is not closed");
  EXPECT_EQ(message("freeze(x)"), "pass freeze: expected option=value, got 'x'");
  EXPECT_EQ(message("remove_dropout(p=1)"), "pass remove_dropout: has no options, got 'p'");
  EXPECT_TRUE(message("quantize(format=bf17)").starts_with("pass quantize: format: "));
}

}  // namespace
}  // namespace hone::testing
