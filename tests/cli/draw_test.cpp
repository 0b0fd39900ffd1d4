#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Draw, WritesAPicture) {
  const TemporaryFolder folder;
  const Json result = run_json({"draw", workshop() / "model", "-o", "graph.svg", "--inputs",
                                "input_ids,attention_mask,labels"},
                               folder.path());
  EXPECT_EQ(result["file"], "graph.svg");
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"graph.svg"});
  const std::string picture = read_file(folder.path() / "graph.svg");
  EXPECT_TRUE(picture.starts_with("<?xml"));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  for (const char* text : {"input_ids", "attention_mask", "labels", "layer.0 to 1", "loss"})
    EXPECT_NE(picture.find(text), std::string::npos) << text;
}

TEST(Draw, LeavesAPngBesideAnSvgWhereItIsAskedFor) {
  const TemporaryFolder folder;
  const std::string model = (workshop() / "model").string();
  run_well({"draw", model, "-o", "graph.svg", "--png"}, folder.path());
  run_well({"diff", model, model, "-o", "both.svg", "--png"}, folder.path());
  EXPECT_EQ(entries(folder.path()),
            (std::vector<std::string>{"both.png", "both.svg", "graph.png", "graph.svg"}));
  for (const char* file : {"graph.png", "both.png"})
    EXPECT_TRUE(read_file(folder.path() / file).starts_with("\x89PNG")) << file;
  // Existing files are kept, even if only the PNG is in the way.
  fs::remove(folder.path() / "graph.svg");
  const Ending refused = run_hone({"draw", model, "-o", "graph.svg", "--png"}, folder.path());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("graph.png"), std::string::npos) << refused.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "graph.svg"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"draw", model, "-o", "x.pdf", "--png"},
        std::vector<std::string>{"diff", model, model, "--png"}}) {
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, kUsageError);
    EXPECT_NE(ending.messages.find("--png adds a .png to an .svg"), std::string::npos)
        << ending.messages;
  }
}

// Without labels the graph has no loss. Without attention_mask it generates a mask.
TEST(Draw, EveryChoiceOfInputsIsAnotherGraphAndSaysHow) {
  const TemporaryFolder folder;
  std::set<std::string> drawings;
  for (const bool mask : {false, true})
    for (const bool labels : {false, true}) {
      std::vector<std::string> inputs = {"input_ids"}, outputs = {"logits"};
      if (mask) inputs.emplace_back("attention_mask");
      if (labels) inputs.emplace_back("labels");
      if (labels) outputs.emplace_back("loss");
      const Json result = run_json({"draw", "tiny", "-o", "graph.dot", "--inputs",
                                    fmt::format("{}", fmt::join(inputs, ",")), "--overwrite"},
                                   folder.path());
      EXPECT_EQ(result["inputs"], inputs);
      EXPECT_EQ(result["outputs"], outputs);
      EXPECT_EQ(result["made_inside"], mask ? Json{"token_type_ids.full"}
                                            : (Json{"token_type_ids.full", "attention_mask.full"}));
      const std::string drawing = read_file(folder.path() / "graph.dot");
      EXPECT_EQ(drawing.find("<b>cross_entropy</b>") != std::string::npos, labels);
      EXPECT_EQ(drawing.find("attention_mask.full") != std::string::npos, !mask);
      drawings.insert(drawing);
    }
  EXPECT_EQ(drawings.size(), 4);
  EXPECT_NE(run_well({"draw", "tiny", "-o", "more.dot", "--inputs", "input_ids"}, folder.path())
                .output.find("token_type_ids.full, attention_mask.full"),
            std::string::npos);
}

TEST(Draw, IsTheGraphOfInferenceUnlessTrainingIsAskedFor) {
  const TemporaryFolder folder;
  run_well({"draw", "tiny", "-o", "inference.dot"}, folder.path());
  run_well({"draw", "tiny", "-o", "training.dot", "--train"}, folder.path());
  const std::string inference = read_file(folder.path() / "inference.dot"),
                    training = read_file(folder.path() / "training.dot");
  for (const char* word : {"<b>dropout</b>", "<b>labels</b>", "<b>loss</b>"}) {
    EXPECT_EQ(inference.find(word), std::string::npos) << word;
    EXPECT_NE(training.find(word), std::string::npos) << word;
  }
}

TEST(Draw, CountsWhatItDraws) {
  const TemporaryFolder folder;
  for (const auto& [equal, title] : {std::pair("1", "bert.encoder.layer.0 to 1 (×2)"),
                                     std::pair("0", "\"bert.encoder.layer.1\"")}) {
    const std::string file = fmt::format("graph-{}.dot", equal);
    const Json result =
        run_json({"draw", "tiny", "-o", file, "--equal_layers", equal}, folder.path());
    const std::string dot = read_file(folder.path() / file);
    EXPECT_NE(dot.find(title), std::string::npos) << dot;
    std::int64_t boxes = 0;
    for (const std::string& line : split(dot, '\n'))
      boxes +=
          line.find("[fillcolor=") != std::string::npos && !line.starts_with("  \"legend ") ? 1 : 0;
    EXPECT_EQ(boxes, result["drawn_operations"]);
    EXPECT_EQ(result["folded_layers"], equal == std::string("1") ? 1 : 0);
  }
}

TEST(Draw, ShowsModulesFurtherInAsBoxes) {
  const TemporaryFolder folder;
  const Json result = run_json({"draw", "tiny", "-o", "graph.dot", "--depth", "3"}, folder.path());
  const std::string dot = read_file(folder.path() / "graph.dot");
  EXPECT_EQ(result["boxed_modules"], 3) << "attention, intermediate and output of one layer";
  EXPECT_EQ(result["boxed_operations"], 24);
  EXPECT_EQ(result["drawn_operations"].get<int>() + 48, result["operations"]);
  EXPECT_NE(dot.find("<b>attention</b><br/>19 operations"), std::string::npos) << dot;
}

TEST(Draw, ColoursByWhatIsAskedFor) {
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  const auto drawn = [&](const std::vector<std::string>& more, const std::string& model) {
    std::vector<std::string> words = {"draw", model, "-o", "graph.dot", "--overwrite"};
    words.insert(words.end(), more.begin(), more.end());
    run_well(words, folder.path());
    return read_file(folder.path() / "graph.dot");
  };
  EXPECT_NE(drawn({"--color_by", "cost", "--batch_size", "2", "--tokens", "16"}, "model")
                .find("share of a run's FLOP of 2 texts of 16 tokens"),
            std::string::npos);
  run_well({"prune", "model", "--sparsity", "0.5", "--data", "reviews.csv", "-o", "half"},
           folder.path());
  const std::string sparse = drawn({"--color_by", "sparsity"}, "half");
  EXPECT_NE(sparse.find("50.0% zero"), std::string::npos) << sparse;
  run_well({"quantize", "model", "--weight_format", "int(bits=8,per=row)", "--data", "reviews.csv",
            "-o", "int8"},
           folder.path());
  const std::string formats = drawn({"--color_by", "format"}, "int8");
  EXPECT_NE(formats.find("\"legend int(bits=8,per=row,scale=static)\""), std::string::npos)
      << formats;
  EXPECT_NE(formats.find("\"legend fp32\""), std::string::npos);
  run_well(
      {"sensitivity", "model", "--formats", "int(bits=2)", "--data", "reviews.csv", "-o", "layers"},
      folder.path());
  EXPECT_NE(drawn({"--color_by", "sensitivity", "--sensitivity", "layers"}, "model")
                .find("largest divergence from the baseline, validation split"),
            std::string::npos);
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"draw", "model", "-o", "no.dot"};
    words.insert(words.end(), more.begin(), more.end());
    const Ending ending = run_hone(words, folder.path());
    EXPECT_NE(ending.code, 0);
    EXPECT_FALSE(fs::exists(folder.path() / "no.dot"));
    return ending.messages;
  };
  EXPECT_NE(refusal({"--color_by", "sensitivity"}).find("give --sensitivity, an output folder of"),
            std::string::npos);
  EXPECT_NE(refusal({"--sensitivity", "layers"}).find("--color_by sensitivity"), std::string::npos);
  EXPECT_NE(refusal({"--color_by", "sensitivity", "--sensitivity", "half"})
                .find("not a result of `hone sensitivity`"),
            std::string::npos);
  EXPECT_NE(refusal({"--color_by", "green"}).find("--color_by"), std::string::npos);
}

TEST(Draw, WritesAPage) {
  const TemporaryFolder folder;
  const Json result = run_json({"draw", "tiny", "-o", "graph.html"}, folder.path());
  EXPECT_EQ(result["drawn_operations"], result["operations"]);
  const std::string page = read_file(folder.path() / "graph.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("bert.encoder.layer.1.attention.self.query"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
