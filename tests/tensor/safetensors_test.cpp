#include "hone/tensor/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kGolden = test_data() / "frontends" / "golden";

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(rest);
}

// Returns a file with this header and `data_bytes` zeros.
std::string file_of(std::string_view header, std::size_t data_bytes) {
  return with_length(header.size(), header) + std::string(data_bytes, '\0');
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

void expect_refused(std::string_view fragment, std::string_view bytes) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("x.safetensors", bytes);
  const std::string message = user_error_of([&] { read_safetensors(path); });
  EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
  EXPECT_NE(message.find(fragment), std::string::npos)
      << "expected '" << fragment << "' in: " << message;
}

std::vector<double> as_doubles(const Tensor& tensor) {
  const Tensor wide = tensor.cast(DType::f64);
  return {wide.values<double>().begin(), wide.values<double>().end()};
}

TEST(Safetensors, ReadsEveryElementTypeOfTheReferenceWriter) {
  const Safetensors file = read_safetensors(kGolden / "tensors" / "plain.safetensors");
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file.tensors.size(), std::size(kDTypes) + 2);
  for (const DTypeInfo& row : kDTypes) {
    const Tensor& tensor = file.tensors.at(std::string(row.name));
    EXPECT_EQ(tensor.dtype(), row.dtype);
    EXPECT_EQ(tensor.sizes(), (Sizes{2, 3}));
    const bool boolean = row.dtype == DType::boolean;
    EXPECT_EQ(as_doubles(tensor), boolean ? (std::vector<double>{0, 1, 0, 1, 0, 1})
                                          : (std::vector<double>{0, 1, 2, 3, 4, 5}))
        << row.name;
  }
  EXPECT_EQ(as_doubles(file.tensors.at("scalar")), std::vector<double>{3.5});
  EXPECT_EQ(file.tensors.at("scalar").rank(), 0);
  EXPECT_EQ(file.tensors.at("empty").sizes(), (Sizes{0, 4}));
}

TEST(Safetensors, ReturnsWhatWasWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.safetensors";
  const Tensor whole = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorMap tensors = {{"a", Tensor::of<bool>({3}, {true, false, true})},
                             {"b \"quoted\" \u00e4", Tensor::of<std::int64_t>({1}, {-7})},
                             {"strided", whole.transpose({1, 0})},
                             {"none", Tensor::of<float>({0}, {})}};
  write_safetensors(path, tensors, {{"format", "pt"}, {"key", "value"}});
  const Safetensors read = read_safetensors(path);
  EXPECT_EQ(read.metadata.at("key"), "value");
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.tensors.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_EQ(read.tensors.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_EQ(as_doubles(read.tensors.at(name)), as_doubles(tensor)) << name;
  }
}

TEST(Safetensors, WritesEveryTensorAligned) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.safetensors";
  write_safetensors(path,
                    {{"a", Tensor::of<bool>({1}, {true})},
                     {"b", Tensor::of<double>({1}, {0.5})},
                     {"c", Tensor::of<float>({1}, {2})},
                     {"d", Tensor::zeros(DType::u8, {2, 64})},
                     {"e", Tensor::zeros(DType::f32, {16})}},
                    {});
  for (const auto& [name, tensor] : read_safetensors(path).tensors) {
    constexpr std::size_t kLine = 64;
    const std::size_t alignment =
        tensor.size_bytes() % kLine == 0 ? kLine : info(tensor.dtype()).size_bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.device_pointer()) % alignment, 0u) << name;
    EXPECT_TRUE(tensor.storage()->read_only) << name << " was copied";
  }
}

TEST(Safetensors, TensorsOutliveTheFileTheyView) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.safetensors";
  std::vector<float> values(100'000);
  std::iota(values.begin(), values.end(), 0.f);
  write_safetensors(path, {{"x", Tensor::of<float>({100'000}, values)}}, {});
  const Tensor x = read_safetensors(path).tensors.at("x");
  write_safetensors(path, {{"x", Tensor::of<float>({1}, {-1})}}, {});
  EXPECT_TRUE(std::equal(values.begin(), values.end(), x.values<float>().begin()));
}

TEST(Safetensors, CopiesWhatIsNotAligned) {
  const TemporaryFolder folder;
  const std::string header =
      "{" + entry("byte", "U8", "[1]", "[0,1]") + "," + entry("x", "F32", "[1]", "[1,5]") + "}";
  std::string bytes = with_length(header.size(), header) + "\x07";
  const float value = 1.25f;
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  const Safetensors file = read_safetensors(folder.file("x.safetensors", bytes));
  EXPECT_EQ(file.tensors.at("x").values<float>()[0], value);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.tensors.at("x").device_pointer()) % 4, 0u);
  EXPECT_EQ(file.tensors.at("byte").values<std::uint8_t>()[0], 7);
}

TEST(Safetensors, RefusesHeadersThatDoNotFit) {
  expect_refused("8 bytes of header length, the file has 3", "abc");
  expect_refused("8 bytes of header length, the file has 0", "");
  expect_refused("header of at most 100000000 bytes, its length says 18446744073709551615",
                 with_length(~0ull, "{}"));
  expect_refused("the header has 3 bytes, only 2 follow", with_length(3, "{}"));
  expect_refused("begins with '{'", with_length(2, "[]"));
  expect_refused("begins with '{'", with_length(0, ""));
  expect_refused("malformed JSON", with_length(2, "{,"));
  expect_refused("malformed JSON", with_length(8, R"({"a":1e9)"));
  expect_refused("nested deeper", file_of(R"({"x":{"shape":[[1]]}})", 0));
}

TEST(Safetensors, RefusesNumbersBeyondAllRange) {
  expect_refused("malformed JSON", file_of("{" + entry("x", "F32", "[1e999]", "[0,4]") + "}", 4));
  expect_refused("whole numbers from 0 in shape, got 9223372036854775808",
                 file_of("{" + entry("x", "F32", "[9223372036854775808]", "[0,4]") + "}", 4));
  expect_refused("tensor 'x': shape [4294967296, 4294967296] is too large",
                 file_of("{" + entry("x", "F32", "[4294967296,4294967296]", "[0,0]") + "}", 0));
  expect_refused("is too large",
                 file_of("{" + entry("x", "F32", "[0,4294967296,4294967296]", "[0,0]") + "}", 0));
  expect_refused("whole numbers from 0 in shape, got -1",
                 file_of("{" + entry("x", "F32", "[-1,-1]", "[0,4]") + "}", 4));
  expect_refused("whole numbers from 0 in shape, got 1.0",
                 file_of("{" + entry("x", "F32", "[1.0]", "[0,4]") + "}", 4));
}

TEST(Safetensors, RefusesDimensionsWithoutEnd) {
  std::string ones = "[1";
  for (int i = 1; i < 9; ++i) ones += ",1";
  expect_refused("tensor 'x': expected at most 8 numbers in shape, got 9",
                 file_of("{" + entry("x", "F32", ones + "]", "[0,4]") + "}", 4));
}

TEST(Safetensors, RefusesEntriesThatContradictThemselves) {
  expect_refused("tensor 'x': f32 of shape [2] has 8 bytes, data_offsets [0, 4] span 4",
                 file_of("{" + entry("x", "F32", "[2]", "[0,4]") + "}", 4));
  expect_refused("[begin, end] as data_offsets, got [4, 0]",
                 file_of("{" + entry("x", "F32", "[1]", "[4,0]") + "}", 4));
  expect_refused("[begin, end] as data_offsets, got [0]",
                 file_of("{" + entry("x", "F32", "[1]", "[0]") + "}", 4));
  expect_refused("dtype F8_E4M3 is not supported; supported are F32, F16",
                 file_of("{" + entry("x", "F8_E4M3", "[1]", "[0,1]") + "}", 1));
  expect_refused("data_offsets is missing", file_of(R"({"x":{"dtype":"F32","shape":[1]}})", 4));
  expect_refused("expected dtype, shape and data_offsets", file_of(R"({"x":3})", 0));
  expect_refused("__metadata__: expected a string for 'a', got number",
                 file_of(R"({"__metadata__":{"a":1}})", 0));
}

TEST(Safetensors, RefusesHolesOverlapsAndLeftovers) {
  const std::string first = "{" + entry("x", "F32", "[1]", "[0,4]") + ",";
  expect_refused("tensor 'y': expected its data at byte 4, where the one before ends, got 8",
                 file_of(first + entry("y", "F32", "[1]", "[8,12]") + "}", 12));
  expect_refused("tensor 'y': expected its data at byte 4, where the one before ends, got 0",
                 file_of(first + entry("y", "F32", "[1]", "[0,4]") + "}", 4));
  expect_refused("the tensors take 8 bytes, the file holds 7",
                 file_of(first + entry("y", "F32", "[1]", "[4,8]") + "}", 7));
  expect_refused("the tensors take 8 bytes, the file holds 9",
                 file_of(first + entry("y", "F32", "[1]", "[4,8]") + "}", 9));
  expect_refused("names tensor 'x' twice",
                 file_of(first + entry("x", "F32", "[1]", "[0,4]") + "}", 4));
}

TEST(Safetensors, RefusesBooleansThatAreNeither) {
  const std::string header = "{" + entry("x", "BOOL", "[2]", "[0,2]") + "}";
  expect_refused("tensor 'x': a boolean must be 0 or 1, byte 1 of its storage is 2",
                 with_length(header.size(), header) + std::string("\x01\x02", 2));
}

TEST(Safetensors, RefusesReservedNamesWhenWriting) {
  const TemporaryFolder folder;
  expect_user_error("cannot be called __metadata__", [&] {
    write_safetensors(folder.path() / "x", {{"__metadata__", Tensor::scalar(1.f)}}, {});
  });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Safetensors, NoTruncationIsAccepted) {
  const std::string whole = read_file(kGolden / "tensors" / "plain.safetensors");
  const TemporaryFolder folder;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const fs::path path = folder.file("x.safetensors", std::string_view(whole).substr(0, length));
    EXPECT_THROW(read_safetensors(path), UserError) << length << " bytes";
  }
}

TEST(Safetensors, HiddenFilesLeaveNothingBehind) {
  const TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const TensorMap tensors = {{"w", Tensor::of<float>({2, 2}, {1, 2, 3, 4})}};
  const TensorMap placed = in_unlinked_file(tensors);
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_TRUE(placed.at("w").storage()->mapped);
  EXPECT_TRUE(std::ranges::equal(placed.at("w").values<float>(), tensors.at("w").values<float>()));
}

}  // namespace
}  // namespace hone
