#include "hone/models/model_source.h"

#include <gtest/gtest.h>

#include "hone/analysis/parameters.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/roberta.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

const fs::path kGolden = test_data() / "frontends" / "golden";

TEST(FreshModel, ShapesAreThoseOfBertTinyAndBaseAndResNet18) {
  EXPECT_EQ(new_model_names(), (std::vector<std::string>{"tiny", "base", "resnet18"}));
  const auto total = [](const char* name) {
    return total_parameters(build_graph(testing::quiet_context().library.ops, bert(),
                                        config_of(new_model_facts(name)), {}))
        .all();
  };
  EXPECT_EQ(total("tiny"), 4'386'178);
  EXPECT_EQ(total("base"), 109'483'778);  // BertForSequenceClassification of bert-base-uncased
  EXPECT_EQ(new_model_facts("resnet18").limits.image.value().height, 224);
  expect_user_error("'large' is no built-in shape; there are tiny, base, resnet18",
                    [] { new_model_facts("large"); });
}

TEST(OpenModel, MakesAFreshModelWithTheBuiltInVocabulary) {
  const TextModel made =
      open_model("tiny", testing::quiet_context(), /*seed=*/1, {.names = {"bad", "good", "fair"}});
  EXPECT_EQ(made.model.facts.limits.vocabulary, made.tokenizer.vocabulary_size());
  EXPECT_EQ(made.model.facts.labels, (std::vector<std::string>{"bad", "good", "fair"}));
  EXPECT_EQ(made.model.parameters.at("classifier.weight").sizes(), (Sizes{3, 128}));
  EXPECT_TRUE(made.folder.empty());
}

TEST(OpenModel, MakesAFreshModelOfAConfigWithTheVocabularyThatItIsGiven) {
  const TemporaryFolder folder;
  folder.file("roberta.json", R"({"model_type": "roberta", "vocab_size": 9, "hidden_size": 16,
                                  "num_hidden_layers": 1, "num_attention_heads": 2,
                                  "intermediate_size": 8, "id2label": {"0": "no", "1": "yes"}})");
  const std::string name = (folder.path() / "roberta.json").string();
  EXPECT_TRUE(is_new_model(name));
  const TextModel made = open_model(name, testing::quiet_context(), /*seed=*/1);
  EXPECT_EQ(made.model.facts.architecture, "roberta");
  EXPECT_EQ(made.model.facts.labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(made.model.facts.limits.vocabulary, made.tokenizer.vocabulary_size());
  // RoBERTa's positions begin after pad_token_id.
  EXPECT_EQ(config_of(made.model.facts).pad_token_id, made.tokenizer.pad_id());
  folder.file("odd.json", R"({"model_type": "albert"})");
  expect_user_error("model_type 'albert' is not supported", [&] {
    open_model((folder.path() / "odd.json").string(), testing::quiet_context(), /*seed=*/1);
  });
  EXPECT_FALSE(is_new_model(folder.path().string()));
  EXPECT_FALSE(is_new_model((folder.path() / "nothing.json").string()));
}

constexpr const char* kRoberta = R"({"model_type": "roberta", "vocab_size": 700, "hidden_size": 16,
                                     "num_hidden_layers": 1, "num_attention_heads": 2,
                                     "intermediate_size": 8})";

TEST(OpenModel, GivesFreshWeightsTheTokenizerBesideTheirConfig) {
  const TemporaryFolder folder, written;
  const std::string name = folder.file("config.json", kRoberta).string();
  const fs::path tokenizer = test_data() / "text/golden/byte_pair";
  for (const char* file : {"vocab.json", "merges.txt"})
    fs::copy(tokenizer / file, folder.path() / file);
  folder.file("tokenizer_config.json", R"({"model_max_length": 100})");
  const TextModel made = open_model(name, testing::quiet_context(), 1, {.names = {"bad", "good"}});
  EXPECT_EQ(made.tokenizer.vocabulary_size(), 634);
  EXPECT_EQ(made.model.facts.limits.vocabulary, 700);
  EXPECT_EQ(config_of(made.model.facts).pad_token_id, 1);
  EXPECT_EQ(made.model.facts.labels, (std::vector<std::string>{"bad", "good"}));
  EXPECT_EQ(made.limit->tokens, 100);
  EXPECT_TRUE(made.trained_on->nothing());
  EXPECT_EQ(made.model.warnings.size(), 1u) << "66 of 700 rows have no token";
  write_model(made, written.path());
  EXPECT_EQ(read_file(written.path() / "merges.txt"), read_file(tokenizer / "merges.txt"));
  EXPECT_EQ(open_model(written.path().string(), testing::quiet_context(), 1)
                .tokenizer.encode("a film", 9),
            made.tokenizer.encode("a film", 9));
  folder.file("config.json", R"({"model_type": "roberta", "vocab_size": 9, "hidden_size": 16,
                                 "num_hidden_layers": 1, "num_attention_heads": 2})");
  expect_user_error("the vocabulary has 634 tokens, the embedding only 9 rows",
                    [&] { open_model(name, testing::quiet_context(), 1); });
}

TEST(OpenModel, TellsWhatIsOtherThanInAConfigWithoutATokenizer) {
  const TemporaryFolder folder;
  const std::string name = folder.file("config.json", kRoberta).string();
  const TextModel made = open_model(name, testing::quiet_context(), 1);
  EXPECT_EQ(
      made.model.warnings,
      (std::vector<std::string>{
          fmt::format(
              "{}: its folder has no tokenizer, so the model gets another vocabulary and has "
              "vocab_size {} instead of 700 and pad_token_id 0 instead of 1",
              name, made.tokenizer.vocabulary_size()),
          name + ": its vocabulary is WordPiece (BertTokenizer), not byte pairs "
                 "(RobertaTokenizer), which hone cannot train; put vocab.json and merges.txt, "
                 "or tokenizer.json, into its folder"}));
  EXPECT_TRUE(open_model("tiny", testing::quiet_context(), 1).model.warnings.empty());
}

TEST(OpenModel, ReadsAFolderWithItsTokenizer) {
  const TextModel opened =
      open_model((kGolden / "safetensors").string(), testing::quiet_context(), /*seed=*/1);
  EXPECT_EQ(config_of(opened.model.facts).hidden_size, 24);
  EXPECT_EQ(opened.tokenizer.vocabulary_size(), 80);
  EXPECT_EQ(opened.folder, kGolden / "safetensors");
}

TEST(OpenModel, NamesWhatIsNoFolder) {
  expect_user_error("nowhere/model: no such model folder",
                    [] { open_model("nowhere/model", testing::quiet_context(), /*seed=*/1); });
}

TEST(OpenModel, RefusesAVocabularyLargerThanTheEmbedding) {
  const TemporaryFolder folder;
  EncoderConfig config = testing::tiny_config();
  save_model(new_model(facts_of(bert(), config), testing::quiet_context().library.ops, /*seed=*/1),
             folder.path());
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < 36; ++i) vocabulary += fmt::format("word{}\n", i);
  folder.file("vocab.txt", vocabulary);
  expect_user_error("the vocabulary has 41 tokens, the embedding only 40 rows", [&] {
    open_model(folder.path().string(), testing::quiet_context(), /*seed=*/1);
  });
}

// RoBERTa's graph counts positions from the config's pad_token_id.
TEST(OpenModel, RefusesATokenizerThatPadsWithAnotherTokenThanPositionsAreCountedBy) {
  const TemporaryFolder folder;
  EncoderConfig config = testing::tiny_config();
  config.pad_token_id = 1;
  save_model(new_model(facts_of(roberta(), config), testing::quiet_context().library.ops, 1),
             folder.path());
  folder.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n");
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  const auto open = [&] { open_model(folder.path().string(), testing::quiet_context(), 1); };
  EXPECT_EQ(user_error_of(open),
            folder.path().string() +
                ": the tokenizer pads with '[PAD]', token 0, but pad_token_id of config.json "
                "is 1, and positions are counted from there: other tokens would be treated as "
                "padding; use the tokenizer that the model was trained with, or correct the "
                "wrong one of the two");
  folder.file(
      "tokenizer_config.json",
      R"({"tokenizer_class": "BertTokenizer", "pad_token": "[UNK]", "unk_token": "[PAD]"})");
  open();
  folder.file("tokenizer_config.json", "{}");
  expect_user_error("vocab.txt: is a vocabulary of word pieces, but the tokenizer of this model",
                    open);
}

// Embeddings are often padded to round sizes. Ids beyond the vocabulary never occur.
TEST(OpenModel, WarnsOfAVocabularySmallerThanTheEmbedding) {
  const TemporaryFolder folder;
  save_model(
      new_model(facts_of(bert(), testing::tiny_config()), testing::quiet_context().library.ops,
                /*seed=*/1),
      folder.path());
  folder.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n");
  EXPECT_EQ(open_model(folder.path().string(), testing::quiet_context(), /*seed=*/1).model.warnings,
            (std::vector<std::string>{"34 of 40 rows of the embedding have no token in the "
                                      "vocabulary; fine if they are padding"}));
}

TEST(WriteModel, WritesWhatOpensAgain) {
  const TemporaryFolder folder;
  const TextModel made = open_model("tiny", testing::quiet_context(), /*seed=*/1);
  write_model(made, folder.path());
  const TextModel again = open_model(folder.path().string(), testing::quiet_context(), /*seed=*/2);
  EXPECT_EQ(testing::changed_parameters(made.model.parameters, again.model.parameters),
            std::vector<std::string>{});
  EXPECT_EQ(again.tokenizer.definition().tokens, made.tokenizer.definition().tokens);
}

// Models without a head and with an incomplete one. The message names what is missing, and where.
TEST(OpenModel, TellsAModelWithoutAHeadFromOneWithHalfOfIt) {
  const auto refusal = [](const fs::path& folder) {
    return user_error_of([&] {
      check_has_head(open_model(folder.string(), testing::quiet_context(), /*seed=*/1), "my-model");
    });
  };
  const std::string none = refusal(kGolden / "pretraining");
  for (const char* part :
       {"my-model: the model has no classification head", "pytorch_model.bin has no",
        "classifier.weight", "cls.predictions.bias", "`hone train`"})
    EXPECT_NE(none.find(part), std::string::npos) << none;
  const TemporaryFolder folder;
  write_model(open_model("tiny", testing::quiet_context(), /*seed=*/1), folder.path());
  TensorMap tensors = load_checkpoint(folder.path()).tensors;
  tensors.erase("bert.pooler.dense.bias");
  for (auto& [name, tensor] : tensors) tensor = tensor.contiguous_copy();
  save_checkpoint(folder.path(), tensors);
  const std::string half = refusal(folder.path());
  for (const char* part :
       {"head is incomplete", "model.safetensors has no bert.pooler.dense.bias;"})
    EXPECT_NE(half.find(part), std::string::npos) << half;
}

// sentence-transformers would pass these types to transformers, which would round the written weights.
TEST(WriteModel, NamesNoOtherTypeOfWeightsForSentenceTransformers) {
  const TemporaryFolder folder, copy;
  fs::copy(test_data() / "models" / "golden" / "embeddings" / "mean", folder.path(),
           fs::copy_options::recursive);
  Json file = read_json(folder.path() / "sentence_bert_config.json");
  file["model_args"] = {{"torch_dtype", "bfloat16"}, {"attn_implementation", "eager"}};
  file["model_kwargs"] = {{"dtype", "float16"}};
  fs::remove(folder.path() / "sentence_bert_config.json");
  folder.file("sentence_bert_config.json", to_document(file));
  write_model(open_model(folder.path().string(), testing::quiet_context(), /*seed=*/1),
              copy.path());
  const Json written = read_json(copy.path() / "sentence_bert_config.json");
  EXPECT_EQ(written["model_args"], (Json{{"attn_implementation", "eager"}}));
  EXPECT_EQ(written["model_kwargs"], Json::object());
}

TEST(WriteModel, CopiesTheTokenizersFilesAsTheyAre) {
  const TemporaryFolder folder, copy;
  const TextModel golden =
      open_model((kGolden / "zip").string(), testing::quiet_context(), /*seed=*/1);
  write_model(golden, folder.path());
  EXPECT_EQ(read_file(folder.path() / "vocab.txt"), read_file(kGolden / "zip" / "vocab.txt"));
  EXPECT_TRUE(fs::exists(folder.path() / "model.safetensors"));
}

}  // namespace
}  // namespace hone
