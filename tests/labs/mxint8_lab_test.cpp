#include "hone/labs/mxint8_lab.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hone/jobs/train.h"
#include "tests/labs/why_length.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

Mxint8Sizes smallest(Fidelity) {
  return {.decode = {.elements = {1000, 4096}, .groups = {8, 40}, .runs = 1},
          .shapes = {"bert-tiny"},
          .products = {.batch = 2, .tokens = 8, .runs = 6, .sensitivity_examples = 16}};
}

/// Runs a small version of the whole lab into a folder.
class Mxint8Lab : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    JobData data;
    data.options.source = "synth:lookup?n=300&test=60";
    data.cut.max_seq_length = 16;
    TrainJob training{
        .model = "tiny", .data = data, .output = {.folder = (folder() / "model").string()}};
    training.training.training.max_steps = 2;
    Context& context = testing::quiet_context();
    train_model(training, context);
    const JobResult result = run_lab(mxint8_lab(smallest),
                                     {.model = training.output.folder,
                                      .data = data,
                                      .output = {.folder = (folder() / "lab").string()}},
                                     context);
    found_ = result.fields;
    text_ = to_text(result.document);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static const fs::path& folder() { return folder_->path(); }

  static std::unique_ptr<TemporaryFolder> folder_;
  static Json found_;
  static std::string text_;
};
std::unique_ptr<TemporaryFolder> Mxint8Lab::folder_;
Json Mxint8Lab::found_;
std::string Mxint8Lab::text_;

TEST_F(Mxint8Lab, LeavesTablesFiguresAndAPage) {
  const fs::path lab = folder() / "lab";
  for (const char* file : {"report.html",          "report.md",          "results.json",
                           "decode.csv",           "decode.svg",         "decode.png",
                           "decode_share.svg",     "tiles.svg",          "tiles.png",
                           "tiles_edge.svg",       "memory.csv",         "memory_model.svg",
                           "memory_bert-tiny.svg", "memory_model.csv",   "memory_process_model.csv",
                           "fp32_parameters.csv",  "products.csv",       "products.svg",
                           "products_answers.csv", "products_layers.csv"})
    EXPECT_TRUE(path_exists(lab / file)) << file;
  const std::string page = read_file(lab / "report.html");
  for (const char* told : {"Memory that packing saves", "fp32, W8A16, W8A8, and mixed",
                           "No energy was measured", "|m| &amp; 0x40", "Published results"})
    EXPECT_NE(page.find(told), std::string::npos) << told;
  for (const char* told : {"embedding tables", "native"})
    EXPECT_NE(text_.find(told), std::string::npos) << told << text_;
}

TEST_F(Mxint8Lab, AnswersTheQuestionsOfTheSheet) {
  EXPECT_NE(found_["summary"].get<std::string>().find("integer multiply-adds"), std::string::npos);
  EXPECT_NE(found_["summary"].get<std::string>().find("2^(E − 133)"), std::string::npos);
  EXPECT_TRUE(found_["summary"].get<std::string>().ends_with("."));
  EXPECT_NE(read_file(folder() / "lab/report.html").find("the tile is 64 × 16"), std::string::npos);
  testing::expect_usual_length(found_["why"]);
  const std::string why = found_["why"].dump();
  for (const char* told :
       {"scale products", "dont_need_abs", "cta_tiler", "layout_sX", "86.7%", "69.1%"})
    EXPECT_NE(why.find(told), std::string::npos) << told << why;
}

TEST_F(Mxint8Lab, DecodesElementsThatTheTilesName) {
  const std::string tiles = read_file(folder() / "lab/tiles.svg");
  ASSERT_EQ(found_["decode"]["spelled"].size(), 2u);
  for (const Json& one : found_["decode"]["spelled"]) {
    const std::int64_t element = one["element"];
    EXPECT_LT(element, 8) << "in the first group of every array, whose scale is the same";
    EXPECT_NE(tiles.find(fmt::format(">element {}<", element)), std::string::npos) << element;
  }
}

TEST_F(Mxint8Lab, SavingFallsFromTheFormulaToWhatWasMeasuredStepByStep) {
  ASSERT_EQ(found_["memory"].size(), 2u);
  for (const Json& shape : found_["memory"])
    for (const Json& rule : shape["rules"]) {
      const Json& account = rule["account"];
      double left = account["theoretical_saving"];
      EXPECT_NEAR(left, (32 - (8 + 8.0 / 32)) / 32, 1e-3) << "of whole blocks exactly";
      for (const Json& step : account["steps"]) {
        left += step["change"].get<double>();
        EXPECT_NEAR(left, step["saving"].get<double>(), 1e-12) << step["name"];
      }
      EXPECT_NEAR(left, account["disk_saving"].get<double>(), 1e-12);
    }
  // Not published, but computed by the sheet's rule: 7.0% of bert-tiny's weights, and with biases packed as well.
  const Json& tiny = found_["memory"][1]["rules"];
  EXPECT_NEAR(tiny[0]["account"]["memory_saving"].get<double>(), 0.0693, 1e-4);
  EXPECT_GT(tiny[1]["account"]["memory_saving"].get<double>(), 0.74);
}

TEST_F(Mxint8Lab, UnpackingWholeWeightsTakesMemoryThatReadingCodesDoesNot) {
  const Json& processes = found_["memory"][1]["processes"];
  ASSERT_EQ(processes.size(), 4u);
  // The largest fp32 weight, in the 512 x 128 feed-forward layer.
  EXPECT_GE(processes[3]["value_bytes"].get<std::int64_t>(),
            processes[1]["value_bytes"].get<std::int64_t>() + 100'000);
}

TEST_F(Mxint8Lab, ResultsReadBackAsTheyWere) {
  EXPECT_EQ(to_json(from_json<LabProductsResult>(found_["products"])), found_["products"]);
  EXPECT_EQ(found_["memory"][0]["rules"][1]["rule"], "embedding_tables");
  EXPECT_TRUE(found_["memory"][0]["rules"][0]["fp32_parameters"].is_array());
  EXPECT_TRUE(found_["memory"][0]["vocabulary"]["embedding_table"].is_string());
  EXPECT_TRUE(found_["memory"][1]["vocabulary"].is_null());
}

TEST_F(Mxint8Lab, CountsWhatLinearLayersDo) {
  const Json& models = found_["products"]["models"];
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(models[2]["linear_layers"], Json({{"fp32", 0}, {"W8A16", 0}, {"W8A8", 14}}));
  const std::int64_t all = models[0]["float_multiply_adds"];
  // 2 layers of 128 by 512 on 16 tokens, and pooler and classifier on 2 texts.
  EXPECT_EQ(all, 2 * 16 * (4 * 128 * 128 + 2 * 128 * 512) + 2 * (128 * 128 + 128 * 2));
  EXPECT_EQ(models[0]["conversions"], 0);
  EXPECT_EQ(models[1]["integer_multiply_adds"], 0);
  EXPECT_EQ(models[1]["float_multiply_adds"], all);
  EXPECT_EQ(models[2]["integer_multiply_adds"], all);
  EXPECT_EQ(models[2]["scale_operations"], all / 32);
  EXPECT_EQ(models[2]["float_multiply_adds"], 0);
  EXPECT_EQ(models[3]["integer_multiply_adds"].get<std::int64_t>() +
                models[3]["float_multiply_adds"].get<std::int64_t>(),
            all);
  EXPECT_EQ(models[0]["arithmetic"], "fp32");
  EXPECT_EQ(models[1]["arithmetic"], "packed");
  EXPECT_EQ(models[2]["arithmetic"], "native");
  EXPECT_LT(models[2]["memory_bytes"].get<double>(), models[0]["memory_bytes"].get<double>());
}

TEST(MixedModel, FollowsAStatedRule) {
  // The errors are 3, 2 and 1 parts: the first is half of the total. The second layer is shown to be slower with native
  // products. Nothing is shown about the third.
  const auto layer = [](const char* name, double error, double fastest, double slowest) {
    return LabLinearResult{.layer = name,
                           .margin_snr_db = -10 * std::log10(error),
                           .w8a8_speedup_interval = {fastest, slowest}};
  };
  const LabSensitivityResult sensitivity = {
      .split = "validation",
      .layers = {layer("least", 1e-3, 0.8, 1.3), layer("most", 3e-3, 1.8, 2.1),
                 layer("slow", 2e-3, 0.7, 0.9), layer("exact", 0, 0.8, 1.3)}};
  const LinearModes mixed = mixed_modes(sensitivity);
  EXPECT_EQ(mixed.at("most"), LinearMode::weight_only);
  EXPECT_EQ(mixed.at("slow"), LinearMode::float32);
  EXPECT_EQ(mixed.at("least"), LinearMode::codes);
  EXPECT_EQ(mixed.at("exact"), LinearMode::codes);
}

TEST_F(Mxint8Lab, KeepsTheAnswersOfTheSameWeights) {
  for (const Json& model : found_["products"]["models"]) {
    if (model.at("comparison").is_null()) continue;
    EXPECT_GT(model["logits"]["max_error"].get<double>(), 0);
    EXPECT_LT(model["logits"]["rms_error"].get<double>(),
              0.05 * model["logits"]["rms"].get<double>())
        << model["model"];
  }
}

TEST(DecodeExceptions, AreAllPairsOfAScaleAndAByteThatDecodeToSomethingElse) {
  std::map<std::string, std::int64_t> pairs;
  for (const DecodeException& one : decode_exceptions()) pairs[one.what] = one.pairs;
  std::int64_t all = 0;
  for (const auto& [what, count] : pairs) all += count;
  EXPECT_EQ(all, 256 * 256);
  EXPECT_EQ(pairs["all others: exactly m 2^(E - 133)"], 254 * 255 + 1)
      << "of scale 0 the zero alone";
  EXPECT_EQ(pairs["m = -128: 0, as neither its leading 1 nor its fraction is set"], 255);
  EXPECT_EQ(pairs["scale 0, |m| < 64: twice as much, as the fields are subnormal"], 126);
  EXPECT_EQ(pairs["scale 255: infinity or NaN, as the fields of bfloat16 say"], 256);
}

TEST(MadeUpShapes, HaveTheSizesOfTheirNames) {
  expect_user_error("'gpt' is no made-up shape; there are bert-tiny", [] { made_up_shape("gpt"); });
  // The linears of DeBERTa-xlarge, which the sheet's table describes: 48 layers of 14 H^2, and the pooler.
  const ModelFacts facts = made_up_shape("deberta-xlarge-size").facts;
  const std::int64_t hidden = facts.config["hidden_size"],
                     layers = facts.config["num_hidden_layers"];
  EXPECT_EQ(layers * 12 * hidden * hidden, 48 * 14 * hidden * hidden);
}

}  // namespace
}  // namespace hone
