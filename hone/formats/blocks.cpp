#include "hone/formats/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/mode.h"
#include "hone/kernels/grain.h"

namespace hone {
namespace {

constexpr std::int64_t kLargestBlock = 1'000'000'000;

std::size_t axis_of(const Format& format, const Sizes& sizes) {
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const std::int64_t axis = format["axis"];
  if (axis < -rank || axis >= rank)
    fail("{}: the tensor ({}) has no axis {}; use one from {} to {}", to_string(format),
         fmt::join(sizes, ","), axis, -rank, rank - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) elements *= size;
  return elements;
}

float at_scale(double value, int exponent) {
  return static_cast<float>(std::ldexp(value, exponent));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The shared code of a NaN block, if the coding has one: all ones.
std::uint32_t shared_nan(const BlockCoding& coding) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << coding.shared_bits) - 1);
}

// Returns whether the block has an exponent. A coding may give finite blocks the code of NaN, too.
bool has_exponent(const BlockCoding& coding, float largest, int& exponent) {
  if (!std::isfinite(largest)) return false;
  exponent = coding.exponent(largest);
  return !coding.has_nan ||
         static_cast<std::uint32_t>(exponent + coding.shared_bias) != shared_nan(coding);
}

// `for_each_block` for the blocks [begin, end).
void for_blocks(const BlockLayout& layout, std::int64_t begin, std::int64_t end, BlockBody body) {
  const kernels::BlockGrid& grid = layout.grid;
  std::vector<std::int64_t> offsets;
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t band = block / grid.blocks_across();
    const std::int64_t matrix = band / grid.blocks_down();
    const std::int64_t first_row = band % grid.blocks_down() * grid.block_rows;
    const std::int64_t first_column = block % grid.blocks_across() * grid.block_columns;
    offsets.clear();
    for (std::int64_t r = first_row; r < std::min(first_row + grid.block_rows, grid.rows); ++r) {
      const std::int64_t row = (matrix * grid.rows + r) * grid.columns;
      const std::int64_t stop = std::min(first_column + grid.block_columns, grid.columns);
      for (std::int64_t c = first_column; c < stop; ++c) offsets.push_back(layout.offset(row + c));
    }
    body(block, offsets);
  }
}

// Calls copy(offset in the tensor, index with the block axis last) for all elements. It handles a few neighbouring
// lines at a time, because their elements share cache lines.
template <typename Copy>
void for_lines(const BlockLayout& layout, ThreadPool& pool, Copy&& copy) {
  constexpr std::int64_t kLines = 16;
  if (layout.elements() == 0) return;
  const std::int64_t lines = layout.elements() / layout.extent;
  const std::int64_t grain = std::max(kLines, kernels::rows_per_chunk(layout.extent));
  parallel_ranges(pool, lines, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end;) {
      const std::int64_t together =
          std::min({kLines, end - first, layout.distance - first % layout.distance});
      const std::int64_t offset = layout.offset(first * layout.extent);
      for (std::int64_t i = 0; i < layout.extent; ++i) {
        for (std::int64_t line = 0; line < together; ++line)
          copy(offset + i * layout.distance + line, (first + line) * layout.extent + i);
      }
      first += together;
    }
  });
}

}  // namespace

FormatParameterDef block_parameter(std::int64_t default_size) {
  return {"block", "elements per block along the axis", 1, kLargestBlock, default_size};
}

FormatParameterDef rows_parameter() {
  return {.name = "rows",
          .summary = "rows per block, along the dimension before the axis",
          .minimum = 1,
          .maximum = kLargestBlock,
          .default_value = 1,
          .tunable = false};
}

FormatParameterDef axis_parameter() {
  return {.name = "axis",
          .summary = "dimension along which blocks extend; negative values count from the end",
          .minimum = -8,
          .maximum = 7,
          .default_value = -1,
          .tunable = false};
}

BlockLayout block_layout(const Format& format, const Sizes& sizes, std::int64_t rows) {
  BlockLayout layout;
  layout.grid = {1, 1, 1, rows, format["block"]};
  if (sizes.empty()) return layout;
  const std::size_t axis = axis_of(format, sizes);
  layout.extent = layout.grid.columns = sizes[axis];
  layout.distance = product(std::span(sizes).subspan(axis + 1));
  Sizes others = sizes;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!others.empty()) {
    layout.grid.rows = others.back();
    layout.grid.matrices = product(std::span(others).first(others.size() - 1));
  }
  return layout;
}

Locality locality_of_blocks(const Format& format, std::int64_t rank) {
  const bool of_one_row =
      std::ranges::none_of(format.def->parameters, [&](const FormatParameterDef& parameter) {
        return parameter.name == "rows" && format["rows"] != 1;
      });
  const bool last = format["axis"] == -1 || format["axis"] == rank - 1;
  return last && of_one_row && !is_mase(format) ? Locality::row : Locality::tensor;
}

BlockLayout flat_block_layout(const Format& format, const Sizes& sizes) {
  BlockLayout layout = block_layout(format, sizes);
  const std::int64_t elements = layout.elements(), block = format["block"];
  if (elements % block != 0)
    fail(
        "{}: the {} elements of the tensor ({}) are not a multiple of the block size; "
        "use a block size that divides them, or the fixed mode",
        to_string(format), elements, fmt::join(sizes, ","));
  layout.grid = {1, 1, elements, 1, block};
  return layout;
}

void for_each_block(const BlockLayout& layout, BlockBody body) {
  for_blocks(layout, 0, layout.blocks(), body);
}

void for_each_block(const BlockLayout& layout, ThreadPool& pool, BlockBody body) {
  const std::int64_t blocks = layout.blocks();
  const std::int64_t size = layout.elements() / std::max<std::int64_t>(1, blocks);
  parallel_ranges(
      pool, blocks, kernels::rows_per_chunk(size),
      [&](std::int64_t begin, std::int64_t end) { for_blocks(layout, begin, end, body); });
}

float largest_magnitude(std::span<const float> x, std::span<const std::int64_t> offsets) {
  float largest = 0;
  for (const std::int64_t i : offsets) {
    const float magnitude = std::fabs(x[static_cast<std::size_t>(i)]);
    if (!(magnitude <= largest)) largest = magnitude;
    if (std::isnan(largest)) break;
  }
  return largest;
}

void with_axis_last(const BlockLayout& layout, ThreadPool& pool, std::span<const float> x,
                    std::span<float> y, FunctionRef<void(const float*, float*)> round) {
  if (layout.distance <= 1) return round(x.data(), y.data());
  std::vector<float> moved(x.size());
  for_lines(layout, pool, [&](std::int64_t here, std::int64_t there) {
    moved[static_cast<std::size_t>(there)] = x[static_cast<std::size_t>(here)];
  });
  round(moved.data(), moved.data());
  for_lines(layout, pool, [&](std::int64_t here, std::int64_t there) {
    y[static_cast<std::size_t>(here)] = moved[static_cast<std::size_t>(there)];
  });
}

CodeLayout code_layout(const BlockLayout& layout, const BlockCoding& coding) {
  return {coding.element_bits, coding.shared_bits, layout.blocks()};
}

void quantize_by_coding(const BlockLayout& layout, const BlockCoding& coding, ThreadPool& pool,
                        std::span<const float> x, std::span<float> y) {
  for_each_block(layout, pool, [&](std::int64_t, std::span<const std::int64_t> offsets) {
    int k = 0;
    const bool numbers = has_exponent(coding, largest_magnitude(x, offsets), k);
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      const double relative = std::ldexp(static_cast<double>(x[i]), -k);
      y[i] = numbers ? at_scale(coding.value(coding.code(relative, k)), k) : kNan;
    }
  });
}

Codes encode_by_coding(const Format& format, const BlockLayout& layout, const BlockCoding& coding,
                       std::span<const float> x) {
  Codes codes{std::vector<std::uint32_t>(x.size(), 0), {}};
  for_each_block(layout, [&](std::int64_t, std::span<const std::int64_t> offsets) {
    int k = 0;
    const float largest = largest_magnitude(x, offsets);
    const bool numbers = has_exponent(coding, largest, k);
    check_has_code(format, numbers || coding.has_nan, largest);
    codes.shared.push_back(numbers ? static_cast<std::uint32_t>(k + coding.shared_bias)
                                   : shared_nan(coding));
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      if (numbers) codes.elements[i] = coding.code(std::ldexp(static_cast<double>(x[i]), -k), k);
    }
  });
  return codes;
}

void decode_by_coding(const BlockLayout& layout, const BlockCoding& coding, const Codes& codes,
                      std::span<float> y) {
  for_each_block(layout, [&](std::int64_t block, std::span<const std::int64_t> offsets) {
    const std::uint32_t shared = codes.shared[static_cast<std::size_t>(block)];
    const bool numbers = !coding.has_nan || shared != shared_nan(coding);
    const int k = static_cast<int>(shared) - coding.shared_bias;
    for (const std::int64_t offset : offsets) {
      const auto i = static_cast<std::size_t>(offset);
      y[i] = numbers ? at_scale(coding.value(codes.elements[i]), k) : kNan;
    }
  });
}

std::optional<CodeUnits> units_by_coding(const BlockLayout& layout, const BlockCoding& coding) {
  constexpr int kMostSharedBits = 8;
  const bool end_with_rows =
      layout.extent == layout.grid.columns || layout.extent % layout.grid.block_columns == 0;
  const bool of_one_row = layout.distance == 1 &&
                          (layout.grid.block_rows == 1 || layout.grid.rows == 1) && end_with_rows;
  if (!of_one_row || coding.shared_bits > kMostSharedBits || coding.element_bits > kMostUnitBits)
    return std::nullopt;
  CodeUnits units{
      .units = {}, .group = std::min(layout.grid.block_columns, layout.grid.columns), .scales = {}};
  for (std::uint32_t code = 0; code < 1u << coding.element_bits; ++code) {
    const double value = coding.value(code);
    units.units.push_back(static_cast<float>(value));
    if (!std::isnan(value) && static_cast<double>(units.units.back()) != value) return std::nullopt;
  }
  for (std::uint32_t shared = 0; shared < 1u << coding.shared_bits; ++shared) {
    const int k = static_cast<int>(shared) - coding.shared_bias;
    if (coding.has_nan && shared == shared_nan(coding)) {
      units.scales.push_back(kNan);
    } else if (k >= -149 && k <= 127) {
      units.scales.push_back(std::ldexp(1.0f, k));
    } else {
      return std::nullopt;
    }
  }
  return units;
}

std::string block_objection(const Observation& seen, const MagnitudeRange& range,
                            std::string_view parameter, std::string_view better) {
  const double median = seen.count() == 0 ? 0 : seen.magnitude_quantile(0.5);
  const bool vanish = range.smallest > median;
  if (median == 0 || (!vanish && range.highest >= median)) return "";
  return fmt::format(
      "{} makes {} the {} magnitude, but the median magnitude of the values is "
      "{:.3g}, so most of them would be {}; use {}",
      parameter, vanish ? range.smallest : range.highest, vanish ? "smallest" : "largest", median,
      vanish ? "rounded to zero or up to it" : "clipped to it", better);
}

std::uint32_t small_float_code(const SmallFloat& format, double x) {
  const double magnitude = std::min(std::fabs(x), format.highest);
  const int exponent =
      magnitude == 0 ? format.min_exponent : std::max(std::ilogb(magnitude), format.min_exponent);
  // Steps of that binade, counted from 2^mantissa_bits for normal numbers. Codes of consecutive numbers are
  // consecutive, so a carry into the next binade needs no special case.
  const double steps = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const auto field = static_cast<std::uint32_t>(exponent - format.min_exponent);
  const std::uint32_t code = (field << format.mantissa_bits) + static_cast<std::uint32_t>(steps);
  return with_sign(code, x, format.exponent_bits + format.mantissa_bits);
}

double small_float_value(const SmallFloat& format, std::uint32_t code) {
  const int bits = format.exponent_bits + format.mantissa_bits;
  const std::uint32_t leading = 1u << format.mantissa_bits;
  const std::uint32_t fraction = code & (leading - 1);
  const std::uint32_t field = (code & ((1u << bits) - 1)) >> format.mantissa_bits;
  const std::uint32_t steps = field == 0 ? fraction : fraction + leading;
  const int binade = format.min_exponent + static_cast<int>(std::max(field, 1u)) - 1;
  return signed_by_code(std::ldexp(steps, binade - format.mantissa_bits), code, bits);
}

std::uint32_t with_sign(std::uint32_t magnitude, double x, int bits) {
  return magnitude | (std::signbit(x) ? 1u << bits : 0u);
}

double signed_by_code(double magnitude, std::uint32_t code, int bits) {
  return (code >> bits & 1u) != 0 ? -magnitude : magnitude;
}

}  // namespace hone
