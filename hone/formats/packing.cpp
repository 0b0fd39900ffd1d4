#include "hone/formats/packing.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/groups.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scalar/half.h"
#include "hone/kernels/scratch.h"

namespace hone {
namespace {

constexpr int kMostElementBits = 16;

std::int64_t bytes_of_bits(std::int64_t bits) { return (bits + 7) / 8; }

// 1, 2 or 4 bytes per shared code, or 3 for a scale and a zero point.
std::int64_t bytes_of_shared(const CodeLayout& codes) {
  if (codes.half_scales) return bytes_of_bits(codes.shared_bits);
  return codes.shared_bits <= 8 ? 1 : codes.shared_bits <= 16 ? 2 : 4;
}

// Reads a shared code stored in sequential order.
std::uint32_t shared_code(const CodeLayout& codes, const std::uint8_t* packed, std::int64_t index) {
  const std::int64_t width = bytes_of_shared(codes);
  std::uint32_t code = 0;
  for (std::int64_t byte = 0; byte < width; ++byte)
    code |= static_cast<std::uint32_t>(packed[index * width + byte]) << (8 * byte);
  return code;
}

std::vector<std::uint32_t> shared_codes(const PackedLayout& layout, const std::uint8_t* packed,
                                        ThreadPool& pool) {
  const auto count = static_cast<std::size_t>(layout.codes.shared_count);
  std::vector<std::uint8_t> in_order;
  if (layout.scale_blocks > 0) {
    const std::int64_t width = bytes_of_shared(layout.codes);
    in_order.resize(count * static_cast<std::size_t>(width));
    kernels::restore_scales(pool, layout.matrix.rows, layout.scale_blocks * width, packed,
                            in_order.data());
    packed = in_order.data();
  }
  std::vector<std::uint32_t> shared(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    shared[i] = shared_code(layout.codes, packed, static_cast<std::int64_t>(i));
  return shared;
}

void store_shared(const PackedLayout& layout, const std::vector<std::uint32_t>& shared,
                  ThreadPool& pool, std::uint8_t* packed) {
  const auto width = static_cast<std::size_t>(bytes_of_shared(layout.codes));
  std::vector<std::uint8_t> bytes;
  bytes.reserve(shared.size() * width);
  for (const std::uint32_t code : shared)
    for (std::size_t byte = 0; byte < width; ++byte)
      bytes.push_back(static_cast<std::uint8_t>(code >> (8 * byte)));
  if (layout.scale_blocks == 0) {
    std::ranges::copy(bytes, packed);
    return;
  }
  kernels::arrange_scales(pool, layout.matrix.rows,
                          layout.scale_blocks * static_cast<std::int64_t>(width), bytes.data(),
                          packed);
}

std::int64_t groups_in_row(const CodeUnits& units, std::int64_t columns) {
  return (columns + units.group - 1) / units.group;
}

}  // namespace

std::string_view to_string(Arrangement arrangement) {
  return arrangement == Arrangement::panels ? "panels" : "rows";
}

Arrangement parse_arrangement(std::string_view word) {
  for (const Arrangement arrangement : kArrangements)
    if (word == to_string(arrangement)) return arrangement;
  fail("unknown arrangement '{}' of packed codes; expected panels or rows", word);
}

std::int64_t PackedLayout::code_bytes_without_padding() const {
  return bytes_of_bits(matrix.rows * matrix.columns * codes.element_bits);
}

std::int64_t PackedLayout::bytes_without_padding() const {
  return code_bytes_without_padding() + bytes_of_bits(codes.shared_count * codes.shared_bits);
}

std::string packing_objection(const Format& format, const Sizes& sizes) {
  const int bits = format.def->layout(format, sizes).element_bits;
  if (bits <= kMostElementBits) return "";
  return fmt::format("{} has no packed form: its codes have {} bits, and packing supports up to {}",
                     to_string(format), bits, kMostElementBits);
}

PackedLayout packed_layout(const Format& format, const Sizes& sizes, Arrangement arrangement) {
  const std::string objection = packing_objection(format, sizes);
  user_check(objection.empty(), "{}", objection);
  const CodeLayout codes = format.def->layout(format, sizes);
  const Rows rows = rows_of(sizes);
  const int sign = codes.twos_complement ? 1 << (codes.element_bits - 1) : 0;
  PackedLayout layout{
      .matrix = {rows.count, rows.columns, codes.element_bits, static_cast<std::uint16_t>(sign)},
      .arrangement = arrangement,
      .codes = codes};
  const bool panels = arrangement == Arrangement::panels;
  layout.code_bytes = static_cast<std::int64_t>(panels ? kernels::packed_bytes(layout.matrix)
                                                       : kernels::packed_rows_bytes(layout.matrix));
  const bool by_rows =
      rows.count > 0 && codes.shared_count % rows.count == 0 && format.def->units != nullptr &&
      locality_of(format, static_cast<std::int64_t>(sizes.size())) == Locality::row;
  layout.scale_bytes = bytes_of_shared(codes);
  if (panels && by_rows && codes.shared_count > 0 && (codes.shared_bits <= 8 || codes.half_scales))
    layout.scale_blocks = codes.shared_count / rows.count;
  layout.shared_bytes = layout.scale_blocks > 0
                            ? static_cast<std::int64_t>(kernels::packed_scale_bytes(
                                  rows.count, layout.scale_blocks * layout.scale_bytes))
                            : codes.shared_count * layout.scale_bytes;
  return layout;
}

PackedCodes pack(const QuantizerInput& input, const PackedLayout& layout, ThreadPool& pool) {
  const Codes codes = input.format.def->encode(input);
  PackedCodes packed{Tensor::empty(DType::u8, {layout.code_bytes}),
                     Tensor::empty(DType::u8, {layout.shared_bytes})};
  const std::vector<std::uint16_t> elements(codes.elements.begin(), codes.elements.end());
  auto* const to = packed.codes.data<std::uint8_t>();
  if (layout.arrangement == Arrangement::panels)
    kernels::arrange(pool, layout.matrix, elements.data(), to);
  else
    kernels::arrange_rows(pool, layout.matrix, elements.data(), to);
  store_shared(layout, codes.shared, pool, packed.shared.data<std::uint8_t>());
  return packed;
}

void unpack(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
            ThreadPool& pool, std::span<float> y) {
  const auto* const bytes = packed.codes.data<std::uint8_t>();
  const auto* const shared = packed.shared.data<std::uint8_t>();
  if (const std::optional<CodeUnits> units = units_of(input))
    return PackedRows{input, layout, &*units, bytes, shared}.read(pool, 0, layout.matrix.rows,
                                                                  y.data());
  const std::vector<std::uint16_t> elements = element_codes(layout, bytes, pool);
  const Codes codes{{elements.begin(), elements.end()}, shared_codes(layout, shared, pool)};
  input.format.def->decode(input, codes, y);
}

std::vector<std::uint16_t> element_codes(const PackedLayout& layout, const std::uint8_t* packed,
                                         ThreadPool& pool) {
  const kernels::PackedMatrix& m = layout.matrix;
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(m.rows * m.columns));
  if (layout.arrangement == Arrangement::panels) {
    kernels::restore(pool, m, packed, codes.data());
  } else {
    parallel_ranges(pool, m.rows, kernels::rows_per_chunk(m.columns),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row)
                        kernels::gather_packed_row(m, packed, row, codes.data() + row * m.columns);
                    });
  }
  return codes;
}

std::optional<CodeUnits> units_for_any_state(const Format& format, const Sizes& sizes) {
  std::vector<Tensor> state;
  for (const FormatStateDef& def : states_of(format)) {
    Sizes own = def.sizes;
    if (def.per_row) own.insert(own.begin(), rows_of(sizes).count);
    state.push_back(Tensor::zeros(DType::f32, own));
  }
  return units_of({format, sizes, {}, state});
}

float smallest_unit(const CodeUnits& units) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const float unit : units.units)
    if (unit != 0) smallest = std::fmin(smallest, std::fabs(unit));
  return smallest;
}

namespace {

bool is_decoded_by_rows(const Format& format, std::int64_t rank) {
  return format.def->locality != nullptr && format.def->locality(format, rank) != Locality::tensor;
}

}  // namespace

bool has_rows(const Format& format, const Sizes& sizes) {
  return units_for_any_state(format, sizes) ||
         is_decoded_by_rows(format, static_cast<std::int64_t>(sizes.size()));
}

float PackedRows::scale(std::int64_t row, std::int64_t block) const {
  if (layout.codes.shared_count == 0)
    return units->scales[static_cast<std::size_t>(group_of(row, block))];
  if (layout.codes.half_scales) return scalar::half_value(shared_of(row, block) & 0xffff);
  const std::uint32_t code = shared_of(row, units->shared_zero_points ? 2 * block : block);
  return units->scales.empty() ? float_value(code) : units->scales[code];
}

float PackedRows::offset(std::int64_t row, std::int64_t block) const {
  if (units->shared_zero_points) {
    // A damaged zero point must be a code, too.
    const auto last = static_cast<float>(units->units.size() - 1);
    if (layout.codes.half_scales)
      return -std::min(static_cast<float>(shared_of(row, block) >> 16), last);
    return -std::clamp(std::nearbyint(float_value(shared_of(row, 2 * block + 1))), 0.0f, last);
  }
  return units->offsets.empty() ? 0
                                : units->offsets[static_cast<std::size_t>(group_of(row, block))];
}

// `index` counts within the row, or within the tensor if there is only one group.
std::uint32_t PackedRows::shared_of(std::int64_t row, std::int64_t index) const {
  if (layout.scale_blocks > 0) {
    constexpr std::int64_t kRows = kernels::kPackedRows;
    const std::uint8_t* const bytes =
        shared + kRows * layout.scale_bytes * (row / kRows * layout.scale_blocks + index) +
        row % kRows;
    std::uint32_t code = 0;
    for (std::int64_t byte = 0; byte < layout.scale_bytes; ++byte)
      code |= static_cast<std::uint32_t>(bytes[kRows * byte]) << (8 * byte);
    return code;
  }
  const bool of_all = units != nullptr && units->group == 0;
  const std::int64_t each = of_all ? 0 : layout.codes.shared_count / layout.matrix.rows;
  return shared_code(layout.codes, shared, row * each + index);
}

std::int64_t PackedRows::group_of(std::int64_t row, std::int64_t block) const {
  return units->group == 0 ? 0 : row * groups_in_row(*units, layout.matrix.columns) + block;
}

void PackedRows::multiply(std::int64_t row, const std::uint16_t* row_codes, float* y) const {
  const std::int64_t columns = layout.matrix.columns;
  if (units->half) return kernels::half_to_float(*units->half, columns, row_codes, y);
  const std::int64_t group = units->group == 0 ? columns : units->group;
  const float* const values = units->units.data();
  const bool adds = units->shared_zero_points || !units->offsets.empty();
  for (std::int64_t first = 0, block = 0; first < columns; first += group, ++block) {
    const float by = scale(row, block), more = offset(row, block);
    const std::int64_t end = std::min(first + group, columns);
    for (std::int64_t column = first; column < end; ++column) y[column] = values[row_codes[column]];
    if (adds)
      for (std::int64_t column = first; column < end; ++column) y[column] += more;
    if (units->divides)
      for (std::int64_t column = first; column < end; ++column) y[column] /= by;
    else
      for (std::int64_t column = first; column < end; ++column) y[column] *= by;
  }
}

// Decodes the rows as a tensor of their own.
void PackedRows::decode(std::int64_t begin, std::int64_t count,
                        std::span<const std::uint16_t> row_codes, float* y) const {
  const Format& format = input.format;
  const std::int64_t rows = layout.matrix.rows, columns = layout.matrix.columns;
  Codes some{{row_codes.begin(), row_codes.end()}, {}};
  const std::int64_t each = layout.codes.shared_count / rows;
  for (std::int64_t row = begin; row < begin + count; ++row)
    for (std::int64_t i = 0; i < each; ++i) some.shared.push_back(shared_of(row, i));
  const std::vector<FormatStateDef> defs = states_of(format);
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < defs.size(); ++i) {
    const Tensor& all = input.state[i];
    if (!defs[i].per_row) {
      state.push_back(all);
      continue;
    }
    Sizes own = all.sizes();
    const std::int64_t width = all.count() / own[0];
    own[0] = count;
    const auto values = all.values<float>().subspan(static_cast<std::size_t>(begin * width),
                                                    static_cast<std::size_t>(count * width));
    state.push_back(Tensor::of<float>(own, {values.begin(), values.end()}));
  }
  format.def->decode({format, {count, columns}, {}, state}, some,
                     {y, static_cast<std::size_t>(count * columns)});
}

void PackedRows::gather(std::int64_t row, std::span<std::uint16_t> row_codes, float* y) const {
  kernels::gather_packed_row(layout.matrix, codes, row, row_codes.data());
  if (units != nullptr)
    multiply(row, row_codes.data(), y);
  else
    decode(row, 1, row_codes, y);
}

void PackedRows::read(ThreadPool& pool, std::int64_t begin, std::int64_t count, float* y) const {
  // Several panels at a time, so that their codes stay in the cache.
  const std::int64_t columns = layout.matrix.columns;
  const std::int64_t chunk = (kernels::rows_per_chunk(columns) + kernels::kPackedRows - 1) /
                             kernels::kPackedRows * kernels::kPackedRows;
  parallel_ranges(pool, count, chunk, [&](std::int64_t from, std::int64_t to) {
    static thread_local kernels::Scratch scratch;
    const auto count = static_cast<std::size_t>((to - from) * columns);
    const std::span<std::uint16_t> elements(scratch.codes(count), count);
    if (layout.arrangement == Arrangement::panels) {
      kernels::PackedMatrix part = layout.matrix;
      part.rows = to - from;
      kernels::PackedMatrix before = layout.matrix;
      before.rows = begin + from;
      kernels::restore(pool, part, codes + kernels::packed_bytes(before), elements.data());
    } else {
      for (std::int64_t row = from; row < to; ++row)
        kernels::gather_packed_row(layout.matrix, codes, begin + row,
                                   elements.data() + (row - from) * columns);
    }
    if (units == nullptr) return decode(begin + from, to - from, elements, y + from * columns);
    for (std::int64_t row = from; row < to; ++row)
      multiply(begin + row, elements.data() + (row - from) * columns, y + row * columns);
  });
}

namespace {

void check_values(const QuantizerInput& input, const PackedLayout& layout,
                  const PackedCodes& packed, ThreadPool& pool) {
  const std::int64_t columns = layout.matrix.columns;
  std::vector<float> values(static_cast<std::size_t>(layout.matrix.rows * columns));
  unpack(input, layout, packed, pool, values);
  const auto odd = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (odd == values.end()) return;
  const std::int64_t at = odd - values.begin();
  fail(
      "row {}, column {}: the value is {}; the file is damaged, or was packed from "
      "weights that are not numbers",
      at / columns, at % columns, *odd);
}

// The bytes of a shared code may have room for codes that the format does not have.
void check_shared(const QuantizerInput& input, const PackedLayout& layout,
                  const PackedCodes& packed, ThreadPool& pool) {
  const int bits = layout.codes.shared_bits;
  if (layout.codes.shared_count == 0 || bits == 8 * layout.scale_bytes) return;
  const auto shared = shared_codes(layout, packed.shared.data<std::uint8_t>(), pool);
  const auto odd =
      std::ranges::find_if(shared, [&](std::uint32_t code) { return code >> bits != 0; });
  if (odd == shared.end()) return;
  const std::int64_t at = odd - shared.begin();
  const std::int64_t per_row = std::max<std::int64_t>(1, std::ssize(shared) / layout.matrix.rows);
  fail("row {}, block {}: {} has no shared code {}; the file is damaged", at / per_row,
       at % per_row, to_string(input.format), *odd);
}

}  // namespace

void check_codes(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
                 ThreadPool& pool) {
  check_shared(input, layout, packed, pool);
  const std::optional<CodeUnits> units = units_of(input);
  if (!units) return check_values(input, layout, packed, pool);
  if (units->half) {
    // The padding is 0.
    const auto* const bytes = packed.codes.data<std::uint8_t>();
    if (kernels::all_finite(pool, *units->half, layout.code_bytes / 2, bytes)) return;
    return check_values(input, layout, packed, pool);
  }
  const std::int64_t columns = layout.matrix.columns;
  float largest = 0;
  bool any_nan = false;
  for (const float unit : units->units) {
    any_nan = any_nan || std::isnan(unit);
    largest = std::fmax(largest, std::fabs(unit));
  }
  if (any_nan) {
    const auto codes = element_codes(layout, packed.codes.data<std::uint8_t>(), pool);
    for (std::size_t i = 0; i < codes.size(); ++i)
      user_check(!std::isnan(units->units[codes[i]]),
                 "row {}, column {}: {} has no value for the code {}; the file is damaged",
                 static_cast<std::int64_t>(i) / columns, static_cast<std::int64_t>(i) % columns,
                 to_string(input.format), codes[i]);
  }
  // A scale of the whole tensor is read with the first row.
  const PackedRows rows{input, layout, &*units, packed.codes.data<std::uint8_t>(),
                        packed.shared.data<std::uint8_t>()};
  const std::int64_t row_count =
      units->group == 0 ? std::min<std::int64_t>(layout.matrix.rows, 1) : layout.matrix.rows;
  const std::int64_t per_row = units->group == 0 ? 1 : groups_in_row(*units, columns);
  bool may_be_infinite = false;
  for (std::int64_t row = 0; row < row_count; ++row) {
    for (std::int64_t block = 0; block < per_row; ++block) {
      const float scale = rows.scale(row, block);
      user_check(std::isfinite(scale),
                 "row {}, block {}: the scale is {}; the file is damaged, or was packed from "
                 "weights that are not numbers",
                 row, block, scale);
      const float most = largest + std::fabs(rows.offset(row, block));
      may_be_infinite =
          may_be_infinite || !std::isfinite(units->divides ? most / scale : most * scale);
    }
  }
  if (may_be_infinite) check_values(input, layout, packed, pool);
}

}  // namespace hone
