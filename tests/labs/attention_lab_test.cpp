#include "hone/labs/attention_lab.h"

#include <gtest/gtest.h>

#include "hone/labs/kernel_lab.h"
#include "tests/labs/why_length.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Tests of small versions of labs 4.2 and 4.4. Lab 4.1 starts hone processes, so tests/cli/lab_test.cpp tests it.
namespace hone {
namespace {

LabJob job_in(const fs::path& folder) { return {.output = {.folder = folder.string()}}; }

TEST(AttentionLab, HasARowForWhatIsNotRun) {
  const TemporaryFolder folder;
  const Lab lab = attention_lab([](Fidelity) {
    return std::vector<TimedAttention>{{.shape = {2, 2, 9, 8}, .runs = 20},
                                       {.shape = {1, 2, 33, 8}, .runs = 6}};
  });
  const JobResult result = run_lab(lab, job_in(folder.path() / "lab"), testing::quiet_context());
  const Json& rows = result.fields["overview"];
  ASSERT_EQ(rows.size(), 2u * 6 + 1) << "two ways of each type, and a device that is not there";
  EXPECT_TRUE(rows[0]["why_not"].is_null());
  EXPECT_EQ(rows[0]["impl"], "naive");
  EXPECT_TRUE(rows[0]["mean_20"].is_number());
  EXPECT_TRUE(rows[0]["mean_100"].is_null());
  EXPECT_TRUE(rows[1]["speedup_interval"].is_array());
  EXPECT_EQ(rows[2]["dtype"], "bf16");
  EXPECT_TRUE(rows[2]["why_not"].is_null());
  EXPECT_TRUE(rows[0]["speedup"].is_null());
  EXPECT_EQ(rows[12]["device"], "cuda");
  EXPECT_TRUE(rows[12]["impl"].is_null());
  EXPECT_TRUE(rows[12]["median_ms"].is_null());
  EXPECT_TRUE(rows[12]["why_not"].get<std::string>().starts_with("not run: ")) << rows[12];
  EXPECT_EQ(rows[0]["score_bytes"], 4 * 2 * 2 * 9 * 9);
  EXPECT_EQ(rows[1]["score_bytes"], 0);
  EXPECT_GE(rows[0]["value_bytes"], rows[0]["score_bytes"]);
  EXPECT_TRUE(rows[12]["score_bytes"].is_null());
  ASSERT_FALSE(result.fields["operators"].empty());
  EXPECT_GT(result.fields["operators"][0]["moved_bytes"], 0);
  for (const char* file : {"report.html", "report.md", "results.json", "overview.csv",
                           "operators.csv", "attention.svg", "attention_memory.svg"})
    EXPECT_TRUE(path_exists(folder.path() / "lab" / file)) << file;
  EXPECT_NE(result.fields["summary"].get<std::string>().find("2 x 2 x 9 x 8"), std::string::npos);
  EXPECT_FALSE(result.fields.contains("data"));
}

TEST(AttentionLab, HasAWhyOfUsualLengthWhateverIsMeasured) {
  const TemporaryFolder folder;
  const LabJob job = job_in(folder.path() / "lab");
  OutputFolder output(job.output.folder, {});
  LabRun run{.job = job, .subject = nullptr, .output = output, .context = testing::quiet_context()};
  const Lab lab = attention_lab([](Fidelity) {
    return std::vector<TimedAttention>{{.shape = {2, 2, 9, 8}, .runs = 6},
                                       {.shape = {1, 2, 33, 8}, .runs = 6}};
  });
  const std::vector<LabStage> stages = lab.stages(run, {.flops = 1e9, .bytes = 1e9});
  for (const LabStage& stage : stages) run.results[stage.name] = stage.run(run);
  for (const bool is_worse : {false, true}) {  // fused attention and naive fp16 products
    for (Json& found : run.results)
      for (Json& row : found["times"]) {
        if (row["impl"] == "fused") {
          row["speedup"] = is_worse ? 0.5 : 2;
          row["speedup_interval"] = is_worse ? Json({0.4, 0.6}) : Json({1.9, 2.1});
        }
        for (Json& one : row["operators"])
          if (one["operation"] == "matmul") one["ms"] = is_worse && row["dtype"] == "fp16" ? 2 : 1;
      }
    testing::expect_usual_length(lab.report(run).why);
  }
}

TEST(AttentionLab, RefusesModelsAndTexts) {
  const TemporaryFolder folder;
  LabJob job = job_in(folder.path() / "lab");
  job.model = "tiny";
  expect_user_error("lab 4.2 runs no model; leave `model` out",
                    [&] { run_lab(attention_lab(), job, testing::quiet_context()); });
  job.model.clear();
  job.data.options.source = "synth:tail";
  expect_user_error("lab 4.2 reads no texts; leave `data` out",
                    [&] { run_lab(attention_lab(), job, testing::quiet_context()); });
}

std::string_view anything(const CallSite&) { return ""; }
void negate(Call& call) {
  const std::int64_t count = call.input(0).count();
  const float* x = call.input(0).data<float>();
  float* y = call.output().data<float>();
  for (std::int64_t i = 0; i < count; ++i) y[i] = -x[i];
}

TEST(KernelLab, ReportsAWrongKernel) {
  const TemporaryFolder folder;
  Context context(/*threads=*/1, /*quiet=*/true);
  context.library.kernels.insert(
      context.library.kernels.begin(),
      {.op = "gelu", .device = "cpu", .name = "mine", .accepts = anything, .run = negate});
  const Lab lab =
      kernel_lab([](Fidelity) { return KernelCheckJob{.batch = 1, .tokens = 8, .rounds = 6}; });
  const JobResult result = run_lab(lab, job_in(folder.path() / "lab"), context);
  ASSERT_FALSE(result.fields["kernels"].empty());
  EXPECT_EQ(result.fields["kernels"][0]["kernel"], "mine");
  EXPECT_EQ(result.fields["kernels"][0]["chosen"], true);
  EXPECT_EQ(result.fields["kernels"][0]["right"], false);
  EXPECT_EQ(result.fields["not_run"][0]["device"], "cuda");
  testing::expect_usual_length(result.fields["why"]);
  const std::string page = read_file(folder.path() / "lab/report.html");
  EXPECT_NE(page.find("kernel mine is wrong for"), std::string::npos);
  EXPECT_EQ(page.find("parallel_ranges"), std::string::npos) << "the example was not measured";
  EXPECT_TRUE(path_exists(folder.path() / "lab/kernels.csv"));
}

TEST(KernelLab, MeasuresTheExampleWithoutAPlugin) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::size_t kernels = context.library.kernels.size();
  const Lab lab =
      kernel_lab([](Fidelity) { return KernelCheckJob{.batch = 1, .tokens = 8, .rounds = 6}; });
  const JobResult result = run_lab(lab, job_in(folder.path() / "lab"), context);
  EXPECT_EQ(context.library.kernels.size(), kernels) << "the table is as it was";
  ASSERT_FALSE(result.fields["kernels"].empty());
  for (const Json& one : result.fields["kernels"]) {
    EXPECT_EQ(one["kernel"], "examples/cpu_gelu");
    EXPECT_EQ(one["chosen"], true);
    EXPECT_EQ(one["right"], true);
    EXPECT_EQ(one["built_in"], "vector");
  }
  const std::string summary = result.fields["summary"];
  EXPECT_NE(summary.find("--plugin"), std::string::npos) << summary;
  EXPECT_NE(summary.find("The example GELU kernel is chosen for "), std::string::npos) << summary;
  EXPECT_TRUE(summary.ends_with(".")) << summary;
  const std::string page = read_file(folder.path() / "lab/report.html");
  for (const char* code : {"std::string_view accepts(", "parallel_ranges(", "HONE_PLUGIN(library)"})
    EXPECT_NE(page.find(code), std::string::npos) << code;
  EXPECT_EQ(page.find("using namespace"), std::string::npos);
  EXPECT_EQ(result.fields["why"].size(), 4u);
  testing::expect_usual_length(result.fields["why"]);
}

TEST(KernelLab, HasAWhyOfUsualLengthWithoutAKernel) {
  const TemporaryFolder folder;
  const LabJob job = job_in(folder.path() / "lab");
  OutputFolder output(job.output.folder, {});
  const LabRun run{
      .job = job,
      .subject = nullptr,
      .output = output,
      .results = {{"checks", to_json(KernelChecks{.model = "tiny", .device = "cuda:0"})}},
      .context = testing::quiet_context()};
  testing::expect_usual_length(kernel_lab().report(run).why);
}

}  // namespace
}  // namespace hone
