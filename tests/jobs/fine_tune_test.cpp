#include "hone/jobs/fine_tune.h"

#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "hone/data/data_set.h"
#include "hone/passes/quantize.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::tiny_model;
using testing::tiny_texts;

struct Outcome {
  Model model;
  std::vector<Json> lines;
};

Outcome fine_tuned(const FineTuneOptions& options, const EncodedSplits& data,
                   Model model = tiny_model()) {
  Outcome outcome{std::move(model), {}};
  TrainingLog log;
  fine_tune(outcome.model, data, options, log, testing::quiet_context());
  outcome.lines = log.lines();
  return outcome;
}

TEST(FineTune, LogsWithTheKeysOfHuggingFace) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .epochs = 2, .logging_steps = 3};
  const Outcome outcome = fine_tuned(options, {tiny_texts(32), tiny_texts(10, 2), {}});
  std::vector<std::string> events;
  for (const Json& line : outcome.lines)
    events.push_back(
        fmt::format("{} {}", line.contains("loss") ? "log" : "eval", line["step"].get<int>()));
  EXPECT_EQ(events, (std::vector<std::string>{"log 3", "eval 4", "log 6", "log 8", "eval 8"}));
  for (const char* key : {"loss", "grad_norm", "learning_rate", "epoch"})
    EXPECT_TRUE(outcome.lines[0][key].is_number()) << key;
  for (const char* key : {"eval_loss", "eval_accuracy", "eval_runtime", "eval_samples_per_second"})
    EXPECT_TRUE(outcome.lines[1][key].is_number()) << key;
  EXPECT_EQ(outcome.lines[1]["epoch"], 1.0);
  EXPECT_EQ(outcome.lines[1]["eval_samples"], 10);
  EXPECT_TRUE(outcome.lines[1]["eval_f1_macro"].is_number());
  EXPECT_TRUE(outcome.lines[1]["eval_confusion"].is_null());
}

// A config.json of each architecture with the sizes of the tiny model.
class FineTunedArchitecture : public ::testing::TestWithParam<Json> {};

TEST_P(FineTunedArchitecture, Learns) {
  Json config = {{"vocab_size", 40},
                 {"max_position_embeddings", 25},
                 {"initializer_range", 0.2},
                 {"pad_token_id", 0}};
  config.update(GetParam());
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 3e-3}, .epochs = 20, .logging_steps = 1};
  const Model fresh = new_model(model_facts(config, "config.json"),
                                testing::quiet_context().library.ops, /*seed=*/5);
  const Outcome outcome = fine_tuned(options, {tiny_texts(64), tiny_texts(40, 2), {}}, fresh);
  std::vector<double> losses;
  for (const Json& line : outcome.lines)
    if (line.contains("loss")) losses.push_back(line["loss"].get<double>());
  ASSERT_EQ(losses.size(), 160u);
  const auto mean = [](auto first, auto last) { return std::accumulate(first, last, 0.0) / 8; };
  EXPECT_LT(mean(losses.end() - 8, losses.end()), 0.6 * mean(losses.begin(), losses.begin() + 8));
  const auto changed = testing::changed_parameters(fresh.parameters, outcome.model.parameters);
  EXPECT_EQ(changed.size(), fresh.parameters.tensors().size());
}

INSTANTIATE_TEST_SUITE_P(All, FineTunedArchitecture,
                         ::testing::Values(Json{{"model_type", "distilbert"},
                                                {"dim", 32},
                                                {"n_layers", 2},
                                                {"n_heads", 2},
                                                {"hidden_dim", 64}},
                                           Json{{"model_type", "electra"},
                                                {"embedding_size", 16},
                                                {"hidden_size", 32},
                                                {"num_hidden_layers", 2},
                                                {"num_attention_heads", 2},
                                                {"intermediate_size", 64}},
                                           Json{{"model_type", "roberta"},
                                                {"hidden_size", 32},
                                                {"num_hidden_layers", 2},
                                                {"num_attention_heads", 2},
                                                {"intermediate_size", 64},
                                                {"type_vocab_size", 1}}),
                         [](const auto& info) {
                           return info.param["model_type"].template get<std::string>();
                         });

TEST(FineTune, WithoutValidationDoesNotEvaluate) {
  FineTuneOptions options;
  options.training.max_steps = 1;
  const Outcome outcome = fine_tuned(options, {tiny_texts(8), {}, {}});
  ASSERT_EQ(outcome.lines.size(), 1u);
  EXPECT_TRUE(outcome.lines[0].contains("loss"));
}

TEST(FineTune, EvaluationChangesNothing) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 4, .eval_steps = 1};
  const auto parameters = [&](const EncodedSet& validation) {
    return fine_tuned(options, {tiny_texts(32), validation, {}}).model.parameters;
  };
  EXPECT_EQ(testing::changed_parameters(parameters({}), parameters(tiny_texts(10, 2))),
            std::vector<std::string>{});
}

TEST(FineTune, LeavesFrozenParametersAlone) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-2}, .max_steps = 2};
  options.freeze = {"bert.embeddings.*", "bert.encoder.layer.?.attention.*"};
  const Outcome outcome = fine_tuned(options, {tiny_texts(16), {}, {}});
  for (const std::string& name :
       testing::changed_parameters(tiny_model().parameters, outcome.model.parameters)) {
    EXPECT_FALSE(name.starts_with("bert.embeddings.")) << name;
    EXPECT_EQ(name.find(".attention."), std::string::npos) << name;
  }
}

TEST(FineTune, RefusesFrozenNamesThatMatchNothing) {
  FineTuneOptions options;
  options.freeze = {"bert.embedings.*"};
  expect_user_error("no parameter matches 'bert.embedings.*'", [&] {
    fine_tuned(options, {tiny_texts(8), {}, {}});
  });
}

TEST(FineTune, RefusesLabelsTheModelDoesNotHave) {
  EncodedSet data = tiny_texts(8);
  data.labels[5] = 2;
  expect_user_error("2", [&] { fine_tuned({}, {data, {}, {}}); });
}

TEST(FineTune, TrainsAQuantizedModelThroughItsQuantizers) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 2};
  Model quantized = tiny_model();
  testing::put_quantizers(quantized, "integer(width=6,frac=3)");
  const EncodedSplits data{tiny_texts(16), {}, {}};
  const Outcome plain = fine_tuned(options, data), through = fine_tuned(options, data, quantized);
  EXPECT_NE(plain.lines[0]["loss"], through.lines[0]["loss"]);
  EXPECT_TRUE(through.model.quantization.has_value());
}

// Returns options with a learning rate so high that evaluations rise and fall.
FineTuneOptions restless() {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 2e-2}, .max_steps = 20, .eval_steps = 2};
  options.metric_for_best_model = "eval_loss";
  return options;
}

const EncodedSplits& validated() {
  static const EncodedSplits splits{tiny_texts(64), tiny_texts(40, 2), {}};
  return splits;
}

std::vector<double> validation_losses(const std::vector<Json>& lines) {
  std::vector<double> losses;
  for (const Json& line : lines)
    if (line.contains("eval_loss")) losses.push_back(line["eval_loss"].get<double>());
  return losses;
}

TEST(FineTune, KeepsTheBestEvaluation) {
  FineTuneOptions options = restless();
  options.load_best_model_at_end = true;
  Model model = tiny_model();
  TrainingLog log;
  const FineTuneResult result =
      fine_tune(model, validated(), options, log, testing::quiet_context());
  const std::vector<double> losses = validation_losses(log.lines());
  ASSERT_EQ(losses.size(), 10u);
  const auto best = std::ranges::min_element(losses);
  ASSERT_NE(best, losses.end() - 1) << "the last one is the best: the test shows nothing";
  EXPECT_EQ(result.weights_of_step, 2 * (best - losses.begin() + 1));
  EXPECT_EQ(result.training.steps, 20);
  EXPECT_EQ(
      measure(model, validated().validation, 32, testing::quiet_context(), "").evaluation.loss,
      *best);
  for (const auto& [name, tensor] : model.parameters.tensors())
    EXPECT_FALSE(name.starts_with("adamw.")) << name;
}

// The weights are those of the last step, and the result names the better evaluation.
TEST(FineTune, NamesABetterEvaluationThanThatOfItsWeights) {
  FineTuneOptions options = restless();
  options.metric_for_best_model = "loss";
  for (const bool best : {false, true}) {
    options.load_best_model_at_end = best;
    Model model = tiny_model();
    TrainingLog log;
    const FineTuneResult result =
        fine_tune(model, validated(), options, log, testing::quiet_context());
    EXPECT_EQ(result.better.has_value(), !best);
    if (!result.better) continue;
    EXPECT_EQ(result.weights_of_step, 20);
    EXPECT_EQ(result.better->step, result.selection.best_step);
    EXPECT_TRUE(result.better->text.starts_with("loss ")) << result.better->text;
    EXPECT_FALSE(result.better->is_stored);
  }
}

TEST(FineTune, ChoosesByTheMetricThatIsAskedFor) {
  FineTuneOptions options = restless();
  options.load_best_model_at_end = true;
  options.metric_for_best_model = "auc";
  Model model = tiny_model();
  TrainingLog log;
  const FineTuneResult result =
      fine_tune(model, validated(), options, log, testing::quiet_context());
  double best = -1;
  std::int64_t step = 0;
  for (const Json& line : log.lines()) {
    if (!line.contains("eval_auc") || line["eval_auc"].get<double>() <= best) continue;
    best = line["eval_auc"].get<double>();
    step = line["step"].get<std::int64_t>();
  }
  EXPECT_EQ(result.weights_of_step, step);
  EXPECT_EQ(result.selection.best_value, best);
}

TEST(FineTune, RefusesAMetricOfTwoClassesForMore) {
  EncoderConfig config = testing::tiny_config();
  config.labels = {"a", "b", "c"};
  FineTuneOptions options;
  options.metric_for_best_model = "f1";
  expect_user_error(
      "`metric_for_best_model`: f1 is defined for two classes, and the model has 3", [&] {
        fine_tuned(options, {tiny_texts(8), {}, {}},
                   new_model(facts_of(bert(), config), testing::quiet_context().library.ops, 5));
      });
}

// The reported evaluation equals a new one of the kept weights.
TEST(FineTune, KnowsWhatItsWeightsDoOnTheValidationPart) {
  for (const bool best : {false, true}) {
    FineTuneOptions options = restless();
    options.load_best_model_at_end = best;
    Model model = tiny_model();
    TrainingLog log;
    const FineTuneResult result =
        fine_tune(model, validated(), options, log, testing::quiet_context());
    ASSERT_TRUE(result.validation.has_value());
    EXPECT_EQ(result.validation->logits,
              measure(model, validated().validation, 32, testing::quiet_context(), "").logits);
  }
}

/// Returns the progress output, as written to a file, or to a terminal if `columns` is given.
std::string progress_of(const FineTuneOptions& options, int columns = 0) {
  Context context(/*threads=*/1);
  std::string written;
  context.progress.quiet = false;
  context.progress.terminal = columns > 0;
  context.progress.columns = columns;
  context.progress.write = [&](std::string_view text) { written += text; };
  context.progress.now_seconds = [] { return 0.0; };
  Model model = tiny_model();
  TrainingLog log;
  fine_tune(model, validated(), options, log, context);
  return written;
}

TEST(FineTune, ShowsEachEvaluation) {
  FineTuneOptions options = restless();
  options.training.max_steps = 6;
  options.training.seed = 1;  // with other seeds all three evaluations may predict one class only
  const std::vector<std::string> lines = split(progress_of(options), '\n');
  ASSERT_EQ(lines.size(), 5u) << ::testing::PrintToString(lines);  // the last one is empty
  EXPECT_TRUE(lines[0].starts_with("train  step 2  epoch 0.25  validation loss ")) << lines[0];
  EXPECT_NE(lines[0].find("% ("), std::string::npos) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("  best so far  predicts 'LABEL_1' only")) << lines[0];
  EXPECT_TRUE(lines[2].ends_with(")  best so far")) << lines[2];
  EXPECT_TRUE(lines[3].starts_with("train  100%  6/6 steps")) << lines[3];
}

TEST(FineTune, LeavesNothingOutOfAnEvaluationOnANarrowTerminal) {
  FineTuneOptions options = restless();
  options.training.max_steps = 6;
  options.training.seed = 1;
  for (const int columns : {40, 60, 80}) {
    const std::string shown = progress_of(options, columns);
    for (const char* said :
         {"step 2", "epoch 0.25", "val loss ", "% (", "best so far", "predicts 'LABEL_1' only"})
      EXPECT_NE(shown.find(said), std::string::npos) << columns << ": " << said << "\n" << shown;
  }
}

TEST(FineTune, WeighsTheTrainingLossAlone) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 1e-3}, .max_steps = 1};
  const EncodedSplits data{tiny_texts(8), tiny_texts(10, 2), {}};
  const Outcome plain = fine_tuned(options, data);
  options.class_weights = "1,1";
  const Outcome ones = fine_tuned(options, data);
  options.class_weights = "1,9";
  const Outcome weighed = fine_tuned(options, data);
  EXPECT_EQ(plain.lines[0]["loss"], ones.lines[0]["loss"]);
  EXPECT_EQ(testing::changed_parameters(plain.model.parameters, ones.model.parameters),
            std::vector<std::string>{});
  EXPECT_NE(plain.lines[0]["loss"], weighed.lines[0]["loss"]);
  options.training.optimizer.learning_rate = 0;
  const double still = fine_tuned(options, data).lines[1]["eval_loss"];
  EXPECT_EQ(
      still,
      measure(tiny_model(), data.validation, 32, testing::quiet_context(), "").evaluation.loss);
}

TEST(FineTune, SmoothsLabelsOfTheTrainingLossAlone) {
  FineTuneOptions options;
  options.training = {.optimizer = {.learning_rate = 0}, .max_steps = 1};
  const EncodedSplits data{tiny_texts(8), tiny_texts(10, 2), {}};
  const Outcome plain = fine_tuned(options, data);
  options.training.label_smoothing_factor = 0.2;
  const Outcome smoothed = fine_tuned(options, data);
  EXPECT_NE(plain.lines[0]["loss"], smoothed.lines[0]["loss"]);
  EXPECT_EQ(plain.lines[1]["eval_loss"], smoothed.lines[1]["eval_loss"]);
}

TEST(FineTune, EndsEarlyWithoutABetterEvaluation) {
  FineTuneOptions options = restless();
  options.early_stopping_patience = 2;
  Model model = tiny_model();
  TrainingLog log;
  const FineTuneResult result =
      fine_tune(model, validated(), options, log, testing::quiet_context());
  const std::vector<double> losses = validation_losses(log.lines());
  EXPECT_EQ(result.training.end, TrainingEnd::early);
  EXPECT_EQ(result.training.steps, static_cast<std::int64_t>(2 * losses.size()));
  EXPECT_EQ(result.weights_of_step, result.training.steps - 4);
  const double best = losses[losses.size() - 3];
  EXPECT_LE(best, losses[losses.size() - 2]);
  EXPECT_LE(best, losses.back());
}

TEST(FineTune, RefusesAChoiceWithoutAValidationPart) {
  FineTuneOptions options = restless();
  options.early_stopping_patience = 2;
  expect_user_error("need a validation split, and there is none", [&] {
    fine_tuned(options, {tiny_texts(8), {}, {}});
  });
}

/// Fine-tuning with checkpoints in a folder.
struct Kept {
  TemporaryFolder folder;
  FineTuneOptions options = restless();
  std::vector<double> losses;  // of every step of the last run

  Kept() {
    options.checkpoints.folder = folder.path();
    options.checkpoints.write_model = [](const Model& model, const fs::path& to) {
      save_model(model, to);
    };
    options.training.save_steps = 3;
  }
  FineTuneResult run(Model& model) {
    TrainingLog log(folder.path() / "log.jsonl");
    const FineTuneResult result =
        fine_tune(model, validated(), options, log, testing::quiet_context());
    losses.clear();
    for (const StepRecord& step : log.steps()) losses.push_back(step.loss);
    return result;
  }
  std::vector<std::int64_t> steps() const { return checkpoint_steps(folder.path()); }
};

TEST(FineTune, KeepsTheNewestCheckpointsAndTheBest) {
  Kept kept;
  kept.options.load_best_model_at_end = true;
  Model model = tiny_model();
  const std::int64_t best = kept.run(model).weights_of_step;
  std::vector<std::int64_t> expected = {18, 20};
  if (best < 18) expected.insert(expected.begin(), best);
  EXPECT_EQ(kept.steps(), expected);
  const Model saved = load_model(kept.folder.path() / fmt::format("checkpoint-{}", best),
                                 testing::quiet_context().library.ops,
                                 testing::quiet_context().library.formats, /*seed=*/1);
  EXPECT_EQ(testing::changed_parameters(saved.parameters, model.parameters),
            std::vector<std::string>{});
}

// Imitates killed runs by removing later checkpoints.
TEST(FineTune, ResumesToTheSameBitsAndTheSameLog) {
  Kept kept;
  kept.options.load_best_model_at_end = true;
  kept.options.checkpoints.keep = 100;
  Model whole = tiny_model();
  const FineTuneResult all = kept.run(whole);
  const auto logged = [&] {
    std::vector<Json> lines;
    for (const std::string& text : split(read_file(kept.folder.path() / "log.jsonl"), '\n')) {
      if (text.empty()) continue;
      Json line = parse_json(text, "log");
      for (const char* key : {"eval_runtime", "eval_samples_per_second"}) line.erase(key);
      lines.push_back(line);
    }
    return lines;
  };
  const std::vector<Json> log = logged();
  const std::vector<double> losses = kept.losses;
  ASSERT_EQ(losses.size(), 20u);
  kept.options.checkpoints.resume = true;
  std::vector<std::int64_t> steps = kept.steps();
  while (steps.size() > 1) {
    fs::remove_all(checkpoint_folder(kept.options.checkpoints, steps.back()));
    steps.pop_back();
    const std::vector<std::int64_t> left = steps;
    Model model = tiny_model();
    const FineTuneResult rest = kept.run(model);
    EXPECT_EQ(testing::changed_parameters(whole.parameters, model.parameters),
              std::vector<std::string>{})
        << "from step " << left.back();
    EXPECT_EQ(rest.weights_of_step, all.weights_of_step);
    EXPECT_EQ(logged(), log) << "from step " << left.back();
    EXPECT_EQ(kept.losses, losses) << "from step " << left.back();
    for (const std::int64_t step : kept.steps())
      if (step > left.back()) fs::remove_all(checkpoint_folder(kept.options.checkpoints, step));
  }
}

TEST(FineTune, NamesTheLastCheckpointWhenItDiverges) {
  Kept kept;
  kept.options.training.optimizer.learning_rate = 1e37;
  kept.options.training.warmup_steps = 1;  // the first step has a learning rate of 0
  kept.options.training.save_steps = 1;
  Model model = tiny_model();
  std::string given_up;
  kept.options.checkpoints.on_diverged = [&](const std::string& why) { given_up = why; };
  const std::string message = user_error_of([&] { kept.run(model); });
  // The weights after step 2 are finite, but all results are not, so they are not kept.
  EXPECT_TRUE(
      message.starts_with("train: training diverged at step 2: the loss on the validation split is "
                          "not finite; try a lower `learning_rate` than 1e+37\n"))
      << message;
  EXPECT_NE(message.find("The last checkpoint, of step 1, is " +
                         checkpoint_folder(kept.options.checkpoints, 1).string() + ": a model"),
            std::string::npos)
      << message;
  EXPECT_EQ(given_up, message);
  EXPECT_EQ(kept.steps(), std::vector<std::int64_t>{1});
}

// If a checkpoint was not evaluated, only the next step shows that it is unusable. The checkpoint before it must still
// exist then, although only one is kept.
TEST(FineTune, KeepsTheLastGoodCheckpointWhenItDiverges) {
  for (const std::int64_t eval_steps : {2, 100}) {
    Kept kept;
    kept.options.training.optimizer.learning_rate = 1e37;
    kept.options.training.warmup_steps = 1;
    kept.options.training.eval_steps = eval_steps;
    kept.options.training.save_steps = 1;
    kept.options.checkpoints.keep = 1;
    Model model = tiny_model();
    const std::string message = user_error_of([&] { kept.run(model); });
    EXPECT_NE(message.find(eval_steps == 2 ? "at step 2: the loss on the validation split"
                                           : "at step 3: loss nan"),
              std::string::npos)
        << message;
    EXPECT_EQ(kept.steps(), std::vector<std::int64_t>{1}) << message;
  }
}

TEST(FineTune, BlamesNoLearningRateForWeightsThatGaveNoNumbersBefore) {
  FineTuneOptions options = restless();
  Model model = tiny_model();
  for (float& weight : model.parameters.writable("classifier.weight").values<float>())
    weight = std::numeric_limits<float>::infinity();
  TrainingLog log;
  const std::string message =
      user_error_of([&] { fine_tune(model, validated(), options, log, testing::quiet_context()); });
  EXPECT_TRUE(message.starts_with("train: training diverged at step 1: loss nan")) << message;
  EXPECT_TRUE(message.ends_with("; the initial weights give values that are not finite"))
      << message;
}

// The loss of a step is computed before the step changes the weights.
TEST(FineTune, KeepsNoWeightsThatTheLastStepDestroyed) {
  Kept kept;
  kept.options.training.optimizer.learning_rate = 1e39;
  kept.options.training.max_steps = 1;
  Model model = tiny_model();
  const std::string message = user_error_of([&] { kept.run(model); });
  EXPECT_TRUE(message.starts_with("train: training diverged at step 1: '")) << message;
  EXPECT_TRUE(message.ends_with(
      "has values that are NaN or infinite; try a lower `learning_rate` than 1e+39"))
      << message;
  EXPECT_TRUE(kept.steps().empty());
}

// The previous best checkpoint is removed when an evaluation finds a better one, not at the next save.
TEST(FineTune, KeepsNoCheckpointThatWasTheBest) {
  Kept kept;
  kept.options.checkpoints.keep = 1;
  kept.options.training.optimizer.learning_rate = 1e-5;  // improves with every evaluation
  Model model = tiny_model();
  const FineTuneResult result = kept.run(model);
  ASSERT_EQ(result.selection.best_step, 20)
      << "the last one is not the best: the test shows nothing";
  EXPECT_EQ(kept.steps(), std::vector<std::int64_t>{20});
}

TEST(FineTune, RefusesCheckpointsOfAnotherModel) {
  Kept kept;
  Model model = tiny_model();
  kept.run(model);
  kept.options.checkpoints.resume = true;
  EncoderConfig config = testing::tiny_config();
  config.intermediate_size = 32;
  Model other = new_model(facts_of(bert(), config), testing::quiet_context().library.ops, 5);
  expect_user_error("is not a parameter of the model being trained", [&] { kept.run(other); });
}

}  // namespace
}  // namespace hone
