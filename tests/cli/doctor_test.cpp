#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Doctor, MeasuresTheMachine) {
  const Json found = run_json({"doctor"}, fs::temp_directory_path());
  EXPECT_GT(found["peak_gflops_one_thread"].get<double>(), 0);
  const double int8 = found["peak_int8_gops"].get<double>(),
               widened = found["peak_int8_widened_gops"].get<double>();
  EXPECT_GT(widened, 0);
  EXPECT_GE(int8, widened);
  EXPECT_EQ(found["peak_int8_byte_gops"].is_null(), found["int8_byte_instruction"].is_null());
  EXPECT_GE(int8, found["peak_int8_byte_gops"].is_null()
                      ? 0
                      : found["peak_int8_byte_gops"].get<double>());
  EXPECT_GT(found["copy_gb_per_s"].get<double>(), 0);
  EXPECT_GT(found["read_gb_per_s"].get<double>(), 0);
  EXPECT_GE(found["memory_bytes"], found["memory_available_bytes"]);
  EXPECT_GT(found["disk_here_bytes"].get<double>(), 0);
  EXPECT_EQ(found["instruction_sets"].size() + found["absent_instruction_sets"].size(), 6);
  for (const char* library :
       {"fmt", "Highway", "CLI11", "nlohmann-json", "utf8proc", "xxHash", "zlib"})
    EXPECT_TRUE(found["libraries"].contains(library)) << library;
  for (const char* program : {"gnuplot", "graphviz"})
    EXPECT_TRUE(found["programs"].contains(program)) << program;
}

TEST(Doctor, SaysWhichFormatsAreFasterAndFromWhichSparsityZerosPay) {
  const Json found = run_json({"doctor"}, fs::temp_directory_path());
  const auto speed_of = [&](std::string_view formats) {
    for (const Json& speed : found["format_speeds"])
      if (speed["formats"] == formats) return speed;
    return Json();
  };
  const Json integers = speed_of("native int, mxint");
  EXPECT_DOUBLE_EQ(integers["peak_ratio"].get<double>(),
                   found["peak_int8_gops"].get<double>() / found["peak_gflops"].get<double>());
  EXPECT_EQ(integers["faster"], integers["peak_ratio"].get<double>() >= 1.1);
  const Json halves = speed_of("native bf16");
  EXPECT_EQ(halves["peak_ratio"].is_null(), found["peak_bf16_gflops"].is_null());
  EXPECT_FALSE(halves["peak_ratio"].is_null() && halves["faster"]);
  EXPECT_GT(speed_of("packed weights")["most_rows"].get<double>(), 0);
  std::vector<std::string> patterns;
  for (const Json& one : found["sparsity_thresholds"]) {
    patterns.push_back(one["products"].get<std::string>() + " " +
                       one["pattern"].get<std::string>());
    EXPECT_GT(one["sparsity"].get<double>(), 0);
  }
  for (const char* pattern : {"fp32 4x1", "fp32 weights", "native int 1x4"})
    EXPECT_NE(std::ranges::find(patterns, pattern), patterns.end()) << pattern;
}

TEST(Doctor, UsesNoLaterInstructionSetsThanAllowed) {
  const Json all = run_json({"doctor"}, fs::temp_directory_path());
  const Json& sets = all["instruction_sets"];
  if (std::ranges::find(sets, Json("avx2")) == sets.end()) GTEST_SKIP() << sets;
  ::setenv("HONE_MAX_ISA", "avx2", 1);
  const Json limited = run_json({"doctor"}, fs::temp_directory_path());
  ::setenv("HONE_MAX_ISA", "avx3", 1);
  const Ending refused = run_hone({"doctor"}, fs::temp_directory_path());
  ::unsetenv("HONE_MAX_ISA");
  EXPECT_EQ(limited["vector_target"], "AVX2");
  EXPECT_EQ(limited["instruction_sets"], (Json{"avx2", "fma"}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("avx3"), std::string::npos) << refused.messages;
}

TEST(Doctor, KeepsTheHighestPeaks) {
  const TemporaryFolder caches;
  ::setenv("XDG_CACHE_HOME", caches.path().c_str(), 1);
  const Json found = run_json({"doctor", "--threads", "2"}, fs::temp_directory_path());
  const fs::path file = caches.path() / "hone/peaks.json";
  EXPECT_EQ(found["peaks_file"], file.string());
  ASSERT_EQ(found["peaks"].size(),
            7 + !found["int8_byte_instruction"].is_null() + !found["peak_bf16_gflops"].is_null());
  Json kept = read_json(file);
  ASSERT_EQ(kept["peaks"].size(), found["peaks"].size());
  EXPECT_EQ(kept["peaks"][0]["value"], found["peak_gflops_one_thread"]);
  EXPECT_GE(found["peak_gflops"], found["peak_gflops_one_thread"]);
  for (Json& peak : kept["peaks"]) peak["value"] = 1000 * peak["value"].get<double>();
  write_file(file, to_document(kept));
  const Json again = run_json({"doctor", "--threads", "2"}, fs::temp_directory_path());
  EXPECT_EQ(again["peak_gflops_one_thread"], kept["peaks"][0]["value"]);
  EXPECT_LT(again["peaks"][1]["measured_now"], again["peaks"][1]["value"]);
  EXPECT_EQ(read_json(file), kept);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Doctor, ShowsPeopleATable) {
  const Ending ending = run_well({"doctor", "--threads", "1"}, fs::temp_directory_path());
  for (const char* what :
       {"\nprocessor  ", "\nthreads    ", "1 of ", "kernels run with", "GFLOP/s on one thread",
        "GB/s reading", "Hugging Face cache", "native int, mxint", "zeros in fp32",
        "zeros in native int", "hone bench linear --shape"})
    EXPECT_NE(ending.output.find(what), std::string::npos) << what << " in\n" << ending.output;
}

TEST(Doctor, SaysWhatIsMissingAndWhatToDo) {
  const TemporaryFolder empty;
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  const Ending ending = run_well({"doctor", "--threads", "1000"}, fs::temp_directory_path());
  ::setenv("PATH", path.c_str(), 1);
  for (const char* problem :
       {"\nProblems:\n",
        "- gnuplot is missing, so figures are not drawn: apt-get install gnuplot-nox",
        "- graphviz is missing, so `hone draw` does not work: apt-get install graphviz",
        "- 1000 threads exceed the "})
    EXPECT_NE(ending.output.find(problem), std::string::npos) << problem << " in\n"
                                                              << ending.output;
  EXPECT_EQ(ending.output.find("Nothing is missing"), std::string::npos);
}

TEST(Doctor, KnowsWhereTheHubsModelsAre) {
  ::setenv("HF_HOME", "/somewhere", 1);
  const Json found = run_json({"doctor"}, fs::temp_directory_path());
  ::unsetenv("HF_HOME");
  EXPECT_EQ(found["hub_cache"], "/somewhere/hub");
  EXPECT_EQ(found["hub_cache_exists"], false);
}

}  // namespace
}  // namespace hone::testing
