#include "hone/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/passes/freeze.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/train/text_examples.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::changed_parameters;
using testing::floats_of;
using testing::tiny_model;
using testing::tiny_texts;

Graph loss_graph(const Model& model) { return model.graph; }

TrainingResult train_tiny(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
                          const TrainingOptions& options, const TrainingCallbacks& callbacks = {},
                          int threads = 1) {
  ThreadPool pool(threads);
  return train(graph, parameters, text_examples(data), options, {builtin(), pool}, callbacks);
}

// Returns the parameters of a tiny model after training on `texts` texts.
ParameterStore trained(const TrainingOptions& options, std::int64_t texts = 24, int threads = 1) {
  Model model = tiny_model();
  train_tiny(loss_graph(model), model.parameters, tiny_texts(texts), options, {}, threads);
  return model.parameters;
}

TEST(Trainer, GivesTheSameBitsForAnyNumberOfThreads) {
  const TrainingOptions options{
      .optimizer = {.learning_rate = 1e-3}, .max_steps = 6, .batch_size = 12};
  const ParameterStore one = trained(options, 40, 1);
  EXPECT_EQ(changed_parameters(one, trained(options, 40, 3)), std::vector<std::string>{});
  EXPECT_FALSE(changed_parameters(one, tiny_model().parameters).empty());
}

TEST(WarmupSteps, AreAShareRoundedUpUnlessTheyAreGiven) {
  TrainingOptions options{.warmup_ratio = 0.1};
  EXPECT_EQ(warmup_steps(options, 30), 3);
  EXPECT_EQ(warmup_steps(options, 31), 4);
  options.warmup_steps = 7;
  EXPECT_EQ(warmup_steps(options, 30), 7);
  EXPECT_EQ(warmup_steps({}, 30), 0);
}

// The logged loss is sum of w l / sum of w over the batch.
TEST(Trainer, WeighsClassesInTheLoss) {
  Model model = tiny_model();
  const EncodedSet data = tiny_texts(8);
  const auto loss_with = [&](const std::vector<float>& weights) {
    ParameterStore parameters = model.parameters;
    TrainingOptions options{.max_steps = 1, .class_weights = weights};
    double loss = 0;
    Graph graph = loss_graph(model);
    remove_dropout(graph);
    train_tiny(graph, parameters, data, options,
               {.on_step = [&](const StepRecord& record) { loss = record.loss; }});
    return loss;
  };
  // If only one class has weight, the loss is the mean over its texts. The expected loss for any other weights follows
  // from these.
  const double negative = loss_with({1, 1e-20f}), positive = loss_with({1e-20f, 1});
  const double texts = 8, ones = static_cast<double>(std::ranges::count(data.labels, 1));
  ASSERT_TRUE(ones > 0 && ones < texts);
  const double expected =
      (2 * (texts - ones) * negative + 5 * ones * positive) / (2 * (texts - ones) + 5 * ones);
  EXPECT_NEAR(loss_with({2, 5}), expected, 1e-6);
  EXPECT_NEAR(loss_with({1, 1}), loss_with({}), 1e-7);
}

TEST(Trainer, DependsOnTheSeed) {
  TrainingOptions options{.optimizer = {.learning_rate = 1e-3}, .max_steps = 2};
  const ParameterStore first = trained(options);
  options.seed = 43;
  EXPECT_FALSE(changed_parameters(first, trained(options)).empty());
  // Without shuffling the seed still determines dropout.
  options.shuffle = false;
  const ParameterStore in_order = trained(options);
  options.seed = 44;
  EXPECT_FALSE(changed_parameters(in_order, trained(options)).empty());
}

TEST(Trainer, LearnsALabelThatOneWordDecides) {
  Model model = tiny_model();
  std::vector<double> losses;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { losses.push_back(record.loss); };
  train_tiny(loss_graph(model), model.parameters, tiny_texts(64),
             {.optimizer = {.learning_rate = 2e-3}, .epochs = 20}, callbacks);
  ASSERT_EQ(losses.size(), 160u);
  const auto mean = [&](std::size_t begin) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + 16; ++i) sum += losses[i] / 16;
    return sum;
  };
  EXPECT_GT(mean(0), 0.5);
  EXPECT_LT(mean(144), 0.35);
}

TEST(Trainer, LeavesFrozenParametersAndCopiesOfTheStoreAlone) {
  Model model = tiny_model();
  Graph graph = loss_graph(model);
  freeze(graph, {"bert.embeddings.*", "*.bias"});
  const ParameterStore before = model.parameters;
  const std::vector<float> classifier = floats_of(before.at("classifier.weight"));
  train_tiny(graph, model.parameters, tiny_texts(16),
             {.optimizer = {.learning_rate = 1e-2}, .max_steps = 2});
  EXPECT_EQ(floats_of(before.at("classifier.weight")), classifier);
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    const std::string& name = parameter->name();
    const Tensor &old = before.at(name), &now = model.parameters.at(name);
    EXPECT_EQ(floats_of(old) != floats_of(now), parameter->trainable()) << name;
    EXPECT_EQ(old.storage() != now.storage(), parameter->trainable()) << name;
  }
}

TEST(Trainer, TakesItsMomentsOutOfTheStore) {
  const ParameterStore after = trained({.max_steps = 1});
  EXPECT_EQ(after.tensors().size(), tiny_model().parameters.tensors().size());
}

TEST(Trainer, RefusesToTrainNothing) {
  Model model = tiny_model();
  Graph graph = loss_graph(model);
  expect_user_error("the training split is empty",
                    [&] { train_tiny(graph, model.parameters, {}, {}); });
  freeze(graph, {"*"});
  expect_user_error("nothing to train: all parameters are frozen",
                    [&] { train_tiny(graph, model.parameters, tiny_texts(4), {}); });
}

TEST(Trainer, RefusesOptionsThatMakeNoSense) {
  const auto refuse = [](std::string_view fragment, const TrainingOptions& options) {
    Model model = tiny_model();
    expect_user_error(
        fragment, [&] { train_tiny(loss_graph(model), model.parameters, tiny_texts(4), options); });
  };
  refuse("epochs: expected a number from 0 on and below 1e+09, got -1", {.epochs = -1});
  refuse("epochs: expected a number from 0 on and below 1e+09, got nan", {.epochs = std::nan("")});
  refuse("batch_size: expected at least 1, got 0", {.batch_size = 0});
  refuse("logging_steps: expected at least 1, got 0", {.logging_steps = 0});
  refuse("warmup_steps: expected at least 0, got -1", {.warmup_steps = -1});
  refuse("gradient_accumulation_steps: expected at least 1, got 0",
         {.gradient_accumulation_steps = 0});
  refuse(
      "`lr_scheduler_type`: expected linear, cosine, constant, constant_with_warmup, got "
      "'cosin'; did you mean 'cosine'?",
      {.lr_scheduler_type = "cosin"});
  refuse(
      "`lr_scheduler_type` constant has no warm-up; omit `warmup_steps` and "
      "`warmup_ratio`, or use constant_with_warmup",
      {.lr_scheduler_type = "constant", .warmup_steps = 2});
  refuse("`label_smoothing_factor` must be within [0, 1), got 1", {.label_smoothing_factor = 1});
}

TEST(Trainer, SaysWhereTrainingDiverged) {
  Model model = tiny_model();
  try {
    train_tiny(loss_graph(model), model.parameters, tiny_texts(32),
               {.optimizer = {.learning_rate = 1e38}, .max_steps = 4});
    FAIL() << "nothing was thrown";
  } catch (const Diverged& diverged) {
    const std::string message = diverged.what();
    EXPECT_TRUE(message.starts_with("training diverged at step 2: loss ")) << message;
    EXPECT_EQ(diverged.unusable_step(),
              1);  // the loss of step 2 belongs to the weights after step 1
  }
}

TEST(Trainer, CountsStepsByEpochsOrAsTold) {
  EXPECT_EQ(total_steps({.epochs = 1, .batch_size = 8}, 24), 3);
  EXPECT_EQ(total_steps({.epochs = 1, .batch_size = 8}, 25), 4);
  EXPECT_EQ(total_steps({.epochs = 2.5, .batch_size = 8}, 24), 8);
  EXPECT_EQ(total_steps({.epochs = 2, .max_steps = 5}, 24), 5);
}

// The state of a run at a checkpoint.
struct Saved {
  TrainingState state;
  ParameterStore parameters;
};

TEST(Trainer, GoesOnFromAnyCheckpointToTheSameBits) {
  // 13 texts in batches of 4: epochs end within the run. Moments, dropout and order all matter.
  const TrainingOptions options{.optimizer = {.learning_rate = 1e-3},
                                .epochs = 2,
                                .batch_size = 4,
                                .warmup_steps = 2,
                                .logging_steps = 3,
                                .save_steps = 1};
  const EncodedSet data = tiny_texts(13);
  std::vector<Saved> saved;
  std::vector<double> logged;
  TrainingCallbacks callbacks;
  callbacks.on_checkpoint = [&](const TrainingState& state, const ParameterStore& parameters) {
    saved.push_back({state, parameters});
  };
  callbacks.on_log = [&](const StepRecord& record) { logged.push_back(record.loss); };
  Model whole = tiny_model();
  const TrainingResult all =
      train_tiny(loss_graph(whole), whole.parameters, data, options, callbacks);
  ASSERT_EQ(saved.size(), 8u);
  for (Saved& one : saved) {
    std::vector<double> later;
    TrainingCallbacks log;
    log.on_log = [&](const StepRecord& record) { later.push_back(record.loss); };
    ThreadPool pool(2);
    const TrainingResult rest = train(loss_graph(whole), one.parameters, text_examples(data),
                                      options, {builtin(), pool}, log, one.state);
    EXPECT_EQ(changed_parameters(whole.parameters, one.parameters), std::vector<std::string>{})
        << one.state.step;
    EXPECT_EQ(rest.steps, all.steps);
    EXPECT_EQ(rest.examples, all.examples);
    EXPECT_EQ(rest.mean_loss, all.mean_loss);
    EXPECT_EQ(rest.seconds_before, one.state.seconds);
    EXPECT_GE(rest.seconds, rest.seconds_before);
    EXPECT_TRUE(std::equal(later.rbegin(), later.rend(), logged.rbegin())) << one.state.step;
  }
}

TEST(Trainer, StopsAfterTheStepAndSavesIt) {
  Model model = tiny_model();
  std::int64_t asked = 0, saved_step = 0;
  TrainingCallbacks callbacks;
  callbacks.stop_requested = [&] { return ++asked == 3; };
  callbacks.on_checkpoint = [&](const TrainingState& state, const ParameterStore& parameters) {
    EXPECT_TRUE(parameters.contains("adamw.m.classifier.weight"));
    saved_step = state.step;
  };
  callbacks.on_evaluate = [](const StepRecord&, const ParameterStore&) -> bool {
    ADD_FAILURE() << "an evaluation would keep who waits";
    return true;
  };
  const TrainingResult result = train_tiny(loss_graph(model), model.parameters, tiny_texts(24),
                                           {.epochs = 1, .batch_size = 8}, callbacks);
  EXPECT_EQ(result.end, TrainingEnd::interrupted);
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(saved_step, 3);
}

// A kill between checkpoint and evaluation of a step loses neither.
TEST(Trainer, MakesUpForAnEvaluationThatWasDue) {
  const TrainingOptions options{.max_steps = 4, .batch_size = 8, .eval_steps = 2};
  std::vector<Saved> saved;
  TrainingCallbacks callbacks;
  callbacks.on_checkpoint = [&](const TrainingState& state, const ParameterStore& parameters) {
    saved.push_back({state, parameters});
  };
  Model model = tiny_model();
  train_tiny(loss_graph(model), model.parameters, tiny_texts(64), options, callbacks);
  ASSERT_EQ(saved.size(), 2u);
  for (const bool was_done : {false, true}) {
    Saved one = saved[0];
    if (was_done) one.state.evaluated_step = 2;
    std::vector<std::int64_t> evaluations;
    TrainingCallbacks rest;
    rest.on_evaluate = [&](const StepRecord& record, const ParameterStore&) {
      evaluations.push_back(record.step);
      return true;
    };
    ThreadPool pool(1);
    train(loss_graph(model), one.parameters, text_examples(tiny_texts(64)), options,
          {builtin(), pool}, rest, one.state);
    EXPECT_EQ(evaluations,
              was_done ? std::vector<std::int64_t>{4} : (std::vector<std::int64_t>{2, 4}));
  }
}

TEST(Trainer, EndsWhereAnEvaluationSaysSo) {
  Model model = tiny_model();
  TrainingCallbacks callbacks;
  callbacks.on_evaluate = [](const StepRecord& record, const ParameterStore&) {
    return record.step < 4;
  };
  const TrainingResult result = train_tiny(loss_graph(model), model.parameters, tiny_texts(24),
                                           {.max_steps = 9, .eval_steps = 2}, callbacks);
  EXPECT_EQ(result.end, TrainingEnd::early);
  EXPECT_EQ(result.steps, 4);
}

// Two texts of 3 and 5 tokens in one batch. If formats read the whole tensor, 10 tokens are computed, 2 of them
// padding; otherwise 8.
TEST(Trainer, CountsThePaddingThatItComputes) {
  EncodedSet data;
  data.ids = {{2, 4, 3}, {2, 4, 5, 6, 3}};
  data.labels = {0, 1};
  double share = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { share = record.padding_share; };
  Model model = tiny_model();
  train_tiny(loss_graph(model), model.parameters, data, {.max_steps = 1}, callbacks);
  EXPECT_EQ(share, 0);
  Model rounded = tiny_model();
  testing::put_quantizers(rounded, "int(bits=8,scale=dynamic)");
  train_tiny(loss_graph(rounded), rounded.parameters, data, {.max_steps = 1}, callbacks);
  EXPECT_DOUBLE_EQ(share, 0.2);
}

struct Events {
  std::vector<StepRecord> steps, logs, evaluations;
};

Events events_of(const TrainingOptions& options, std::int64_t texts) {
  Events events;
  Model model = tiny_model();
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { events.steps.push_back(record); };
  callbacks.on_log = [&](const StepRecord& record) { events.logs.push_back(record); };
  callbacks.on_evaluate = [&](const StepRecord& record, const ParameterStore& parameters) {
    EXPECT_TRUE(parameters.contains("classifier.weight"));
    events.evaluations.push_back(record);
    return true;
  };
  const TrainingResult result =
      train_tiny(loss_graph(model), model.parameters, tiny_texts(texts), options, callbacks);
  EXPECT_EQ(result.steps, static_cast<std::int64_t>(events.steps.size()));
  return events;
}

std::vector<std::int64_t> steps_of(const std::vector<StepRecord>& records) {
  std::vector<std::int64_t> steps;
  for (const StepRecord& record : records) steps.push_back(record.step);
  return steps;
}

TEST(Trainer, LogsEveryFewStepsAndAtTheEnd) {
  const Events events = events_of({.epochs = 1.75, .batch_size = 2, .logging_steps = 3}, 7);
  EXPECT_EQ(steps_of(events.logs), (std::vector<std::int64_t>{3, 6, 7}));
  const auto loss = [&](std::size_t i) { return events.steps[i].loss; };
  // The loss is the mean since the last log. Other values are those of the last step.
  EXPECT_DOUBLE_EQ(events.logs[0].loss, (loss(0) + loss(1) + loss(2)) / 3);
  EXPECT_DOUBLE_EQ(events.logs[1].loss, (loss(3) + loss(4) + loss(5)) / 3);
  EXPECT_DOUBLE_EQ(events.logs[2].loss, loss(6));
  EXPECT_EQ(events.logs[1].grad_norm, events.steps[5].grad_norm);
  EXPECT_EQ(events.logs[1].learning_rate, events.steps[5].learning_rate);
  EXPECT_EQ(events.logs[1].epoch, 1.5);
}

TEST(Trainer, EvaluatesAfterEveryEpochAndAtTheEnd) {
  const Events events = events_of({.epochs = 2.25, .batch_size = 2}, 7);
  EXPECT_EQ(steps_of(events.evaluations), (std::vector<std::int64_t>{4, 8, 9}));
  EXPECT_EQ(events.evaluations[1].epoch, 2.0);
}

TEST(Trainer, EvaluatesEveryFewStepsWhereAsked) {
  const Events events = events_of({.epochs = 2, .batch_size = 2, .eval_steps = 3}, 7);
  EXPECT_EQ(steps_of(events.evaluations), (std::vector<std::int64_t>{3, 6, 8}));
}

TEST(Trainer, FollowsTheSchedule) {
  const Events events = events_of(
      {.optimizer = {.learning_rate = 8e-4}, .max_steps = 6, .batch_size = 4, .warmup_steps = 2},
      8);
  for (std::int64_t step = 0; step < 6; ++step)
    EXPECT_EQ(events.steps[static_cast<std::size_t>(step)].learning_rate,
              linear_schedule(8e-4, step, 6, 2));
}

TEST(Trainer, ReportsMeansAndCounts) {
  Model model = tiny_model();
  double sum = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) { sum += record.loss; };
  const TrainingResult result = train_tiny(loss_graph(model), model.parameters, tiny_texts(7),
                                           {.epochs = 2, .batch_size = 2}, callbacks);
  EXPECT_EQ(result.steps, 8);
  EXPECT_EQ(result.examples, 14);
  EXPECT_DOUBLE_EQ(result.mean_loss, sum / 8);
  EXPECT_GT(result.seconds, 0);
}

// The first step has the same gradients with and without decay. So the difference is the decay, lr * weight_decay *
// weight, within the rounding of numbers of that size.
TEST(Trainer, DecaysWeightsButNoBiasesAndLayerNorms) {
  TrainingOptions options{.optimizer = {.learning_rate = 1e-2}, .max_steps = 1};
  const ParameterStore plain = trained(options);
  options.optimizer.weight_decay = 0.5;
  const ParameterStore decayed = trained(options);
  const ParameterStore initial = tiny_model().parameters;
  for (const std::string& name : changed_parameters(plain, decayed)) {
    EXPECT_TRUE(name.ends_with(".weight")) << name;
    EXPECT_EQ(name.find("LayerNorm"), std::string::npos) << name;
    const std::vector<float> a = floats_of(plain.at(name)), b = floats_of(decayed.at(name)),
                             start = floats_of(initial.at(name));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i] - b[i], 1e-2 * 0.5 * start[i], 1e-7) << name;
  }
  EXPECT_EQ(changed_parameters(plain, decayed).size(), 3u + 2 * 6 + 2);
}

TEST(Trainer, ClipsTheGradientOfAllParametersTogether) {
  // Adam's first step is lr g / (|g| + eps). Clipping only shows if it makes g as small as eps.
  TrainingOptions options{.optimizer = {.learning_rate = 1e-3, .max_grad_norm = 1e-12},
                          .max_steps = 1};
  const auto moved = [&] {
    const std::vector<float> now = floats_of(trained(options).at("classifier.weight")),
                             start = floats_of(tiny_model().parameters.at("classifier.weight"));
    double most = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
      most = std::max(most, std::fabs(static_cast<double>(now[i]) - start[i]));
    return most;
  };
  EXPECT_LT(moved(), 1e-6);
  options.optimizer.max_grad_norm = 0;
  EXPECT_GT(moved(), 0.9e-3);
}

TEST(Trainer, TrainsQuantizedModelsStraightThrough) {
  Model model = tiny_model();
  Graph graph = loss_graph(model);
  quantize(graph, testing::plan_of(graph, "integer(width=8,frac=5)"));
  const ParameterStore before = model.parameters;
  train_tiny(graph, model.parameters, tiny_texts(16),
             {.optimizer = {.learning_rate = 1e-3}, .max_steps = 2});
  // Weights keep their full precision between the quantized passes.
  const std::vector<std::string> changed = changed_parameters(before, model.parameters);
  EXPECT_NE(std::find(changed.begin(), changed.end(), "bert.encoder.layer.0.output.dense.weight"),
            changed.end());
  bool between = false;
  for (const float value : floats_of(model.parameters.at("bert.pooler.dense.weight")))
    between = between || value * 32 != std::nearbyint(value * 32);
  EXPECT_TRUE(between);
}

// One step of eight texts and one step of four batches of two compute the same sums in another order. Gradients are
// about 1e-2, in float32. With an epsilon of 1e-3 AdamW moves a weight by at most 1e-3 times their relative rounding.
// There is no dropout, because it depends on the batch.
TEST(Trainer, SumsBatchesToOneStep) {
  const EncodedSet data = tiny_texts(24);
  const auto run = [&](std::int64_t batch, std::int64_t together,
                       const std::vector<float>& class_weights) {
    Model model = tiny_model();
    Graph graph = loss_graph(model);
    remove_dropout(graph);
    std::vector<StepRecord> steps;
    train_tiny(graph, model.parameters, data,
               {.optimizer = {.learning_rate = 1e-3, .epsilon = 1e-3},
                .epochs = 2,
                .batch_size = batch,
                .gradient_accumulation_steps = together,
                .class_weights = class_weights,
                .label_smoothing_factor = 0.1},
               {.on_step = [&](const StepRecord& record) { steps.push_back(record); }});
    return std::pair(steps, model.parameters);
  };
  for (const std::vector<float>& weights : {std::vector<float>{}, std::vector<float>{1, 3}}) {
    const auto [whole, at_once] = run(8, 1, weights);
    const auto [summed, in_parts] = run(2, 4, weights);
    ASSERT_EQ(summed.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(summed[i].loss, whole[i].loss, 2e-6);
      EXPECT_NEAR(summed[i].grad_norm, whole[i].grad_norm, 2e-6);
      EXPECT_EQ(summed[i].epoch, whole[i].epoch);
      EXPECT_EQ(summed[i].learning_rate, whole[i].learning_rate);
    }
    for (const auto& [name, tensor] : at_once.tensors()) {
      const std::vector<float> a = floats_of(tensor), b = floats_of(in_parts.at(name));
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 3e-6) << name;
    }
  }
}

TEST(Trainer, EndsAnEpochWithTheBatchesThatAreLeft) {
  // 13 texts in batches of 2: 7 batches, 3 steps per epoch.
  const TrainingOptions options{.epochs = 2, .batch_size = 2, .gradient_accumulation_steps = 3};
  EXPECT_EQ(total_steps(options, 13), 6);
  const Events events = events_of(options, 13);
  std::vector<double> epochs;
  for (const StepRecord& record : events.steps) epochs.push_back(record.epoch);
  EXPECT_EQ(epochs, (std::vector<double>{3. / 7, 6. / 7, 1, 10. / 7, 13. / 7, 2}));
  EXPECT_EQ(steps_of(events.evaluations), (std::vector<std::int64_t>{3, 6}));
}

TEST(Trainer, GoesOnWithSummedStepsToTheSameBits) {
  const TrainingOptions options{.optimizer = {.learning_rate = 1e-3},
                                .epochs = 2,
                                .batch_size = 2,
                                .gradient_accumulation_steps = 3,
                                .lr_scheduler_type = "cosine",
                                .save_steps = 1};
  const EncodedSet data = tiny_texts(13);
  std::vector<Saved> saved;
  TrainingCallbacks callbacks;
  callbacks.on_checkpoint = [&](const TrainingState& state, const ParameterStore& parameters) {
    EXPECT_TRUE(parameters.contains("adamw.m.classifier.weight"));
    EXPECT_FALSE(parameters.contains("adamw.sum.classifier.weight"));
    saved.push_back({state, parameters});
  };
  Model whole = tiny_model();
  const TrainingResult all =
      train_tiny(loss_graph(whole), whole.parameters, data, options, callbacks);
  EXPECT_EQ(all.examples, 26);
  EXPECT_EQ(whole.parameters.tensors().size(), tiny_model().parameters.tensors().size());
  ASSERT_EQ(saved.size(), 6u);
  for (Saved& one : saved) {
    ThreadPool pool(2);
    const TrainingResult rest = train(loss_graph(whole), one.parameters, text_examples(data),
                                      options, {builtin(), pool}, {}, one.state);
    EXPECT_EQ(changed_parameters(whole.parameters, one.parameters), std::vector<std::string>{})
        << one.state.step;
    EXPECT_EQ(rest.mean_loss, all.mean_loss);
  }
}

TEST(Trainer, ReadsTheRowsThatItSays) {
  const EncodedSet data = tiny_texts(20);
  const ExampleSource texts = text_examples(data);
  for (const std::int64_t steps : {1, 2, 9}) {
    const TrainingOptions options{
        .max_steps = steps, .batch_size = 3, .gradient_accumulation_steps = 2};
    std::set<std::int64_t> read;
    ExampleSource watched = texts;
    watched.batch = [&](std::span<const std::int64_t> rows, std::int64_t least) {
      read.insert(rows.begin(), rows.end());
      return texts.batch(rows, least);
    };
    Model model = tiny_model();
    ThreadPool pool(1);
    train(loss_graph(model), model.parameters, watched, options, {builtin(), pool});
    EXPECT_EQ(rows_read_by(options, texts), std::vector<std::int64_t>(read.begin(), read.end()));
    EXPECT_EQ(std::ssize(read), std::min<std::int64_t>(20, 6 * steps));
  }
}

}  // namespace
}  // namespace hone
