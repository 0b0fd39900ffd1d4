#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

TEST(Pack, LeavesAFolderThatCommandsTakeAndThatMakesItsLikeAgain) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json packed =
      run_json({"pack", model, "--weight_format", "mxint(bits=8)", "-o", "packed"}, folder.path());
  EXPECT_EQ(packed["arithmetic"], "packed");
  EXPECT_GT(packed["account"]["memory_saving"].get<double>(), 0);
  const Json said = run_json({"predict", "packed", "a fine film"}, folder.path());
  EXPECT_TRUE(said["logits"].is_array());
  // Packs again with matching formats of weights and inputs, which requires --overwrite.
  const std::vector<std::string> again = {"pack",          model, "--format",
                                          "mxint(bits=4)", "-o",  "packed"};
  EXPECT_EQ(run_hone(again, folder.path()).code, 1);
  std::vector<std::string> over = again;
  over.push_back("--overwrite");
  EXPECT_EQ(run_json(over, folder.path())["arithmetic"], "native");
  const Ending dense = run_well({"unpack", "packed", "-o", "dense"}, folder.path());
  EXPECT_NE(dense.output.find("Written to dense"), std::string::npos) << dense.output;
  EXPECT_EQ(run_json({"predict", "dense", "a fine film"}, folder.path())["label"],
            run_json({"predict", "packed", "a fine film"}, folder.path())["label"]);
}

// Packed weights equal the simulated ones, so predictions are the same.
TEST(Pack, KeepsTheAnswersOfGroupsAndNf4) {
  for (const char* format : {"int(bits=4,group=32)", "int(bits=4,group=32,asymmetric=true)",
                             "int(bits=3,group=24)", "nf4", "nf4(block=24)"}) {
    SCOPED_TRACE(format);
    const TemporaryFolder folder;
    run_well({"quantize", workshop() / "model", "--weight_format", format, "--data",
              workshop() / "reviews.csv", "--validation_split", "0", "-o", "simulated"},
             folder.path());
    EXPECT_EQ(run_json({"pack", "simulated", "-o", "packed"}, folder.path())["arithmetic"],
              "packed");
    const auto logits = [&](const char* model) {
      return run_json({"predict", model, "a fine film"}, folder.path())["logits"];
    };
    EXPECT_EQ(logits("packed"), logits("simulated"));
    run_well({"inspect", "packed", "--verify"}, folder.path());
    run_well({"unpack", "packed", "-o", "dense"}, folder.path());
    EXPECT_EQ(logits("dense"), logits("simulated"));
  }
}

TEST(Pack, MakesGroupsNativeWithInputsInBlocksAndNeverNf4) {
  const TemporaryFolder folder;
  const auto pack = [&](const char* weight, const char* output) {
    return run_json({"pack", workshop() / "model", "--weight_format", weight, "--input_format",
                     "mxint(bits=8,block=32)", "-o", output},
                    folder.path())["arithmetic"];
  };
  EXPECT_EQ(pack("int(bits=4,group=32)", "symmetric"), "native");
  EXPECT_EQ(pack("int(bits=4,group=32,asymmetric=true)", "asymmetric"), "native");
  EXPECT_EQ(pack("int(bits=4,group=64)", "other_blocks"), "packed");
  EXPECT_EQ(pack("nf4(block=32)", "nf4"), "packed");
  const Ending refused = run_hone({"quantize", workshop() / "model", "--native", "nf4", "--data",
                                   workshop() / "reviews.csv", "-o", "native"},
                                  folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.messages.find("native computation does not support weights in nf4(block=64)"),
            std::string::npos)
      << refused.messages;
}

TEST(Pack, SaysWhatCannotBeDoneWithPackedModels) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Ending plain = run_hone({"pack", model, "-o", "packed"}, folder.path());
  EXPECT_EQ(plain.code, 1);
  EXPECT_NE(plain.messages.find(
                "has neither formats to pack its weights in nor enough zeros to leave out; give "
                "--weight_format or a --recipe"),
            std::string::npos)
      << plain.messages;
  run_well({"pack", model, "--weight_format", "mxint(bits=8)", "-o", "packed"}, folder.path());
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "packed", "--data", workshop() / "reviews.csv"},
        std::vector<std::string>{"quantize", "packed", "--format", "bf16", "--data",
                                 workshop() / "reviews.csv"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"-o", "out"});
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("its weights are packed; `hone unpack` writes a copy"),
              std::string::npos)
        << ending.messages;
    EXPECT_FALSE(fs::exists(folder.path() / "out"));
  }
}

// The refusal says that other programs load the folder as it is.
TEST(Pack, UnpackingOfASimulatedModelSaysWhoCanLoadIt) {
  const TemporaryFolder folder;
  run_well({"quantize", workshop() / "model", "--format", "int(bits=8)", "--data",
            workshop() / "reviews.csv", "-o", "simulated"},
           folder.path());
  const Ending refused =
      run_hone({"unpack", "simulated", "--loadable", "transformers", "-o", "plain"}, folder.path());
  EXPECT_EQ(refused.code, kUserError);
  EXPECT_NE(refused.messages.find("simulated: is not packed"), std::string::npos);
  EXPECT_NE(refused.messages.find("`transformers` and hone load it"), std::string::npos)
      << refused.messages;
  EXPECT_FALSE(fs::exists(folder.path() / "plain"));
}

// Output, results and card say which programs load the folder.
TEST(Pack, UnpackingSaysWhatItWroteAndWhoCanLoadIt) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model", data = workshop() / "reviews.csv";
  const std::vector<std::string> native = {"--native", "int(bits=8,per=row)", "--keep_slower",
                                           "--data", data};
  const auto quantize = [&](const std::string& from, const std::string& to) {
    std::vector<std::string> words = {"quantize", from, "-o", to};
    words.insert(words.end(), native.begin(), native.end());
    run_well(words, folder.path());
  };
  const auto card = [&](const std::string& name) {
    return read_file(folder.path() / name / "README.md");
  };
  const auto expect_in = [](const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  };
  quantize(model, "packed");
  expect_in(card("packed"), {"library_name: hone\n", "- The weights are packed, "});
  const Json dense = run_json({"unpack", "packed", "-o", "dense"}, folder.path());
  EXPECT_EQ(dense["arithmetic"], "simulated");
  EXPECT_EQ(dense["shapes"]["heads"], (Json{2, 2}));
  EXPECT_EQ(dense["shapes"]["neurons"], (Json{512, 512}));
  EXPECT_EQ(dense["shapes"]["head_size"], 64);
  const bool loads = dense["others_load"].get<bool>();
  EXPECT_EQ(loads, fs::exists(folder.path() / "dense/model.safetensors"));
  EXPECT_EQ(loads, dense["others_load_reason"].is_null());
  expect_in(card("dense"), {loads ? "library_name: transformers\n" : "library_name: hone\n",
                            "- Unpacked by `hone unpack packed -o dense",
                            "The numbers here are those of the model before unpacking.\n",
                            "- It is not smaller or faster yet: "});
  EXPECT_EQ(card("dense").find("weights are packed"), std::string::npos) << card("dense");
  EXPECT_EQ(card("dense").find("## Size and latency"), std::string::npos)
      << "that is the packed one's";
  // Name and passes come from the config.json of the copy.
  EXPECT_TRUE(card("dense").find("\n# dense\n") != std::string::npos) << card("dense");
  for (const char* name : {"packed", "dense"}) {
    const Json passes = read_json(folder.path() / name / "config.json")["hone_history"]["passes"];
    EXPECT_GT(passes.size(), 0U);
    for (const Json& pass : passes) {
      const std::string text = pass;
      expect_in(card(name), {"- pass over its graph: `" + text.substr(0, text.find('('))});
    }
  }
  const Ending plain =
      run_well({"unpack", "packed", "--loadable", "transformers", "-o", "plain"}, folder.path());
  expect_in(plain.output,
            {" on disk", "Nothing is rounded when the model runs.\n",
             "BERT: 2 layers, hidden size 128, 2 heads of 64 and 512 neurons in each layer, ",
             "`transformers` and hone load it.\n"});
  const Json fields = read_json(folder.path() / "plain/results.json");
  EXPECT_EQ(fields["arithmetic"], "fp32");
  EXPECT_EQ(fields["others_load"], true);
  expect_in(card("plain"), {"library_name: transformers\n", "- The weights are in fp32.\n",
                            "- `transformers` and hone load it.\n"});
  EXPECT_EQ(card("plain").find("- quantized\n"), std::string::npos) << card("plain");
  // No other program loads the model after a head was removed, packed or not.
  run_well({"prune", model, "--structure", "heads", "--data", data, "-o", "narrow"}, folder.path());
  quantize("narrow", "narrow-packed");
  const std::string reason = "layer 0 has 1 head of 64 instead of 2";
  EXPECT_EQ(card("narrow-packed").find("writes a copy that"), std::string::npos)
      << card("narrow-packed");
  const Ending unpacked =
      run_well({"unpack", "narrow-packed", "-o", "narrow-dense"}, folder.path());
  expect_in(unpacked.output, {"1 head of 64 and 512 neurons in each layer",
                              "Only hone loads it: " + reason, ": prune_structure("});
  expect_in(card("narrow-dense"), {"library_name: hone\n", "Only hone loads it: " + reason});
  const Ending refused = run_hone(
      {"unpack", "narrow-packed", "--loadable", "transformers", "-o", "none"}, folder.path());
  EXPECT_EQ(refused.code, 1);
  expect_in(refused.messages, {reason});
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

}  // namespace
}  // namespace hone::testing
