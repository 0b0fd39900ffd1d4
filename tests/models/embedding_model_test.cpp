#include "hone/models/embedding_model.h"

#include <gtest/gtest.h>

#include "hone/jobs/prediction.h"
#include "tests/support/tiny_jobs.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

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
  TextPredictor predictor(model, max_seq_length, batch_size, quiet_context());
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

// Sums of some ten numbers near 1 in fp32 on either side, each a few 2^-24 off.
TEST_P(EmbeddingGolden, IsWhatSentenceTransformersComputes) {
  const EmbeddingModel model = open(kEmbeddings / GetParam());
  EXPECT_TRUE(model.modules.is_given);
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
            (std::vector<std::string>{"embeddings: hidden states of the tokens pooled by mean; the "
                                      "model has no modules.json that says otherwise"}));
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
            (std::vector<std::string>{"embeddings: hidden states of the tokens pooled by mean+cls, "
                                      "then given the length 1",
                                      "'a really good ' stands in front of every text, the default "
                                      "prompt of the model"}));
}

TEST(EmbeddingModel, CutsTextsWhereItsFilesSayOrAsItIsTold) {
  const EmbeddingModel model = open(kEmbeddings / "old_several");
  EXPECT_EQ(most_tokens(model, 0), 16);
  EXPECT_EQ(most_tokens(model, 20), 20);
  const std::string text = "a film was not bad";
  EXPECT_EQ(embeddings(model, {text + " end"}, 1, 7), embeddings(model, {text}, 1, 7));
  EXPECT_NE(embeddings(model, {text + " end"}, 1), embeddings(model, {text}, 1));
  EXPECT_EQ(most_tokens(open(kEmbeddings / "max"), 0), 20);  // model_max_length of the tokenizer
}

// What a classifier was made of gives the vectors that it gives.
TEST(EmbeddingModel, LeavesAHeadAside) {
  const TemporaryFolder folder;
  const std::string base = (kEmbeddings / "mean").string();
  write_model(open_model(base, quiet_context(), /*seed=*/3), folder.path());
  const EmbeddingModel with_head = open(folder.path());
  EXPECT_EQ(untrained_warning(with_head.source, "it"), "");
  EmbeddingModel without = open(base);
  without.modules.normalize = false;
  EXPECT_EQ(embeddings(with_head, texts_of("mean"), 3, 20),
            embeddings(without, texts_of("mean"), 3, 20));
}

TEST(EmbeddingModel, OfFreshWeightsSaysSo) {
  const EmbeddingModel fresh = open_embedding_model("tiny", quiet_context(), 1);
  EXPECT_NE(untrained_warning(fresh.source, "tiny").find("weights are as drawn at random"),
            std::string::npos);
  EXPECT_EQ(embeddings(fresh, {"mena"}, 1)[0].size(), 128u);
}

// 160 tokens: beyond one block of 8, and of several widths of vectors.
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
}

}  // namespace
}  // namespace hone
