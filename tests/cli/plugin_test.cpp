#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of plugins: a format (examples/apot), passes (examples/dropouts), kernels (examples/cuda_gelu).
namespace hone::testing {
namespace {

fs::path plugin(const std::string& name) { return fs::path(HONE_PLUGINS) / (name + ".so"); }

// Adds the option that loads the example plugin.
std::vector<std::string> with_apot(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--plugin", plugin("apot")});
  return arguments;
}

// Quantizes the workshop's model to apot, into `folder`/quantized.
Json quantize(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"quantize",           "model", "--data",
                                    "reviews.csv",        "-o",    folder.path() / "quantized",
                                    "--validation_split", "0"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(with_apot(words), workshop());
}

void expect_refusal(std::string_view fragment, const std::vector<std::string>& arguments) {
  const Ending ending = run_hone(arguments, workshop());
  EXPECT_EQ(ending.code, 1) << ending.messages;
  EXPECT_EQ(ending.output, "");
  EXPECT_TRUE(ending.messages.starts_with("error: ")) << ending.messages;
  EXPECT_NE(ending.messages.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in " << ending.messages;
}

TEST(Plugin, ShowsItsFormatAsAnyOther) {
  const Json format = run_json(with_apot({"formats", "apot"}), workshop());
  EXPECT_EQ(format["format"], "apot(block=64)");
  EXPECT_EQ(format["average_bits"], 4.5);  // 4 bits, and 32 bits for every 64 weights
  EXPECT_EQ(format["values"].size(), 15);
  EXPECT_EQ(format["lowest"], -1);
  EXPECT_EQ(format["highest"], 1);
  const Ending list = run_well(with_apot({"formats"}), workshop());
  for (const char* row : {"integer(width=8,frac=auto)", "apot(block=64)"})
    EXPECT_NE(list.output.find(row), std::string::npos) << row;
}

TEST(Plugin, BringsPasses) {
  const Json pass =
      run_json({"passes", "count_relus", "--plugin", plugin("count_relus")}, workshop());
  EXPECT_EQ(pass["options"][0]["option"], "most");
  EXPECT_EQ(pass["options"][0]["default"], "12");
}

// Adds the option that loads the example of docs/developers/adding-a-pass.md.
std::vector<std::string> with_dropout_passes(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--plugin", plugin("dropout_passes")});
  return arguments;
}

TEST(Plugin, ItsPassesAreListedWithTheirFile) {
  const Json all = run_json(with_dropout_passes({"passes"}), workshop())["passes"];
  const auto row =
      std::ranges::find(all, "cut_dropouts", [](const Json& one) { return one["pass"]; });
  ASSERT_NE(row, all.end());
  EXPECT_EQ((*row)["plugin"], plugin("dropout_passes").string());
  EXPECT_EQ((*row)["use"], "model");
  EXPECT_EQ((*row)["options"][0]["default"], "*");
  EXPECT_EQ((*row)["example"],
            fmt::format("hone pass my-model cut_dropouts 'names=*.attention.*' -o my-model-after "
                        "--plugin {}",
                        plugin("dropout_passes").string()));
  EXPECT_EQ(
      std::ranges::find(all, "freeze", [](const Json& one) { return one["pass"]; })->at("plugin"),
      nullptr);
  EXPECT_EQ(run_json(with_dropout_passes({"passes", "count_dropouts"}), workshop())["use"], "look");
}

TEST(Plugin, ItsPassesCountDropoutsRemoveThemAndCountAgain) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const auto count = [&](const std::string& of) {
    return run_json(with_dropout_passes({"pass", of, "count_dropouts"}), folder.path())["found"];
  };
  EXPECT_EQ(count(model), (Json{{"dropouts", 8}, {"outside_attention", 6}}));
  EXPECT_EQ(run_well(with_dropout_passes({"pass", model, "count_dropouts"}), folder.path()).output,
            "dropouts: 8\noutside_attention: 6\n");
  // Fused attention applies dropout itself.
  run_well({"pass", model, "fuse_attention", "-o", "fused"}, folder.path());
  EXPECT_EQ(count("fused"), (Json{{"dropouts", 6}, {"outside_attention", 6}}));
  const Json some = run_json(
      with_dropout_passes({"pass", model, "cut_dropouts", "names=*.attention.*", "-o", "some"}),
      folder.path());
  EXPECT_EQ(some["pass"], "cut_dropouts(names=\"*.attention.*\")");
  EXPECT_EQ(count("some"), (Json{{"dropouts", 4}, {"outside_attention", 4}}));
  run_well(with_dropout_passes({"pass", "some", "cut_dropouts", "-o", "none"}), folder.path());
  EXPECT_EQ(count("none"), (Json{{"dropouts", 0}, {"outside_attention", 0}}));
  // The resulting model needs no plugin.
  EXPECT_EQ(run_json({"predict", "none", "a fine film"}, folder.path())["logits"],
            run_json({"predict", model, "a fine film"}, folder.path())["logits"]);
  run_well(
      {"train", "none", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o", "more"},
      folder.path());
  const Ending again =
      run_hone(with_dropout_passes({"pass", "none", "cut_dropouts", "-o", "again"}), folder.path());
  EXPECT_NE(again.messages.find("changes nothing in none"), std::string::npos);
}

TEST(Plugin, APassThatLooksMeasuresNothingAndMayReport) {
  const auto refuse = [&](std::string_view fragment, std::vector<std::string> words) {
    words.insert(words.begin(), {"pass", "model", "count_dropouts"});
    expect_refusal(fragment, with_dropout_passes(words));
  };
  refuse("so there is nothing to measure; leave --data out", {"--data", "reviews.csv"});
  const TemporaryFolder folder;
  const std::string report = folder.path() / "report";
  run_well(with_dropout_passes({"pass", workshop() / "model", "count_dropouts", "-o", report}),
           folder.path());
  EXPECT_EQ(read_json(fs::path(report) / "results.json")["found"]["dropouts"], 8);
  EXPECT_TRUE(fs::exists(fs::path(report) / "report.html"));
  expect_refusal("for the changed copy", with_dropout_passes({"pass", "model", "cut_dropouts"}));
}

// Any error in a plugin's pass is reported as the plugin's.
TEST(Plugin, ErrorsOfItsPassesNameIt) {
  const TemporaryFolder folder;
  const std::string file = plugin("careless").string();
  const auto refuse = [&](const std::string& pass, const std::string& fragment) {
    expect_refusal(fmt::format("in the pass {}: plugin {}: {}", pass, file, fragment),
                   {"pass", "model", pass, "-o", folder.path() / "none", "--plugin", file});
    EXPECT_FALSE(fs::exists(folder.path() / "none"));
  };
  refuse("erase_what_is_read",
         "cannot erase %bert.encoder.layer.0.attention.self.query: it is used by "
         "%bert.encoder.layer.0.attention.self.query.split_heads; replace those uses first");
  refuse("throw_anything", "vector::at");
  refuse("change_and_deny", "returned false, which means unchanged, but changed the graph");
}

// The example of docs/developers/adding-a-kernel.md, which device_test.cpp runs.
TEST(Plugin, BringsKernelsForGpusThatTheProcessorDoesNotAskFor) {
  const std::vector<std::string> predict = {"predict", "model", "a fine film"};
  std::vector<std::string> extended = predict;
  extended.insert(extended.end(), {"--plugin", plugin("gelu"), "--skip_pass", "fuse_linear"});
  EXPECT_EQ(run_json(extended, workshop())["logits"], run_json(predict, workshop())["logits"]);
}

// A number alone in its block has the largest magnitude: level 1 with its sign, and its own scale.
TEST(Plugin, SpellsNumbers) {
  const Json rows = run_json(with_apot({"formats", "apot", "0.3", "0"}), workshop())["numbers"];
  ASSERT_EQ(rows.size(), 2);
  EXPECT_FLOAT_EQ(rows[0]["becomes"].get<float>(), 0.3f);
  EXPECT_EQ(rows[0]["code"], "0 111");
  EXPECT_EQ(rows[0]["shared"], "00111110100110011001100110011010");
  EXPECT_EQ(rows[0]["parts"], (Json{"sign 0", "index 111"}));
  EXPECT_EQ(rows[1]["code"], "0 000");
}

TEST(Plugin, QuantizesAndItsModelIsEvaluated) {
  const TemporaryFolder folder;
  const Json result = quantize(folder, {"--format", "apot"});
  EXPECT_EQ(result["format"], "apot(block=64)");
  EXPECT_EQ(result["average_weight_bits"], 4.5);
  EXPECT_NE(result["before"]["eval_loss"], result["after"]["eval_loss"]);
  const std::vector<std::string> eval = {"eval", folder.path() / "quantized", "--data",
                                         "reviews.csv"};
  const Json measured = run_json(with_apot(eval), workshop());
  EXPECT_EQ(measured["arithmetic"], "simulated");
  EXPECT_EQ(measured["format"], "apot(block=64)");
  EXPECT_EQ(measured["eval_loss"], result["after"]["eval_loss"]);
  expect_refusal("unknown format 'apot'", eval);
}

TEST(Plugin, TrainsQuantized) {
  const TemporaryFolder folder;
  const Json result = quantize(
      folder, {"--format", "apot(block=32)", "--qat", "--max_steps", "2", "--logging_steps", "1"});
  EXPECT_EQ(result["method"], "qat");
  EXPECT_EQ(result["format"], "apot(block=32)");
  const std::vector<Json> log =
      json_lines(read_file(folder.path() / "quantized/training_log.jsonl"));
  const auto steps =
      std::ranges::count_if(log, [](const Json& line) { return line.contains("loss"); });
  ASSERT_EQ(steps, 2);
  EXPECT_GT(log[0]["grad_norm"], 0);
}

TEST(Plugin, StandsInRecipes) {
  const TemporaryFolder folder;
  const fs::path recipe = folder.file("mixed.toml", R"toml(
default = { weight = "integer(width=8)" }
[[rule]]
name = "*.layer.0.*"
weight = "apot(block=16)"
)toml");
  quantize(folder, {"--recipe", recipe});
  const std::string config =
      read_json(folder.path() / "quantized/config.json")["quantization_config"].dump();
  for (const char* format : {"integer(width=8,frac=auto)", "apot(block=16)"})
    EXPECT_NE(config.find(format), std::string::npos) << format << " in " << config;
}

TEST(Plugin, IsComparedWithOtherFormats) {
  const Json result =
      run_json(with_apot({"compare-formats", "model", "--candidate", "apot/none", "--candidate",
                          "integer(width=4)/none", "--data", "reviews.csv"}),
               workshop());
  const Json& rows = result["formats"];
  ASSERT_EQ(rows.size(), 3);  // the baseline and two candidates
  EXPECT_EQ(rows[1]["format"], "apot/none");
  EXPECT_GT(rows[1]["weight_snr_db"], rows[2]["weight_snr_db"]);
}

TEST(Plugin, RefusalSaysWhatIsWrongWithTheFile) {
  const auto refuse = [](const fs::path& file, std::string_view fragment) {
    expect_refusal(file.string() + ": " + std::string(fragment), {"formats", "--plugin", file});
  };
  refuse("nothing.so", "no such file");
  refuse("reviews.csv", "cannot be loaded: ");
  refuse(workshop(), "expected a file, found a folder");
  refuse(plugin("unresolved"), "cannot be loaded: ");
  refuse(plugin("empty"), "is a shared library, but not a plugin of hone");
  refuse(plugin("other_headers"), "was built with other headers than this program");
  refuse(plugin("taken_name"), "format integer exists already; give it another name");
  refuse(plugin("incomplete"), "format sketch does not set fields");
  refuse(plugin("adds_nothing"), "adds nothing");
}

TEST(Plugin, LoadedTwiceFindsItsOwnName) {
  expect_refusal("format apot exists already", with_apot(with_apot({"formats"})));
}

TEST(Plugin, IsTakenByEveryCommand) {
  for (const char* command :
       {"train", "eval", "plan", "quantize", "predict", "formats", "inspect", "draw", "bench"}) {
    const std::string help = run_well({command, "--help-all"}, workshop()).output;
    EXPECT_NE(help.find("--plugin"), std::string::npos) << command;
  }
  // A repeated option loads two plugins, and the argument after it is no plugin.
  expect_refusal("second.so: no such file",
                 {"inspect", "--plugin", plugin("apot"), "--plugin", "second.so", "model"});
  run_well({"inspect", "--plugin", plugin("apot"), "model"}, workshop());
}

}  // namespace
}  // namespace hone::testing
