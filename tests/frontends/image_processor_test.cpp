#include "hone/frontends/huggingface/image_processor.h"

#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

const fs::path kPictures = test_data() / "data" / "golden_pictures";
constexpr ImageSize kSize{3, 14, 14};

std::vector<float> processed(const std::string& picture, const ImagePreparation& preparation) {
  ImageSet set = image_set(preparation);
  set.bytes.resize(static_cast<std::size_t>(preparation.size.values()));
  prepare_picture(read_picture(kPictures / picture, 3), preparation, set.bytes.data());
  std::vector<float> values(set.bytes.size());
  set.write(0, values.data());
  return values;
}

// The bytes are equal, so values differ only by the rounding of a few operations. transformers divides by 255,
// subtracts the mean and divides, each rounded to float32. Here factor and shift are rounded, and the two operations.
// Values are below 3, so four roundings are at most 4 * 1.2e-7 * 3.
TEST(ImageProcessor, DoesWhatTheFilesOfTransformersSay) {
  const TensorMap golden = read_safetensors(kPictures / "golden.safetensors").tensors;
  for (const std::string processor : {"convnext", "vit"}) {
    const std::string file = processor + ".json";
    const ImagePreparation preparation = read_preparation(read_json(kPictures / file), kSize, file);
    for (const std::string picture : {"rgb.png", "tall.jpg"}) {
      const std::vector<float> expected =
          elements_of(golden.at("processed/" + picture + "/" + processor));
      const std::vector<float> got = processed(picture, preparation);
      ASSERT_EQ(got.size(), expected.size());
      // For this picture Pillow resizes columns first, which changes some bytes by one.
      const float byte = picture == "tall.jpg" ? 1 / (255 * 0.224f) : 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 1.5e-6f + byte) << picture << " " << processor << " " << i;
    }
  }
}

TEST(ImageProcessor, ComesBackAsItWasWritten) {
  for (const std::int64_t edge : {0, 14, 15, 16, 17, 100}) {
    ImagePreparation preparation = usual_preparation(kSize);
    preparation.shortest_edge = edge;
    preparation.resampling = edge == 0 ? Resampling::bilinear : Resampling::bicubic;
    const Json file = to_json(preparation);
    EXPECT_EQ(read_preparation(file, kSize, "file"), preparation) << to_line(file);
    EXPECT_EQ(processed_size(file), 14);
  }
}

TEST(ImageProcessor, TellsWhatTheModelReads) {
  const auto size = [](const char* text) { return processed_size(parse_json(text, "file")); };
  EXPECT_EQ(size(R"({"size": 224})"), 224);
  EXPECT_EQ(size(R"({"size": {"shortest_edge": 32}})"), 32);
  EXPECT_EQ(size(R"({"size": {"height": 8, "width": 8}})"), 8);
  EXPECT_EQ(size(R"({"size": {"shortest_edge": 256}, "do_center_crop": true, "crop_size": 224})"),
            224);
  EXPECT_EQ(size(R"({"size": {"height": 8, "width": 9}})"), std::nullopt);
  EXPECT_EQ(size("{}"), std::nullopt);
}

TEST(ImageProcessor, RefusesWhatItDoesNotDo) {
  const auto refusal = [](const std::string& fragment, const char* text) {
    expect_user_error(fragment, [&] { read_preparation(parse_json(text, "f"), kSize, "f.json"); });
  };
  refusal("f.json: do_resize and size: expected a configuration that resizes pictures",
          R"({"do_resize": false})");
  refusal("f.json: size: expected a whole number", R"({"size": {"height": 8, "width": 9}})");
  refusal("f.json: it produces images of 16 x 16, but the model reads 14 x 14", R"({"size": 16})");
  refusal("f.json: resample: expected 2 (bilinear) or 3 (bicubic), got 1",
          R"({"size": 14, "resample": 1})");
  refusal("f.json: image_mean: expected 3 numbers", R"({"size": 14, "image_mean": [0.5, 0.5]})");
  refusal("f.json: image_std: expected numbers above 0", R"({"size": 14, "image_std": [1, 0, 1]})");
  refusal("f.json: the shorter edge has 10 pixels",
          R"({"size": {"shortest_edge": 10}, "do_center_crop": true, "crop_size": 14})");
}

}  // namespace
}  // namespace hone::testing
