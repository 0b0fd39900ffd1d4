#include <gtest/gtest.h>

#include "hone/jobs/compare_formats.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/suggest.h"
#include "hone/jobs/train.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Jobs as programs call them that have no command line: each begins with what the one before has left.
namespace hone {
namespace {

JobData lookup_texts() {
  JobData data;
  data.options.source = "synth:lookup?n=300";
  data.max_seq_length = 16;
  return data;
}

// What the context is told.
struct Told {
  Context context{/*threads=*/1, /*quiet=*/true, {}, {}, [this](std::string_view line) {
                    lines.emplace_back(line);
                  }};
  std::vector<std::string> lines;
};

TrainJob train_job(const std::string& folder) {
  TrainJob job{.model = "tiny", .data = lookup_texts(), .output = {.folder = folder}};
  job.training.training.max_steps = 2;
  return job;
}

TEST(LibraryJobs, TrainMeasureQuantizeCompareAndSuggest) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  Told told;
  const TrainResult trained = train_model(train_job(at("model")), told.context);
  EXPECT_FALSE(trained.was_finished);
  EXPECT_EQ(trained.fields["steps"], 2);
  EXPECT_NE(trained.text({}).find("Accuracy on test, n = 500"), std::string::npos);

  const EvaluateResult measured =
      evaluate_model({.model = at("model"), .data = lookup_texts()}, told.context);
  EXPECT_EQ(measured.fields["eval_accuracy"], trained.fields["test"]["eval_accuracy"]);
  EXPECT_EQ(measured.part.facts.part, "test");

  const FormatTable& formats = told.context.library.formats;
  QuantizeJob job{.model = at("model"), .data = lookup_texts(), .output = {.folder = at("int8")}};
  job.data.max_train_samples = 4;
  job.recipe.defaults[Operand::weight] = parse_format("int(bits=8)", formats);
  const QuantizeResult quantized = quantize_job(job, told.context);
  EXPECT_EQ(quantized.fields["before"]["eval_accuracy"], measured.fields["eval_accuracy"]);
  EXPECT_EQ(quantized.verdict.summary, quantized.fields["comparison"]["summary"]);
  EXPECT_TRUE(path_exists(folder.path() / "int8" / "report.html"));
  const std::string card = read_file(folder.path() / "int8" / "README.md");
  EXPECT_EQ(card.find("It has seen"), std::string::npos) << "it learnt nothing\n" << card;

  CompareFormatsJob compared{.model = at("model"), .data = lookup_texts()};
  compared.choices = {parse_choice("bf16", formats)};
  EXPECT_EQ(compare_formats(compared, told.context).study.results.size(), 1u);

  SuggestJob suggested{.model = at("model"),
                       .format = parse_format("integer(width=6,frac=1)", formats),
                       .data = lookup_texts()};
  EXPECT_NE(suggest_formats(suggested, told.context).recipe.find("integer(width=6,"),
            std::string::npos);
}

// Nothing of a command line in what is told and refused.
TEST(LibraryJobs, NameSettingsAndNoFlags) {
  const TemporaryFolder folder;
  Told told;
  train_model(train_job((folder.path() / "model").string()), told.context);
  ASSERT_FALSE(told.lines.empty());
  for (const std::string& line : told.lines) EXPECT_EQ(line.find("--"), std::string::npos) << line;
  expect_user_error("exists already; give another output folder or `overwrite`", [&] {
    train_model(train_job((folder.path() / "model").string()), told.context);
  });
}

}  // namespace
}  // namespace hone
