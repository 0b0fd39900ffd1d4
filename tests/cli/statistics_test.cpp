#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(StatisticsCommand, WritesTablesHistogramsAndAFigure) {
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  const Json results =
      run_json({"statistics", "model", "--data", "reviews.csv", "--split", "all", "-o", "out"},
               folder.path());
  EXPECT_EQ(results["split"], "all");
  EXPECT_EQ(results["arithmetic"], "fp32");
  EXPECT_GT(results["examples"].get<int>(), 0);
  const fs::path out = folder.path() / "out";
  EXPECT_EQ(split(read_file(out / "statistics.csv"), '\n').size(),
            results["tensors"].size() + 2);  // the header, and "" after the last newline
  std::map<std::string, std::int64_t> counted;
  const std::vector<std::string> bins = split(read_file(out / "histograms.csv"), '\n');
  ASSERT_EQ(bins[0], "layer,operand,low,high,values\r");
  for (std::size_t i = 1; i + 1 < bins.size(); ++i) {
    const std::vector<std::string> cells = split(bins[i], ',');
    counted[cells[0] + " " + cells[1]] += std::stoll(cells[4]);
  }
  for (const Json& tensor : results["tensors"])
    EXPECT_EQ(
        counted[tensor["layer"].get<std::string>() + " " + tensor["operand"].get<std::string>()],
        tensor["values"].get<std::int64_t>());
  EXPECT_TRUE(fs::exists(out / "statistics.svg"));
  const Ending again =
      run_hone({"statistics", "model", "--data", "reviews.csv", "-o", "out"}, folder.path());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("out"), std::string::npos) << again.messages;
}

TEST(StatisticsCommand, NamesAGlobThatFitsNothing) {
  const TemporaryFolder folder;
  const Ending ending = run_hone({"statistics", workshop() / "model", "--data",
                                  workshop() / "reviews.csv", "--layers", "conv*", "-o", "out"},
                                 folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("no operation is called 'conv*'"), std::string::npos)
      << ending.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "out"));
}

}  // namespace
}  // namespace hone::testing
