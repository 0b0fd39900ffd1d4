#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

class SensitivityCommand : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(workshop(), folder_.path(), fs::copy_options::recursive); }
  Words words(const Words& more) const {
    Words all = {"sensitivity", "model", "--data", "reviews.csv"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(SensitivityCommand, RanksLayersOnTheValidationPart) {
  const Json results = run_json(
      words({"--formats", "int(bits=8),bf16", "--sparsities", "0.5", "-o", "out"}), folder_.path());
  EXPECT_EQ(results["split"], "validation");
  EXPECT_EQ(results["layers"].size() % 3, 0u);
  EXPECT_LT(results["computed_flops"].get<double>(),
            results["separate_computed_flops"].get<double>());
  const std::vector<std::string> rows =
      split(read_file(folder_.path() / "out/sensitivity.csv"), '\n');
  EXPECT_EQ(rows.size(), results["layers"].size() + 2);
  EXPECT_TRUE(rows[0].ends_with(",split,n\r")) << rows[0];
  const std::string measured_on = fmt::format(",validation,{}\r", results["n"].get<std::int64_t>());
  EXPECT_TRUE(rows[1].ends_with(measured_on)) << rows[1];
}

TEST_F(SensitivityCommand, RemovesBlocksToo) {
  const Json results = run_json(
      words({"--sparsities", "0.5,0.8", "--structure", "1x4", "-o", "out"}), folder_.path());
  std::set<std::string> changes;
  for (const Json& layer : results["layers"]) changes.insert(layer["change"].get<std::string>());
  EXPECT_EQ(changes,
            (std::set<std::string>{"50% pruned in blocks of 1x4", "80% pruned in blocks of 1x4"}));
}

TEST_F(SensitivityCommand, SaysWhatCannotBe) {
  const auto message = [&](const Words& more) {
    return run_hone(words(more), folder_.path()).messages;
  };
  EXPECT_NE(message({"-o", "out"}).find("give --formats"), std::string::npos);
  const Ending shares = run_hone(words({"--sparsities", "0.5,2", "-o", "out"}), folder_.path());
  EXPECT_EQ(shares.code, 2);
  EXPECT_NE(shares.messages.find("expected a number above 0 and at most 1, got 2"),
            std::string::npos)
      << shares.messages;
}

}  // namespace
}  // namespace hone::testing
