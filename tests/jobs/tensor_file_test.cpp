#include "hone/jobs/tensor_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "hone/base/text.h"
#include "hone/tensor/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::floats_of;
using testing::format_called;
using testing::in_fixed_point;
using testing::normal_values;
using testing::quiet_context;

const std::vector<float>& weights() {
  static const std::vector<float> values = normal_values(24, 1.0);
  return values;
}

// Writes a file with tensors of three types.
fs::path file_in(const TemporaryFolder& folder) {
  const fs::path path = folder.path() / "in.safetensors";
  write_safetensors(path,
                    {{"layer.weight", Tensor::of<float>({4, 6}, weights())},
                     {"half.weight", Tensor::of<float>({24}, weights()).cast(DType::f16)},
                     {"count.weight", Tensor::of<std::int64_t>({3}, {1, -2, 1ll << 40})},
                     {"layer.bias", Tensor::of<float>({3}, {0.1f, 1e-30f, -0.3f})},
                     {"constant", Tensor::of<float>({4}, {2, 2, 2, 2})},
                     {"empty", Tensor::empty(DType::f32, {0, 4})}},
                    {{"format", "pt"}, {"by", "hand"}});
  return path;
}

std::vector<QuantizedTensor> quantize(const fs::path& input, const fs::path& output,
                                      const std::string& glob, std::string_view format) {
  return quantize_file(input, output, glob, format_called(format), quiet_context());
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         std::memcmp(a.device_pointer(), b.device_pointer(), a.size_bytes()) == 0;
}

TEST(QuantizeFile, WritesMatchingTensorsRoundedAndOthersAsTheyWere) {
  const TemporaryFolder folder;
  const fs::path input = file_in(folder), output = folder.path() / "out.safetensors";
  const auto results = quantize(input, output, "*.weight", "integer(width=4,frac=2)");
  const Safetensors before = read_safetensors(input), after = read_safetensors(output);
  EXPECT_EQ(after.metadata, before.metadata);
  ASSERT_EQ(after.tensors.size(), 6u);

  EXPECT_EQ(floats_of(after.tensors.at("layer.weight")), in_fixed_point(weights(), 4, 2));
  EXPECT_EQ(after.tensors.at("layer.weight").sizes(), (Sizes{4, 6}));
  // The f16 values are rounded, and the result is stored as fp32.
  const Tensor& half = after.tensors.at("half.weight");
  EXPECT_EQ(half.dtype(), DType::f32);
  const std::vector<float> halves = floats_of(before.tensors.at("half.weight").cast(DType::f32));
  EXPECT_NE(halves, weights());
  EXPECT_EQ(floats_of(half), in_fixed_point(halves, 4, 2));
  for (const char* name : {"count.weight", "layer.bias", "constant", "empty"})
    EXPECT_TRUE(same_bits(before.tensors.at(name), after.tensors.at(name))) << name;

  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].name, "half.weight");
  EXPECT_EQ(results[1].name, "layer.weight");
  EXPECT_EQ(results[1].sizes, (Sizes{4, 6}));
  EXPECT_EQ(results[1].average_bits, 4);
  EXPECT_DOUBLE_EQ(results[1].noise.noise,
                   testing::squared_error(weights(), in_fixed_point(weights(), 4, 2)));
}

TEST(QuantizeFile, CalibratesOnEveryTensor) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "out.safetensors";
  quantize(file_in(folder), output, "layer.bias", "int(bits=3)");
  // multiples of a third of the largest magnitude
  const std::vector<float> bias = floats_of(read_safetensors(output).tensors.at("layer.bias"));
  EXPECT_FLOAT_EQ(bias[0], 0.1f);
  EXPECT_EQ(bias[1], 0);
  EXPECT_FLOAT_EQ(bias[2], -0.3f);
}

TEST(QuantizeFile, MayReplaceItsInputAndMayWriteNothing) {
  const TemporaryFolder folder;
  const fs::path path = file_in(folder);
  const std::string before = read_file(path);
  EXPECT_EQ(quantize(path, "", "*", "bf16").size(), 5u);
  EXPECT_TRUE(read_file(path) == before);
  quantize(path, path, "layer.weight", "integer(width=4,frac=2)");
  EXPECT_EQ(floats_of(read_safetensors(path).tensors.at("layer.weight")),
            in_fixed_point(weights(), 4, 2));
}

TEST(QuantizeFile, NamesWhatThereIsWhenNothingMatches) {
  const TemporaryFolder folder;
  const fs::path input = file_in(folder), output = folder.path() / "out.safetensors";
  for (const char* glob : {"*.wieght", "count.*"}) {
    expect_user_error(
        fmt::format("in.safetensors: no floating-point tensor matches '{}'; it has constant, "
                    "count.weight, empty, half.weight, layer.bias, layer.weight",
                    glob),
        [&] { quantize(input, output, glob, "bf16"); });
  }
  EXPECT_FALSE(fs::exists(output));
}

void draw(const TemporaryFolder& folder, const std::string& tensor, std::string_view format) {
  draw_histogram(file_in(folder), tensor, format_called(format), folder.path() / "figure",
                 quiet_context());
}

TEST(DrawHistogram, WritesShareOfValuesAndTheGridTheyTake) {
  const TemporaryFolder folder;
  draw(folder, "layer.weight", "integer(width=4,frac=0)");
  EXPECT_TRUE(read_file(folder.path() / "figure.png").starts_with("\x89PNG"));
  EXPECT_NE(read_file(folder.path() / "figure.svg").find("</svg>"), std::string::npos);
  std::map<double, double> shares;  // of values that are rounded to each
  for (const float value : in_fixed_point(weights(), 4, 0)) shares[value] += 100 / 24.0;
  // The shares of all bars add up to 100%.
  double all = 0;
  std::map<double, double> drawn;
  for (const std::string& line : split(read_file(folder.path() / "figure.tsv"), '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() < 4 || cells[0] != "1") continue;
    if (cells[1] == "values, in 80 bars") all += std::stod(cells[3]);
    if (cells[1] == fmt::format("rounded, to {} different values", shares.size()))
      drawn[std::stod(cells[2])] = std::stod(cells[3]);
  }
  EXPECT_NEAR(all, 100, 1e-9);
  ASSERT_EQ(drawn.size(), shares.size());
  for (const auto& [value, share] : shares) EXPECT_NEAR(drawn[value], share, 1e-9) << value;
}

TEST(DrawHistogram, RefusesTensorsWithoutAHistogram) {
  const TemporaryFolder folder;
  expect_user_error(
      "the values of constant range from 2 to 2; a histogram needs finite values that differ",
      [&] { draw(folder, "constant", "bf16"); });
  expect_user_error("empty has no values", [&] { draw(folder, "empty", "bf16"); });
  expect_user_error("; did you mean 'layer.weight'?",
                    [&] { draw(folder, "layer.wieght", "bf16"); });
  EXPECT_FALSE(fs::exists(folder.path() / "figure.svg"));
}

}  // namespace
}  // namespace hone
