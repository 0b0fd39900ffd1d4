#include "hone/train/training_graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/passes/prune.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::elements_of;

// loss = the cross-entropy of one linear over two classes. `unused` is trainable but does not affect the loss.
Graph small_graph(bool weight_trainable = true) {
  Graph graph(testing::references().ops);
  const Value x = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), 2}});
  const Value labels = graph.add_input("labels", {DType::i64, {Dim::of_symbol('B')}});
  const Value weight = graph.add_parameter("head.weight", {DType::f32, {2, 2}},
                                           ParameterRole::weight, weight_trainable);
  const Value bias =
      graph.add_parameter("head.bias", {DType::f32, {2}}, ParameterRole::bias, /*trainable=*/false);
  graph.add_parameter("unused", {DType::f32, {3}}, ParameterRole::weight, /*trainable=*/true);
  const Value logits = graph.add("linear", {x, weight, bias}, {}, "head");
  graph.set_output("loss", graph.add("cross_entropy", {logits, labels}, {}, "loss"));
  return graph;
}

ParameterStore small_parameters() {
  ParameterStore parameters;
  parameters.set("head.weight", Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  parameters.set("head.bias", Tensor::of<float>({2}, {0, 0}));
  return parameters;
}

NamedTensors small_inputs(float learning_rate) {
  return {{"x", Tensor::of<float>({1, 2}, {3, 4})},
          {"labels", Tensor::of<std::int64_t>({1}, {0})},
          {"learning_rate", Tensor::scalar(learning_rate)},
          {"step", Tensor::scalar<std::int64_t>(1)}};
}

// Rows that are missing from the batch have a zero gradient either way. Both variants sum in the order of the tokens,
// so parameters are bit-identical unless a norm is computed.
TEST(TrainingGraph, TakesGradientsOfLargeTablesByRow) {
  const std::string text = R"(%ids = input : i64[B]
%labels = input : i64[B]
%table = parameter weight trainable : f32[5000, 2]
%rows = embedding(%ids, %table) {padding=9} : f32[B, 2]
%loss = cross_entropy(%rows, %labels) : f32[]
output loss = %loss
)";
  ThreadPool pool(2);
  const Session session{.library = testing::builtin(), .pool = pool};
  Graph dense = parse_graph(text, testing::builtin().ops, testing::builtin().formats),
        by_row = parse_graph(text, testing::builtin().ops, testing::builtin().formats);
  const AdamWOptions options{.max_grad_norm = 0};
  add_training_step(dense, options);
  add_training_step(by_row, options, session);
  verify(by_row);
  EXPECT_TRUE(by_row.operations("embedding_gradient").empty());
  EXPECT_EQ(by_row.operations("adamw_by_row").size(), 1u);
  ParameterStore expected, got;
  expected.set("table", Tensor::zeros(DType::f32, {5000, 2}));
  got.set("table", Tensor::zeros(DType::f32, {5000, 2}));
  for (auto [graph, store] : {std::pair{&dense, &expected}, {&by_row, &got}}) {
    add_optimizer_state(*graph, *store);
    const auto executable = session.executable(*graph);
    for (std::int64_t step = 1; step <= 3; ++step)
      executable->run({{"ids", Tensor::of<std::int64_t>({5}, {9, 7, 4999, 7, 10 * step})},
                       {"labels", Tensor::of<std::int64_t>({5}, {0, 1, 1, 0, 1})},
                       {"learning_rate", Tensor::scalar(0.25f)},
                       {"step", Tensor::scalar(step)}},
                      *store);
  }
  for (const char* name : {"table", "adamw.m.table", "adamw.v.table"})
    EXPECT_EQ(elements_of(got.at(name)), elements_of(expected.at(name))) << name;
  EXPECT_NE(elements_of(got.at("table"))[2 * 4999], 0);
  EXPECT_EQ(elements_of(got.at("table"))[2 * 9], 0);
}

TEST(TrainingGraph, UpdatesTrainableParametersInPlace) {
  Graph graph = small_graph();
  add_training_step(graph, {.max_grad_norm = 0});
  verify(graph);
  EXPECT_EQ(graph.find("unused"), nullptr);
  ParameterStore parameters = small_parameters();
  add_optimizer_state(graph, parameters);
  EXPECT_EQ(parameters.tensors().size(), 4u);
  EXPECT_EQ(elements_of(parameters.at("adamw.m.head.weight")), std::vector<float>(4, 0.0f));
  ThreadPool pool(1);
  Interpreter interpreter(graph, testing::references(), pool);
  const NamedTensors outputs = interpreter.run(small_inputs(0.5f), parameters);
  // Logits 11 and 25: softmax gives class 1 all but e^-14, so d loss / d logits = (-1, 1), and the gradient of the
  // weight is ±x with norm sqrt(2 * 25). Adam's first step equals the learning rate.
  EXPECT_NEAR(elements_of(outputs.at("loss"))[0], 14, 1e-5);
  EXPECT_NEAR(elements_of(outputs.at("grad_norm"))[0], 7.0710678, 1e-5);
  const std::vector<float> weight = elements_of(parameters.at("head.weight"));
  const std::vector<float> expected = {1.5, 2.5, 2.5, 3.5};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(weight[i], expected[i], 1e-6);
  EXPECT_EQ(elements_of(parameters.at("head.bias")), (std::vector<float>{0, 0}));
  // Moments after one step: 0.1 g and 0.001 g^2.
  EXPECT_NEAR(elements_of(parameters.at("adamw.m.head.weight"))[0], -0.3, 1e-5);
  EXPECT_NEAR(elements_of(parameters.at("adamw.v.head.weight"))[0], 0.009, 1e-7);
}

// If no gradient reads the linear's output before the addition.
TEST(TrainingGraph, ComputesLinearsTogetherWithWhatIsAddedToThem) {
  Graph graph = testing::parse(R"(%x = input : f32[B, 2]
%labels = input : i64[B]
%w = parameter weight frozen : f32[2, 2]
%b = parameter bias frozen : f32[2]
%head = parameter weight trainable : f32[2, 2]
%below = linear(%x, %w, %b) : f32[B, 2]
%beside = linear(%x, %head) : f32[B, 2]
%logits = add(%below, %beside) : f32[B, 2]
%loss = cross_entropy(%logits, %labels) : f32[]
output loss = %loss
)");
  add_training_step(graph, {});
  verify(graph);
  EXPECT_NE(to_string(graph).find("fused_linear(%x, %w, %b, %beside)"), std::string::npos)
      << to_string(graph);
}

// Attention stores nothing that grows with the square of the text length, forward or backward.
TEST(TrainingGraph, HoldsNoScoresOfAllTokensByAllTokens) {
  const Model model = testing::tiny_model();
  Graph graph = model.graph;
  add_training_step(graph, {});
  const std::vector<Node*> gradients = graph.operations("attention_gradient");
  EXPECT_EQ(gradients.size(), graph.operations("attention").size());
  EXPECT_FALSE(gradients.empty());
  EXPECT_TRUE(graph.operations("softmax").empty());
  const Dim length = Dim::of_symbol('S');
  for (const auto& node : graph.nodes())
    for (const Type& type : node->types())
      EXPECT_LT(std::ranges::count(type.shape, length), 2) << node->name();
}

TEST(TrainingGraph, KeepsMomentsThatAreThereAndTakesThemOutAgain) {
  Graph graph = small_graph();
  add_training_step(graph, {});
  ParameterStore parameters = small_parameters();
  parameters.set("adamw.m.head.weight", Tensor::of<float>({2, 2}, {1, 1, 1, 1}));
  add_optimizer_state(graph, parameters);
  EXPECT_EQ(elements_of(parameters.at("adamw.m.head.weight")), std::vector<float>(4, 1.0f));
  EXPECT_EQ(elements_of(parameters.at("adamw.v.head.weight")), std::vector<float>(4, 0.0f));
  remove_optimizer_state(parameters);
  EXPECT_EQ(parameters.tensors().size(), 2u);
}

TEST(TrainingGraph, NeedsSomethingTrainable) {
  Graph graph = small_graph(/*weight_trainable=*/false);
  graph.set_trainable(*graph.find("unused"), false);
  expect_user_error("nothing to train: all parameters are frozen",
                    [&] { add_training_step(graph, {}); });
}

TEST(TrainingGraph, NeedsALossThatDependsOnSomethingTrainable) {
  Graph graph = small_graph(/*weight_trainable=*/false);
  expect_user_error(
      "nothing to train: the loss depends on none of the parameters that are not frozen",
      [&] { add_training_step(graph, {}); });
}

TEST(TrainingGraph, SumsGradientsOfBatchesAndUpdatesByThem) {
  Graph batch = small_graph();
  add_gradient_sums(batch);
  verify(batch);
  const Graph update = update_of_sums(batch, {.max_grad_norm = 0});
  verify(update);
  ParameterStore parameters = small_parameters();
  for (const Graph* graph : {static_cast<const Graph*>(&batch), &update})
    add_optimizer_state(*graph, parameters);
  // Old sums of an earlier step are overwritten.
  parameters.set("adamw.sum.head.weight", Tensor::of<float>({2, 2}, {9, 9, 9, 9}));
  ThreadPool pool(1);
  Interpreter sums(batch, testing::references(), pool),
      updates(update, testing::references(), pool);
  NamedTensors inputs = small_inputs(0.5f);
  for (const std::int64_t first : {1, 0}) {
    inputs["share"] = Tensor::scalar(first == 1 ? 0.25f : 0.75f);
    inputs["first"] = Tensor::scalar(first);
    EXPECT_NEAR(elements_of(sums.run(inputs, parameters).at("loss"))[0], 14, 1e-5);
  }
  EXPECT_NEAR(elements_of(parameters.at("adamw.sum.head.weight"))[0], -3, 1e-5);
  EXPECT_EQ(elements_of(parameters.at("head.weight")), (std::vector<float>{1, 2, 3, 4}));
  const NamedTensors outputs = updates.run(inputs, parameters);
  EXPECT_NEAR(elements_of(outputs.at("grad_norm"))[0], 7.0710678, 1e-5);
  const std::vector<float> weight = elements_of(parameters.at("head.weight"));
  const std::vector<float> expected = {1.5, 2.5, 2.5, 3.5};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(weight[i], expected[i], 1e-6);
}

// Returns d loss / d (W ⊙ M) of `small_graph`, by hand: (softmax - label) times x.
std::vector<double> masked_gradient(const std::vector<float>& w, const std::vector<int>& kept) {
  const double first = 3.0 * kept[0] * w[0] + 4.0 * kept[1] * w[1],
               second = 3.0 * kept[2] * w[2] + 4.0 * kept[3] * w[3];
  const double wrong = 1 / (1 + std::exp(first - second));
  return {-wrong * 3, -wrong * 4, wrong * 3, wrong * 4};
}

const std::vector<int> kFewKept = {1, 0, 1, 1};

Graph masked_graph(ParameterStore& parameters) {
  Graph graph = small_graph();
  set_mask(graph, parameters, *graph.find("head.weight"), testing::booleans({2, 2}, kFewKept));
  return graph;
}

AdamWOptions scoring() {
  AdamWOptions options{.max_grad_norm = 0.01};  // clipping does not affect scores
  options.scored.insert("head.weight");
  return options;
}

TEST(TrainingGraph, ScoresHowFarStepsMoveWeightsFromZero) {
  ParameterStore parameters = small_parameters();
  parameters.set("head.weight", Tensor::of<float>({2, 2}, {0.1f, 0.2f, 0.3f, -0.1f}));
  Graph graph = masked_graph(parameters);
  add_training_step(graph, scoring());
  verify(graph);
  add_optimizer_state(graph, parameters);
  ThreadPool pool(1);
  Interpreter interpreter(graph, testing::references(), pool);
  std::vector<double> scores(4);
  const float removed = elements_of(parameters.at("head.weight"))[1];
  for (std::int64_t step = 1; step <= 3; ++step) {
    const std::vector<float> before = elements_of(parameters.at("head.weight"));
    const double rate = 0.5 / static_cast<double>(step);
    NamedTensors inputs = small_inputs(static_cast<float>(rate));
    inputs["step"] = Tensor::scalar(step);
    interpreter.run(inputs, parameters);
    const std::vector<double> gradient = masked_gradient(before, kFewKept);
    const std::vector<float> after = elements_of(parameters.at("head.weight")),
                             got = elements_of(parameters.at(movement_scores_of("head.weight")));
    for (std::size_t i = 0; i < 4; ++i) {
      scores[i] -= rate * before[i] * gradient[i];
      EXPECT_NEAR(got[i], scores[i], 1e-5) << step << " " << i;
      if (kFewKept[i] == 1) {
        EXPECT_LT((after[i] - before[i]) * gradient[i], 0);
      }
    }
    EXPECT_EQ(after[1], removed);
  }
  remove_optimizer_state(parameters);
  EXPECT_FALSE(parameters.contains(movement_scores_of("head.weight")));
}

TEST(TrainingGraph, ScoresSummedGradientsAsThoseOfOneBatch) {
  ParameterStore whole = small_parameters(), parts = small_parameters();
  Graph step = masked_graph(whole), batch = masked_graph(parts);
  add_training_step(step, scoring());
  add_gradient_sums(batch, scoring());
  const Graph update = update_of_sums(batch, scoring());
  verify(update);
  add_optimizer_state(step, whole);
  for (const Graph* graph : {static_cast<const Graph*>(&batch), &update})
    add_optimizer_state(*graph, parts);
  ThreadPool pool(1);
  Interpreter at_once(step, testing::references(), pool), sums(batch, testing::references(), pool),
      updates(update, testing::references(), pool);
  NamedTensors inputs = small_inputs(0.5f);
  at_once.run(inputs, whole);
  for (const std::int64_t first : {1, 0}) {
    inputs["share"] = Tensor::scalar(0.5f);
    inputs["first"] = Tensor::scalar(first);
    sums.run(inputs, parts);
  }
  updates.run(inputs, parts);
  const std::string name = movement_scores_of("head.weight");
  const std::vector<float> expected = elements_of(whole.at(name)),
                           got = elements_of(parts.at(name));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NE(expected[i], 0);
    EXPECT_NEAR(got[i], expected[i], 1e-5);
  }
  const std::vector<float> trained = elements_of(whole.at("head.weight")),
                           by_parts = elements_of(parts.at("head.weight"));
  EXPECT_EQ(by_parts[1], 2);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(by_parts[i], trained[i], 1e-5);
}

// Returns the loss of `small_graph` with weights W ⊙ M, for any real M.
double loss_of(const std::vector<double>& w, const std::vector<double>& m) {
  const double first = 3 * m[0] * w[0] + 4 * m[1] * w[1],
               second = 3 * m[2] * w[2] + 4 * m[3] * w[3];
  return std::log1p(std::exp(second - first));
}

// Returns (f(x + h) - f(x - h)) / 2h in each direction.
template <class Function>
std::vector<double> differences(const std::vector<double>& x, Function f) {
  constexpr double h = 1e-5;
  std::vector<double> all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> above = x, below = x;
    above[i] += h;
    below[i] -= h;
    all.push_back((f(above) - f(below)) / (2 * h));
  }
  return all;
}

// Scores are gradients with respect to the mask. For weights the mask is constant.
TEST(TrainingGraph, HasTheGradientsOfScoresAndMaskedWeights) {
  const std::vector<double> w = {0.1, 0.2, 0.3, -0.1}, m(kFewKept.begin(), kFewKept.end());
  ParameterStore parameters = small_parameters();
  parameters.set("head.weight", Tensor::of<float>({2, 2}, {0.1f, 0.2f, 0.3f, -0.1f}));
  Graph graph = masked_graph(parameters);
  AdamWOptions options = scoring();
  options.rate_factors = {{"head.weight", 0.25}};  // does not affect scores
  add_training_step(graph, options);
  add_optimizer_state(graph, parameters);
  ThreadPool pool(1);
  const NamedTensors outputs =
      Interpreter(graph, testing::references(), pool).run(small_inputs(0.5f), parameters);
  using Numbers = std::vector<double>;
  const auto of_mask = [&](const Numbers& x) { return loss_of(w, x); };
  const auto of_weight = [&](const Numbers& x) { return loss_of(x, m); };
  const Numbers of_scores = differences(m, of_mask), of_weights = differences(w, of_weight);
  const std::vector<float> scores = elements_of(parameters.at(movement_scores_of("head.weight"))),
                           momentum = elements_of(parameters.at(first_moment_of("head.weight")));
  double squares = 0;
  for (const double gradient : of_weights) squares += gradient * gradient;
  const double norm = std::sqrt(squares), clip = options.max_grad_norm / (norm + 1e-6);
  EXPECT_NEAR(elements_of(outputs.at("grad_norm"))[0], norm, 1e-4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(scores[i], -0.5 * of_scores[i], 1e-5) << i;
    EXPECT_NEAR(momentum[i], 0.1 * clip * of_weights[i], 1e-6) << i;
  }
  EXPECT_NE(scores[1], 0);
  EXPECT_EQ(momentum[1], 0);
}

// Adam's first step equals the learning rate.
TEST(TrainingGraph, ScalesTheLearningRateOfAParameter) {
  Graph graph = small_graph();
  add_training_step(graph, {.max_grad_norm = 0, .rate_factors = {{"head.weight", 0.5}}});
  ParameterStore parameters = small_parameters();
  add_optimizer_state(graph, parameters);
  ThreadPool pool(1);
  Interpreter(graph, testing::references(), pool).run(small_inputs(0.5f), parameters);
  const std::vector<float> weight = elements_of(parameters.at("head.weight"));
  const std::vector<float> expected = {1.25, 2.25, 2.75, 3.75};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(weight[i], expected[i], 1e-6);
}

}  // namespace
}  // namespace hone
