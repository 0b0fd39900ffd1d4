#include "hone/tensor/bitmaps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Returns `count` bytes. Every `period`-th word differs from `fill`.
Tensor repeating(std::int64_t count, std::int64_t word, std::int64_t period, std::uint8_t fill) {
  Tensor tensor = Tensor::empty(DType::u8, {count});
  for (std::int64_t i = 0; i < count; ++i)
    tensor.data<std::uint8_t>()[i] =
        i / word % period == 0 ? static_cast<std::uint8_t>(fill + 1 + i % 100) : fill;
  return tensor;
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.device_pointer()), tensor.size_bytes()};
}

TEST(Bitmaps, RestoreTheSameBytesOfWordsOfEverySize) {
  for (const std::int64_t word : {1, 2, 4}) {
    for (const std::int64_t count : {4096, 4096 + 8, 4097}) {
      for (const int fill : {0, 128, 255}) {
        const Tensor given = repeating(count, word, 5, static_cast<std::uint8_t>(fill));
        Safetensors file{{{"w", given}}, {{"format", "pt"}}};
        const std::size_t saved = store_bitmaps(file);
        // A fifth of the words is stored, plus a bit for each word. If the word size does not divide the tensor, a
        // smaller one is used.
        const double share = 0.8 - 1.0 / static_cast<double>(8 * word);
        if (count % word == 0) {
          EXPECT_NEAR(static_cast<double>(saved), static_cast<double>(count) * share, 8);
        }
        ASSERT_FALSE(file.tensors.contains("w"));
        EXPECT_EQ(saved, given.size_bytes() - file.tensors.at("w.bitmap").size_bytes() -
                             file.tensors.at("w.words").size_bytes());
        EXPECT_EQ(restore_bitmaps(file), saved);
        EXPECT_EQ(bytes_of(file.tensors.at("w")), bytes_of(given));
        EXPECT_EQ(file.tensors.size(), 1u);
        EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
      }
    }
  }
}

// Four neighbouring columns of 4-bit codes are halves of four bytes.
TEST(Bitmaps, LeaveOutQuadsOfHalfBytes) {
  Tensor given = Tensor::empty(DType::u8, {4096 + 3});
  for (std::int64_t i = 0; i < given.count(); ++i) {
    const std::int64_t quad = i / 4;
    const auto low = quad % 5 == 0 ? 1 + i % 7 : 8, high = quad % 5 == 2 ? 9 + i % 6 : 8;
    given.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(low | high << 4);
  }
  Safetensors file{{{"w", given}}, {}};
  // A fifth of the two-byte words is stored, plus a bit for each. The last three bytes use one-byte words.
  EXPECT_GT(static_cast<double>(store_bitmaps(file)), 4096 * (0.8 - 1.0 / 8) - 16);
  restore_bitmaps(file);
  EXPECT_EQ(bytes_of(file.tensors.at("w")), bytes_of(given));
}

TEST(Bitmaps, KeepTypeShapeAndNegativeZeros) {
  Tensor given = Tensor::zeros(DType::f32, {40, 50});
  given.data<float>()[7] = -0.0f;
  given.data<float>()[1999] = 3;
  Safetensors file{{{"w", given}}, {}};
  EXPECT_GT(store_bitmaps(file), 0u);
  restore_bitmaps(file);
  const Tensor& again = file.tensors.at("w");
  EXPECT_EQ(again.dtype(), DType::f32);
  EXPECT_EQ(again.sizes(), (Sizes{40, 50}));
  EXPECT_EQ(bytes_of(again), bytes_of(given));
}

TEST(Bitmaps, LeaveTensorsThatTheyDoNotMakeSmaller) {
  Tensor dense = Tensor::empty(DType::u8, {4096});
  for (std::int64_t i = 0; i < dense.count(); ++i)
    dense.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  Safetensors file{{{"dense", dense},
                    {"few", Tensor::zeros(DType::f32, {32})},
                    {"none", Tensor::zeros(DType::f32, {0, 4})}},
                   {}};
  EXPECT_EQ(store_bitmaps(file), 0u);
  EXPECT_EQ(file.tensors.size(), 3u);
  EXPECT_TRUE(file.metadata.empty());
  EXPECT_EQ(restore_bitmaps(file), 0u);
}

TEST(Bitmaps, LeaveTensorsWhoseNamesAreTaken) {
  Safetensors file{
      {{"w", Tensor::zeros(DType::f32, {1000})}, {"w.words", Tensor::of<float>({1}, {1})}}, {}};
  EXPECT_EQ(store_bitmaps(file), 0u);
}

TEST(Bitmaps, AreRefusedWhereTheyDoNotFit) {
  const auto expect_refused = [](std::string_view fragment, auto&& change) {
    Safetensors file{{{"w", repeating(4096, 4, 5, 0)}}, {}};
    store_bitmaps(file);
    change(file);
    expect_user_error(fragment, [&] { restore_bitmaps(file); });
  };
  const auto words_less = [](Safetensors& file) {
    Tensor& words = file.tensors.at("w.words");
    words = words.slice(0, 0, words.count() - 4);
  };
  expect_refused("tensor 'w': its bitmap names", words_less);
  expect_refused("tensor 'w': its bitmap names", [](Safetensors& file) {
    file.tensors.at("w.bitmap").data<std::uint8_t>()[3] ^= 1;
  });
  expect_refused("tensor 'w': expected 128 bytes in its bitmap", [](Safetensors& file) {
    Tensor& bitmap = file.tensors.at("w.bitmap");
    bitmap = bitmap.slice(0, 0, 64);
  });
  expect_refused("expected a list of bytes 'w.words'",
                 [](Safetensors& file) { file.tensors.erase("w.words"); });
  expect_refused("is stored twice", [](Safetensors& file) {
    file.tensors.emplace("w", Tensor::zeros(DType::f32, {1}));
  });
  const auto listed = [&](std::string_view fragment, const char* text) {
    expect_refused(fragment, [&](Safetensors& file) { file.metadata["bitmaps"] = text; });
  };
  listed("expected an object", "[1]");
  listed("expected `dtype`", R"({"w":{"dtype":"u8"}})");
  listed("do not make up its shape",
         R"({"w":{"dtype":"u8","shape":[4096],"word":3,"fill":0,"halves":false}})");
  listed("do not make up its shape",
         R"({"w":{"dtype":"u8","shape":[-1],"word":4,"fill":0,"halves":false}})");
  listed(
      "do not make up its shape",
      R"({"w":{"dtype":"u8","shape":[4611686018427387904,64],"word":4,"fill":0,"halves":false}})");
  listed("do not make up its shape",
         R"({"w":{"dtype":"u8","shape":[1,1,1,1,1,1,1,1,4096],"word":4,"fill":0,"halves":false}})");
  listed("bytes in its bitmap",
         R"({"w":{"dtype":"u8","shape":[8192],"word":4,"fill":0,"halves":false}})");
}

}  // namespace
}  // namespace hone
