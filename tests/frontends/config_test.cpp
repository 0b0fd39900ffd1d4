#include "hone/frontends/huggingface/config.h"

#include <gtest/gtest.h>

#include "hone/frontends/huggingface/bert.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kGolden = test_data() / "frontends" / "golden";
constexpr const char* kWhere = "config.json";

EncoderConfig read(const Json& json) { return read_config(bert().keys, json, kWhere); }

// Returns BERT's config with these keys changed.
EncoderConfig with(const Json& keys) {
  Json json = {{"model_type", "bert"}};
  json.update(keys);
  return read(json);
}

void expect_refused(std::string_view message, const Json& keys) {
  EXPECT_EQ(user_error_of([&] { with(keys); }), message);
}

TEST(BertConfig, DefaultsAreThoseOfHuggingFace) {
  const EncoderConfig config = with(Json::object());
  EXPECT_EQ(config.vocab_size, 30522);
  EXPECT_EQ(config.hidden_size, 768);
  EXPECT_EQ(config.num_hidden_layers, 12);
  EXPECT_EQ(config.num_attention_heads, 12);
  EXPECT_EQ(config.intermediate_size, 3072);
  EXPECT_EQ(config.max_position_embeddings, 512);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(config.hidden_act, "gelu");
  EXPECT_EQ(config.hidden_dropout_prob, 0.1);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.1);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.1);
  EXPECT_EQ(config.initializer_range, 0.02);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(config.pad_token_id, 0);
  EXPECT_EQ(config.problem_type, std::nullopt);
  EXPECT_EQ(config.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
}

TEST(Config, ReadsAllGoldenFolders) {
  int count = 0;
  for (const auto& folder : fs::directory_iterator(kGolden)) {
    const fs::path path = folder.path() / "config.json";
    if (!fs::exists(path)) continue;
    const Json json = read_json(path);
    const Architecture& architecture = find_architecture(model_type(json, kWhere), kWhere);
    const EncoderConfig config = read_config(architecture.keys, json, path.string());
    const bool distilbert = architecture.title == "DistilBERT";
    EXPECT_EQ(config.hidden_size, json[distilbert ? "dim" : "hidden_size"]);
    EXPECT_EQ(config.intermediate_size, json[distilbert ? "hidden_dim" : "intermediate_size"]);
    ++count;
  }
  EXPECT_GE(count, 18);
}

TEST(BertConfig, ShapeKeysAloneAreBert) {
  const Json json = read_json(kGolden / "minimal_config" / "config.json");
  ASSERT_FALSE(json.contains("model_type"));
  EXPECT_EQ(model_type(json, kWhere), "bert");
  EXPECT_EQ(user_error_of([] {
              model_type({{"vocab_size", 3}}, kWhere);
            }),
            "config.json: model_type is missing, and so is hidden_size of a BERT model; expected "
            "the config.json of a "
            "model");
  EXPECT_EQ(model_type({{"model_type", "gpt2"}}, kWhere), "gpt2");
}

TEST(BertConfig, RefusesOtherModels) {
  expect_refused("config.json: model_type: expected \"bert\", got \"gpt2\"",
                 {{"model_type", "gpt2"}});
  expect_refused("config.json: model_type: expected a string, got 3", {{"model_type", 3}});
  EXPECT_EQ(user_error_of([] { read(Json::array()); }),
            "config.json: expected a JSON object, got array");
}

TEST(BertConfig, RefusesImplausibleNumbers) {
  expect_refused("config.json: hidden_size: expected a whole number from 1 to 65536, got -768",
                 {{"hidden_size", -768}});
  expect_refused("config.json: hidden_size: expected a whole number from 1 to 65536, got 768.0",
                 {{"hidden_size", 768.0}});
  expect_refused("config.json: hidden_size: expected a whole number from 1 to 65536, got \"768\"",
                 {{"hidden_size", "768"}});
  expect_refused("config.json: hidden_size: expected a whole number from 1 to 65536, got true",
                 {{"hidden_size", true}});
  expect_refused("config.json: num_hidden_layers: expected a whole number from 1 to 1024, got 1025",
                 {{"num_hidden_layers", 1025}});
  expect_refused(
      "config.json: vocab_size: expected a whole number from 1 to 100000000, got "
      "18446744073709551615",
      {{"vocab_size", ~std::uint64_t{0}}});
  expect_refused("config.json: hidden_dropout_prob: expected a number from 0 to 1, got 1.5",
                 {{"hidden_dropout_prob", 1.5}});
  expect_refused("config.json: layer_norm_eps: expected a number from 0 to 1, got \"1e-12\"",
                 {{"layer_norm_eps", "1e-12"}});
  expect_refused("config.json: classifier_dropout: expected a number from 0 to 1, got -1",
                 {{"classifier_dropout", -1}});
  expect_refused("config.json: pad_token_id: expected a whole number from 0 to 9, got 10",
                 {{"vocab_size", 10}, {"pad_token_id", 10}});
}

TEST(BertConfig, RefusesHeadsThatDoNotDivide) {
  expect_refused("config.json: hidden_size: expected a multiple of num_attention_heads, 5, got 768",
                 {{"num_attention_heads", 5}});
}

TEST(BertConfig, RefusesWhatIsNotSupported) {
  expect_refused(
      "config.json: position_embedding_type: expected \"absolute\" (nothing else is supported), "
      "got \"relative_key\"",
      {{"position_embedding_type", "relative_key"}});
  expect_refused("config.json: is_decoder: expected false (nothing else is supported), got true",
                 {{"is_decoder", true}});
  expect_refused(
      "config.json: add_cross_attention: expected false (nothing else is supported), got true",
      {{"add_cross_attention", true}});
  expect_refused(
      "config.json: pruned_heads: expected {} (nothing else is supported), got {\"0\":[1]}",
      {{"pruned_heads", {{"0", {1}}}}});
  EXPECT_NO_THROW(with({{"is_decoder", false}, {"position_embedding_type", "absolute"}}));
}

TEST(BertConfig, NullMeansTheDefaultOrNone) {
  const EncoderConfig config =
      with({{"classifier_dropout", nullptr}, {"pad_token_id", nullptr}, {"problem_type", nullptr}});
  EXPECT_EQ(config.classifier_dropout, std::nullopt);
  EXPECT_EQ(config.pad_token_id, std::nullopt);
  EXPECT_EQ(config.problem_type, std::nullopt);
}

TEST(BertConfig, LabelsComeFromNamesOrTheirNumber) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(with({{"id2label", {{"1", "good"}, {"0", "bad"}}}}).labels, (Labels{"bad", "good"}));
  // As AutoConfig of transformers 5.
  EXPECT_EQ(with({{"label2id", {{"a", 0}, {"b", 1}, {"c", 2}}}}).labels,
            (Labels{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(with({{"id2label", Json::object()}, {"num_labels", 1}}).labels, (Labels{"LABEL_0"}));
  EXPECT_EQ(with({{"num_labels", 3}}).labels, (Labels{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(with({{"num_labels", 1}, {"id2label", {{"0", "score"}}}}).num_labels(), 1);
}

TEST(BertConfig, LabelsMayBeNumbersAndHaveGaps) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(with({{"id2label", {{"0", 0}, {"1", 1}}}}).labels, (Labels{"0", "1"}));
  EXPECT_EQ(with({{"id2label", {{"0", false}, {"1", true}}}}).labels, (Labels{"False", "True"}));
  EXPECT_EQ(with({{"id2label", {{"00", "a"}, {" 1", "b"}}}}).labels, (Labels{"a", "b"}));
  EXPECT_EQ(with({{"id2label", {{"0", "a"}, {"2", "b"}}}}).labels, (Labels{"a", "LABEL_1"}));
  EXPECT_EQ(with({{"id2label", {{"1", "a"}, {"2", "b"}}}}).labels, (Labels{"LABEL_0", "a"}));
}

TEST(BertConfig, WarnsOfLabelMapsThatContradict) {
  const auto warnings = [](const Json& keys) {
    return label_map_warnings(keys, with(keys), "config.json");
  };
  const Json by_id = {{"0", "a"}, {"1", "b"}};
  EXPECT_TRUE(warnings({{"id2label", by_id}, {"label2id", {{"a", 0}, {"b", 1}}}}).empty());
  EXPECT_TRUE(warnings({{"num_labels", 3}}).empty());
  EXPECT_EQ(warnings({{"label2id", {{"a", 0}, {"b", 1}}}}).size(), 1u);
  const auto gap = warnings({{"id2label", {{"0", "a"}, {"2", "b"}}}});
  ASSERT_EQ(gap.size(), 1u);
  EXPECT_NE(gap[0].find("none for class 1"), std::string::npos) << gap[0];
  const auto inverse = warnings({{"id2label", by_id}, {"label2id", {{"a", 1}, {"b", 0}}}});
  ASSERT_EQ(inverse.size(), 1u);
  EXPECT_NE(inverse[0].find("label2id contradicts id2label for 'a'"), std::string::npos);
}

TEST(BertConfig, RefusesLabelsThatContradict) {
  expect_refused("config.json: num_labels: expected 1, the number of label names, got 3",
                 {{"num_labels", 3}, {"id2label", {{"0", "a"}}}});
  const std::string once = "config.json: id2label: expected each class number once, as \"0\", got ";
  expect_refused(once + R"({"1":"a","01":"b"})", {{"id2label", {{"1", "a"}, {"01", "b"}}}});
  expect_refused(once + R"({"a":"a","b":"b"})", {{"id2label", {{"a", "a"}, {"b", "b"}}}});
  expect_refused("config.json: id2label: expected a string, a number or a boolean, got null",
                 {{"id2label", {{"0", nullptr}, {"1", "b"}}}});
  expect_refused("config.json: id2label: expected an object of names by class number, got []",
                 {{"id2label", Json::array()}});
  expect_refused("config.json: num_labels: expected a whole number from 1 to 10000, got 0",
                 {{"num_labels", 0}});
  expect_refused(
      "config.json: problem_type: expected 2 labels or more for single_label_classification, got 1",
      {{"num_labels", 1}, {"problem_type", "single_label_classification"}});
  expect_refused(
      "config.json: problem_type: expected single_label_classification, regression, "
      "multi_label_classification, got "
      "\"ranking\"",
      {{"problem_type", "ranking"}});
}

TEST(BertConfig, WritingKeepsUnknownKeys) {
  EncoderConfig config =
      with({{"my_key", {1, 2}}, {"num_labels", 5}, {"architectures", {"BertModel"}}});
  config.labels = {"no", "yes", "maybe"};
  config.hidden_size = 24;
  const Json json = to_json(bert().keys, config);
  EXPECT_EQ(json["my_key"], (Json{1, 2}));
  EXPECT_EQ(json["architectures"], Json::array({"BertForSequenceClassification"}));
  EXPECT_EQ(json["hidden_size"], 24);
  EXPECT_EQ(json["label2id"]["maybe"], 2);
  EXPECT_FALSE(json.contains("num_labels"));
}

TEST(BertConfig, TellsTheFactsThatOthersAskFor) {
  const Json file = {{"model_type", "bert"},
                     {"vocab_size", 40},
                     {"max_position_embeddings", 24},
                     {"type_vocab_size", 1},
                     {"problem_type", "single_label_classification"},
                     {"id2label", {{"0", "bad"}, {"1", "good"}}},
                     {"my_key", 3}};
  ModelFacts facts = facts_of(bert(), file, kWhere);
  EXPECT_EQ(facts.architecture, "bert");
  EXPECT_EQ(facts.config, file) << "untouched";
  EXPECT_EQ(facts.labels, (std::vector<std::string>{"bad", "good"}));
  EXPECT_EQ(facts.limits.tokens, 24);
  EXPECT_EQ(facts.limits.vocabulary, 40);
  EXPECT_EQ(facts.limits.token_types, 1);
  EXPECT_EQ(facts.problem_type, Task::single_label);
  EXPECT_EQ(facts.task(), Task::single_label);
  // The labels of the data override those of the file.
  facts.labels = {"a", "b", "c"};
  EXPECT_EQ(config_of(facts).labels, facts.labels);
  EXPECT_EQ(to_json(bert().keys, config_of(facts))["my_key"], 3);
  EXPECT_FALSE(facts.has_default_labels());
  facts.labels = default_labels(3);
  EXPECT_TRUE(facts.has_default_labels());
}

TEST(BertConfig, ReadsBackWhatItWrote) {
  EncoderConfig config;
  config.hidden_size = 36;
  config.num_attention_heads = 3;
  config.classifier_dropout = 0.25;
  config.pad_token_id.reset();
  config.problem_type = Task::multi_label;
  config.layer_norm_eps = 1e-5;
  config.hidden_act = "relu";
  config.labels = {"a", "b", "c"};
  const EncoderConfig read_back =
      read(parse_json(to_document(to_json(bert().keys, config)), "text"));
  EXPECT_EQ(read_back.hidden_size, 36);
  EXPECT_EQ(read_back.classifier_dropout, 0.25);
  EXPECT_EQ(read_back.pad_token_id, std::nullopt);
  EXPECT_EQ(read_back.problem_type, Task::multi_label);
  EXPECT_EQ(read_back.layer_norm_eps, 1e-5);
  EXPECT_EQ(read_back.hidden_act, "relu");
  EXPECT_EQ(read_back.labels, config.labels);
  EXPECT_EQ(to_json(bert().keys, read_back), to_json(bert().keys, config));
}

}  // namespace
}  // namespace hone
