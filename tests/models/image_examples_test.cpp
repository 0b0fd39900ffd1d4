#include "hone/models/image_examples.h"

#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "hone/train/text_examples.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

const std::string kPicture = (test_data() / "data/golden_pictures/rgb.png").string();

EncodedSet encoded(const ImagePreparation& preparation, const std::vector<std::string>& names) {
  ThreadPool pool(2);
  std::vector<Example> examples;
  for (const std::string& name : names)
    examples.push_back({.text = name, .label = static_cast<std::int32_t>(examples.size())});
  return encode_images(pool, preparation, examples, Task::single_label);
}

/// A file with 3 images of 1 x 2 x 2, as bytes or floats.
class ImageExamples : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::uint8_t> bytes = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
    const std::vector<float> floats(bytes.begin(), bytes.end());
    write_safetensors(folder_.path() / "bytes.safetensors",
                      {{"images", Tensor::of({3, 1, 2, 2}, bytes)}});
    write_safetensors(folder_.path() / "floats.safetensors",
                      {{"images", Tensor::of({3, 1, 2, 2}, floats)}});
  }
  std::string name(const std::string& rest) const { return (folder_.path() / rest).string(); }
  ImagePreparation preparation_{
      .size = {1, 2, 2}, .shortest_edge = 3, .rescale_factor = 1, .mean = {1}, .deviation = {2}};

 private:
  TemporaryFolder folder_;
};

TEST_F(ImageExamples, AreTheBatchesOfAModel) {
  const EncodedSet set =
      encoded(preparation_, {name("bytes.safetensors#2"), name("bytes.safetensors#0")});
  const std::vector<std::int64_t> rows = {1, 0};
  const NamedTensors batch = text_examples(set).batch(rows, 0);
  EXPECT_EQ(batch.at("pixel_values").sizes(), (Sizes{2, 1, 2, 2}));
  EXPECT_EQ(elements_of(batch.at("pixel_values")),
            (std::vector<float>{-0.5, 0, 0.5, 1, 9.5, 10, 10.5, 11}));
  EXPECT_EQ(elements_of<std::int64_t>(batch.at("labels")), (std::vector<std::int64_t>{1, 0}));
}

TEST_F(ImageExamples, OfFloatsStandForThemselves) {
  const EncodedSet set = encoded(preparation_, {name("floats.safetensors#1")});
  EXPECT_EQ(set.images->values, (std::vector<float>{10, 11, 12, 13}));
}

TEST_F(ImageExamples, OfOtherSizesAreResizedWhereTheyAreBytes) {
  ImagePreparation larger = preparation_;
  larger.size = {1, 3, 3};
  EXPECT_EQ(encoded(larger, {name("bytes.safetensors#0"), kPicture}).images->bytes.size(), 18);
  expect_user_error(
      "images are [3, 1, 2, 2], the model reads 1 channels of 3 x 3; floats are not "
      "resized",
      [&] { encoded(larger, {name("floats.safetensors#0")}); });
  larger.size.channels = 3;
  expect_user_error("the model reads 3 channels",
                    [&] { encoded(larger, {name("bytes.safetensors#0")}); });
}

TEST_F(ImageExamples, ThatAreNoneAreNamed) {
  expect_user_error("bytes.safetensors#3: there are 3 images",
                    [&] { encoded(preparation_, {name("bytes.safetensors#3")}); });
  expect_user_error("float images and byte images cannot be combined", [&] {
    encoded(preparation_, {name("bytes.safetensors#1"), name("floats.safetensors#1")});
  });
  expect_user_error("a fine film", [&] { encoded(preparation_, {"a fine film"}); });
  ThreadPool pool(1);
  const std::vector<Example> pairs = {{.text = kPicture, .text_pair = "b"}};
  expect_user_error("image models do not support pairs",
                    [&] { encode_images(pool, preparation_, pairs, Task::single_label); });
}

}  // namespace
}  // namespace hone::testing
