#include "hone/runtime/sparse_integers.h"

#include <algorithm>
#include <cmath>

namespace hone {

std::optional<SparseIntegers> sparse_integers(const PackedLayout& layout, const CodeUnits& units,
                                              const std::uint8_t* packed, double most,
                                              ThreadPool& pool) {
  const float unit = smallest_unit(units);
  std::vector<std::int32_t> values;
  for (const float value : units.units)
    values.push_back(std::isnan(value) ? 0 : static_cast<std::int32_t>(std::lround(value / unit)));
  std::vector<std::uint16_t> codes = element_codes(layout, packed, pool);
  const bool is_half_byte = std::ranges::all_of(
      codes, [&](std::uint16_t code) { return -8 <= values[code] && values[code] <= 7; });
  const std::int32_t mask = is_half_byte ? 0xf : 0xff;
  for (std::uint16_t& code : codes) code = static_cast<std::uint16_t>(values[code] & mask);
  const kernels::PackedMatrix& m = layout.matrix;
  SparseIntegers sparse{.matrix = {m.rows, m.columns, is_half_byte ? 4 : 8}, .bytes = {}};
  sparse.entries = kernels::count_entries(pool, sparse.matrix, codes.data());
  const std::int64_t blocks = std::max<std::int64_t>(1, m.rows * sparse.matrix.quads());
  sparse.stored = static_cast<double>(sparse.entries) / static_cast<double>(blocks);
  if (sparse.stored > most) return std::nullopt;
  sparse.bytes = cpu().allocate(kernels::sparse_bytes(sparse.matrix, sparse.entries));
  kernels::arrange(pool, sparse.matrix, codes.data(),
                   reinterpret_cast<std::uint8_t*>(sparse.bytes->pointer));
  return sparse;
}

}  // namespace hone
