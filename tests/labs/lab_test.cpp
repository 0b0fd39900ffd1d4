#include "hone/labs/lab.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/interrupt.h"
#include "hone/jobs/train.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

JobData few_texts() {
  JobData data;
  data.options.source = "synth:lookup?n=300&test=60";
  data.cut.max_seq_length = 16;
  data.max_eval_samples = 40;
  return data;
}

/// Returns the model for labs to measure.
const std::string& given_model() {
  static const TemporaryFolder folder;
  static const std::string model = [] {
    TrainJob job{.model = "tiny",
                 .data = few_texts(),
                 .output = {.folder = (folder.path() / "model").string()}};
    job.training.training.max_steps = 2;
    train_model(job, testing::quiet_context());
    return job.output.folder;
  }();
  return model;
}

LabJob job_into(const fs::path& folder) {
  return {.model = given_model(), .data = few_texts(), .output = {.folder = folder.string()}};
}

/// A lab of three stages that count their runs. The first run of the second stage is interrupted.
struct Counted {
  int first = 0, second = 0, third = 0;

  Lab lab() {
    const auto stage = [](const char* name, auto run) {
      return LabStage{.name = name, .what = name, .cost = {.seconds = 1}, .run = run};
    };
    return {.name = "0.0",
            .title = "counting",
            .costs = "nothing",
            .stages =
                [this, stage](const LabRun&, const LabRates& rates) {
                  EXPECT_GT(rates.flops, 0);
                  EXPECT_GT(rates.bytes, 0);
                  return std::vector<LabStage>{stage("first",
                                                     [this](LabRun&) -> Json {
                                                       return {{"runs", ++first}};
                                                     }),
                                               stage("second",
                                                     [this](LabRun& run) -> Json {
                                                       if (++second == 1)
                                                         throw Interrupted("interrupted");
                                                       return run.results.at("first");
                                                     }),
                                               stage("third", [this](LabRun&) -> Json {
                                                 return {{"runs", ++third}};
                                               })};
                },
            .report =
                [](const LabRun& run) {
                  LabReport report;
                  report.document.headline = "counted";
                  report.results = [found = run.results](const LabFields& lab) {
                    Json results = to_json(lab);
                    results["found"] = found;
                    return results;
                  };
                  return report;
                }};
  }
};

TEST(Lab, GoesOnBehindTheLastStageThatWasFinished) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  Counted counted;
  const Lab lab = counted.lab();
  LabJob job = job_into(folder.path() / "out");
  EXPECT_THROW(run_lab(lab, job, context), Interrupted);
  EXPECT_FALSE(path_exists(folder.path() / "out"));
  expect_user_error("an earlier run was interrupted; continue it with `resume`",
                    [&] { run_lab(lab, job, context); });
  job.resume.resume = true;
  const JobResult result = run_lab(lab, job, context);
  EXPECT_EQ(counted.first, 1) << "it had finished";
  EXPECT_EQ(counted.second, 2);
  EXPECT_EQ(counted.third, 1);
  EXPECT_EQ(result.fields["found"],
            Json::parse(R"({"first":{"runs":1},"second":{"runs":1},"third":{"runs":1}})"));
  ASSERT_EQ(result.fields["stages"].size(), 3u);
  EXPECT_TRUE(path_exists(folder.path() / "out/report.html"));
  EXPECT_FALSE(path_exists(folder.path() / "out/stages")) << "needed only to go on";
  EXPECT_TRUE(run_lab(lab, job, context).was_finished);
  EXPECT_EQ(counted.third, 1);
  job.seed = 7;
  job.invocation.settings = {{"seed", 7}};
  expect_user_error("`seed`: not given then, 7 now", [&] { run_lab(lab, job, context); });
}

TEST(Lab, TakesNoTextsOfItsOwnForAModelOfSomebodyElse) {
  const TemporaryFolder folder;
  Counted counted;
  LabJob job = job_into(folder.path() / "out");
  job.data = {};
  expect_user_error("needs data of its task; give it with `data`",
                    [&] { run_lab(counted.lab(), job, testing::quiet_context()); });
  EXPECT_EQ(counted.first, 0);
}

TEST(Lab, TellsWhatItWillCostBeforeItBegins) {
  const TemporaryFolder folder;
  std::vector<std::string> told;
  Context context(/*threads=*/1, /*quiet=*/false, {}, {},
                  [&](std::string_view line) { told.emplace_back(line); });
  context.progress.write = [](std::string_view) {};
  Counted counted{.second = 1};
  run_lab(counted.lab(), job_into(folder.path() / "out"), context);
  const auto cost = std::ranges::find_if(
      told, [](const std::string& line) { return line.starts_with("lab 0.0, quick: about 0:03"); });
  ASSERT_NE(cost, told.end());
  EXPECT_NE(cost->find("2 second: second; about 0:01"), std::string::npos) << *cost;
  ASSERT_NE(cost + 1, told.end());
  EXPECT_TRUE((cost + 1)->starts_with("1 of 3: first; about 0:03 left")) << *(cost + 1);
}

TEST(Lab, TrainsAModelWhereNoneIsGiven) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  LabSubject subject = lab_subject("", few_texts(), Fidelity::quick, 42, context);
  ASSERT_TRUE(subject.training.has_value());
  EXPECT_GT(subject.training->steps, 100);
  EXPECT_TRUE(std::ranges::any_of(subject.notes, [](const std::string& note) {
    return note.find("no model was given, so the lab trains one of bert-tiny's shape") == 0;
  }));
  subject.training->steps = 2;
  OutputFolder output(folder.path() / "out", {});
  const Json trained = train_subject(subject, JobResume{}, 42, "hone lab 0.0", output, context);
  EXPECT_EQ(trained["steps"], 2);
  EXPECT_TRUE(path_exists(output.path() / "model/model.safetensors"));
  EXPECT_TRUE(path_exists(output.path() / "model/README.md"));
  EXPECT_EQ(subject.source.folder, output.path() / "model");
}

TEST(Lab, MeasuresFewTextsAtLowFidelityUnlessAsked) {
  Context& context = testing::quiet_context();
  JobData data;
  data.options.source = "synth:lookup?n=20000";
  data.cut.max_seq_length = 16;
  const auto test_texts = [&](Fidelity fidelity) {
    return lab_subject(given_model(), data, fidelity, 42, context).data.test.size();
  };
  EXPECT_EQ(test_texts(Fidelity::quick), 2000);
  EXPECT_EQ(test_texts(Fidelity::full), 4000);
  data.max_eval_samples = 30;
  EXPECT_EQ(test_texts(Fidelity::quick), 30);
}

TEST(Lab, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  EXPECT_EQ(find_lab("4.3").name, "4.3");
  expect_user_error("no lab is called '4.33'; expected one of 0.1", [] { find_lab("4.33"); });
  expect_user_error("expected quick, paper or full, got 'slow'", [] { parse_fidelity("slow"); });
  LabJob job = job_into(folder.path() / "out");
  job.model = "nowhere";
  expect_user_error("nowhere", [&] { run_lab(Counted().lab(), job, context); });
  EXPECT_FALSE(path_exists(folder.path() / "out.partial"));
}

}  // namespace
}  // namespace hone
