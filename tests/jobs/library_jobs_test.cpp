#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "hone/jobs/bench.h"
#include "hone/jobs/compare.h"
#include "hone/jobs/compare_formats.h"
#include "hone/jobs/convert.h"
#include "hone/jobs/draw.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/inspect.h"
#include "hone/jobs/list_runs.h"
#include "hone/jobs/plan.h"
#include "hone/jobs/predict.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/suggest.h"
#include "hone/jobs/tokenize.h"
#include "hone/jobs/train.h"
#include "hone/jobs/widths.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Tests of jobs called by programs without a command line. Each one starts from the results of the one before.
namespace hone {
namespace {

JobData lookup_texts() {
  JobData data;
  data.options.source = "synth:lookup?n=300&test=60";
  data.cut.max_seq_length = 16;
  return data;
}

// Collects messages and expects that none of them names a command-line option.
struct Told {
  ~Told() {
    for (const std::string& line : lines) EXPECT_EQ(line.find("--"), std::string::npos) << line;
  }
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
  const JobResult trained = train_model(train_job(at("model")), told.context);
  EXPECT_FALSE(trained.was_finished);
  EXPECT_EQ(trained.fields["steps"], 2);
  EXPECT_NE(to_text(trained.document).find("n = 60"), std::string::npos);

  const EvaluateResult measured =
      evaluate_model({.model = at("model"), .data = lookup_texts()}, told.context);
  EXPECT_EQ(measured.fields["eval_accuracy"], trained.fields["test"]["eval_accuracy"]);
  EXPECT_EQ(measured.fields["split"], "test");

  const FormatTable& formats = told.context.library.formats;
  QuantizeJob job{.model = at("model"), .data = lookup_texts(), .output = {.folder = at("int8")}};
  job.data.max_train_samples = 4;
  job.recipe.defaults[Operand::weight] = parse_format("int(bits=8)", formats);
  const QuantizeResult quantized = quantize_job(job, told.context);
  EXPECT_EQ(quantized.fields["before"]["eval_accuracy"], measured.fields["eval_accuracy"]);
  EXPECT_EQ(quantized.verdict.summary, quantized.fields["comparison"]["summary"]);
  EXPECT_TRUE(path_exists(folder.path() / "int8" / "report.html"));
  const std::string card = read_file(folder.path() / "int8" / "README.md");
  EXPECT_EQ(card.find("It was trained on only"), std::string::npos) << "it learned nothing\n"
                                                                    << card;

  CompareFormatsJob compared{.model = at("model"), .data = lookup_texts()};
  compared.choices = {parse_choice("bf16", formats)};
  EXPECT_EQ(compare_formats(compared, told.context).study.results.size(), 1u);

  SuggestJob suggested{.model = at("model"),
                       .format = parse_format("integer(width=6,frac=1)", formats),
                       .data = lookup_texts()};
  EXPECT_NE(suggest_formats(suggested, told.context).recipe.find("integer(width=6,"),
            std::string::npos);
  // A format without parameters cannot be improved, and the headline says so.
  suggested.format = parse_format("bf16", formats);
  EXPECT_TRUE(suggest_formats(suggested, told.context)
                  .document.headline.starts_with("Nothing better was found"));
}

/// Returns a model with which some jobs start.
const std::string& trained_model() {
  static const TemporaryFolder folder;
  static const std::string model = [] {
    Told told;
    TrainJob job = train_job((folder.path() / "model").string());
    job.training.training.max_steps = 20;
    job.training.training.optimizer.learning_rate = 1e-3;
    train_model(job, told.context);
    return job.output.folder;
  }();
  return model;
}

PredictJob lookup_question() {
  return {.model = trained_model(), .data = lookup_texts().options, .cut = {16}};
}

TEST(LibraryJobs, PredictIsRightAsOftenAsWasMeasured) {
  Told told;
  const EvaluateResult measured =
      evaluate_model({.model = trained_model(), .data = lookup_texts()}, told.context);
  const PredictResult result = predict_texts(lookup_question(), told.context);
  EXPECT_EQ(result.subject.split, "test");
  EXPECT_TRUE(result.subject.labelled && result.subject.numbered && !result.subject.pairs);
  EXPECT_EQ(result.subject.labels.size(), 2u);
  ASSERT_EQ(result.texts, measured.measured.evaluation.examples);
  ASSERT_EQ(std::ssize(result.predictions), result.texts);
  const auto right = static_cast<double>(std::ranges::count_if(
      result.predictions, [](const Prediction& p) { return p.label == p.row.gold; }));
  EXPECT_EQ(right / static_cast<double>(result.texts), measured.fields["eval_accuracy"]);
}

TEST(LibraryJobs, PredictGivesATextTheSameBitsHoweverItComes) {
  Told told;
  const std::vector<Prediction> of_data =
      predict_texts(lookup_question(), told.context).predictions;
  ASSERT_GE(of_data.size(), 40u);
  // As a single text.
  const TextRow& row = of_data[7].row;
  PredictJob job{
      .model = trained_model(), .texts = {{.id = "seven", .text = row.text}}, .cut = {16}};
  const PredictResult alone = predict_texts(job, told.context);
  ASSERT_EQ(alone.predictions.size(), 1u);
  EXPECT_EQ(alone.predictions[0].logits, of_data[7].logits);
  EXPECT_EQ(alone.predictions[0].row.id, "seven");
  EXPECT_FALSE(alone.subject.numbered);
  // As lines of a stream, whose results are passed to a reader.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string lines;
  for (std::size_t i = 0; i < 40; ++i) lines += of_data[i].row.text + "\n";
  ASSERT_EQ(::write(ends[1], lines.data(), lines.size()), std::ssize(lines));
  ::close(ends[1]);
  std::vector<Prediction> read;
  bool is_told = false;
  job = {.model = trained_model(),
         .stream = read_lines(ends[0], "a pipe", /*encoding=*/"", /*strict=*/false),
         .cut = {16},
         .batch_size = 1,
         .open_sink = [&](const PredictionSubject& subject) -> PredictionSink {
           is_told = read.empty() && subject.numbered && subject.width == 2;
           return [&](const std::vector<Prediction>& some) {
             EXPECT_LE(some.size(), 32u);
             read.insert(read.end(), some.begin(), some.end());
           };
         }};
  const PredictResult streamed = predict_texts(job, told.context);
  ::close(ends[0]);
  EXPECT_TRUE(is_told);
  EXPECT_EQ(streamed.texts, 40);
  EXPECT_TRUE(streamed.predictions.empty()) << "the reader has them";
  ASSERT_EQ(read.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(read[i].row.id, i + 1);
    EXPECT_EQ(read[i].logits, of_data[i].logits);
  }
}

TEST(LibraryJobs, PredictWritesFilesThatProgramsRead) {
  const TemporaryFolder folder;
  Told told;
  const std::vector<Prediction> predictions =
      predict_texts(lookup_question(), told.context).predictions;
  PredictJob job = lookup_question();
  job.output = (folder.path() / "said.jsonl").string();
  job.fields = {"id", "label", "logits"};
  const PredictResult written = predict_texts(job, told.context);
  EXPECT_EQ(written.texts, std::ssize(predictions));
  EXPECT_TRUE(written.predictions.empty()) << "the file has them";
  std::string expected;
  for (const Prediction& p : predictions)
    expected += to_line(Json{{"id", p.row.id}, {"label", *p.label}, {"logits", p.logits}}) + "\n";
  EXPECT_EQ(read_file(job.output), expected);
  expect_user_error("said.jsonl: exists already", [&] { predict_texts(job, told.context); });

  job.output = (folder.path() / "said.csv").string();
  job.fields = {"id", "gold"};
  predict_texts(job, told.context);
  EXPECT_TRUE(read_file(job.output)
                  .starts_with(fmt::format("id,gold\n1,{}\n2,{}\n", *predictions[0].row.gold,
                                           *predictions[1].row.gold)));

  job.output = (folder.path() / "said.txt").string();
  expect_user_error("`output`: expected a file that ends in .jsonl or .csv, got",
                    [&] { predict_texts(job, told.context); });
  job.output = (folder.path() / "more.csv").string();
  job.fields = {"embedding"};
  expect_user_error("`fields`: it is available with `embed` only",
                    [&] { predict_texts(job, told.context); });
  EXPECT_FALSE(path_exists(job.output));
}

// By default the embedding is the mean of the tokens' last hidden states.
TEST(LibraryJobs, PredictGivesEmbeddings) {
  Told told;
  PredictJob job = lookup_question();
  job.kind = PredictionKind::embedding;
  const PredictResult result = predict_texts(job, told.context);
  EXPECT_EQ(result.subject.pooling, "mean");
  EXPECT_FALSE(result.subject.normalized);
  EXPECT_EQ(result.subject.width, 128);
  ASSERT_EQ(result.predictions.size(), 60u);
  for (const Prediction& p : result.predictions) {
    EXPECT_EQ(p.embedding.size(), 128u);
    EXPECT_TRUE(std::ranges::all_of(p.embedding, [](float x) { return std::isfinite(x); }));
    EXPECT_FALSE(p.label || !p.logits.empty());
  }
}

TEST(LibraryJobs, CompareTellsWhatTwoModelsSayOfTheSameTexts) {
  const TemporaryFolder folder;
  Told told;
  QuantizeJob quantize{.model = trained_model(),
                       .data = lookup_texts(),
                       .output = {.folder = (folder.path() / "ternary").string()}};
  quantize.recipe.defaults[Operand::weight] =
      parse_format("int(bits=2)", told.context.library.formats);
  quantize_job(quantize, told.context);

  const auto answers = [&](const std::string& model) {
    PredictJob job = lookup_question();
    job.model = model;
    return predict_texts(job, told.context).predictions;
  };
  const std::vector<Prediction> before = answers(trained_model()),
                                after = answers(quantize.output.folder);
  std::int64_t flips = 0;
  for (std::size_t i = 0; i < before.size(); ++i) flips += before[i].label != after[i].label;
  ASSERT_GT(flips, 0) << "nothing to find";

  CompareJob job{.first = trained_model(),
                 .second = quantize.output.folder,
                 .data = lookup_texts(),
                 .texts = 3,
                 .gates = {.max_drop_points = 100},
                 .output = {.folder = (folder.path() / "compared").string()}};
  const CompareResult result = compare_models(job, told.context);
  EXPECT_EQ(result.fields["comparison"]["flips"], flips);
  ASSERT_EQ(result.fields["changed"].size(), std::min<std::int64_t>(flips, 3));
  const Json& changed = result.fields["changed"][0];
  const auto example = changed["example"].get<std::size_t>();
  EXPECT_EQ(changed["a"], *before[example].label);
  EXPECT_EQ(changed["b"], *after[example].label);
  EXPECT_EQ(changed["text"], before[example].row.text);
  EXPECT_EQ(result.fields["gate"]["passed"], true) << "everything may be lost";
  EXPECT_TRUE(result.verdict.within_limit());
  EXPECT_TRUE(result.gate->passed);
  EXPECT_NE(to_text(result.document).find(result.verdict.summary), std::string::npos);
  EXPECT_TRUE(path_exists(folder.path() / "compared" / "report.html"));

  job = {.first = trained_model(), .second = trained_model(), .data = lookup_texts()};
  const CompareResult itself = compare_models(job, told.context);
  EXPECT_EQ(itself.fields["comparison"]["flips"], 0);
  EXPECT_EQ(itself.fields["changed"], Json::array());
  EXPECT_TRUE(itself.fields["gate"].is_null());
}

TEST(LibraryJobs, CompareTakesFoldersOfSeeds) {
  const TemporaryFolder folder;
  Told told;
  const auto repeated = [&](const char* name, std::int64_t seeds) {
    TrainJob job = train_job((folder.path() / name).string());
    job.seeds = seeds;
    train_model(job, told.context);
    return job.output.folder;
  };
  const std::string two = repeated("two", 2);
  const CompareResult result =
      compare_models({.first = two, .second = two, .data = lookup_texts()}, told.context);
  EXPECT_EQ(result.fields["seeds"], 2);
  ASSERT_EQ(result.fields["runs"].size(), 2u);
  for (const Json& run : result.fields["runs"]) EXPECT_EQ(run["comparison"]["flips"], 0);
  expect_user_error("expected two models, or two folders with the same seeds", [&] {
    compare_models({.first = two, .second = trained_model(), .data = lookup_texts()}, told.context);
  });
}

TEST(LibraryJobs, WidthsAreStudiedAndWritten) {
  const TemporaryFolder folder;
  Told told;
  WidthsJob job{.model = trained_model(),
                .widths = {{16, 8}, {4, 2}},
                .data = lookup_texts(),
                .output = {.folder = (folder.path() / "widths").string()}};
  job.training.training.max_steps = 1;
  job.data.validation_split = 0.5;
  const WidthsResult result = study_widths(job, told.context);
  EXPECT_FALSE(result.was_finished);
  ASSERT_TRUE(result.study);
  ASSERT_EQ(result.study->results.size(), 2u);
  EXPECT_EQ(result.study->results[1].width.width, 4) << "in the order that was asked for";
  EXPECT_EQ(result.study->choice.baseline.evaluation.examples, result.fields["n"]);
  ASSERT_EQ(result.fields["models"].size(), 5u);
  EXPECT_EQ(result.fields["models"][1]["model"], "PTQ integer(width=16,frac=8)");
  EXPECT_EQ(result.fields["models"][4]["model"], "QAT integer(width=4,frac=2)");
  EXPECT_EQ(result.fields["summary"], width_verdict(*result.study));
  EXPECT_FALSE(result.document.headline.empty());
  EXPECT_TRUE(read_file(folder.path() / "widths" / "results.csv").find("width=4") !=
              std::string::npos);
  EXPECT_FALSE(path_exists(folder.path() / "widths" / "trainings")) << "checkpoints of the way";

  job.resume.resume = true;
  const WidthsResult again = study_widths(job, told.context);
  EXPECT_TRUE(again.was_finished && !again.study);
  EXPECT_EQ(again.fields["models"], result.fields["models"]);

  job.output.folder = (folder.path() / "none").string();
  job.model = (folder.path() / "missing").string();
  expect_user_error("missing", [&] { study_widths(job, told.context); });
}

TEST(LibraryJobs, TokenizeTellsHowTrainingReadsTheLabels) {
  const TemporaryFolder folder;
  std::string rows = "body,team\n";
  for (int i = 0; i < 3; ++i) rows += fmt::format("a ticket {},mail\n", i);
  Told told;
  TokenizeJob job{.model = trained_model(),
                  .data = {.source = folder.file("tickets.csv", rows + "a fine ticket,sales\n"),
                           .text_column = "body",
                           .label_column = "team"}};
  const TokenizeResult read = tokenize_data(job, told.context);
  EXPECT_EQ(read.fields["data"]["splits"][0]["classes"], (Json{{"mail", 3}, {"sales", 1}}));
  const std::string shown = to_text(read.document, {});
  EXPECT_NE(shown.find("'team'"), std::string::npos) << shown;
  EXPECT_LT(shown.find("\nmail "), shown.find("\nsales ")) << shown;

  // Labels that training would refuse give only a warning here.
  job.data.source = folder.file("more.csv", rows + "a,\nb,\n");
  const TokenizeResult refused = tokenize_data(job, told.context);
  EXPECT_EQ(refused.splits[0].texts, 5);
  EXPECT_TRUE(std::ranges::any_of(told.lines, [](const std::string& line) {
    return line.starts_with("warning: ") &&
           line.find("line 5: the label is empty, as in 2 of 5") != std::string::npos;
  }));
}

TEST(LibraryJobs, TokenizeTellsWhatDataIsAsTokens) {
  const TemporaryFolder folder;
  const std::string data = folder.file("texts.csv", "text\na fine film\n\"dull, dull\"\n木\n");
  Told told;
  TokenizeJob job{
      .model = "tiny", .data = {.source = data}, .texts = 1, .vocabulary = {.vocab_size = 60}};
  const TokenizeResult result = tokenize_data(job, told.context);
  EXPECT_EQ(result.training_texts, result.fields["vocabulary"]["training_texts"]);
  EXPECT_LE(result.vocab_size, 60);

  job = {.model = trained_model(), .data = {.source = data}, .cut = {4}, .batch_size = 3};
  const TokenizeResult cut = tokenize_data(job, told.context);
  ASSERT_EQ(cut.splits.size(), 1u);
  const TokenFacts& facts = cut.splits[0];
  EXPECT_EQ(facts.split, "train");
  EXPECT_EQ(facts.texts, 3);
  ASSERT_EQ(cut.views.size(), 2u);
  EXPECT_EQ(cut.views[0].tokens.front(), "[CLS]");
  EXPECT_EQ(cut.views[0].tokens.back(), "[SEP]");
  EXPECT_EQ(cut.views[0].tokens.size(), 4u) << "as long as it may be";
  EXPECT_EQ(facts.longest_tokens, 4);
  EXPECT_GE(facts.cut, 1);
  EXPECT_GE(facts.unknown, 1) << "no such word";
  EXPECT_EQ(facts.padding, 1 - static_cast<double>(facts.tokens) / 12) << "one batch of 3 x 4";
  EXPECT_NE(to_text(cut.document).find("At most 4 tokens per text."), std::string::npos);
  EXPECT_EQ(cut.fields["splits"][0]["tokens"], facts.tokens);
}

TEST(LibraryJobs, ConvertCopiesAModel) {
  const TemporaryFolder folder;
  Told told;
  const ConvertJob job{.model = trained_model(),
                       .output = {.folder = (folder.path() / "copy").string()}};
  const ConvertResult result = convert_model(job, told.context);
  const auto weights = [](const fs::path& model) {
    return read_safetensors(model / "model.safetensors").tensors;
  };
  const auto before = weights(trained_model()), after = weights(job.output.folder);
  ASSERT_EQ(after.size(), before.size());
  ASSERT_EQ(result.conversion.tensors.size(), before.size());
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : after) {
    EXPECT_EQ(testing::floats_of(tensor), testing::floats_of(before.at(name))) << name;
    bytes += tensor.size_bytes();
  }
  EXPECT_EQ(result.conversion.bytes, bytes);
  EXPECT_EQ(result.fields["bytes"], bytes);
  EXPECT_FALSE(result.document.headline.empty());
  const auto accuracy = [&](const std::string& model) {
    return evaluate_model({.model = model, .data = lookup_texts()}, told.context)
        .fields["eval_accuracy"];
  };
  EXPECT_EQ(accuracy(job.output.folder), accuracy(trained_model()));
  expect_user_error("exists already", [&] { convert_model(job, told.context); });
}

TEST(LibraryJobs, BenchTimesAModel) {
  Told told;
  BenchJob job{
      .model = trained_model(), .options = {.batch = 2, .tokens = 8, .runs = 3}, .profile = true};
  const BenchResult plain = bench(job, told.context);
  EXPECT_EQ(plain.times.runs, 3);
  EXPECT_GT(plain.times.min_ms, 0);
  EXPECT_LE(plain.times.min_ms, plain.times.median_ms);
  EXPECT_EQ(plain.fields["threads"], 1);
  EXPECT_FALSE(plain.fields["kernels"].empty());
  EXPECT_NE(to_text(plain.document).find("Operation / kernel"), std::string::npos);
  job.options.train = true;
  job.profile = false;
  const BenchResult step = bench(job, told.context);
  EXPECT_GT(step.times.gflop, 2 * plain.times.gflop) << "there and back";
  EXPECT_TRUE(step.fields["kernels"].is_null());
}

TEST(LibraryJobs, InspectCountsWhatTrainingLeavesAsItIs) {
  Told told;
  const InspectResult all = inspect_model({.model = trained_model()}, told.context);
  EXPECT_EQ(all.totals.frozen, 0);
  EXPECT_EQ(all.fields["parameters"], all.totals.all());
  EXPECT_NE(all.graph.find("bert.embeddings.word_embeddings"), std::string::npos);
  const InspectResult head =
      inspect_model({.model = trained_model(), .freeze = {"bert.*"}}, told.context);
  EXPECT_EQ(head.totals.trainable, 128 * 2 + 2) << "the classifier";
  EXPECT_EQ(head.totals.all(), all.totals.all());
  EXPECT_EQ(head.inference.flops, all.inference.flops);
  EXPECT_LT(head.training_step.flops, all.training_step.flops);
  EXPECT_NE(to_text(head.document).find("2 classes: "), std::string::npos);
  expect_user_error("no parameter matches 'bart.*' of `freeze`", [&] {
    inspect_model({.model = trained_model(), .freeze = {"bart.*"}}, told.context);
  });
}

TEST(LibraryJobs, PlanSaysWhatEveryLayerWouldTake) {
  Told told;
  PlanJob job{.model = trained_model()};
  job.recipe.defaults[Operand::weight] = parse_format("int(bits=8)", told.context.library.formats);
  const PlanResult result = plan_formats(job, told.context);
  // 2 layers of 6 linears, the pooler and the classifier.
  EXPECT_EQ(result.tensors.size(), 14u);
  std::int64_t weights = 0;
  for (const PlannedTensor& tensor : result.tensors) {
    EXPECT_EQ(tensor.operand, Operand::weight);
    weights += element_count(tensor.sizes);
  }
  EXPECT_EQ(result.size.quantized_parameters, weights);
  EXPECT_EQ(result.fields["operands"].size(), 14u);
  EXPECT_NE(to_text(result.document).find("simulated"), std::string::npos);
}

TEST(LibraryJobs, DrawWritesAGraph) {
  const TemporaryFolder folder;
  Told told;
  DrawJob job{.model = trained_model(), .output = (folder.path() / "graph.dot").string()};
  const DrawResult result = draw_model(job, told.context);
  EXPECT_EQ(result.drawing.folded_layers, 1) << "of two that are equal";
  EXPECT_EQ(read_file(job.output), result.drawing.dot);
  EXPECT_NE(result.drawing.dot.find("attention_mask"), std::string::npos);
  expect_user_error("graph.dot: exists already", [&] { draw_model(job, told.context); });
  job.overwrite = true;
  job.inputs.attention_mask = false;
  job.equal_layers = 0;
  const DrawResult whole = draw_model(job, told.context);
  EXPECT_EQ(whole.drawing.folded_layers, 0);
  EXPECT_GT(whole.drawing.drawn, result.drawing.drawn);
  EXPECT_EQ(whole.fields["inputs"], Json::array({"input_ids", "token_type_ids"}));
  EXPECT_EQ(whole.fields["made_inside"], Json::array({"attention_mask.full"}));
  EXPECT_NE(to_text(whole.document).find("attention_mask.full"), std::string::npos);
  EXPECT_NE(to_text(whole.document).find(job.output), std::string::npos);
}

TEST(LibraryJobs, RunsAreLaidBesideEachOther) {
  const TemporaryFolder folder;
  Told told;
  const auto measured = [&](const char* name, std::int64_t texts) {
    EvaluateJob job{.model = trained_model(),
                    .data = lookup_texts(),
                    .output = {.folder = (folder.path() / name).string()}};
    job.data.max_eval_samples = texts;
    return evaluate_model(job, told.context).fields["eval_loss"];
  };
  const Json all = measured("all", 0), some = measured("some", 40);
  fs::create_directory(folder.path() / "neither");
  RunsJob job{.folders = {(folder.path() / "*").string()},
              .html = (folder.path() / "page.html").string(),
              .title = "Two measurements"};
  const JobResult result = list_runs(job, told.context);
  const auto fields = from_json<RunsFields>(result.fields);
  ASSERT_EQ(fields.runs.size(), 2u);
  EXPECT_EQ(result.fields["runs"][0]["eval_loss"], all);
  EXPECT_EQ(result.fields["runs"][1]["eval_loss"], some);
  EXPECT_EQ(fields.runs[1].n, 40);
  EXPECT_EQ(fields.groups.size(), 2u) << "of different texts";
  EXPECT_EQ(result.fields["skipped"].size(), 1u);
  EXPECT_TRUE(told.lines.back().starts_with("warning: skipped ")) << told.lines.back();
  EXPECT_NE(read_file(job.html).find("Two measurements"), std::string::npos);
  EXPECT_NE(to_text(result.document).find(job.html), std::string::npos);
  job.folders = {(folder.path() / "neither").string()};
  expect_user_error("there is no output folder among them", [&] { list_runs(job, told.context); });
}

TEST(LibraryJobs, NameSettingsAndNoFlags) {
  const TemporaryFolder folder;
  Told told;
  train_model(train_job((folder.path() / "model").string()), told.context);
  ASSERT_FALSE(told.lines.empty());
  expect_user_error("exists already; give another output folder or `overwrite`", [&] {
    train_model(train_job((folder.path() / "model").string()), told.context);
  });
}

}  // namespace
}  // namespace hone
