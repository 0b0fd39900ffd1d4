#include "hone/frontends/huggingface/architecture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/passes/remove_dropout.h"
#include "hone/tensor/safetensors.h"
#include "tests/frontends/golden.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::elements_of;
using testing::libraries;

Model load_golden_model(const std::string& name) {
  return load_model(testing::kGoldenModels / name, builtin().ops, builtin().formats, /*seed=*/1);
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

// Returns the largest |a - b| relative to the largest |b|, and NaN if any value is NaN.
double relative_distance(const std::vector<float>& a, const std::vector<double>& b) {
  HONE_ASSERT(a.size() == b.size(), "{} values against {}", a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = std::fabs(static_cast<double>(a[i]) - b[i]);
    if (!(distance <= most)) most = distance;
  }
  return most / largest(b);
}

// Returns the inference graph with additional outputs: the first token that the head reads, and the head's activation
// of it.
Graph inference_graph(const Model& model, const Library& library, const GraphInputs& inputs) {
  const Architecture& architecture = find_architecture(model.facts.architecture, "test");
  Graph graph = build_graph(library.ops, architecture, config_of(model.facts), inputs);
  const std::string head(architecture.head.name);
  graph.set_output("first_token", {graph.find(head + ".rows"), 0});
  graph.set_output("pooled", {graph.find(head + ".activation"), 0});
  remove_dropout(graph);
  verify(graph);
  return graph;
}

class GoldenModel : public ::testing::TestWithParam<std::string> {};

// PyTorch's float32 results lie within 7e-6 of its float64 results (tests/README.md). The bound of 1e-5 also allows for
// another order of summation.
TEST_P(GoldenModel, ComputesWhatTransformersComputes) {
  const fs::path folder = testing::kGoldenModels / GetParam();
  const Json golden = read_json(folder / "expected.json");
  for (const auto& [name, library] : libraries()) {
    const Model model = load_model(folder, library->ops, library->formats, /*seed=*/1);
    for (const Json& batch : golden["inputs"]) {
      SCOPED_TRACE(fmt::format("{}: {}", name, to_line(batch["input_ids"])));
      const NamedTensors inputs = testing::golden_inputs(batch);
      const NamedTensors outputs = testing::run_graph(
          inference_graph(model, *library, testing::graph_inputs(inputs, model.facts.task())),
          inputs, model.parameters, *library);
      const auto expect_close = [&](const char* output, const char* expected) {
        if (!batch.contains(expected)) return;
        EXPECT_LT(relative_distance(elements_of(outputs.at(output)),
                                    testing::flat_numbers<double>(batch[expected])),
                  1e-5)
            << output;
      };
      expect_close("first_token", "first_token_f64");
      expect_close("pooled", "pooled_f64");
      expect_close("logits", "logits_f64");
      expect_close("loss", "loss_f64");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenModel, ::testing::ValuesIn(testing::golden_models()),
                         [](const auto& info) { return info.param; });

TEST(GoldenModel, HasFoldersOfEachArchitectureWithAndWithoutHeads) {
  EXPECT_GE(testing::golden_models().size(), 20u);
}

class GoldenGradients : public ::testing::TestWithParam<std::string> {};

// Errors are relative to the norm of all gradients together, because those of the key biases are zero except for
// rounding. PyTorch's float32 gradients lie within 2e-7 of float64.
TEST_P(GoldenGradients, AreThoseOfPyTorch) {
  const fs::path folder = testing::kGoldenModels / GetParam();
  const TensorMap golden = read_safetensors(folder / "gradients.safetensors").tensors;
  const NamedTensors inputs(golden.begin(), golden.end());
  const auto expected = [&](const std::string& name) {
    return elements_of<double>(golden.at("float64/" + name));
  };
  for (const auto& [name, library] : libraries()) {
    SCOPED_TRACE(name);
    const Model model = load_model(folder, library->ops, library->formats, /*seed=*/1);
    Graph graph = model.graph;
    remove_dropout(graph);
    std::vector<Value> parameters;
    for (Node* node : graph.of_kind(NodeKind::parameter)) parameters.push_back({node, 0});
    const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), parameters);
    double squares = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string& parameter = parameters[i].node->name();
      ASSERT_TRUE(gradients[i]) << parameter;
      graph.set_output(parameter, gradients[i]);
      for (const double value : expected(parameter)) squares += value * value;
    }
    verify(graph);
    const NamedTensors outputs = testing::run_graph(graph, inputs, model.parameters, *library);
    EXPECT_NEAR(elements_of(outputs.at("loss"))[0], expected("loss")[0], 1e-5);
    for (const Value& parameter : parameters) {
      const std::string& which = parameter.node->name();
      const std::vector<double> truth = expected(which);
      EXPECT_LT(relative_distance(elements_of(outputs.at(which)), truth) * largest(truth),
                1e-6 * std::sqrt(squares))
          << which;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenGradients,
                         ::testing::Values("safetensors", "zip", "distilbert", "electra", "roberta",
                                           "electra_regression", "roberta_labels"),
                         [](const auto& info) { return info.param; });

class EachArchitecture : public ::testing::TestWithParam<std::string> {
 protected:
  const Architecture& architecture() const { return find_architecture(GetParam(), "test"); }
  // Returns a config with two layers and, for RoBERTa, one token type.
  EncoderConfig small_config() const {
    EncoderConfig config = architecture().keys.defaults;
    config.vocab_size = 30;
    if (config.embedding_size > 0) config.embedding_size = 4;
    config.hidden_size = 8;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 2;
    config.intermediate_size = 12;
    config.max_position_embeddings = 132;
    config.initializer_range = 0.5;
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.5;
    config.classifier_dropout = 0.5;
    return config;
  }
  Model small_model() const {
    return new_model(facts_of(architecture(), small_config()), builtin().ops, /*seed=*/3);
  }
};

INSTANTIATE_TEST_SUITE_P(All, EachArchitecture,
                         ::testing::Values("bert", "distilbert", "electra", "roberta"),
                         [](const auto& info) { return info.param; });

// Most golden folders are named after the architecture; BERT's are named after their file layouts.
TEST_P(EachArchitecture, SavesTheTensorsThatTransformersSaves) {
  const std::string golden = GetParam() == "bert" ? "safetensors" : GetParam();
  const TemporaryFolder folder;
  const Model model = load_golden_model(golden);
  EXPECT_TRUE(model.warnings.empty()) << model.warnings[0];
  save_model(model, folder.path());
  const TensorMap saved = load_checkpoint(folder.path()).tensors;
  const TensorMap theirs = load_checkpoint(testing::kGoldenModels / golden).tensors;
  EXPECT_EQ(saved.size(), theirs.size());
  for (const auto& [name, tensor] : theirs) {
    ASSERT_TRUE(saved.contains(name)) << name;
    EXPECT_EQ(saved.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_EQ(saved.at(name).dtype(), DType::f32) << name;
    EXPECT_EQ(elements_of(saved.at(name)), elements_of(tensor)) << name;
  }
  const Json config = read_json(folder.path() / "config.json");
  const Json before = read_json(testing::kGoldenModels / golden / "config.json");
  const auto sorted = [](const Json& value) { return parse_large_json(to_line(value)); };
  for (const auto& [key, value] : before.items())
    EXPECT_EQ(sorted(config[key]), sorted(value)) << key;
}

// Returns logits of two texts of 70 and 90 tokens with dropout, padded to `tokens`.
std::vector<float> logits_with_dropout(const Model& model, const Library& library,
                                       std::int64_t tokens) {
  const std::int64_t padding = config_of(model.facts).pad_token_id.value();
  std::vector<std::int64_t> ids, mask;
  for (const std::int64_t length : {70, 90}) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      ids.push_back(t < length ? 2 + (7 * t + length) % 28 : padding);
      mask.push_back(t < length ? 1 : 0);
    }
  }
  const NamedTensors batch = {{"input_ids", Tensor::of<std::int64_t>({2, tokens}, ids)},
                              {"attention_mask", Tensor::of<std::int64_t>({2, tokens}, mask)},
                              {"token_type_ids", Tensor::zeros(DType::i64, {2, tokens})},
                              {"labels", Tensor::of<std::int64_t>({2}, {0, 1})},
                              {"random_key", Tensor::scalar<std::int64_t>(5)}};
  return elements_of(
      testing::run_graph(model.graph, batch, model.parameters, library).at("logits"));
}

TEST_P(EachArchitecture, DropsTheSameOfATextHoweverFarItIsPadded) {
  const Model model = small_model();
  for (const auto& [name, library] : libraries()) {
    const std::vector<float> alone = logits_with_dropout(model, *library, 90);
    for (const std::int64_t tokens : {96, 128, 130})
      EXPECT_EQ(logits_with_dropout(model, *library, tokens), alone) << name << ", " << tokens;
  }
}

TEST_P(EachArchitecture, TakesAsManyTokensAsItSays) {
  const Model model = small_model();
  const std::int64_t most = model.facts.limits.tokens;
  EXPECT_NO_THROW(logits_with_dropout(model, builtin(), most));
  EXPECT_THROW(logits_with_dropout(model, builtin(), most + 1), UserError);
}

TEST_P(EachArchitecture, DrawsOtherMasksInEachDropout) {
  std::vector<std::int64_t> streams;
  const Graph graph = small_model().graph;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is("dropout")) streams.push_back(node->attributes().get<std::int64_t>("stream"));
  std::ranges::sort(streams);
  EXPECT_EQ(std::ranges::adjacent_find(streams), streams.end());
}

TEST_P(EachArchitecture, PrintsAndParsesBack) {
  const std::string text = to_string(small_model().graph);
  EXPECT_EQ(to_string(parse_graph(text, builtin().ops, builtin().formats)), text);
}

TEST_P(EachArchitecture, ReadsBackTheConfigItWrote) {
  const ConfigKeys& keys = architecture().keys;
  const Json written = to_json(keys, small_config());
  EXPECT_EQ(to_json(keys, read_config(keys, written, "config.json")), written);
  EXPECT_EQ(written["architectures"], Json::array({keys.class_name}));
}

TEST_P(EachArchitecture, StartsWithZerosInTheRowsOfPadding) {
  const Model model = small_model();
  const std::int64_t padding = config_of(model.facts).pad_token_id.value();
  for (const auto& [name, tensor] : model.parameters.tensors()) {
    const bool padded = name.ends_with("word_embeddings.weight") ||
                        (GetParam() == "roberta" && name.ends_with("position_embeddings.weight"));
    if (!name.ends_with("embeddings.weight")) continue;
    const std::int64_t row = std::min(padding, tensor.size(0) - 1);
    const std::vector<float> values = elements_of(tensor.slice(0, row, row + 1));
    EXPECT_EQ(values == std::vector<float>(values.size(), 0.0f), padded) << name;
  }
}

// Model folders, recipes and random streams refer to node names, and interrupted runs resume with them.
TEST(Architecture, BuildsTheGraphOfBertThatFoldersKnow) {
  EXPECT_EQ(to_string(load_golden_model("gamma_beta").graph),
            read_file(testing::kGoldenModels / "gamma_beta" / "graph.txt"));
}

TEST(Architecture, UnknownOnesAreRefusedWithThoseThatAreSupportedAndNoNearOne) {
  for (const char* type : {"albert", "regnet", "convbert", "xlm-roberta"})
    EXPECT_EQ(user_error_of([&] { find_architecture(type, "config.json"); }),
              fmt::format("config.json: model_type '{}' is not supported; supported are bert, "
                          "distilbert, electra, resnet, roberta",
                          type));
}

std::vector<std::string> warnings_of(const std::string& golden) {
  return load_golden_model(golden).warnings;
}

TEST(Architecture, SaysWhatCheckpointsOfOtherTasksLackAndWhatIsDropped) {
  EXPECT_EQ(warnings_of("distilbert_masked_lm"),
            (std::vector<std::string>{
                testing::initialised_warning("distilbert_masked_lm",
                                             "pre_classifier.weight, pre_classifier.bias, "
                                             "classifier.weight, classifier.bias"),
                "in the checkpoint but not in the model, dropped: vocab_layer_norm.bias, "
                "vocab_layer_norm.weight, vocab_projector.bias, vocab_projector.weight and 2 "
                "more"}));
  EXPECT_EQ(warnings_of("roberta_masked_lm"),
            (std::vector<std::string>{
                testing::initialised_warning(
                    "roberta_masked_lm",
                    "classifier.dense.weight, classifier.dense.bias, classifier.out_proj.weight, "
                    "classifier.out_proj.bias"),
                "in the checkpoint but not in the model, dropped: lm_head.bias, "
                "lm_head.decoder.bias, lm_head.decoder.weight, lm_head.dense.bias and 4 more"}));
  EXPECT_EQ(warnings_of("electra_discriminator")[1],
            "in the checkpoint but not in the model, dropped: "
            "discriminator_predictions.dense.bias, discriminator_predictions.dense.weight, "
            "discriminator_predictions.dense_prediction.bias, "
            "discriminator_predictions.dense_prediction.weight");
  EXPECT_EQ(warnings_of("electra_base").size(), 1u);
}

// Like BERT's pooler: only tensors with one row per class are new.
TEST(Architecture, AFreshHeadKeepsWhatIsOfNoClass) {
  const Model trained = load_golden_model("roberta");
  const Model fresh =
      load_model(testing::kGoldenModels / "roberta", builtin().ops, builtin().formats, /*seed=*/9,
                 {.names = {"ham", "spam"}}, HeadFit::may_be_new);
  EXPECT_EQ(fresh.warnings,
            std::vector<std::string>{
                "the model's labels are no, yes, maybe, the data's are ham, spam: "
                "classifier.out_proj.bias, classifier.out_proj.weight are initialized at "
                "random; train the model before use"});
  EXPECT_EQ(elements_of(fresh.parameters.at("classifier.dense.weight")),
            elements_of(trained.parameters.at("classifier.dense.weight")));
  EXPECT_EQ(fresh.parameters.at("classifier.out_proj.weight").sizes(), (Sizes{2, 12}));
}

}  // namespace
}  // namespace hone
