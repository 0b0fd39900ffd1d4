#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

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
  EXPECT_EQ(result["timed_runs"], 3);
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

std::string peaks_kept() { return fs::path(::getenv("XDG_CACHE_HOME")) / "hone/peaks.json"; }

TEST(Bench, DividesByTheHighestPeakThatIsKnown) {
  const TemporaryFolder caches;
  ::setenv("XDG_CACHE_HOME", caches.path().c_str(), 1);
  const Json first = bench({"--threads", "1"});
  EXPECT_EQ(first["peak_gflops"], first["peak_gflops_now"]);
  // A machine that once did a hundred times as much.
  Json kept = read_json(peaks_kept());
  ASSERT_EQ(kept["peaks"].size(), 1);
  EXPECT_EQ(kept["peaks"][0]["threads"], 1);
  EXPECT_EQ(kept["peaks"][0]["kind"], "fp32_gflops");
  kept["peaks"][0]["value"] = 100 * first["peak_gflops"].get<double>();
  kept["peaks"][0]["date"] = "2001-02-03";
  write_file(peaks_kept(), to_document(kept));
  const Json second = bench({"--threads", "1"});
  EXPECT_EQ(second["peak_gflops"], kept["peaks"][0]["value"]);
  EXPECT_LT(second["peak_gflops_now"], second["peak_gflops"]);
  EXPECT_EQ(second["peak_date"], "2001-02-03");
  EXPECT_LT(second["share_of_peak"].get<double>(), first["share_of_peak"].get<double>() / 10);
  const std::string shown =
      run_well({"bench", "model", "--batch", "1", "--tokens", "4", "--runs", "1", "--threads", "1"},
               workshop())
          .output;
  EXPECT_NE(shown.find("on one thread, the highest known, of 2001-02-03; "), std::string::npos)
      << shown;
  // More threads have a peak of their own, and not below that of one.
  EXPECT_GE(bench({"--threads", "2"})["peak_gflops"], second["peak_gflops"]);
  EXPECT_EQ(read_json(peaks_kept())["peaks"].size(), 2);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Bench, SaysThatAQuantizedModelIsSimulated) {
  const TemporaryFolder folder;
  const std::string model = folder.path() / "quantized";
  run_well({"quantize", "model", "--format", "mxint(bits=8)", "--data", "reviews.csv", "-o", model},
           workshop());
  const std::vector<std::string> words = {"bench",    model, "--batch", "1",
                                          "--tokens", "4",   "--runs",  "1"};
  // One label in all of an output.
  const Json quantized = run_json(words, workshop());
  EXPECT_EQ(quantized["arithmetic"], "simulated");
  const std::string format = quantized["format"], what = quantized["what"];
  EXPECT_TRUE(format.starts_with("mxint(bits=8")) << format;
  EXPECT_NE(what.find("inference, simulated " + format + ", "), std::string::npos) << what;
  EXPECT_EQ(what.find("fp32"), std::string::npos) << what;
  const Json with_format = bench({"--format", "bf16"});
  EXPECT_NE(with_format["what"].get<std::string>().find("inference, simulated bf16, model"),
            std::string::npos)
      << with_format;
  EXPECT_EQ(with_format["arithmetic"], "simulated");
  EXPECT_EQ(with_format["format"], "bf16");
  EXPECT_FALSE(bench({}).contains("format"));
  EXPECT_NE(bench({})["what"].get<std::string>().find("inference, fp32, "), std::string::npos);
  std::vector<std::string> twice = words;
  twice.insert(twice.end(), {"--format", "bf16"});
  const Ending refused = run_hone(twice, workshop());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("quantized already"), std::string::npos) << refused.messages;
}

}  // namespace
}  // namespace hone::testing
