#include "hone/frontends/huggingface/resnet.h"

#include <gtest/gtest.h>

#include "hone/autodiff/gradients.h"
#include "hone/passes/use_batch_statistics.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/safetensors.h"
#include "tests/frontends/golden.h"
#include "tests/support/expect.h"

// Compares with transformers' results for the folders of tools/golden/images.py. transformers' float32 logits lie
// within 2e-6 of float64, so another order of sums is allowed five times that. Gradients are compared relative to the
// norm of all gradients.
namespace hone::testing {
namespace {

constexpr double kTolerance = 1e-5;

const fs::path kGoldenImages = test_data() / "frontends" / "golden_images";

struct Golden {
  Model model;
  TensorMap tensors;
  NamedTensors inputs;

  explicit Golden(const std::string& name)
      : model(load_model(kGoldenImages / name, references().ops, references().formats, 1)),
        tensors(read_safetensors(kGoldenImages / name / "golden.safetensors").tensors),
        inputs({{"pixel_values", tensors.at("pixel_values")}, {"labels", tensors.at("labels")}}) {}

  std::vector<double> expected(const std::string& name) const {
    const Tensor& tensor = tensors.at("float64/" + name);
    return elements_of<double>(tensor);
  }
};

void expect_near(const Tensor& got, const std::vector<double>& expected, double scale,
                 const std::string& name) {
  const std::vector<float> values = elements_of(got);
  ASSERT_EQ(values.size(), expected.size()) << name;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(static_cast<double>(values[i]), expected[i], kTolerance * scale)
        << name << " element " << i;
}

class ResNetGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ResNetGolden, HasNoWarnings) {
  const Golden golden(GetParam());
  EXPECT_TRUE(golden.model.warnings.empty()) << golden.model.warnings.front();
}

TEST_P(ResNetGolden, LogitsAreThoseOfTransformers) {
  const Golden golden(GetParam());
  for (const auto& [name, library] : libraries()) {
    const NamedTensors got =
        run_graph(forward_graph(golden.model), golden.inputs, golden.model.parameters, *library);
    expect_near(got.at("logits"), golden.expected("logits"), 1, name);
  }
}

TEST_P(ResNetGolden, LogitsStayWhenConvolutionsDoWhatFollowsThem) {
  const Golden golden(GetParam());
  const Library library = builtin_library();
  ThreadPool pool(2);
  const Session session{.library = library, .pool = pool};
  Graph graph = forward_graph(golden.model);
  ParameterStore parameters = golden.model.parameters;
  prepare_for_inference(graph, parameters, session);
  EXPECT_TRUE(graph.operations("batch_norm").empty());
  EXPECT_FALSE(graph.operations("fused_conv2d").empty());
  for (const auto& [name, one] : libraries())
    expect_near(run_graph(graph, golden.inputs, parameters, *one).at("logits"),
                golden.expected("logits"), 1, name);
}

TEST_P(ResNetGolden, GradientsAndStatisticsOfAStepAreThoseOfTransformers) {
  const Golden golden(GetParam());
  for (const auto& [name, library] : libraries()) {
    SCOPED_TRACE(name);
    Graph graph = golden.model.graph;
    EXPECT_TRUE(use_batch_statistics(graph));
    std::vector<Value> trained;
    for (Node* parameter : graph.of_kind(NodeKind::parameter))
      if (parameter->trainable()) trained.push_back(parameter->result());
    const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), trained);
    double squares = 0;
    for (std::size_t i = 0; i < trained.size(); ++i) {
      graph.set_output("gradient/" + trained[i].node->name(), gradients[i]);
      for (const double value : golden.expected("gradient/" + trained[i].node->name()))
        squares += value * value;
    }
    ParameterStore parameters;
    for (const auto& [parameter, tensor] : golden.model.parameters.tensors())
      parameters.set(parameter, tensor.contiguous_copy());
    ThreadPool pool(2);
    const NamedTensors got = Interpreter(graph, *library, pool).run(golden.inputs, parameters);
    expect_near(got.at("loss"), golden.expected("loss"), 1, "loss");
    for (const Value& parameter : trained) {
      const std::string output = "gradient/" + parameter.node->name();
      expect_near(got.at(output), golden.expected(output), std::sqrt(squares), output);
    }
    for (const auto& [parameter, tensor] : parameters.tensors())
      if (parameter.find(".running_") != std::string::npos)
        expect_near(tensor, golden.expected("after/" + parameter), 1, parameter);
  }
}

TEST_P(ResNetGolden, ComesBackAsItWasSaved) {
  const Golden golden(GetParam());
  const TemporaryFolder folder;
  save_model(golden.model, folder.path());
  const Model again = load_model(folder.path(), references().ops, references().formats, 1);
  EXPECT_TRUE(fs::exists(folder.path() / "model.safetensors"));
  for (const auto& [name, tensor] : golden.model.parameters.tensors())
    EXPECT_EQ(elements_of(again.parameters.at(name)), elements_of(tensor)) << name;
}

INSTANTIATE_TEST_SUITE_P(Folders, ResNetGolden,
                         ::testing::Values("resnet_basic", "resnet_bottleneck",
                                           "resnet_early_stride"));

ModelFacts resnet_facts(const Json& keys) {
  Json config = {{"model_type", "resnet"}};
  config.update(keys);
  return facts_of(resnet(), config, "config.json");
}

TEST(ResNet, DefaultsAreThoseOfHuggingFace) {
  const EncoderConfig config = config_of(resnet_facts(Json::object()));
  EXPECT_EQ(config.embedding_size, 64);
  EXPECT_EQ(config.hidden_act, "relu");
  EXPECT_EQ(config.image.num_channels, 3);
  EXPECT_EQ(config.image.hidden_sizes, (std::vector<std::int64_t>{256, 512, 1024, 2048}));
  EXPECT_EQ(config.image.depths, (std::vector<std::int64_t>{3, 4, 6, 3}));
  EXPECT_EQ(config.image.layer_type, "bottleneck");
  EXPECT_EQ(resnet_facts(Json::object()).limits.image, (ImageSize{3, 224, 224}));
}

TEST(ResNet, RefusesConfigsThatContradictThemselves) {
  EXPECT_EQ(user_error_of([] {
              resnet_facts({{"depths", {1, 1}}});
            }),
            "config.json: depths: expected 4 numbers, one for each of hidden_sizes, got 2");
  EXPECT_EQ(user_error_of([] {
              resnet_facts({{"layer_type", "dense"}});
            }),
            "config.json: layer_type: expected basic or bottleneck, got \"dense\"");
  EXPECT_EQ(user_error_of([] {
              resnet_facts({{"depths", 3}});
            }),
            "config.json: depths: expected a list of 1 to 64 whole numbers, got 3");
  EXPECT_EQ(user_error_of([] {
              resnet_facts({{"hidden_sizes", {6}}, {"depths", {1}}});
            }),
            "config.json: hidden_sizes: expected multiples of 4 for bottleneck layers, got 6");
}

// Initial weights as in Hugging Face's: gains 1, running means 0, variances 1, and kernels scaled by their number of
// outputs.
TEST(ResNet, BeginsAsHuggingFaceDoes) {
  const ModelFacts facts =
      resnet_facts({{"hidden_sizes", {64}}, {"depths", {1}}, {"layer_type", "basic"}});
  const Model model = new_model(facts, references().ops, 3);
  const std::string norm = "resnet.embedder.embedder.normalization.";
  for (const auto& [name, value] : {std::pair<const char*, float>{"weight", 1},
                                    {"bias", 0},
                                    {"running_mean", 0},
                                    {"running_var", 1}})
    for (const float one : elements_of(model.parameters.at(norm + name))) EXPECT_EQ(one, value);
  double squares = 0;
  const std::vector<float> kernel =
      elements_of(model.parameters.at("resnet.embedder.embedder.convolution.weight"));
  for (const float value : kernel) squares += static_cast<double>(value * value);
  const double variance = squares / static_cast<double>(kernel.size());
  EXPECT_NEAR(variance, 2.0 / (64 * 49),
              0.1 * 2.0 / (64 * 49));  // 9408 samples have a standard error of 1.5%
}

}  // namespace
}  // namespace hone::testing
