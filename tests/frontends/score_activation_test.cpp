#include "hone/frontends/huggingface/score_activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect.h"

namespace hone {
namespace {

ModelFacts facts_of(Json config, std::int64_t labels = 1) {
  ModelFacts facts;
  facts.config = std::move(config);
  for (std::int64_t i = 0; i < labels; ++i) facts.labels.push_back(fmt::format("LABEL_{}", i));
  return facts;
}

ModelFacts opened(Json config, const char* settings, std::int64_t labels = 1) {
  const TemporaryFolder folder;
  if (settings != nullptr) {
    folder.file(kModulesFile, R"([{"path": "", "type": "models.Transformer"}])");
    folder.file(kPromptsFile, settings);
  }
  ModelFacts facts = facts_of(std::move(config), labels);
  read_score_activation(facts, folder.path(), json_reader());
  return facts;
}

ScoreActivation activation_of(Json config, const char* settings, std::int64_t labels = 1) {
  return score_activation(opened(std::move(config), settings, labels));
}

// As TextClassificationPipeline of transformers 5 and CrossEncoder of sentence-transformers 6.
TEST(ScoreActivation, IsASigmoidUnlessTheConfigSaysARegression) {
  ModelFacts facts = opened(Json::object(), nullptr);
  EXPECT_EQ(score_activation(facts), ScoreActivation::sigmoid);
  EXPECT_FALSE(is_cross_encoder(facts));
  facts.problem_type = Task::regression;
  EXPECT_EQ(score_activation(facts), ScoreActivation::none);
}

TEST(ScoreActivation, IsThatOfACrossEncoder) {
  const Json none = Json::object();
  EXPECT_TRUE(is_cross_encoder(opened(none, R"({"model_type": "CrossEncoder"})")));
  EXPECT_FALSE(is_cross_encoder(opened(none, R"({"model_type": "SentenceTransformer"})")));
  EXPECT_EQ(activation_of(none, R"({"model_type": "CrossEncoder"})"), ScoreActivation::sigmoid);
  EXPECT_EQ(activation_of(none, R"({"model_type": "CrossEncoder"})", 3), ScoreActivation::none);
  EXPECT_EQ(activation_of(none, R"({"model_type": "CrossEncoder",
                                    "activation_fn": "torch.nn.modules.linear.Identity"})"),
            ScoreActivation::identity);
}

TEST(ScoreActivation, OfSeveralLabelsIsTheOneThatIsSaid) {
  const auto named = [](const char* name) {
    return fmt::format(
        R"({{"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.{}"}})",
        name);
  };
  EXPECT_EQ(activation_of(Json::object(), named("Sigmoid").c_str(), 3), ScoreActivation::sigmoid);
  EXPECT_EQ(activation_of(Json::object(), named("Softmax").c_str(), 3), ScoreActivation::none);
  EXPECT_TRUE(is_cross_encoder(opened(Json::object(), named("Sigmoid").c_str(), 3)));
}

TEST(ScoreActivation, IsReadWhereOlderVersionsHaveIt) {
  const Json old = {{"sbert_ce_default_activation_function", "torch.nn.modules.linear.Identity"}};
  EXPECT_EQ(activation_of(old, nullptr), ScoreActivation::identity);
  const Json recent = {
      {"sentence_transformers", {{"activation_fn", "torch.nn.modules.activation.Tanh"}}}};
  EXPECT_EQ(activation_of(recent, nullptr), ScoreActivation::tanh);
  EXPECT_EQ(activation_of(recent, R"({"model_type": "CrossEncoder"})"), ScoreActivation::tanh);
  EXPECT_EQ(activation_of(recent, R"({"model_type": "CrossEncoder",
                                      "activation_fn": "torch.nn.modules.activation.Sigmoid"})"),
            ScoreActivation::sigmoid);
}

TEST(ScoreActivation, IsRefusedWithTheFileThatNamesIt) {
  const auto refusal = [](const ModelFacts& facts) {
    try {
      score_activation(facts);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const char* kSettings =
      R"({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.GELU"})";
  const std::string of_settings = refusal(opened(Json::object(), kSettings));
  EXPECT_NE(of_settings.find("/config_sentence_transformers.json: activation_fn is "
                             "torch.nn.modules.activation.GELU"),
            std::string::npos)
      << of_settings;
  const Json softmax = {
      {"sentence_transformers", {{"activation_fn", "torch.nn.modules.activation.Softmax"}}}};
  for (const char* settings :
       {R"({"model_type": "CrossEncoder"})", static_cast<const char*>(nullptr)}) {
    const std::string of_config = refusal(opened(softmax, settings));
    EXPECT_NE(of_config.find("/config.json: activation_fn is torch.nn.modules.activation.Softmax"),
              std::string::npos)
        << of_config;
  }
  const Json old = {{"sbert_ce_default_activation_function", "torch.nn.modules.activation.GELU"}};
  const std::string of_old = refusal(opened(old, nullptr, 3));
  EXPECT_NE(of_old.find("/config.json: sbert_ce_default_activation_function is "),
            std::string::npos)
      << of_old;
  EXPECT_NE(of_old.find("Softmax"), std::string::npos) << of_old;
}

TEST(ScoreActivation, IsIdentityAfterTrainingTheNumberItself) {
  ModelFacts facts = opened(Json::object(), R"({"model_type": "CrossEncoder"})");
  use_raw_scores(facts);
  EXPECT_EQ(score_activation(facts), ScoreActivation::identity);
  ModelFacts plain = facts_of(Json::object());
  use_raw_scores(plain);
  EXPECT_EQ(plain.config, Json::object());
  EXPECT_EQ(score_activation(plain), ScoreActivation::none);
}

TEST(ScoreActivation, SettingsCountBesideAModuleList) {
  const TemporaryFolder folder;
  folder.file(kPromptsFile, R"({"model_type": "CrossEncoder", "prompts": {"q": "query: "},
                                "default_prompt_name": "q",
                                "activation_fn": "torch.nn.modules.activation.Tanh"})");
  ModelFacts facts = facts_of(Json::object());
  read_score_activation(facts, folder.path(), json_reader());
  EXPECT_EQ(score_activation(facts), ScoreActivation::sigmoid);
  EXPECT_EQ(read_score_prompt(folder.path(), json_reader()), "");
  folder.file(kModulesFile, R"([{"path": "", "type": "models.Transformer"}])");
  read_score_activation(facts, folder.path(), json_reader());
  EXPECT_EQ(score_activation(facts), ScoreActivation::tanh);
  EXPECT_EQ(read_score_prompt(folder.path(), json_reader()), "query: ");
}

TEST(ScoreActivation, IsApplied) {
  EXPECT_NEAR(apply(ScoreActivation::sigmoid, 3.816), 0.9785, 1e-4);
  EXPECT_EQ(apply(ScoreActivation::tanh, 0.5), std::tanh(0.5));
  EXPECT_EQ(apply(ScoreActivation::identity, 3.5), 3.5);
  EXPECT_EQ(title(ScoreActivation::sigmoid), "Sigmoid");
  EXPECT_EQ(title(ScoreActivation::identity), "");
  EXPECT_EQ(title(ScoreActivation::none), "");
}

}  // namespace
}  // namespace hone
