#include "hone/frontends/huggingface/sentence_modules.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/ir/print.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using Poolings = std::vector<Pooling>;
using testing::builtin;
using testing::tiny_model;

constexpr std::string_view kModules = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}
])";

/// A folder with modules.json and further files.
struct Folder : TemporaryFolder {
  Folder() {
    file("modules.json", kModules);
    file("1_Pooling/config.json", "{}");
  }
  SentenceModules read() const { return read_sentence_modules(path()); }
  SentenceModules with_pooling(std::string_view config) const {
    file("1_Pooling/config.json", config);
    return read();
  }
  std::string refusal_of(std::string_view name, std::string_view text) const {
    file(name, text);
    const std::string message = user_error_of([&] { read(); });
    const std::string where = (path() / name).string() + ": ";
    return message.starts_with(where) ? message.substr(where.size()) : message;
  }
};

TEST(SentenceModules, SayHowTokensArePooled) {
  const Folder folder;
  const SentenceModules old = folder.with_pooling(
      R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
          "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false,
          "pooling_mode_mean_sqrt_len_tokens": false})");
  EXPECT_EQ(old.pooling, (Poolings{Pooling::mean}));
  EXPECT_EQ(old.token_width, 384);
  EXPECT_TRUE(old.normalize);
  EXPECT_TRUE(old.encoder.is_listed);
  const SentenceModules several = folder.with_pooling(
      R"({"pooling_mode_mean_sqrt_len_tokens": true, "pooling_mode_mean_tokens": true,
          "pooling_mode_max_tokens": true, "pooling_mode_cls_token": true})");
  EXPECT_EQ(to_string(several.pooling), "cls+max+mean+mean_sqrt_len_tokens");
  const SentenceModules recent =
      folder.with_pooling(R"({"embedding_dimension": 12, "pooling_mode": "cls"})");
  EXPECT_EQ(recent.pooling, (Poolings{Pooling::cls}));
  EXPECT_EQ(recent.token_width, 12);
  EXPECT_EQ(to_string(folder.with_pooling(R"({"pooling_mode": ["mean", "cls"]})").pooling),
            "mean+cls");
  EXPECT_EQ(folder.with_pooling("{}").pooling, (Poolings{Pooling::mean}));
}

TEST(SentenceModules, AreTheMeanOfTheTokensWhereNoneAreListed) {
  const TemporaryFolder folder;
  folder.file("sentence_bert_config.json", R"({"max_seq_length": 16})");
  folder.file("tokenizer_config.json", R"({"model_max_length": 64})");
  const SentenceModules modules = read_sentence_modules(folder.path());
  EXPECT_FALSE(modules.encoder.is_listed);
  EXPECT_EQ(modules.pooling, (Poolings{Pooling::mean}));
  EXPECT_FALSE(modules.normalize);
  EXPECT_EQ(modules.encoder.limit->tokens, 64);
  EXPECT_EQ(modules.encoder.folder, folder.path());
}

TEST(SentenceModules, SayWhereTextsAreCutAndWhetherTheyAreMadeSmall) {
  const Folder folder;
  EXPECT_FALSE(folder.read().encoder.limit.has_value());
  folder.file("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_GE(folder.read().encoder.limit->tokens, 1'000'000'000);
  folder.file("sentence_bert_config.json", R"({"max_seq_length": 128, "do_lower_case": true})");
  EXPECT_EQ(folder.read().encoder.limit->tokens, 128);
  EXPECT_EQ(folder.read().encoder.limit->source,
            "max_seq_length of " + (folder.path() / "sentence_bert_config.json").string());
  EXPECT_TRUE(folder.read().encoder.lowercase);
}

TEST(SentenceModules, ReadTheEncoderWhereItIsListed) {
  const Folder folder;
  folder.file("modules.json", R"([{"path": "0_BERT", "type": "models.Transformer"},
                                  {"path": "1_Pooling", "type": "models.Pooling"}])");
  folder.file("0_BERT/sentence_bert_config.json", R"({"max_seq_length": 32})");
  EXPECT_EQ(folder.read().encoder.folder, folder.path() / "0_BERT");
  EXPECT_EQ(folder.read().encoder.limit->tokens, 32);
  EXPECT_FALSE(folder.read().normalize);
}

TEST(SentenceModules, PutTheDefaultPromptInFront) {
  const Folder folder;
  folder.file("config_sentence_transformers.json",
              R"({"prompts": {"query": "query: "}, "default_prompt_name": null})");
  EXPECT_EQ(folder.read().prompt, "");
  folder.file("config_sentence_transformers.json",
              R"({"prompts": {"query": "query: "}, "default_prompt_name": "query"})");
  EXPECT_EQ(folder.read().prompt, "query: ");
  EXPECT_EQ(folder.refusal_of("1_Pooling/config.json", R"({"include_prompt": false})"),
            "include_prompt: expected true, because all tokens are pooled, got false");
  folder.file("1_Pooling/config.json", "{}");
  EXPECT_EQ(folder.refusal_of("config_sentence_transformers.json",
                              R"({"prompts": {}, "default_prompt_name": "query"})"),
            "default_prompt_name: expected the name of a text in \"prompts\", got \"query\"");
}

TEST(SentenceModules, KeepTheFirstNumbersOfVectors) {
  const Folder folder;
  EXPECT_EQ(folder.read().kept_width, std::nullopt);
  folder.file("config_sentence_transformers.json", R"({"truncate_dim": 8})");
  EXPECT_EQ(folder.read().kept_width, 8);
  EXPECT_EQ(folder.refusal_of("config_sentence_transformers.json", R"({"truncate_dim": 0})"),
            "truncate_dim: expected a number from 1, got 0");
}

// Without modules.json, sentence-transformers does not read the file.
TEST(SentenceModules, SettingsCountBesideAModuleList) {
  const TemporaryFolder folder;
  folder.file("config_sentence_transformers.json",
              R"({"truncate_dim": 8, "prompts": {"q": "query: "}, "default_prompt_name": "q"})");
  const SentenceModules modules = read_sentence_modules(folder.path());
  EXPECT_EQ(modules.kept_width, std::nullopt);
  EXPECT_EQ(modules.prompt, "");
}

TEST(SentenceModules, RefuseToNormalizeHiddenStates) {
  const Folder folder;
  EXPECT_EQ(
      folder.refusal_of("2_Normalize/config.json", R"({"module_input_name": "token_embeddings"})"),
      "module_input_name: expected \"sentence_embedding\", got \"token_embeddings\"");
}

TEST(SentenceModules, RefuseWhatIsNotComputed) {
  const auto modules = [](const std::string& text) {
    return Folder().refusal_of("modules.json", text);
  };
  EXPECT_EQ(modules(R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                        {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])"),
            "the modules are sentence_transformers.models.Transformer, "
            "sentence_transformers.models.Pooling, sentence_transformers.models.Dense; "
            "embeddings need a Transformer, a Pooling and, for vectors of length 1, a "
            "Normalize, in this order");
  EXPECT_EQ(modules("[]"), "expected a list of modules, got an empty one");
  EXPECT_EQ(modules("{}"), "expected a list of modules, got object");
  EXPECT_EQ(modules(R"([{"path": ""}])"),
            R"(module 0: expected an object with the texts "type" and "path", got {"path":""})");
  EXPECT_EQ(modules("[3]"),
            R"(module 0: expected an object with the texts "type" and "path", got 3)");
  EXPECT_EQ(modules(R"([{"path": "../x", "type": "models.Transformer"}])"),
            "module 0: path: expected a folder inside the model folder, got '../x'");
  const Folder folder;
  EXPECT_EQ(folder.refusal_of("1_Pooling/config.json", R"({"pooling_mode": "lasttoken"})"),
            "pooling_mode: expected some of cls, max, mean, mean_sqrt_len_tokens, got "
            "\"lasttoken\"");
  EXPECT_EQ(
      folder.refusal_of("1_Pooling/config.json", R"({"pooling_mode_weightedmean_tokens": true})"),
      "pooling_mode_weightedmean_tokens: expected false, because this pooling is not "
      "supported, got true");
  EXPECT_EQ(folder.refusal_of("1_Pooling/config.json", R"({"pooling_mode_cls_token": 1})"),
            "pooling_mode_cls_token: expected true or false, got 1");
  EXPECT_EQ(folder.refusal_of("1_Pooling/config.json", "[]"), "expected an object, got array");
  fs::remove(folder.path() / "1_Pooling/config.json");
  expect_user_error(
      "1_Pooling/config.json: no such file, but modules.json refers to it for the "
      "pooling",
      [&] { folder.read(); });
  folder.file("1_Pooling/config.json", "{}");
  EXPECT_EQ(folder.refusal_of("sentence_bert_config.json", R"({"max_seq_length": 2})"),
            "max_seq_length: expected a number from 3, got 2");
  EXPECT_EQ(folder.refusal_of("sentence_bert_config.json", R"({"transformer_task": "fill-mask"})"),
            "transformer_task: expected \"feature-extraction\", got \"fill-mask\"");
  EXPECT_EQ(folder.refusal_of("sentence_bert_config.json",
                              R"({"modality_config": {"text": {"method_output_name": "logits"}}})"),
            "method_output_name: expected \"last_hidden_state\", got \"logits\"");
}

std::string graph_of(const Poolings& pooling, bool normalize) {
  const std::string text =
      to_string(embedding_graph(tiny_model(), {.pooling = pooling, .normalize = normalize}));
  return text.substr(text.find("%pooling"));
}

TEST(EmbeddingGraph, PoolsTheLastHiddenStates) {
  const std::string hidden = "%bert.encoder.layer.1.output.LayerNorm";
  EXPECT_EQ(graph_of({Pooling::mean}, true),
            "%pooling.mean = pool_tokens(" + hidden +
                ", %attention_mask) {mode=\"mean\"} : f32[B, 32]\n"
                "%pooling.normalize = normalize(%pooling.mean) {eps=1e-12} : f32[B, 32]\n"
                "output embedding = %pooling.normalize\n");
  EXPECT_EQ(graph_of({Pooling::cls, Pooling::max}, false),
            "%pooling.first_token = slice(" + hidden +
                ") {axis=1, begin=0, size=[1]} : f32[B, 1, 32]\n"
                "%pooling.cls = reshape(%pooling.first_token) {shape=[B, 32]} : f32[B, 32]\n"
                "%pooling.max = pool_tokens(" +
                hidden +
                ", %attention_mask) {mode=\"max\"} : f32[B, 32]\n"
                "%pooling.joined = concat(%pooling.cls, %pooling.max) {axis=1} : f32[B, 64]\n"
                "output embedding = %pooling.joined\n");
}

TEST(EmbeddingGraph, HasNoHead) {
  const Graph graph = embedding_graph(tiny_model(), {});
  EXPECT_EQ(graph.find("classifier.weight"), nullptr);
  EXPECT_EQ(graph.find("labels"), nullptr);
  EXPECT_EQ(graph.outputs().size(), 1u);
}

TEST(EmbeddingGraph, KeepsTheQuantizersOfTheEncoder) {
  Model model = tiny_model();
  testing::put_quantizers(model, "int(bits=8)");
  EXPECT_TRUE(has_quantizers(embedding_graph(model, {})));
}

TEST(EmbeddingGraph, RefusesOtherWidthsAndGraphsWithoutAHead) {
  expect_user_error(
      "the pooling expects 384 numbers per token, the encoder returns 32; the files "
      "do not match",
      [] { embedding_graph(tiny_model(), {.token_width = 384}); });
  Model model = tiny_model();
  model.graph = embedding_graph(model, {});
  expect_user_error(
      "embeddings need the hidden states of the encoder, which "
      "'bert.pooler.first_token' reads in the graphs of BERT",
      [&] { embedding_graph(model, {}); });
}

// A BertModel without pooler and classifier.
TEST(EmbeddingGraph, NeedsNoHeadInTheCheckpoint) {
  const TemporaryFolder folder;
  const Model whole = tiny_model();
  save_model(whole, folder.path());
  TensorMap encoder;
  for (const auto& [name, tensor] : whole.parameters.tensors())
    if (name.starts_with("bert.") && !name.starts_with("bert.pooler."))
      encoder.emplace(name.substr(5), tensor);
  save_checkpoint(folder.path(), encoder);
  const Model model =
      load_model(folder.path(), builtin().ops, builtin().formats, 1, {}, HeadFit::unused);
  EXPECT_TRUE(model.has_untrained_head());
  EXPECT_EQ(model.warnings, std::vector<std::string>{});
  EXPECT_EQ(to_string(embedding_graph(model, {})), to_string(embedding_graph(whole, {})));
}

}  // namespace
}  // namespace hone
