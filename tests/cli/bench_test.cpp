#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"

namespace hone::testing {
namespace {

Json bench(std::vector<std::string> more) {
  std::vector<std::string> words = {"bench",    "model", "--batch", "1",
                                    "--tokens", "4",     "--runs",  "3"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(words, workshop());
}

TEST(Bench, ReportsTimesAndWhatTheyWereTakenOf) {
  const Json result = bench({"--threads", "1"});
  EXPECT_NE(result["what"].get<std::string>().find("1x4"), std::string::npos);
  EXPECT_EQ(result["runs"], 3);
  EXPECT_EQ(result["threads"], 1);
  EXPECT_GT(result["first_ms"], 0);
  EXPECT_GT(result["min_ms"], 0);
  EXPECT_LE(result["min_ms"], result["median_ms"]);
  const double gflops = result["gflop"].get<double>() / (result["min_ms"].get<double>() / 1e3);
  EXPECT_DOUBLE_EQ(result["share_of_peak"], gflops / result["peak_gflops"].get<double>());
}

TEST(Bench, TrainingCostsMoreThanInference) {
  EXPECT_GT(bench({"--train"})["gflop"], bench({})["gflop"]);
}

TEST(Bench, ProfilesByKernel) {
  const Json kernels = bench({"--qat", "integer(width=8,frac=4)", "--profile"})["kernels"];
  double share = 0;
  bool quantizes = false;
  for (const Json& row : kernels) {
    share += row["share"].get<double>();
    quantizes |= row["kernel"].get<std::string>().starts_with("quantize");
  }
  EXPECT_NEAR(share, 1, 1e-12);
  EXPECT_TRUE(quantizes) << kernels;
}

}  // namespace
}  // namespace hone::testing
