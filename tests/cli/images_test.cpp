#include <gtest/gtest.h>
#include <png.h>
#include <signal.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kEdge = 12;  // pixels

// Stripes: vertical in class 0, horizontal in class 1.
std::uint8_t stripe(std::int64_t row, std::int64_t column, std::int64_t number) {
  const std::int64_t along = number % 2 == 0 ? column : row;
  return static_cast<std::uint8_t>((along + number / 2) % 4 < 2 ? 30 + number : 200 - number);
}

void write_png(const fs::path& file, std::int64_t number) {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < kEdge * kEdge; ++i)
    bytes.insert(bytes.end(), 3, stripe(i / kEdge, i % kEdge, number));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = kEdge;
  image.format = PNG_FORMAT_RGB;
  ASSERT_NE(png_image_write_to_file(&image, file.c_str(), 0, bytes.data(), 0, nullptr), 0);
}

// Writes PNGs into a folder per split and class, and one JPEG.
void write_pictures(const fs::path& folder) {
  const fs::path jpeg = test_data() / "data/golden_pictures/tall.jpg";
  for (const std::string part : {"train", "validation"}) {
    for (const char* name : {"upright", "lying"}) fs::create_directories(folder / part / name);
    const std::int64_t first = part == "train" ? 0 : 24;
    for (std::int64_t i = first; i < first + 24; ++i)
      write_png(folder / part / (i % 2 == 0 ? "upright" : "lying") / fmt::format("{}.png", i), i);
  }
  fs::copy_file(jpeg, folder / "train/upright/tall.jpg");
}

void write_tensors(const fs::path& file) {
  constexpr std::int64_t kImages = 40;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> labels;
  for (std::int64_t number = 0; number < kImages; ++number) {
    labels.push_back(number % 2);
    for (std::int64_t i = 0; i < 3 * kEdge * kEdge; ++i)
      bytes.push_back(stripe(i / kEdge % kEdge, i % kEdge, number));
  }
  write_safetensors(file, {{"images", Tensor::of({kImages, 3, kEdge, kEdge}, bytes)},
                           {"labels", Tensor::of({kImages}, labels)}});
}

/// A folder with pictures, tensors, the config of a small network, and the model `learnt`, which is trained on the
/// pictures.
class Images : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_pictures(folder() / "pictures");
    write_tensors(folder() / "images.safetensors");
    write_file(folder() / "config.json",
               R"({"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 12],
                   "depths": [1, 1], "layer_type": "basic", "image_size": 12})");
    run_well(training({"-o", "learnt"}), folder());
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static const fs::path& folder() { return folder_->path(); }

  static Words training(const Words& more) {
    Words words = {"train", "config.json", "--data",       "pictures", "--max_steps", "24",
                   "--lr",  "1e-2",        "--batch_size", "8",        "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::string weights(const std::string& model) {
    return read_file(folder() / model / "model.safetensors");
  }
  static void expect_refusal(const std::string& fragment, const Words& words, int code = 1) {
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos)
        << "expected '" << fragment << "' in " << ending.messages;
  }

 private:
  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> Images::folder_;

TEST_F(Images, AreLearnedFromFolders) {
  const Json result =
      run_json({"eval", "learnt", "--data", "pictures", "--split", "validation"}, folder());
  EXPECT_GE(result["eval_accuracy"].get<double>(), 0.9) << result;
  for (const char* file : {"preprocessor_config.json", "config.json", "model.safetensors"})
    EXPECT_TRUE(fs::exists(folder() / "learnt" / file)) << file;
  EXPECT_FALSE(fs::exists(folder() / "learnt/tokenizer.json"));
  const std::string card = read_file(folder() / "learnt/README.md");
  EXPECT_NE(card.find("pipeline_tag: image-classification"), std::string::npos) << card;
}

TEST_F(Images, AreClassifiedByName) {
  const std::string picture = "pictures/validation/lying/25.png";
  EXPECT_EQ(run_json({"predict", "learnt", picture}, folder())["label"], "lying");
  const std::vector<Json> rows = json_lines(
      run_well({"predict", "learnt", "--data", "pictures", "--split", "validation", "--json"},
               folder())
          .output);
  EXPECT_EQ(rows.size(), 24);
  write_file(folder() / "some.csv", "image,label\n" + picture + ",lying\n");
  const std::vector<Json> table =
      json_lines(run_well({"predict", "learnt", "--data", "some.csv", "--json"}, folder()).output);
  ASSERT_EQ(table.size(), 1);
  EXPECT_EQ(table[0]["label"], "lying");
}

TEST_F(Images, ThatCannotBeReadAreNamed) {
  write_file(folder() / "broken.png", "\x89PNG and no more");
  expect_refusal("broken.png: cannot read the PNG", {"predict", "learnt", "broken.png"});
  expect_refusal("a fine film", {"predict", "learnt", "a fine film"});
  expect_refusal("none.png", {"predict", "learnt", "none.png"});
}

TEST_F(Images, AreLearnedFromTensors) {
  const Json result = run_json({"train", "config.json", "--data", "images.safetensors",
                                "--max_steps", "2", "--batch_size", "8", "-o", "of-tensors"},
                               folder());
  EXPECT_EQ(result["steps"], 2);
  const std::string label =
      run_json({"predict", "of-tensors", "images.safetensors#3"}, folder())["label"];
  EXPECT_TRUE(label == "0" || label == "1") << label;
}

TEST_F(Images, AreLearnedToTheSameBitsAfterAKill) {
  Words command = training({"--save_steps", "8", "-o", "killed"});
  const Ending ending = run_hone_until(command, folder(), SIGKILL, [&] {
    return fs::exists(folder() / "killed.partial/checkpoint-8");
  });
  if (ending.code != 0) {
    EXPECT_EQ(ending.code, 128 + SIGKILL) << ending.messages;
    command.push_back("--resume");
    run_well(command, folder());
  }
  EXPECT_TRUE(weights("killed") == weights("learnt"));
}

// The network has six convolutions and a classifier.
TEST_F(Images, AreReadByModelsInFormats) {
  Words quantize = {"quantize", "learnt", "--format", "int(bits=8)", "--data", "pictures"};
  const auto made = [&](const std::string& name, const Words& more = {}) {
    Words words = quantize;
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"-o", name});
    return run_json(words, folder());
  };
  EXPECT_EQ(made("rounded")["quantized_modules"], 7);
  EXPECT_EQ(made("aware", {"--qat", "--max_steps", "2"})["quantized_modules"], 7);
  run_well({"pack", "learnt", "--weight_format", "int(bits=8,per=row)", "-o", "packed"}, folder());
  EXPECT_LT(fs::file_size(folder() / "packed/parameters.safetensors"),
            fs::file_size(folder() / "learnt/model.safetensors"));
  const Json result = run_json({"eval", "packed", "--data", "pictures"}, folder());
  EXPECT_EQ(result["arithmetic"], "packed") << result;
}

TEST_F(Images, ArePrunedWeightByWeight) {
  const Json pruned = run_json(
      {"prune", "learnt", "--sparsity", "0.5", "--data", "pictures", "-o", "pruned"}, folder());
  EXPECT_EQ(pruned["split"], "validation");
  expect_refusal(
      "the graph has no neurons that can be removed",
      {"prune", "learnt", "--structure", "neurons", "--data", "pictures", "-o", "narrow"});
}

TEST_F(Images, AreProfiledByOperation) {
  const std::string table =
      run_well({"profile", "learnt", "--batch_size", "2", "--runs", "2"}, folder()).output;
  EXPECT_NE(table.find("fused_conv2d"), std::string::npos) << table;
  EXPECT_EQ(table.find("batch_norm"), std::string::npos) << table;
}

TEST_F(Images, HaveASizeThatInspectTells) {
  const Json facts = run_json({"inspect", "learnt"}, folder());
  const Json& limits = facts["limits"];
  EXPECT_EQ(limits["channels"], 3);
  EXPECT_EQ(limits["height"], kEdge);
  EXPECT_EQ(limits["width"], kEdge);
  EXPECT_EQ(limits["tokens"], nullptr);
  EXPECT_NE(run_well({"inspect", "learnt"}, folder()).output.find("images of 3 x 12 x 12"),
            std::string::npos);
}

TEST_F(Images, AreTimed) {
  const Json times = run_json({"bench", "learnt", "--batch_size", "2", "--runs", "2"}, folder());
  EXPECT_NE(times["what"].get<std::string>().find("learnt 2x3x12x12"), std::string::npos);
  EXPECT_EQ(run_json({"bench", "learnt", "--batch_size", "2", "--runs", "2", "--train"},
                     folder())["batch"],
            2);
  const std::string mistakes =
      run_well({"bench", "learnt", "--batch_size", "2", "--pitfalls", "--iterations", "6"},
               folder())
          .output;
  EXPECT_NE(mistakes.find("not run: batch norms that use running statistics"), std::string::npos)
      << mistakes;
  expect_refusal("--tokens applies to texts, but the model reads images",
                 {"bench", "learnt", "--tokens", "128"});
}

TEST_F(Images, AreNotWhatModelsOfTextsRead) {
  expect_refusal(".png: it is an image, but the model (bert) reads texts",
                 {"train", "tiny", "--data", "pictures", "--max_steps", "1", "-o", "of-names"});
  EXPECT_FALSE(fs::exists(folder() / "of-names"));
}

TEST_F(Images, AreNotWhatCommandsForTextsTake) {
  expect_refusal("learnt: it reads images; a tokenizer needs a model that reads texts",
                 {"tokenize", "learnt", "--data", "pictures"});
  expect_refusal("learnt: it reads images; an embedding needs a model that reads texts",
                 {"predict", "learnt", "a.png", "--embed"});
  expect_refusal("learnt: it reads images; a vocabulary needs a model that reads texts",
                 {"trim", "learnt", "--data", "pictures", "-o", "trimmed"});
}

}  // namespace
}  // namespace hone::testing
