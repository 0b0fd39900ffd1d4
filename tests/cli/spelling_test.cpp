#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests that messages and proposed commands spell options as the user did.
namespace hone::testing {
namespace {

class Spelling : public ::testing::Test {
 protected:
  void expect(std::string_view fragment, const std::vector<std::string>& words) const {
    const Ending ending = run_hone(words, folder_.path());
    EXPECT_NE(ending.code, 0);
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
  }
  TemporaryFolder folder_;
};

TEST_F(Spelling, OfValuesThatTheParserRefuses) {
  expect("hone train: --max-eval-samples: expected a number",
         {"train", "tiny", "--max-eval-samples", "ten"});
  expect("hone train: --lr: expected a number", {"train", "tiny", "--lr", "fast"});
  expect("hone train: --batch-size: expected", {"train", "tiny", "--batch-size", "0"});
  expect("hone train: -o: expected FOLDER, got ''", {"train", "tiny", "-o", ""});
  expect("hone predict: --output: expected FILE, got ''", {"predict", "tiny", "a", "--output", ""});
}

TEST_F(Spelling, OfSettingsThatAJobRefuses) {
  expect("-o: expected a file that ends in .jsonl or .csv",
         {"predict", workshop() / "model", "a", "-o", "out.xlsx"});
  expect("--output: expected a file that ends in .jsonl or .csv",
         {"predict", workshop() / "model", "a", "--output", "out.xlsx"});
  expect("--max-seq-length: expected at least 3 for pairs",
         {"predict", workshop() / "model", "a", "--text-pair", "b", "--max-seq-length", "2"});
  expect("--weight-format: unknown format",
         {"quantize", workshop() / "model", "--weight-format", "bf61", "--data",
          workshop() / "reviews.csv", "-o", "out"});
}

TEST_F(Spelling, OfOptionsThatAreGivenTwice) {
  expect("--lr and --learning-rate are the same option; give it once",
         {"train", "tiny", "--lr", "1", "--learning-rate", "2"});
  expect("--lr is given twice; give it once", {"train", "tiny", "--lr", "1", "--lr", "2"});
}

TEST_F(Spelling, OfTheKeysOfAPipeline) {
  folder_.file("slip.toml", "[stage.a]\nrun = \"train\"\nMODEL = \"tiny\"\nlr = \"fast\"\n");
  expect("slip.toml, line 4: ", {"run", "slip.toml", "--dry-run"});
  expect("lr: expected a number", {"run", "slip.toml", "--dry-run"});
}

}  // namespace
}  // namespace hone::testing
