#include "hone/formats/coded_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hone/formats/packing.h"

namespace hone {
namespace {

using kernels::Int8Rows;
using kernels::Int8Shape;

constexpr int kLowestFall = -120;
constexpr float kOrigin = 0x1.8p23f;  // the initial bits of sums, see `Int8Rows::starts`

// The sizes of one row of a tensor, with the same number of axes.
Sizes one_row(const Sizes& sizes) {
  Sizes row(sizes.size(), 1);
  row.back() = sizes.back();
  return row;
}

// Returns whether values are integers times a scale, with nothing added.
bool are_whole_numbers(const CodeUnits& units) {
  if (units.half || units.shared_zero_points || !units.offsets.empty()) return false;
  const float step = smallest_unit(units);
  return std::ranges::all_of(units.units, [&](float unit) {
    const float code = unit / step;
    return std::isnan(unit) || (code == std::nearbyint(code) && code >= -128 && code <= 127);
  });
}

bool are_powers_of_two(const std::vector<float>& scales) {
  int exponent = 0;
  return !scales.empty() && std::ranges::all_of(scales, [&](float scale) {
    return std::isnan(scale) || std::frexp(scale, &exponent) == 0.5f;
  });
}

struct EncodedRow {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
};

EncodedRow encoded_row(const QuantizerInput& row, std::int64_t blocks) {
  ThreadPool alone(1);
  const PackedLayout layout = packed_layout(row.format, row.sizes, Arrangement::rows);
  const PackedCodes packed = pack(row, layout, alone);
  const CodeUnits units = units_of(row).value();
  const PackedRows read{row, layout, &units, packed.codes.data<std::uint8_t>(),
                        packed.shared.data<std::uint8_t>()};
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(row.sizes.back()));
  kernels::gather_packed_row(layout.matrix, read.codes, 0, codes.data());
  const float step = smallest_unit(units);
  EncodedRow encoded;
  for (const std::uint16_t code : codes)
    encoded.codes.push_back(static_cast<std::int8_t>(std::lround(units.units[code] / step)));
  for (std::int64_t block = 0; block < blocks; ++block)
    encoded.scales.push_back(read.scale(0, block) * step);
  return encoded;
}

bool is_zero(const EncodedRow& row, std::int64_t begin, std::int64_t end) {
  return std::all_of(row.codes.begin() + begin, row.codes.begin() + end,
                     [](std::int8_t code) { return code == 0; });
}

void store_row(EncodedRow row, const Int8Rows& rows, std::int64_t m) {
  const Int8Shape& shape = rows.shape;
  const auto end_of = [&](std::int64_t b) {
    return std::min((b + 1) * shape.block, shape.columns);
  };
  // The scale of an all-zero block is arbitrary, so it does not count.
  int highest = -1000;
  for (std::int64_t b = 0; b < shape.blocks(); ++b)
    if (!is_zero(row, b * shape.block, end_of(b)))
      highest = std::max(highest, std::ilogb(row.scales[static_cast<std::size_t>(b)]));
  if (highest == -1000) highest = std::ilogb(row.scales[0]);
  rows.scales[m] = shape.blocks() == 1
                       ? row.scales[0]
                       : std::ldexp(1.0f, highest);  // block scales are powers of two
  for (std::int64_t b = 0; b < shape.blocks(); ++b) {
    const std::int64_t begin = b * shape.block, end = end_of(b);
    int fall = std::ilogb(row.scales[static_cast<std::size_t>(b)]) - highest;
    if (fall < kLowestFall) std::fill(row.codes.begin() + begin, row.codes.begin() + end, 0);
    if (is_zero(row, begin, end)) fall = 0;
    std::int32_t sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum += row.codes[static_cast<std::size_t>(k)];
    rows.origin(m, b) = std::bit_cast<std::int32_t>(std::ldexp(kOrigin, fall));
    rows.start(m, b) = rows.origin(m, b) - 128 * sum;
  }
  std::int8_t* const codes = rows.codes + m * shape.stride();
  std::fill(std::ranges::copy(row.codes, codes).out, codes + shape.stride(), std::int8_t{0});
}

}  // namespace

Int8Shape coded_rows_shape(const Format& format, const Sizes& sizes) {
  const std::int64_t columns = sizes.back();
  user_check(columns <= kernels::kMaxInt8Columns, "rows of codes have up to {} columns, got {}",
             kernels::kMaxInt8Columns, columns);
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const bool by_row = locality_of(format, rank) != Locality::tensor;
  const std::optional<CodeUnits> units =
      by_row ? units_for_any_state(format, one_row(sizes)) : std::nullopt;
  const bool whole = units && (units->group == 0 || units->group >= columns);
  Int8Shape shape{rows_of(sizes).count, columns, whole || !units ? columns : units->group};
  const bool blocks = units && !whole && shape.block % 16 == 0 &&
                      shape.block <= kernels::kMaxInt8Block && are_powers_of_two(units->scales);
  user_check(units && are_whole_numbers(*units) && (whole || blocks),
             "values of {} along rows of {} are not whole numbers of a byte times a scale per row, "
             "or powers of two per block of 16 to {}",
             to_string(format), columns, kernels::kMaxInt8Block);
  return shape;
}

void encode_rows_reference(const QuantizerInput& input, const Int8Rows& rows) {
  const Int8Shape& shape = rows.shape;
  const Sizes sizes = one_row(input.sizes);
  std::vector<float> rounded(input.x.size());
  input.format.def->quantize_reference(input, rounded);
  for (std::int64_t m = 0; m < shape.rows; ++m) {
    const auto first = static_cast<std::size_t>(m * shape.columns);
    const auto count = static_cast<std::size_t>(shape.columns);
    const bool numbers = std::ranges::all_of(std::span(rounded).subspan(first, count),
                                             [](float value) { return std::isfinite(value); });
    if (numbers) {
      const QuantizerInput row{input.format, sizes, input.x.subspan(first, count), input.state};
      store_row(encoded_row(row, shape.blocks()), rows, m);
    } else {
      const auto blocks = static_cast<std::size_t>(shape.blocks());
      store_row({std::vector<std::int8_t>(count), std::vector<float>(blocks, 1.0f)}, rows, m);
      rows.scales[m] = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

void decode_rows(const Int8Rows& rows, std::span<float> y) {
  const Int8Shape& shape = rows.shape;
  for (std::int64_t m = 0; m < shape.rows; ++m) {
    for (std::int64_t k = 0; k < shape.columns; ++k) {
      const auto origin = std::bit_cast<float>(rows.origin(m, k / shape.block));
      const double power = static_cast<double>(origin) / static_cast<double>(kOrigin);
      const double code = rows.codes[m * shape.stride() + k];
      y[static_cast<std::size_t>(m * shape.columns + k)] =
          static_cast<float>(code * power * static_cast<double>(rows.scales[m]));
    }
  }
}

}  // namespace hone
