#include "hone/models/embedding_model.h"

#include <gtest/gtest.h>

#include "hone/jobs/prediction.h"
#include "hone/models/encoding.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::quiet_context;

using Vectors = std::vector<std::vector<float>>;

const fs::path kEmbeddings = test_data() / "models" / "golden" / "embeddings";

std::vector<std::string> texts_of(const std::string& name) {
  return read_json(kEmbeddings / name / "expected.json")["texts"].get<std::vector<std::string>>();
}

Vectors embeddings(const EmbeddingModel& model, const std::vector<std::string>& texts,
                   std::int64_t batch_size, std::int64_t max_seq_length = 0) {
  TextPredictor predictor(model, {max_seq_length}, batch_size, quiet_context());
  std::vector<TextRow> rows;
  for (const std::string& text : texts) rows.push_back({.id = 1, .text = text});
  Vectors vectors;
  for (const Prediction& one : predictor.predict(std::move(rows))) vectors.push_back(one.embedding);
  return vectors;
}

EmbeddingModel open(const fs::path& folder) {
  return open_embedding_model(folder.string(), quiet_context(), /*seed=*/1);
}

void expect_near(const Vectors& got, const Json& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t row = 0; row < got.size(); ++row) {
    ASSERT_EQ(got[row].size(), expected[row].size());
    for (std::size_t i = 0; i < got[row].size(); ++i)
      EXPECT_NEAR(got[row][i], expected[row][i].get<double>(), 1e-5) << row << ", " << i;
  }
}

class EmbeddingGolden : public ::testing::TestWithParam<std::string> {};

// Both sides sum about ten fp32 numbers near 1, each with an error of a few 2^-24.
TEST_P(EmbeddingGolden, IsWhatSentenceTransformersComputes) {
  const EmbeddingModel model = open(kEmbeddings / GetParam());
  EXPECT_TRUE(model.modules.encoder.is_listed);
  EXPECT_EQ(model.source.model.warnings, std::vector<std::string>{});
  expect_near(embeddings(model, texts_of(GetParam()), /*batch_size=*/3),
              read_json(kEmbeddings / GetParam() / "expected.json")["embeddings"]);
}

TEST_P(EmbeddingGolden, HasTheSameBitsAloneAndInABatch) {
  const EmbeddingModel model = open(kEmbeddings / GetParam());
  const std::vector<std::string> texts = texts_of(GetParam());
  const Vectors together = embeddings(model, texts, 32);
  EXPECT_EQ(embeddings(model, texts, 1), together);
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(embeddings(model, {texts[i]}, 32)[0], together[i]) << texts[i];
}

// Pooling, normalization, limit, case and prompt are those of the original folder.
TEST_P(EmbeddingGolden, IsTheSameOfTheModelThatIsWritten) {
  const TemporaryFolder folder;
  write_model(open_model((kEmbeddings / GetParam()).string(), quiet_context(), /*seed=*/3),
              folder.path());
  const EmbeddingModel written = open(folder.path());
  EXPECT_TRUE(written.modules.encoder.is_listed);
  const std::vector<std::string> texts = texts_of(GetParam());
  EXPECT_EQ(embeddings(written, texts, 3), embeddings(open(kEmbeddings / GetParam()), texts, 3));
}

INSTANTIATE_TEST_SUITE_P(All, EmbeddingGolden,
                         ::testing::Values("mean", "cls", "max", "several", "old_mean_sqrt_len",
                                           "old_several"),
                         [](const auto& info) { return info.param; });

TEST(EmbeddingModel, IsTheMeanOfTheTokensWhereNoModulesAreListed) {
  const TemporaryFolder folder;
  fs::copy(kEmbeddings / "mean", folder.path(), fs::copy_options::recursive);
  fs::remove(folder.path() / "modules.json");
  const EmbeddingModel plain = open(folder.path());
  EXPECT_EQ(embedding_notes(plain),
            (std::vector<std::string>{
                "embeddings: hidden states of the tokens pooled by mean, the default without a "
                "modules.json"}));
  Vectors vectors = embeddings(plain, texts_of("mean"), 3);
  for (std::vector<float>& vector : vectors) {
    double squares = 0;
    for (const float x : vector) squares += static_cast<double>(x) * x;
    for (float& x : vector) x = static_cast<float>(x / std::sqrt(squares));
  }
  expect_near(vectors, read_json(kEmbeddings / "mean" / "expected.json")["embeddings"]);
}

TEST(EmbeddingModel, SaysHowTokensArePooledAndWhatStandsInFront) {
  EXPECT_EQ(embedding_notes(open(kEmbeddings / "several")),
            (std::vector<std::string>{
                "embeddings: hidden states of the tokens pooled by mean+cls, then normalized "
                "to length 1",
                "every text is preceded by 'a really good ', the default prompt of the model"}));
}

// As in sentence-transformers: vectors are truncated after all modules, and not normalized again.
TEST(EmbeddingModel, KeepsTheFirstNumbersWhereItsFilesSay) {
  const TemporaryFolder folder;
  fs::copy(kEmbeddings / "several", folder.path(), fs::copy_options::recursive);
  const Vectors whole = embeddings(open(folder.path()), texts_of("several"), 3);
  const fs::path file = folder.path() / "config_sentence_transformers.json";
  Json settings = read_json(file);
  settings["truncate_dim"] = 8;
  folder.file(file.filename().string(), to_document(settings));
  const EmbeddingModel cut = open(folder.path());
  const Vectors some = embeddings(cut, texts_of("several"), 3);
  ASSERT_EQ(some.size(), whole.size());
  for (std::size_t i = 0; i < some.size(); ++i)
    EXPECT_EQ(some[i], std::vector<float>(whole[i].begin(), whole[i].begin() + 8));
  EXPECT_NE(embedding_notes(cut).at(1).find("the first 8 numbers"), std::string::npos);
  settings["truncate_dim"] = 100'000;
  folder.file(file.filename().string(), to_document(settings));
  EXPECT_EQ(embeddings(open(folder.path()), texts_of("several"), 3), whole);
}

// A multiple-choice head has one output, whatever config.json says.
TEST(EmbeddingModel, TakesAHeadOfAnySize) {
  const TemporaryFolder folder;
  fs::copy(test_data() / "frontends" / "golden" / "legacy", folder.path(),
           fs::copy_options::recursive);
  const Vectors before = embeddings(open(folder.path()), {"a b"}, 1);
  Json config = read_json(folder.path() / "config.json");
  config["id2label"] = {{"0", "a"}, {"1", "b"}, {"2", "c"}, {"3", "d"}, {"4", "e"}};
  config.erase("label2id");
  config.erase("num_labels");
  folder.file("config.json", to_document(config));
  EXPECT_EQ(embeddings(open(folder.path()), {"a b"}, 1), before);
}

TEST(EmbeddingModel, CutsTextsWhereItsFilesSayOrAsItIsTold) {
  const EmbeddingModel model = open(kEmbeddings / "old_several");
  EXPECT_EQ(text_limit(TextCut{}, model).tokens, 16u);
  EXPECT_EQ(text_limit(TextCut{20}, model).tokens, 20u);
  const std::string text = "a film was not bad";
  EXPECT_EQ(embeddings(model, {text + " end"}, 1, 7), embeddings(model, {text}, 1, 7));
  EXPECT_NE(embeddings(model, {text + " end"}, 1), embeddings(model, {text}, 1));
  EXPECT_EQ(text_limit(TextCut{}, open(kEmbeddings / "max")).tokens,
            20u);  // model_max_length of the tokenizer
}

// A classifier made from an embedding model gives the same vectors as that model.
TEST(EmbeddingModel, LeavesAHeadAside) {
  const TemporaryFolder folder;
  const std::string base = (kEmbeddings / "mean").string();
  write_model(open_model(base, quiet_context(), /*seed=*/3), folder.path());
  const EmbeddingModel with_head = open(folder.path());
  EXPECT_FALSE(with_head.source.model.has_untrained_head());
  EXPECT_EQ(untrained_warning(with_head.source, "it"), "");
  EXPECT_EQ(embeddings(with_head, texts_of("mean"), 3),
            embeddings(open(base), texts_of("mean"), 3));
}

// The layout of early versions of sentence-transformers.
TEST(EmbeddingModel, IsReadAndWrittenWhereItsEncoderStandsInAFolderBelow) {
  const TemporaryFolder folder, copy;
  fs::copy(kEmbeddings / "old_several", folder.path(), fs::copy_options::recursive);
  fs::create_directory(folder.path() / "0_BERT");
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json",
                           "sentence_bert_config.json"})
    fs::rename(folder.path() / name, folder.path() / "0_BERT" / name);
  fs::rename(folder.path() / "1_Pooling", folder.path() / "mean");
  Json modules = read_json(folder.path() / "modules.json");
  modules[0]["path"] = "0_BERT";
  modules[1]["path"] = "mean";
  folder.file("modules.json", to_document(modules));
  const Json expected = read_json(kEmbeddings / "old_several" / "expected.json")["embeddings"];
  expect_near(embeddings(open(folder.path()), texts_of("old_several"), 3), expected);
  write_model(open_model(folder.path().string(), quiet_context(), /*seed=*/3), copy.path());
  EXPECT_EQ(read_json(copy.path() / "modules.json")[0]["path"], "");
  EXPECT_FALSE(fs::exists(copy.path() / "0_BERT"));
  modules[0]["path"] = "./0_BERT/.";
  modules[1]["path"] = "./mean";
  modules.push_back({{"path", "."}, {"type", "models.Normalize"}});
  folder.file("modules.json", to_document(modules));
  const TemporaryFolder other;
  EXPECT_EQ(copy_modules(folder.path(), other.path()),
            (std::vector<std::string>{"1_Pooling/config.json", "modules.json",
                                      "sentence_bert_config.json"}));
  EXPECT_EQ(read_json(copy.path() / "modules.json")[1]["path"], "1_Pooling");
  expect_near(embeddings(open(copy.path()), texts_of("old_several"), 3), expected);
}

// A classifier made from an embedding model reads texts as the encoder was trained to.
TEST(EmbeddingModel, GivesItsLimitAndCaseToClassifiersMadeOfIt) {
  const TextModel made =
      open_model((kEmbeddings / "old_mean_sqrt_len").string(), quiet_context(), /*seed=*/1);
  EXPECT_EQ(text_limit(TextCut{}, made).tokens, 10u);
  EXPECT_EQ(made.tokenizer.encode("A Film", 10), made.tokenizer.encode("a film", 10));
  std::vector<std::string> warnings;
  const EncodedSet set = encode_split(
      made, {{"it was quite a slow start to the end but the music is good", 0}}, "train",
      /*cut=*/{}, quiet_context(), warnings);
  EXPECT_EQ(set.ids[0].size(), 10u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(
      warnings[0].find("train: 1 of 1 texts was truncated to 10 tokens, as max_seq_length of "),
      std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("sentence_bert_config.json sets"), std::string::npos);
}

TEST(EmbeddingModel, OfFreshWeightsSaysSo) {
  const EmbeddingModel fresh = open_embedding_model("tiny", quiet_context(), 1);
  EXPECT_NE(untrained_warning(fresh.source, "tiny").find("weights are random"), std::string::npos);
  EXPECT_EQ(embeddings(fresh, {"mena"}, 1)[0].size(), 128u);
}

// 160 tokens: more than one block of 8, and several vector widths.
TEST(EmbeddingModel, GivesALongTextTheSameBitsBesideShortOnes) {
  const EmbeddingModel fresh = open_embedding_model("tiny", quiet_context(), 1);
  std::string text;
  for (int i = 0; i < 150; ++i) text += "mena pidi ";
  EXPECT_EQ(embeddings(fresh, {"gote", text, "not"}, 8)[1], embeddings(fresh, {text}, 8)[0]);
}

TEST(EmbeddingModel, GivesQuantizedEncodersVectorsOfTheirOwn) {
  EmbeddingModel model = open(kEmbeddings / "mean");
  const Vectors before = embeddings(model, {"a film"}, 1);
  testing::put_quantizers(model.source.model, "mxint(bits=4,block=4)");
  const Vectors after = embeddings(model, {"a film"}, 1);
  EXPECT_NE(after, before);
  for (std::size_t i = 0; i < after[0].size(); ++i) EXPECT_NEAR(after[0][i], before[0][i], 0.5);
  const TemporaryFolder folder;
  write_model(model.source, folder.path());
  EXPECT_EQ(embeddings(open(folder.path()), {"a film"}, 1), after);
}

}  // namespace
}  // namespace hone
