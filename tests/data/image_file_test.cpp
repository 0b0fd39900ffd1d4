#include "hone/data/image_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Pictures of tools/golden/pictures.py, with Pillow's results.
namespace hone::testing {
namespace {

const fs::path kPictures = test_data() / "data" / "golden_pictures";

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  return bytes;
}

// Returns a PNG with another size in its header and a valid checksum.
std::string with_png_size(std::string png, std::uint32_t width, std::uint32_t height) {
  constexpr std::size_t kName = 12, kSize = kName + 4, kEnd = kName + 17;
  png.replace(kSize, 8, big_endian(width) + big_endian(height));
  const auto* name = reinterpret_cast<const Bytef*>(png.data() + kName);
  png.replace(kEnd, 4, big_endian(static_cast<std::uint32_t>(crc32(0, name, kEnd - kName))));
  return png;
}

TEST(ImageFile, HasThePixelsOfPillow) {
  int pictures = 0;
  for (const auto& [key, pixels] : read_safetensors(kPictures / "golden.safetensors").tensors) {
    if (key.starts_with("resized/") || key.starts_with("processed/")) continue;
    const bool grey = key.ends_with("/grey");
    const std::string name = key.substr(0, key.find('/'));
    const Picture picture = read_picture(kPictures / name, grey ? 1 : 3);
    EXPECT_EQ(picture.height, pixels.size(0)) << key;
    EXPECT_EQ(picture.width, pixels.size(1)) << key;
    EXPECT_TRUE(std::ranges::equal(picture.bytes, pixels.values<std::uint8_t>())) << key;
    ++pictures;
  }
  EXPECT_GE(pictures, 19);
}

TEST(ImageFile, RefusesWhatIsTruncated) {
  for (const char* name : {"rgb.png", "tall.jpg", "progressive.jpg", "palette.png"}) {
    const std::string whole = read_file(kPictures / name);
    EXPECT_NO_THROW(decode_picture(whole, 3)) << name;
    for (std::size_t size = 0; size < whole.size(); size += size + 40 < whole.size() ? 13 : 1)
      EXPECT_THROW(decode_picture(whole.substr(0, size), 3), UserError) << name << " of " << size;
  }
}

// Every chunk of a PNG has a checksum. A JPEG has none, so any data that decodes is accepted.
TEST(ImageFile, RefusesWhatIsDamaged) {
  const std::string png = read_file(kPictures / "rgb.png");
  for (std::size_t at = 0; at < png.size(); at += 11) {
    std::string damaged = png;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_THROW(decode_picture(damaged, 3), UserError) << at;
  }
  const std::string jpeg = read_file(kPictures / "tall.jpg");
  int refused = 0;
  for (std::size_t at = 0; at < jpeg.size(); at += 3) {
    std::string damaged = jpeg;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    try {
      const Picture picture = decode_picture(damaged, 3);
      EXPECT_EQ(picture.bytes.size(), static_cast<std::size_t>(picture.height * picture.width * 3));
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST(ImageFile, RefusesTooManyPixelsBeforeItTakesMemory) {
  const std::string png = read_file(kPictures / "rgb.png");
  expect_user_error("a picture of 100000 x 100000 pixels; expected 1 to 89478485 pixels",
                    [&] { decode_picture(with_png_size(png, 100000, 100000), 3); });
  expect_user_error("a picture of 2000000000 x 2000000000 pixels",
                    [&] { decode_picture(with_png_size(png, 2000000000, 2000000000), 3); });
}

TEST(ImageFile, NamesTheFileAndWhatIsWrongWithIt) {
  expect_user_error("cmyk.jpg: a JPEG of four colours (CMYK); expected three, or brightness",
                    [] { read_picture(kPictures / "cmyk.jpg", 3); });
  expect_user_error("golden.safetensors: not an image; expected a PNG or a JPEG",
                    [] { read_picture(kPictures / "golden.safetensors", 3); });
  expect_user_error("rgb.png: pictures have 3 channels or 1, the model reads 2",
                    [] { read_picture(kPictures / "rgb.png", 2); });
  expect_user_error("none.png", [] { read_picture(kPictures / "none.png", 3); });
}

TEST(ImageFile, IsToldByItsName) {
  for (const char* name : {"a.png", "b/c.JPG", "d.e.Jpeg"}) EXPECT_TRUE(is_picture_name(name));
  for (const char* name : {"", "png", "a.png.txt", "a.gif", "a film"})
    EXPECT_FALSE(is_picture_name(name)) << name;
}

}  // namespace
}  // namespace hone::testing
