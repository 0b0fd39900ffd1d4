#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hone/jobs/bench.h"
#include "hone/jobs/compare.h"
#include "hone/jobs/compare_formats.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/predict.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/suggest.h"
#include "hone/jobs/text_rows.h"
#include "hone/jobs/train.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests of every job for the tasks other than single labels: regression and multi-label classification.
namespace hone {
namespace {

/// A task and what its jobs report.
struct TaskCase {
  const char* name;
  const char* data;
  Task task;
  const char* figure;    ///< key of the metric that decides
  const char* sentence;  ///< beginning of the headline
};

constexpr TaskCase kCases[] = {
    {"Numbers", "synth:score?n=300&test=60", Task::regression, "r2", "R² "},
    {"Labels", "synth:topics?n=300&test=60", Task::multi_label, "f1_micro", "Micro F1 "}};

Context& quiet() {
  static Context context{/*threads=*/1, /*quiet=*/true, {}, {}, [](std::string_view) {}};
  return context;
}

JobData data_of(const TaskCase& c) {
  JobData data;
  data.options.source = c.data;
  data.cut.max_seq_length = 32;
  data.max_eval_samples = 120;
  return data;
}

TrainJob train_job(const TaskCase& c, const std::string& folder) {
  TrainJob job{.model = "tiny", .data = data_of(c), .output = {.folder = folder}};
  job.training.training.max_steps = 8;
  job.training.training.optimizer.learning_rate = 1e-3;
  return job;
}

class TaskJobs : public ::testing::TestWithParam<TaskCase> {
 protected:
  /// Returns a trained model, shared by all tests of a task.
  const std::string& model() const {
    static std::map<std::string, std::string> models;
    static const TemporaryFolder folder;
    std::string& path = models[GetParam().name];
    if (path.empty()) {
      path = (folder.path() / GetParam().name).string();
      train_model(train_job(GetParam(), path), quiet());
    }
    return path;
  }
  std::string figure() const { return fmt::format("eval_{}", GetParam().figure); }
};

TEST_P(TaskJobs, TrainingIsJudgedByTheTasksFigure) {
  const TaskCase& c = GetParam();
  const Json config = read_json(fs::path(model()) / "config.json");
  EXPECT_EQ(config["problem_type"], to_string(c.task));
  const Json result = read_json(fs::path(model()) / "results.json");
  const Json& test = result["test"];
  EXPECT_EQ(test["eval_metric"], c.figure);
  ASSERT_TRUE(test[figure()].is_number());
  EXPECT_LE(test[figure() + "_interval"][0], test[figure()]);
  EXPECT_GE(test[figure() + "_interval"][1], test[figure()]);
  EXPECT_FALSE(test.contains("eval_accuracy"));
  EXPECT_TRUE(test["majority_share"].is_null());
  const std::string card = read_file(fs::path(model()) / "README.md");
  EXPECT_NE(card.find(fmt::format("metrics:\n- {}\n", c.figure)), std::string::npos) << card;
  EXPECT_EQ(card.find("accuracy"), std::string::npos) << card;
}

TEST_P(TaskJobs, EvaluationFindsWhatTrainingFound) {
  const EvaluateResult measured =
      evaluate_model({.model = model(), .data = data_of(GetParam())}, quiet());
  const Json trained = read_json(fs::path(model()) / "results.json");
  EXPECT_EQ(measured.fields[figure()], trained["test"][figure()]);
  EXPECT_EQ(measured.measured.evaluation.task(), GetParam().task);
  EXPECT_TRUE(measured.document.headline.starts_with(GetParam().sentence))
      << measured.document.headline;
}

// The predictions are those that the evaluation measured.
TEST_P(TaskJobs, PredictionsAreThoseThatWereMeasured) {
  JobData data = data_of(GetParam());
  data.max_eval_samples = 0;
  const EvaluateResult measured = evaluate_model({.model = model(), .data = data}, quiet());
  PredictJob job{.model = model(), .data = data.options, .cut = {32}};
  const PredictResult result = predict_texts(job, quiet());
  EXPECT_EQ(result.subject.task, GetParam().task);
  const std::vector<PredictionField> fields = choose_fields({}, result.subject, /*csv=*/false);
  const Logits logits = measured.measured.view();
  ASSERT_EQ(std::ssize(result.predictions), logits.examples());
  for (std::int64_t i = 0; i < logits.examples(); ++i) {
    const Prediction& p = result.predictions[static_cast<std::size_t>(i)];
    EXPECT_TRUE(std::ranges::equal(p.logits, logits.row(i)));
    const Json row = to_json(p, fields, result.subject);
    EXPECT_FALSE(row.contains("label") || row.contains("score"));
    ASSERT_EQ(row["logits"].size(), result.subject.labels.size());
    EXPECT_EQ(row["gold"].is_number(), GetParam().task == Task::regression);
    EXPECT_EQ(row["gold"].is_array(), GetParam().task == Task::multi_label);
    if (GetParam().task == Task::regression) {
      EXPECT_EQ(row["value"].get<float>(), p.logits[0]);
      continue;
    }
    std::size_t given = 0;
    for (std::size_t l = 0; l < p.logits.size(); ++l) {
      EXPECT_NEAR(row["probabilities"][l], 1 / (1 + std::exp(-p.logits[l])), 1e-6);
      given += p.logits[l] >= 0;
    }
    EXPECT_EQ(row["predicted_labels"].size(), given);
  }
  expect_user_error("a model for " + to_string(GetParam().task) + " has no score",
                    [&] { choose_fields({"score"}, result.subject, /*csv=*/false); });
}

TEST_P(TaskJobs, QuantizingIsGatedByTheTasksFigure) {
  const TemporaryFolder folder;
  QuantizeJob job{.model = model(),
                  .data = data_of(GetParam()),
                  .output = {.folder = (folder.path() / "q").string()}};
  job.gates.max_drop_points = 100;
  job.recipe.defaults[Operand::weight] = parse_format("int(bits=8)", quiet().library.formats);
  const QuantizeResult quantized = quantize_job(job, quiet());
  const Json& comparison = quantized.fields["comparison"];
  EXPECT_EQ(comparison["metric"], GetParam().figure);
  const double before = quantized.fields["before"][figure()],
               after = quantized.fields["after"][figure()];
  EXPECT_NEAR(comparison["change"], after - before, 1e-12);
  EXPECT_EQ(quantized.fields["gate"]["passed"], quantized.verdict.within_limit());
  EXPECT_TRUE(quantized.verdict.within_limit()) << quantized.verdict.summary;

  // Comparing the two models gives the same change.
  const CompareResult compared = compare_models(
      {.first = model(), .second = job.output.folder, .data = data_of(GetParam()), .texts = 3},
      quiet());
  EXPECT_NEAR(compared.fields["comparison"]["change"], after - before, 1e-12);
  EXPECT_EQ(compared.verdict.summary.find("accuracy"), std::string::npos);
}

TEST_P(TaskJobs, FormatsAreChosenByTheTasksFigure) {
  const FormatTable& formats = quiet().library.formats;
  CompareFormatsJob job{.model = model(), .data = data_of(GetParam())};
  job.choices = {parse_choice("bf16", formats), parse_choice("int(bits=2)", formats)};
  const CompareFormatsResult result = compare_formats(job, quiet());
  ASSERT_EQ(result.study.results.size(), 2u);
  EXPECT_LT(result.study.results[1].model.comparison->snr_db,
            result.study.results[0].model.comparison->snr_db);
  EXPECT_EQ(choice_verdict(result.study).find("accuracy"), std::string::npos)
      << choice_verdict(result.study);
  SuggestJob suggested{.model = model(),
                       .format = parse_format("integer(width=6,frac=1)", formats),
                       .data = data_of(GetParam())};
  EXPECT_NE(suggest_formats(suggested, quiet()).recipe.find("integer(width=6,"), std::string::npos);
}

// The rule for seeds is the same as for accuracy, applied to the task's metric.
TEST_P(TaskJobs, SeedsAreJudgedByTheTasksFigure) {
  const TemporaryFolder folder;
  TrainJob job = train_job(GetParam(), (folder.path() / "seeds").string());
  job.training.training.max_steps = 2;
  job.seeds = 2;
  const JobResult trained = train_model(job, quiet());
  EXPECT_EQ(trained.fields["metric_spread"]["test"]["seeds"], 2);
  EXPECT_TRUE(trained.document.headline.starts_with(GetParam().sentence))
      << trained.document.headline;

  QuantizeJob quantize{.model = model(),
                       .qat = true,
                       .data = data_of(GetParam()),
                       .seeds = 2,
                       .output = {.folder = (folder.path() / "q").string()}};
  quantize.training.training.max_steps = 2;
  quantize.recipe.defaults[Operand::weight] = parse_format("int(bits=8)", quiet().library.formats);
  const QuantizeResult quantized = quantize_job(quantize, quiet());
  EXPECT_EQ(quantized.fields["change"]["metric"], GetParam().figure);
  const Json& runs = quantized.fields["runs"];
  EXPECT_NEAR(quantized.fields["change"]["change"],
              (runs[0]["comparison"]["change"].get<double>() +
               runs[1]["comparison"]["change"].get<double>()) /
                  2,
              1e-12);
}

TEST_P(TaskJobs, TrainingStepsAreTimed) {
  const TextModel source = open_model(model(), quiet(), /*seed=*/42);
  const BenchTimes times =
      bench(source.model, "model", {.batch = 2, .tokens = 8, .train = true, .runs = 1}, quiet());
  EXPECT_GT(times.min_ms, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, TaskJobs, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(TaskJobs, RefuseWhatOtherTasksHave) {
  const TemporaryFolder folder;
  TrainJob job = train_job(kCases[0], (folder.path() / "m").string());
  job.training.metric_for_best_model = "accuracy";
  expect_user_error(
      "`metric_for_best_model`: expected r2, loss, mse, rmse, mae, pearson, spearman, got "
      "'accuracy', which is a metric of single_label_classification; the task is regression",
      [&] { train_model(job, quiet()); });
  job.training.metric_for_best_model = "";
  job.training.class_weights = "balanced";
  expect_user_error(
      "`class_weights` supports single_label_classification only, and the task is regression; "
      "leave it out",
      [&] { train_model(job, quiet()); });
  job.training.class_weights = "";
  job.training.training.label_smoothing_factor = 0.1;
  expect_user_error(
      "`label_smoothing_factor` supports single_label_classification only, and the task is "
      "regression; leave it out",
      [&] { train_model(job, quiet()); });
  job.training.training.label_smoothing_factor = 0;
  job.distill.teacher = (test_data() / "train/golden/checkpoint").string();
  expect_user_error(
      "`distill` supports single_label_classification only, and the task is regression; leave it "
      "out",
      [&] { train_model(job, quiet()); });
}

// Without data to evaluate on, no metric is reported.
TEST(TaskJobs, AreTrainedWithoutAPartToMeasureOn) {
  const TemporaryFolder folder;
  JobData data;
  data.options.source = folder.file("few.csv", "text,label\na,0.5\nb,1\nc,2\n").string();
  data.validation_split = 0;
  TrainJob job{.model = "tiny", .data = data, .output = {.folder = (folder.path() / "m").string()}};
  job.training.training.max_steps = 1;
  const JobResult result = train_model(job, quiet());
  EXPECT_TRUE(result.fields["validation"].is_null() && result.fields["test"].is_null());
  EXPECT_EQ(result.document.headline,
            "Trained, not evaluated: there is neither a test nor a validation split.");
}

// Integer labels are classes unless the option says otherwise.
TEST(TaskJobs, TakeWholeNumbersForARegressionWhereThatIsAsked) {
  const TemporaryFolder folder;
  std::string rows = "text,stars\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("film {} of {} words,{}\n", i, i % 5, i % 5);
  JobData data;
  data.options.source = folder.file("stars.csv", rows).string();
  TrainJob job{.model = "tiny", .data = data, .output = {.folder = (folder.path() / "m").string()}};
  job.training.training.max_steps = 1;
  job.problem_type = "regression";
  EXPECT_EQ(train_model(job, quiet()).fields["validation"]["eval_metric"], "r2");
  const Json config = read_json(folder.path() / "m" / "config.json");
  EXPECT_EQ(config["id2label"], (Json{{"0", "stars"}}));
  // A regression model stays one when it is trained further.
  job.model = job.output.folder;
  job.output.folder = (folder.path() / "n").string();
  job.problem_type = "";
  EXPECT_EQ(train_model(job, quiet()).fields["validation"]["eval_metric"], "r2");
  job.output.folder = (folder.path() / "o").string();
  job.problem_type = "single_label_classification";
  expect_user_error("`ignore_mismatched_sizes`", [&] { train_model(job, quiet()); });
  job.ignore_mismatched_sizes = true;
  EXPECT_EQ(train_model(job, quiet()).fields["validation"]["eval_metric"], "accuracy");
  EXPECT_TRUE(read_json(folder.path() / "o" / "config.json")["problem_type"] ==
              "single_label_classification");
  // Words are not numbers, so the data determines the task.
  job.data.options.source =
      folder.file("words.csv", rows.replace(rows.find("stars"), 5, "label") + "no,bad\n").string();
  job.output.folder = (folder.path() / "p").string();
  job.problem_type = "";
  EXPECT_EQ(train_model(job, quiet()).fields["validation"]["eval_metric"], "accuracy");
}

TextRows rows_with_gold(const fs::path& file, const LabelScheme& scheme,
                        const NamedColumns& remembered = {}) {
  TrainedOn record;
  record.columns = remembered;
  DataOptions options;
  options.source = file.string();
  return read_text_rows(options, "", scheme, record, quiet().pool);
}

TEST(GoldLabels, MayBeInSomeFilesOnly) {
  const TemporaryFolder folder;
  folder.file("train.csv", "id,text,target\n1,a,0\n2,b,1\n");
  folder.file("test.csv", "id,text\n3,c\n");
  folder.file("sample_submission.csv", "id,target\n3,0\n");
  DataOptions options{.source = folder.path().string()};
  const LabelScheme classes{Task::single_label, {"bad", "good"}};
  const auto read = [&](const std::string& split) {
    return read_text_rows(options, split, classes, std::nullopt, quiet().pool);
  };
  const TextRows all = read("all");
  ASSERT_EQ(all.rows.size(), 3u);
  EXPECT_EQ(all.rows[1].gold, "good");
  EXPECT_FALSE(all.rows[2].gold);
  EXPECT_EQ(all.rows[2].id, 3);
  EXPECT_FALSE(read("test").labelled);
  options.label_column = "target";
  EXPECT_EQ(read("all").rows[0].gold, "bad");
  options.label_column = "targte";
  expect_user_error("no column 'targte'", [&] { read("all"); });
}

TEST(GoldLabels, OfAFileAfterOneWithoutThem) {
  const TemporaryFolder folder;
  folder.file("train.csv", "text\na\n");
  folder.file("test.csv", "text,label\nb,1\n");
  const TextRows rows =
      read_text_rows({.source = folder.path().string()}, "all",
                     {Task::single_label, {"bad", "good"}}, std::nullopt, quiet().pool);
  EXPECT_FALSE(rows.rows[0].gold);
  EXPECT_EQ(rows.rows[1].gold, "good");
}

TEST(TextRows, AreOfASplitByItsOwnName) {
  const TemporaryFolder folder;
  folder.file("train.csv", "text\na\n");
  folder.file("validation_matched.csv", "text\nb\n");
  folder.file("validation_mismatched.csv", "text\nc\n");
  const TextRows rows = read_text_rows({.source = folder.path().string()}, "validation_mismatched",
                                       {}, std::nullopt, quiet().pool);
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].text, "c");
  EXPECT_EQ(rows.split, "validation");
}

TEST(TrainedTokenizers, SayHowLongTextsMayBe) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  TrainJob job = train_job(kCases[0], model);
  job.training.training.max_steps = 1;
  train_model(job, quiet());
  EXPECT_EQ(read_json(fs::path(model) / "tokenizer_config.json")["model_max_length"], 32);
}

// The values are those of sentence-transformers' CrossEncoder.predict. The logits stay unchanged.
TEST(PredictedScores, AreTheActivationOfACrossEncodersNumber) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  TrainJob training = train_job(kCases[0], model);
  training.training.training.max_steps = 1;
  train_model(training, quiet());
  const PredictJob job{.model = model, .texts = {{.id = 1, .text = "good"}}};
  const Prediction plain = predict_texts(job, quiet()).predictions.at(0);
  EXPECT_EQ(plain.values, plain.logits);
  write_file(fs::path(model) / "modules.json",
             R"([{"path": "", "type": "sentence_transformers.models.Transformer"}])");
  write_file(fs::path(model) / "config_sentence_transformers.json",
             R"({"model_type": "CrossEncoder"})");
  const PredictResult scored = predict_texts(job, quiet());
  const Prediction& score = scored.predictions.at(0);
  EXPECT_EQ(scored.subject.activation, "Sigmoid");
  EXPECT_EQ(score.logits, plain.logits);
  EXPECT_NEAR(score.values.at(0), 1 / (1 + std::exp(-plain.logits.at(0))), 1e-6);
  const PredictJob long_job{.model = model, .texts = {{.id = 1, .text = "find: good"}}};
  const Prediction longer = predict_texts(long_job, quiet()).predictions.at(0);
  write_file(fs::path(model) / "config_sentence_transformers.json",
             R"({"model_type": "CrossEncoder", "prompts": {"q": "find: "},
                 "default_prompt_name": "q"})");
  EXPECT_EQ(predict_texts(job, quiet()).predictions.at(0).logits, longer.logits);
  // Further training makes the model a plain regression model without an activation.
  TrainJob again = train_job(kCases[0], (folder.path() / "again").string());
  again.model = model;
  again.training.training.max_steps = 1;
  train_model(again, quiet());
  const Prediction raw =
      predict_texts({.model = again.output.folder, .texts = job.texts}, quiet()).predictions.at(0);
  EXPECT_EQ(raw.values, raw.logits);
}

// Golden data: CrossEncoder.predict for a model with three labels and a sigmoid activation.
TEST(PredictedScores, OfACrossEncoderOfSeveralLabelsAreOfEachAlone) {
  const fs::path folder = test_data() / "models/golden/cross_encoders/three_labels";
  const Json expected = read_json(folder / "expected.json");
  PredictJob job{.model = folder.string()};
  for (const Json& pair : expected["pairs"])
    job.texts.push_back({.id = std::ssize(job.texts) + 1, .text = pair[0], .text_pair = pair[1]});
  const PredictResult result = predict_texts(job, quiet());
  EXPECT_EQ(result.subject.activation, "Sigmoid");
  ASSERT_EQ(result.predictions.size(), expected["scores"].size());
  for (std::size_t i = 0; i < result.predictions.size(); ++i) {
    const Prediction& p = result.predictions[i];
    ASSERT_EQ(p.probabilities.size(), 3u);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(p.probabilities[c], expected["scores"][i][c].get<double>(), 1e-5);
    EXPECT_EQ(p.score, std::ranges::max(p.probabilities));
    EXPECT_EQ(p.values, p.logits);
  }
}

TEST(GoldLabels, AreNumbersForAModelOfNumbers) {
  const TemporaryFolder folder;
  const LabelScheme score = {Task::regression, {"score"}};
  const TextRows rows =
      rows_with_gold(folder.file("n.csv", "text,label\na,-1.498\nb,\nc,+2\n"), score);
  EXPECT_EQ(rows.notes, std::vector<std::string>{});
  EXPECT_EQ(to_line(rows.rows[0].gold_value), "-1.498");
  EXPECT_TRUE(rows.rows[1].gold_value.is_null());
  EXPECT_EQ(rows.rows[2].gold_value, 2);
  EXPECT_TRUE(rows.labelled);
  const TextRows words = rows_with_gold(folder.file("w.csv", "text,label\na,fine\n"), score);
  EXPECT_EQ(words.rows[0].gold, "fine");
  ASSERT_EQ(words.notes.size(), 1u);
  EXPECT_TRUE(words.notes[0].starts_with(
      "gold labels are shown as they are written: row 2: 'label': expected a number, got 'fine'"))
      << words.notes[0];
}

TEST(GoldLabels, AreListsForAModelOfSets) {
  const TemporaryFolder folder;
  const LabelScheme topics = {Task::multi_label, {"love", "war"}};
  const TextRows rows =
      rows_with_gold(folder.file("s.jsonl",
                                 "{\"text\": \"a\", \"labels\": [\"war\", \"love\"]}\n"
                                 "{\"text\": \"b\", \"labels\": []}\n"),
                     topics);
  EXPECT_EQ(rows.notes, std::vector<std::string>{});
  EXPECT_EQ(to_line(rows.rows[0].gold_value), R"(["love","war"])");
  EXPECT_EQ(rows.rows[0].gold, "love, war");
  EXPECT_EQ(to_line(rows.rows[1].gold_value), "[]");
  const TextRows cells = rows_with_gold(folder.file("c.csv", "text,labels\na,war\nb,\n"), topics);
  EXPECT_EQ(to_line(cells.rows[1].gold_value), "[]")
      << "an empty cell among others is a set of none";
  EXPECT_FALSE(rows_with_gold(folder.file("e.csv", "text,labels\na,\nb,\n"), topics).labelled);
  EXPECT_FALSE(rows_with_gold(folder.file("t.csv", "text\na\nb\n"), topics).labelled);
}

TEST(PredictionsInCsv, HaveAColumnForEachOfSeveralNumbers) {
  PredictionSubject subject;
  subject.labelled = true;
  subject.task = Task::regression;
  subject.labels = {"good", "bad"};
  const std::vector<PredictionField> fields = choose_fields({"value", "gold"}, subject, true);
  EXPECT_EQ(csv_header(fields, subject), "value.good,value.bad,gold.good,gold.bad\n");
  Prediction said;
  said.values = {0.5f, std::numeric_limits<float>::infinity()};
  said.row.gold_value = {{"good", 1}, {"bad", 2.5}};
  EXPECT_EQ(to_csv(said, fields, subject), "0.5,,1,2.5\n");
  said.row.gold_value = Json();
  EXPECT_EQ(to_csv(said, fields, subject), "0.5,,,\n") << "this row has no gold label";
}

TEST(GoldLabels, StandInTheColumnsThatTheModelRemembers) {
  const TemporaryFolder folder;
  const std::vector<std::string> note = {
      "the label is column 'bad,good', as when the model was trained"};
  const NamedColumns columns = {"", "", "bad,good"};
  const TextRows numbers = rows_with_gold(folder.file("n.csv", "text,good,bad\na,0.5,2\n"),
                                          {Task::regression, {"good", "bad"}}, columns);
  EXPECT_EQ(numbers.notes, note);
  EXPECT_EQ(numbers.rows[0].gold_value, (Json{{"good", 0.5}, {"bad", 2}}));
  const TextRows sets =
      rows_with_gold(folder.file("s.jsonl", "{\"text\": \"a\", \"good\": 1, \"bad\": 0}\n"),
                     {Task::multi_label, {"good", "bad"}}, columns);
  EXPECT_EQ(sets.notes, note);
  EXPECT_EQ(to_line(sets.rows[0].gold_value), R"(["good"])");
}

}  // namespace
}  // namespace hone
