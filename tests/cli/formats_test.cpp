#include <gtest/gtest.h>

#include <set>

#include "hone/base/text.h"
#include "hone/formats/format.h"
#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

Json formats(std::vector<std::string> words, const fs::path& folder = workshop()) {
  words.insert(words.begin(), "formats");
  return run_json(words, folder);
}

// Expects that `hone formats ARGUMENTS` is refused and writes nothing.
void expect_refusal(int code, std::string_view fragment, std::vector<std::string> words,
                    const fs::path& folder) {
  const std::vector<std::string> before = entries(folder);
  words.insert(words.begin(), "formats");
  const Ending ending = run_hone(words, folder);
  EXPECT_EQ(ending.code, code) << ending.messages;
  EXPECT_EQ(ending.output, "");
  EXPECT_TRUE(ending.messages.starts_with("error: ")) << ending.messages;
  EXPECT_NE(ending.messages.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in " << ending.messages;
  EXPECT_EQ(entries(folder), before);
}

TEST(Formats, ListsEveryBuiltinFormat) {
  const Json rows = formats({})["formats"];
  std::set<std::string> names;
  for (const Json& row : rows) {
    const std::string text = row["format"];
    names.insert(text.substr(0, text.find('(')));
    EXPECT_GT(row.value("average_bits", 0.0), 0) << text;
    EXPECT_NE(row["summary"], "") << text;
  }
  EXPECT_EQ(names.size(), rows.size());
  for (const auto& [name, def] : builtin_formats()) EXPECT_TRUE(names.contains(name)) << name;
  const Ending shown = run_well({"formats"}, workshop());
  for (const std::string& name : names)
    EXPECT_NE(shown.output.find("\n" + name), std::string::npos) << name;
}

TEST(Formats, ShowsParametersAndValuesOfOne) {
  const Json format = formats({"mxfp(element=e2m1)"});
  EXPECT_TRUE(format.value("format", "").starts_with("mxfp(element=e2m1,block=32"));
  EXPECT_EQ(format["average_bits"], 4.25);
  EXPECT_EQ(format["values"].size(), 15);
  EXPECT_EQ(format["highest"], 1.5);
  EXPECT_EQ(format["smallest_step"], 0.125);
  EXPECT_EQ(format["gradient"], "straight through");
  EXPECT_EQ(format["packed"], true);
  EXPECT_EQ(format["kernels"].back(), "reference");
  EXPECT_EQ(format["parameters"][0]["parameter"], "element");
  EXPECT_EQ(formats({"int(bits=4,scale=learned)"})["gradient"], "own");

  const Ending shown = run_well({"formats", "integer(width=3,frac=1)"}, workshop());
  EXPECT_NE(shown.output.find("values         -2 -1.5 -1 -0.5 0 0.5 1 1.5\n"), std::string::npos)
      << shown.output;
  EXPECT_NE(shown.output.find("range          -2 to 1.5\n"), std::string::npos) << shown.output;
  EXPECT_NE(run_well({"formats", "integer(width=20,frac=1)"}, workshop())
                .output.find("values         more than 65,536\n"),
            std::string::npos);
  // Long lists show both ends and the middle.
  EXPECT_NE(run_well({"formats", "integer(width=8,frac=0)"}, workshop())
                .output.find("-128 -127 -126 … -4 -3 -2 -1 0 1 2 3 4 … 125 126 127"),
            std::string::npos);
}

TEST(Formats, ShowsGroupsWithTheirScalesAndZeroPoints) {
  const Json groups = formats({"int(bits=4,group=32)"});
  EXPECT_EQ(groups["format"], "int(bits=4,group=32,scale=dynamic)");
  EXPECT_EQ(groups["average_bits"], 4.5);
  EXPECT_EQ(groups["packed"], true);
  EXPECT_EQ(formats({"int(bits=4,group=32,asymmetric=true)"})["average_bits"], 4.625);
  EXPECT_EQ(formats({"nf4"})["average_bits"], 4.25);
  EXPECT_EQ(formats({"nf4"})["values"].size(), 16);
  // 8 is -8 times the scale -1, which is 0xbc00 in float16.
  const Json number = formats({"int(bits=4,group=32)", "8"})["numbers"][0];
  EXPECT_EQ(number["becomes"], 8);
  EXPECT_EQ(number["code"], "1000");
  EXPECT_EQ(number["shared"], "1011110000000000");
}

TEST(Formats, SpellsNumbersOut) {
  const Json spelled = formats({"minifloat_ieee(width=8,exponent_width=4)", "0.3", "-0.3", "1e9"});
  EXPECT_EQ(spelled["sharing"], "independently of each other");
  const Json& rows = spelled["numbers"];
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0]["becomes"], 0.3125);
  EXPECT_EQ(rows[0]["code"], "0 0101 010");
  EXPECT_EQ(rows[0]["shared"], nullptr);
  EXPECT_EQ(rows[0]["parts"], (Json{"sign 0", "exponent 0101 = 5 - 7", "fraction 010"}));
  EXPECT_FLOAT_EQ(rows[1]["number"].get<float>(), -0.3f);
  EXPECT_EQ(rows[1]["code"], "1 0101 010");
  EXPECT_EQ(rows[2]["becomes"], 480);  // 1.875 · 2^8, because all codes are numbers
  EXPECT_EQ(formats({"mxint(bits=8)", "0.3"})["numbers"][0]["shared"], "01111101");
}

TEST(Formats, SpellsNumbersThatAreGivenTogetherAsOneTensor) {
  const std::string shown = run_well({"formats", "int(bits=4)", "0.3", "1.7"}, workshop()).output;
  EXPECT_NE(shown.find(", together, as one tensor of 2:\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("calibrated on them: scale 0.242857\n"), std::string::npos) << shown;
  const Json spelled = formats({"int(bits=4)", "0.3", "1.7"});
  EXPECT_NEAR(spelled["numbers"][0]["becomes"].get<double>(), 1.7 / 7, 1e-6);
  EXPECT_NEAR(spelled["calibrated"]["scale"][0].get<double>(), 1.7 / 7, 1e-6);
  EXPECT_NE(run_well({"formats", "mxint(bits=8)", "0.3", "1.7"}, workshop())
                .output.find("together, as one block of 2"),
            std::string::npos);
}

TEST(Formats, SpellsSignedNumbersWhereverTheyStand) {
  const Json rows =
      formats({"bf16", "-inf", "--seed", "1", "nan", "-1e-40", "-0x1p-3", "-.5", "INF"})["numbers"];
  ASSERT_EQ(rows.size(), 6);
  EXPECT_EQ(rows[0]["number"], "-inf");
  EXPECT_EQ(rows[0]["becomes"], "-inf");
  EXPECT_EQ(rows[0]["error"], 0);
  EXPECT_EQ(rows[1]["becomes"], "nan");
  EXPECT_EQ(rows[1]["error"], Json());
  EXPECT_LT(rows[2]["becomes"], 0);
  EXPECT_EQ(rows[3]["becomes"], -0.125);
  EXPECT_EQ(rows[4]["becomes"], -0.5);
  EXPECT_EQ(rows[5]["becomes"], "inf");
  const std::string shown = run_well({"formats", "bf16", "-inf", "-nan"}, workshop()).output;
  EXPECT_NE(shown.find("-inf"), std::string::npos) << shown;
}

TEST(Formats, SayWhatSaturates) {
  const auto saturates = [](const std::string& format, const char* number) {
    const Json row = formats({format, number})["numbers"][0];
    EXPECT_TRUE(row["becomes"].is_number()) << format << " " << number << row;
    return row["saturates"] == true;
  };
  EXPECT_TRUE(saturates("integer(width=8,frac=4)", "inf"));
  EXPECT_TRUE(saturates("integer(width=8,frac=4)", "-9"));
  EXPECT_FALSE(saturates("integer(width=8,frac=4)", "-8"));
  EXPECT_FALSE(saturates("integer(width=8,frac=4)", "7.95")) << "rounded to the nearest";
  EXPECT_FALSE(saturates("mxint(bits=8)", "1000")) << "its scale follows the number";
  const std::string shown =
      run_well({"formats", "integer(width=8,frac=4)", "100"}, workshop()).output;
  EXPECT_NE(shown.find("7.9375 (saturates)"), std::string::npos) << shown;
}

TEST(Formats, ListsWhatRoundingGivesAndNoMore) {
  const Json format = formats({"mxint(bits=8)"});
  EXPECT_EQ(format["values"].size(), 255);
  EXPECT_EQ(format["lowest"], -1.984375);
  EXPECT_EQ(format["unwritten_values"], Json::array({-2}));
  const std::string shown = run_well({"formats", "mxint(bits=8)"}, workshop()).output;
  EXPECT_NE(shown.find("count          255\nnever written  -2, although they have codes\n"),
            std::string::npos)
      << shown;
}

TEST(Formats, RefusesFlagsThatWouldDoNothing) {
  const TemporaryFolder folder;
  const auto refuse = [&](std::string_view fragment, const std::vector<std::string>& words) {
    expect_refusal(2, fragment, words, folder.path());
  };
  refuse("--figure does nothing without --input", {"bf16", "--figure", "figure"});
  refuse("--tensor does nothing without --input", {"bf16", "--tensor", "a*"});
  refuse("-o does nothing without --input", {"bf16", "-o", "out"});
  refuse("--compare MODEL is the command `hone compare-formats MODEL`", {"--compare", "tiny"});
  refuse("--suggest MODEL is the command `hone suggest MODEL --format FORMAT`",
         {"bf16", "--suggest", "tiny"});
  refuse("numbers are quantized on their own", {"bf16", "0.3", "--input", "file"});
  expect_refusal(1, "'1e99' is no number a float can hold", {"bf16", "1e99"}, folder.path());
}

TEST(Formats, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  expect_refusal(2, "unknown format 'intger'; did you mean 'integer'?", {"intger"}, folder.path());
  expect_refusal(1, "'many' is no number", {"bf16", "many"}, folder.path());
  expect_refusal(1, "integer(width=8,frac=4)", {"integer(width=8,frac=4)", "nan"}, folder.path());
  expect_refusal(2, "give a FORMAT", {"--input", "file"}, folder.path());
  expect_refusal(1, "missing.safetensors", {"bf16", "--input", "missing.safetensors", "-o", "out"},
                 folder.path());
}

const std::vector<float> kStoredWeights = {0.3f, -0.8f, 100, 0.01f};

TemporaryFolder& with_tensors(TemporaryFolder& folder) {
  write_safetensors(folder.path() / "in.safetensors",
                    {{"a.weight", Tensor::of<float>({2, 2}, kStoredWeights)},
                     {"a.bias", Tensor::of<float>({1}, {0.3f})}},
                    {});
  return folder;
}

TEST(Formats, QuantizesTheTensorsOfAFile) {
  TemporaryFolder folder;
  const std::vector<std::string> words = {
      "integer(width=4,frac=1)", "--input", "in.safetensors", "--tensor", "*.weight", "-o",
      "out.safetensors"};
  const Json rows = formats(words, with_tensors(folder).path())["tensors"];
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0]["tensor"], "a.weight");
  EXPECT_EQ(rows[0]["shape"], (Json{2, 2}));
  EXPECT_EQ(rows[0]["average_bits"], 4);
  EXPECT_EQ(rows[0]["clipped"], 0.25);
  EXPECT_EQ(rows[0]["flushed"], 0.25);
  const Safetensors out = read_safetensors(folder.path() / "out.safetensors");
  const auto weight = out.tensors.at("a.weight").values<float>();
  EXPECT_EQ(std::vector<float>(weight.begin(), weight.end()),
            (std::vector<float>{0.5, -1, 3.5, 0}));
  EXPECT_EQ(out.tensors.at("a.bias").values<float>()[0], 0.3f);
  // Existing files are replaced only with --overwrite.
  const std::string before = read_file(folder.path() / "out.safetensors");
  std::vector<std::string> again = words;
  again[0] = "bf16";
  expect_refusal(1, "out.safetensors: exists already; give another name or --overwrite", again,
                 folder.path());
  EXPECT_TRUE(read_file(folder.path() / "out.safetensors") == before);
  again.push_back("--overwrite");
  formats(again, folder.path());
  EXPECT_FALSE(read_file(folder.path() / "out.safetensors") == before);
}

TEST(Formats, DrawsTheHistogramOfATensor) {
  TemporaryFolder folder;
  const std::vector<std::string> words = {"integer(width=4,frac=1)",
                                          "--input",
                                          "in.safetensors",
                                          "--tensor",
                                          "a.weight",
                                          "--figure",
                                          "figure"};
  formats(words, with_tensors(folder).path());
  EXPECT_EQ(entries(folder.path()),
            (std::vector<std::string>{"figure.gp", "figure.png", "figure.svg", "figure.tsv",
                                      "in.safetensors"}));
  // An existing figure file is detected before anything is written.
  std::vector<std::string> again = words;
  again.insert(again.end(), {"-o", "out.safetensors"});
  expect_refusal(1, "figure.svg: exists already; give another name or --overwrite", again,
                 folder.path());
}

TEST(Formats, ComparesChoicesOnAModel) {
  const TemporaryFolder folder;
  const Json result =
      run_json({"compare-formats", "model", "--data", "reviews.csv", "--candidate", "mxint(bits=8)",
                "--candidate", "ternary/none", "-o", folder.path() / "tables"},
               workshop());
  ASSERT_EQ(result["formats"].size(), 3);
  EXPECT_EQ(result["formats"][0]["format"], "fp32");
  EXPECT_EQ(result["formats"][1]["format"], "mxint(bits=8)");
  EXPECT_EQ(result["formats"][2]["format"], "ternary/none");
  EXPECT_GT(result["formats"][1]["weight_snr_db"], result["formats"][2]["weight_snr_db"]);
  EXPECT_EQ(result["formats"][2]["input_snr_db"], nullptr);
  EXPECT_EQ(result["layers"].size(), 14 * 2);
  EXPECT_EQ(result["n"], kReviews / 10);
  EXPECT_EQ(result["split"], "validation");
  EXPECT_EQ(result["chosen"], nullptr);
  EXPECT_NE(result["summary"].get<std::string>().find("none is shown to keep the accuracy"),
            std::string::npos);
  for (const char* part : {"; 2 of them share the highest lower end of the 95% interval, ",
                           " points, with 0.00% of predictions changed (mxint(bits=8), "
                           "ternary/none); on "})
    EXPECT_NE(result["summary"].get<std::string>().find(part), std::string::npos) << part;
  const std::vector<std::string> rows =
      split(read_file(folder.path() / "tables/formats.csv"), '\n');
  EXPECT_NE(rows[0].find("mcnemar_p,verdict,loss,"), std::string::npos) << rows[0];
  EXPECT_TRUE(rows[0].ends_with(",split,n\r")) << rows[0];
  EXPECT_TRUE(rows[1].ends_with(",validation,4\r")) << rows[1];
  EXPECT_EQ(entries(folder.path() / "tables"),
            (std::vector<std::string>{"formats.csv", "formats.gp", "formats.png", "formats.svg",
                                      "formats.tsv", "layers.csv", "machine.json", "record.json",
                                      "report.html", "report.md", "results.json", "run.log",
                                      "settings.json"}));
  EXPECT_NE(read_file(folder.path() / "tables/report.html").find("Pareto front"),
            std::string::npos);
  EXPECT_EQ(read_json(folder.path() / "tables/results.json"), result);

  const std::vector<std::string> words = {"compare-formats", "model",       "--data",
                                          "reviews.csv",     "--candidate", "mxint(bits=8)"};
  const std::string layer = "bert.encoder.layer.1.output.dense";
  EXPECT_EQ(run_well(words, workshop()).output.find(layer), std::string::npos);
  std::vector<std::string> with_layers = words;
  with_layers.push_back("--layers");
  EXPECT_NE(run_well(with_layers, workshop()).output.find(layer), std::string::npos);
}

// The output says that a model was not evaluated.
TEST(Formats, SayThatNothingIsMeasuredWhereNothingIsChosen) {
  const std::string shown = run_well({"compare-formats", "model", "--data", "reviews.csv",
                                      "--candidate", "ternary/none", "--split", "train"},
                                     workshop())
                                .output;
  EXPECT_NE(shown.find("All candidates, on validation, n = 4"), std::string::npos) << shown;
  EXPECT_NE(
      shown.find("Nothing was chosen, so only the baseline (fp32) was evaluated on train, n = 36"),
      std::string::npos)
      << shown;
}

// 24 bits change no prediction of this fresh model, so that 1,800 texts show that nothing is lost.
TEST(Formats, ShowTheClassesOfTheWinner) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = {
      "compare-formats",       "tiny", "--data",           "synth:lookup?n=2000",
      "--validation_split",    "0.9",  "--max_seq_length", "16",
      "--calibration_batches", "1",    "--candidate",      "integer(width=24,frac=14)"};
  const auto expect_shown = [](const std::string& text, const std::string& part) {
    for (const std::string& label : {std::string("fp32, "), "integer(width=24,frac=14), " + part})
      EXPECT_NE(text.find(label), std::string::npos) << text;
    EXPECT_NE(text.find("predicted as"), std::string::npos) << text;
    EXPECT_NE(text.find("Recall"), std::string::npos) << text;
  };
  std::vector<std::string> with_report = words;
  with_report.insert(with_report.end(), {"-o", "report"});
  const Ending ending = run_well(with_report, folder.path());
  EXPECT_TRUE(ending.output.starts_with("integer(width=24,frac=14) needs the fewest bits"))
      << ending.output;
  EXPECT_NE(
      ending.messages.find("note: choices are made on validation, n = 1,800, untrained weights: "),
      std::string::npos)
      << ending.messages;
  EXPECT_NE(ending.messages.find(
                "note: the chosen one is evaluated once on test, n = 500, untrained weights: "),
            std::string::npos)
      << ending.messages;
  expect_shown(read_page(folder.path() / "report/report.html"),
               "test, n = 500, untrained weights: texts of each");
  // If one split decides and is reported, the classes are those of that split.
  with_report.back() = "original";
  with_report.insert(with_report.end(), {"--protocol", "original"});
  with_report[3] = "synth:lookup?n=8000";
  run_well(with_report, folder.path());
  expect_shown(read_page(folder.path() / "original/report.html"),
               "test, n = 1,600, untrained weights: texts of each");
}

TEST(Formats, SuggestsARecipeThatQuantizeTakes) {
  const TemporaryFolder folder;
  // After one step the margins of four texts are all near 0, so their SNR would mean little.
  const std::string model = trained_longer(folder);
  const std::vector<std::string> words = {"suggest",
                                          model,
                                          "--format",
                                          "integer(width=6,frac=1)",
                                          "--data",
                                          "reviews.csv",
                                          "--calibration_batches",
                                          "1",
                                          "-o",
                                          folder.path() / "recipe.toml"};
  const Json result = run_json(words, workshop());
  ASSERT_EQ(result["suggestions"].size(), 14 * 3);
  for (const Json& row : result["suggestions"]) {
    EXPECT_EQ(row["before"], "integer(width=6,frac=1)");
    EXPECT_GE(row["after_snr_db"], row["before_snr_db"]) << row["layer"];
  }
  EXPECT_EQ(result["models"].size(), 3);
  EXPECT_EQ(read_file(folder.path() / "recipe.toml"), result["recipe"]);
  const Ending again = run_hone(words, workshop());
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.messages.find("recipe.toml: exists already; give another name or --overwrite"),
            std::string::npos)
      << again.messages;

  const Json quantized =
      run_json({"quantize", model, "--recipe", folder.path() / "recipe.toml", "--data",
                "reviews.csv", "--calibration_batches", "1", "-o", folder.path() / "quantized"},
               workshop());
  EXPECT_EQ(quantized["average_weight_bits"], 6);
  const std::string shown = run_well({words.begin(), words.end() - 2}, workshop()).output;
  EXPECT_TRUE(shown.starts_with("Accuracy ")) << "the verdict first\n" << shown;
  EXPECT_NE(shown.find("suggested, validation, n = 4"), std::string::npos) << shown;
  for (const char* header : {"SNR given (dB)", "SNR suggested (dB)"})
    EXPECT_NE(shown.find(header), std::string::npos) << shown;
  // Quantizing with the suggested recipe gives the suggested model.
  EXPECT_EQ(quantized["comparison"]["margin_snr_db"],
            result["models"][2]["comparison"]["margin_snr_db"]);
  EXPECT_GT(result["models"][2]["comparison"]["margin_snr_db"].get<double>(),
            result["models"][1]["comparison"]["margin_snr_db"].get<double>() + 6);
}

TEST(Formats, SuggestsNoMoreBitsThanAllowed) {
  const Json result = run_json({"suggest", "model", "--format", "int(bits=8)", "--data",
                                "reviews.csv", "--calibration_batches", "1", "--bits", "5"},
                               workshop());
  for (const Json& row : result["suggestions"]) {
    if (row["operand"] != "weight") continue;
    EXPECT_EQ(row["after"], "int(bits=5,per=tensor,scale=static)") << row["layer"];
  }
}

}  // namespace
}  // namespace hone::testing
