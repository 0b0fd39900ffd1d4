#include "hone/data/image_preparation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

// Returns a picture whose first two channels are the row and column numbers.
Picture numbered_picture(std::int64_t height, std::int64_t width) {
  Picture picture{height, width, 3};
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t column = 0; column < width; ++column)
      for (const std::int64_t value : {row, column, std::int64_t{9}})
        picture.bytes.push_back(static_cast<std::uint8_t>(value));
  return picture;
}

std::vector<std::uint8_t> prepared(const Picture& picture, const ImagePreparation& preparation) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(preparation.size.values()));
  prepare_picture(picture, preparation, bytes.data());
  return bytes;
}

// Pillow uses fixed-point numbers, so results must be equal.
TEST(ImagePreparation, ResizesToTheBitsOfPillow) {
  const fs::path folder = test_data() / "data" / "golden_pictures";
  int resizes = 0;
  for (const auto& [key, pixels] : read_safetensors(folder / "golden.safetensors").tensors) {
    if (!key.starts_with("resized/")) continue;
    const bool bilinear = key.find("/bilinear/") != std::string::npos;
    const std::string name = key.substr(8, key.find('/', 8) - 8);
    const Picture picture = resized(read_picture(folder / name, 3), pixels.size(0), pixels.size(1),
                                    bilinear ? Resampling::bilinear : Resampling::bicubic);
    EXPECT_TRUE(std::ranges::equal(picture.bytes, pixels.values<std::uint8_t>())) << key;
    ++resizes;
  }
  EXPECT_EQ(resizes, 12);
}

TEST(ImagePreparation, TakesTheMiddleChannelByChannel) {
  const ImagePreparation preparation{.size = {3, 2, 2}, .shortest_edge = 4};
  EXPECT_EQ(prepared(numbered_picture(4, 7), preparation),
            (std::vector<std::uint8_t>{1, 1, 2, 2, 2, 3, 2, 3, 9, 9, 9, 9}));
  EXPECT_EQ(prepared(numbered_picture(7, 4), preparation),
            (std::vector<std::uint8_t>{2, 2, 3, 3, 1, 2, 1, 2, 9, 9, 9, 9}));
}

TEST(ImagePreparation, ScalesAndNormalizesBytes) {
  ImageSet set =
      image_set({.size = {2, 1, 2}, .rescale_factor = 0.5, .mean = {10, 0}, .deviation = {2, 4}});
  set.bytes = {20, 60, 8, 255, 0, 0, 0, 0};
  EXPECT_EQ(set.count(), 2);
  std::vector<float> values(4);
  set.write(0, values.data());
  EXPECT_EQ(values, (std::vector<float>{0, 10, 1, 31.875f}));
  set.write(1, values.data());
  EXPECT_EQ(values, (std::vector<float>{-5, -5, 0, 0}));
}

TEST(ImagePreparation, RefusesAPictureThatIsALine) {
  Picture line{1, 4'000'000, 3};
  line.bytes.resize(12'000'000);
  expect_user_error("a picture of 1 x 4000000 pixels cannot be made one of 32 x 128000000", [&] {
    prepared(line, {.size = {3, 32, 32}, .shortest_edge = 32});
  });
}

}  // namespace
}  // namespace hone::testing
