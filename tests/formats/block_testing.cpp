#include "tests/formats/block_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/random.h"
#include "tests/formats/formats_testing.h"

namespace hone::testing {
namespace {

// Returns a magnitude in about [2^-12, 2).
double magnitude_of_run(RandomSequence& random) {
  const double power = std::exp2(-static_cast<double>(random.below(12)));
  switch (random.below(6)) {
    case 0:
      return power * static_cast<double>(random.below(512)) / 256;  // ties
    case 1:
      return power * (2 - std::exp2(-static_cast<double>(random.below(24)))) / 2;
    case 2:
      return power;
    case 3:
      return power * (1 + std::exp2(-static_cast<double>(random.below(24))));
    default:
      return power * (1 + random.uniform());
  }
}

}  // namespace

std::vector<float> values_in_runs(std::size_t count, int run, int spread) {
  RandomSequence random(1, stream_of("values in runs"));
  std::vector<float> values;
  double scale = 1;
  while (values.size() < count) {
    if (values.size() % static_cast<std::size_t>(run) == 0) {
      const auto exponent = static_cast<double>(random.below(2 * spread + 1)) - spread;
      scale = random.below(10) == 0 ? 0 : std::exp2(exponent);
    }
    const double sign = random.below(2) == 0 ? 1 : -1;
    const double size = random.below(20) == 0 ? 0 : magnitude_of_run(random) * scale;
    values.push_back(static_cast<float>(sign * std::min(size, 3.4028234663852886e38)));
  }
  return values;
}

std::vector<float> any_values_in_runs(std::size_t count, int run) {
  std::vector<float> values = values_in_runs(count, run, 130);
  const float special[] = {INFINITY, -INFINITY, NAN, 1e-45f, 3.4028235e38f};
  RandomSequence random(2, stream_of("values in runs"));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (random.below(200) == 0) values[i] = special[i % std::size(special)];
  return values;
}

void check_fast_in_blocks(std::string_view format, int block) {
  for (const Sizes& sizes : std::vector<Sizes>{{},
                                               {1},
                                               {5},
                                               {16},
                                               {1003},
                                               {37, 53},
                                               {64, 64},
                                               {3, 5, 19},
                                               {2, 7, 33},
                                               {2, 0},
                                               {0, 3}}) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    const std::vector<float> x = any_values_in_runs(count, block);
    const std::vector<float> tame = values_in_runs(count, block, 20);
    check_fast(format, x, sizes);
    check_fast(format, tame, sizes);
  }
  const Format parsed = format_of(format);
  const std::vector<float> scalar = {1.3f};
  std::vector<float> y = {0};
  ThreadPool alone(1);
  parsed.def->quantize({parsed, {}, scalar, {}}, alone, y);
  EXPECT_EQ(y, by_reference(format, scalar, {1})) << format << " of no dimensions";
  check_fast(format, any_values_in_runs(40 * 1000, block), {40, 1000});
}

void check_axis(std::string_view format) {
  constexpr std::int64_t rows = 37, columns = 21;
  const std::vector<float> x = values_in_runs(rows * columns, 5, 8);
  std::vector<float> transposed;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r)
      transposed.push_back(x[static_cast<std::size_t>(r * columns + c)]);
  const std::string along_rows = fmt::format("{},axis=0)", format.substr(0, format.size() - 1));
  const std::vector<float> y = by_reference(along_rows, x, {rows, columns});
  const std::vector<float> expected = by_reference(format, transposed, {columns, rows});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_TRUE(same(y[static_cast<std::size_t>(r * columns + c)],
                       expected[static_cast<std::size_t>(c * rows + r)]))
          << along_rows << " at " << r << ", " << c;
  check_fast(along_rows, any_values_in_runs(rows * columns, 7), {rows, columns});
  check_fast(fmt::format("{},axis=1)", format.substr(0, format.size() - 1)),
             any_values_in_runs(3 * 20 * 7, 7), {3, 20, 7});
}

std::vector<float> floats_of_bits(const std::vector<std::string>& bits) {
  std::vector<float> values;
  for (const std::string& text : bits) {
    values.push_back(text == "nan" ? NAN
                                   : std::bit_cast<float>(static_cast<std::uint32_t>(
                                         std::stoul(text, nullptr, 16))));
  }
  return values;
}

}  // namespace hone::testing
