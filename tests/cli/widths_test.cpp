#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Returns a `hone widths` command on the workshop's model, with one training step per width.
std::vector<std::string> study(const TemporaryFolder& folder, const std::string& widths) {
  return {"widths", "model",    "--data", "reviews.csv", "--max_steps",
          "1",      "--widths", widths,   "-o",          folder.path() / "widths"};
}

TEST(Widths, WritesATableAndAFigureOfPtqAndQat) {
  const TemporaryFolder folder;
  std::vector<std::string> words = study(folder, "6.3, 16.8");
  words[1] = trained_longer(folder);
  const Json result = run_json(words, workshop());
  const Json& models = result["models"];
  ASSERT_EQ(models.size(), 5);
  const std::vector<std::string> labels = {
      "fp32", "PTQ integer(width=6,frac=3)", "QAT integer(width=6,frac=3)",
      "PTQ integer(width=16,frac=8)", "QAT integer(width=16,frac=8)"};
  for (std::size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(models[i]["model"], labels[i]);
  // PTQ with ten more bits.
  const auto margins = [&](std::size_t model) {
    return models[model]["comparison"]["margin_snr_db"].get<double>();
  };
  EXPECT_GT(margins(3), margins(1) + 20);
  EXPECT_EQ(entries(folder.path() / "widths"),
            (std::vector<std::string>{"fixed_point.gp", "fixed_point.png", "fixed_point.svg",
                                      "fixed_point.tsv", "machine.json", "record.json",
                                      "report.html", "report.md", "results.csv", "results.json",
                                      "run.log", "settings.json"}));
  EXPECT_EQ(read_json(folder.path() / "widths/results.json"), result);
  const std::string svg = read_file(folder.path() / "widths/fixed_point.svg");
  for (const char* text : {"6.3", "16.8", "with training (QAT)"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

// The report says that choices use four validation texts and that there is no other split.
TEST(Widths, SaysInItsReportWhatItStandsOn) {
  const TemporaryFolder folder;
  const Ending ending = run_well(study(folder, "16.8"), workshop());
  const std::string page = read_page(folder.path() / "widths/report.html");
  for (const char* part :
       {"No width of fixed point is shown to be within 0.5 points",
        "on validation, n = 4, all of them used for choices", "<p>Nothing was chosen.</p>",
        "PTQ integer(<wbr>width=16,<wbr>frac=8)", "<dd>simulated fixed point</dd>",
        "variation over seeds", "<dd>reviews.csv; 40 texts, fingerprint ",
        "choices are made on the validation split"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_NE(ending.output.find("on validation, n = 4, all of them used for choices"),
            std::string::npos);
  EXPECT_EQ(ending.messages.find("note: measured on"), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("note: choices are made on validation, n = 4: "),
            std::string::npos)
      << ending.messages;
  const Json settings = read_json(folder.path() / "widths/settings.json");
  EXPECT_EQ(settings["settings"]["max_steps"], 1);
  EXPECT_EQ(settings["settings"]["no_shuffle"], false);
  EXPECT_EQ(settings["settings"]["MODEL"], "model");
}

// 16 and 24 bits do not change predictions of this fresh model. 1,800 validation texts show that it loses less than
// half a point. The test split is evaluated once, for the narrowest width.
TEST(Widths, ChooseOnValidationAndMeasureTheChosenOnTest) {
  const TemporaryFolder folder;
  const std::string data = "synth:lookup?n=2000";
  run_well(
      {"train", "tiny", "--data", "synth:lookup?n=300&seed=3", "--max_steps", "1", "-o", "model"},
      folder.path());
  const std::vector<std::string> words = {
      "widths",           "model", "--data", data,    "--validation_split", "0.9",
      "--max_steps",      "1",     "--lr",   "0",     "--widths",           "16.10,24.14,4.2",
      "--max_seq_length", "16",    "-o",     "widths"};
  run_well(words, folder.path());
  const std::string page = read_page(folder.path() / "widths/report.html");
  EXPECT_NE(page.find("Classes</"), std::string::npos);
  const Json result = read_json(folder.path() / "widths/results.json");
  EXPECT_EQ(result["split"], "validation");
  EXPECT_EQ(result["n"], 1800);
  ASSERT_EQ(result["models"].size(), 7);
  EXPECT_EQ(result["models"][1]["comparison"]["verdict"], "within limit");
  EXPECT_EQ(result["models"][3]["comparison"]["verdict"], "within limit");
  EXPECT_EQ(result["models"][5]["model"], "PTQ integer(width=4,frac=2)");
  EXPECT_EQ(result["narrowest_ptq"],
            result["models"][5]["comparison"]["verdict"] == "within limit" ? "4.2" : "16.10");
  EXPECT_EQ(result["reported_split"], "test");
  ASSERT_EQ(result["reported"].size(), 3);
  EXPECT_EQ(result["reported"][0]["model"], "fp32");
  // The classes of the chosen width and of the baseline.
  EXPECT_NE(page.find("positive"), std::string::npos) << page;
  for (const Json& model : result["reported"]) EXPECT_EQ(model["eval_samples"], 500) << model;
  // 500 texts cannot show a drop below half a point.
  EXPECT_EQ(result["reported"][1]["comparison"]["verdict"], "inconclusive");
  EXPECT_NE(result["findings"].dump().find("test, n = 500: accuracy changed by"), std::string::npos)
      << result["findings"].dump();
}

TEST(Widths, NeedAPartToChooseOn) {
  const TemporaryFolder folder;
  std::vector<std::string> words = study(folder, "16.8");
  words[1] = "tiny";  // has no recorded validation split
  words.insert(words.end(), {"--validation_split", "0"});
  const Ending ending = run_hone(words, workshop());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("there is no validation split to choose on"), std::string::npos)
      << ending.messages;
}

TEST(Widths, RefusesWhatIsNoWidth) {
  for (const char* widths : {"8", "8.4,x", "8.4.2", ""}) {
    const TemporaryFolder folder;
    const Ending ending = run_hone(study(folder, widths), workshop());
    EXPECT_EQ(ending.code, 1) << widths;
    EXPECT_NE(ending.messages.find("--widths: expected width.fraction, e.g. 8.4, got '"),
              std::string::npos)
        << ending.messages;
    EXPECT_TRUE(entries(folder.path()).empty());
  }
  const TemporaryFolder folder;
  const Ending ending = run_hone(study(folder, "99.4"), workshop());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("width"), std::string::npos) << ending.messages;
  EXPECT_TRUE(entries(folder.path()).empty());
}

}  // namespace
}  // namespace hone::testing
