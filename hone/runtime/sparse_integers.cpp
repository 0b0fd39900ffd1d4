#include "hone/runtime/sparse_integers.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

// Returns the integer of each code.
std::vector<std::int32_t> whole_numbers(const CodeUnits& units) {
  const float unit = smallest_unit(units);
  std::vector<std::int32_t> values;
  for (const float value : units.units)
    values.push_back(std::isnan(value) ? 0 : static_cast<std::int32_t>(std::lround(value / unit)));
  return values;
}

// Returns whether too few codes are zero for sparse blocks to pay, so that blocks need not be counted. Codes are
// packed bytes or half bytes.
bool has_few_zeros(const SparseSource& source, const std::vector<std::int32_t>& values) {
  const kernels::PackedMatrix& m = source.layout.matrix;
  if (m.bits != 8 && m.bits != 4) return false;
  const auto is_zero = [&](int packed) {
    const auto code = static_cast<std::size_t>(packed ^ m.flip);
    return code < values.size() && values[code] == 0 ? 1 : 0;
  };
  std::int64_t counts[256] = {};
  for (std::int64_t i = 0; i < source.layout.code_bytes; ++i) ++counts[source.packed[i]];
  std::int64_t zeros = 0;
  for (int byte = 0; byte < 256; ++byte)
    zeros += counts[byte] * (m.bits == 8 ? is_zero(byte) : is_zero(byte & 15) + is_zero(byte >> 4));
  // At best, each kept block holds four nonzero codes.
  const kernels::KeptBlocks fewest{.kept = (m.rows * m.columns - zeros + 3) / 4,
                                   .all = m.rows * ((m.columns + 3) / 4)};
  return !fewest.within(source.most);
}

struct CountedIntegers {
  std::vector<std::uint16_t> codes;
  SparseIntegers sparse;  ///< without bytes

  std::size_t size_bytes() const { return kernels::sparse_bytes(sparse.matrix, sparse.entries); }
};

std::optional<CountedIntegers> counted(const SparseSource& source, ThreadPool& pool) {
  const std::vector<std::int32_t> values = whole_numbers(source.units);
  if (has_few_zeros(source, values)) return std::nullopt;
  std::vector<std::uint16_t> codes = element_codes(source.layout, source.packed, pool);
  const bool is_half_byte = std::ranges::all_of(
      codes, [&](std::uint16_t code) { return -8 <= values[code] && values[code] <= 7; });
  const std::int32_t mask = is_half_byte ? 0xf : 0xff;
  for (std::uint16_t& code : codes) code = static_cast<std::uint16_t>(values[code] & mask);
  const kernels::PackedMatrix& m = source.layout.matrix;
  SparseIntegers sparse{.matrix = {m.rows, m.columns, is_half_byte ? 4 : 8}, .bytes = {}};
  const kernels::CountedInt8Blocks count = kernels::count_blocks(pool, sparse.matrix, codes.data());
  if (!count.blocks.within(source.most)) return std::nullopt;
  sparse.entries = count.entries;
  sparse.blocks = count.blocks;
  return CountedIntegers{std::move(codes), std::move(sparse)};
}

}  // namespace

std::optional<SparseIntegers> sparse_integers(const SparseSource& source, ThreadPool& pool) {
  std::optional<CountedIntegers> integers = counted(source, pool);
  if (!integers) return std::nullopt;
  SparseIntegers sparse = std::move(integers->sparse);
  sparse.bytes = cpu().allocate(integers->size_bytes());
  kernels::arrange(pool, sparse.matrix, integers->codes.data(),
                   reinterpret_cast<std::uint8_t*>(sparse.bytes->pointer));
  return sparse;
}

std::optional<SparseIntegersSize> sparse_integers_size(const SparseSource& source,
                                                       ThreadPool& pool) {
  const std::optional<CountedIntegers> integers = counted(source, pool);
  if (!integers) return std::nullopt;
  return SparseIntegersSize{static_cast<std::int64_t>(integers->size_bytes()),
                            integers->sparse.blocks};
}

}  // namespace hone
