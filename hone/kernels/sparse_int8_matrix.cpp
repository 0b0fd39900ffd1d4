#include "hone/kernels/sparse_int8_matrix.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "hone/base/error.h"
#include "hone/kernels/int8_residues.h"

namespace hone::kernels {
namespace {

constexpr int kQuad = 4;
/// Largest magnitude of the sum of a pair of codes.
constexpr int kMaxPair = 128;
constexpr std::int64_t kMaxEntries = (std::int64_t{1} << 32) - 1;

void check(const SparseInt8Matrix& matrix) {
  HONE_ASSERT(matrix.rows >= 0 && matrix.columns >= 0, "a sparse matrix of {} x {}", matrix.rows,
              matrix.columns);
  HONE_ASSERT(matrix.bits == 8 || matrix.bits == 4, "a sparse matrix of {} bits", matrix.bits);
}

std::int64_t code_bytes(const SparseInt8Matrix& matrix) { return matrix.bits / 2; }

// Offsets of the arrays of `SparseLists`, and the end of the last one.
struct Parts {
  std::int64_t sums, counts, outputs, codes, quads, end;

  Parts(const SparseInt8Matrix& matrix, std::int64_t entries) {
    sums = matrix.cells() * static_cast<std::int64_t>(sizeof(std::uint32_t));
    counts =
        sums + matrix.groups() * kSparseOutputs * static_cast<std::int64_t>(sizeof(std::int32_t));
    outputs =
        counts + matrix.cells() * kSparseOutputs * static_cast<std::int64_t>(sizeof(std::uint16_t));
    codes = outputs + matrix.cells() * kSparseOutputs;
    quads = codes + entries * code_bytes(matrix);
    end = quads + entries;
  }
};

std::int64_t entries_of(const SparseInt8Matrix& matrix, const std::uint8_t* bytes) {
  if (matrix.cells() == 0) return 0;
  return reinterpret_cast<const std::uint32_t*>(bytes)[matrix.cells() - 1];
}

bool is_zero(const FourCodes& quad) {
  return std::all_of(quad.codes, quad.codes + kQuad, [](int code) { return code == 0; });
}

// Moves the codes that exceed the limit of their pairs into a second quad, which is returned.
FourCodes split(FourCodes& quad) {
  FourCodes second{};
  for (const int pair : {0, 2}) {
    if (std::abs(quad.codes[pair] + quad.codes[pair + 1]) > kMaxPair)
      std::swap(quad.codes[pair + 1], second.codes[pair + 1]);
  }
  return second;
}

// Calls body(quad within the panel, its codes) for the entries of the row `codes` (K) in a panel.
template <typename Body>
void for_entries(const SparseInt8Matrix& matrix, std::int64_t panel, const std::uint16_t* codes,
                 Body&& body) {
  const std::int64_t first = panel * matrix.panel_quads();
  const std::int64_t end = std::min(first + matrix.panel_quads(), matrix.quads());
  for (std::int64_t q = first; q < end; ++q) {
    FourCodes quad{};
    for (std::int64_t k = kQuad * q; k < std::min(kQuad * q + kQuad, matrix.columns); ++k) {
      const int low = codes[k] << (16 - matrix.bits);
      quad.codes[k % kQuad] =
          static_cast<std::int8_t>(static_cast<std::int16_t>(low) >> (16 - matrix.bits));
    }
    if (is_zero(quad)) continue;
    const FourCodes second = split(quad);
    body(q - first, quad);
    if (!is_zero(second)) body(q - first, second);
  }
}

template <typename Body>
void for_groups(ThreadPool& pool, const SparseInt8Matrix& matrix, Body&& body) {
  parallel_ranges(pool, matrix.groups(), rows_per_chunk(kSparseOutputs * matrix.columns),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t group = begin; group < end; ++group) body(group);
                  });
}

struct GroupCount {
  std::vector<std::uint16_t> entries;  ///< (panels, 64): of the lists of all its cells, by output
  std::int64_t blocks = 0;             ///< nonzero ones
};

GroupCount count_group(const SparseInt8Matrix& matrix, std::int64_t group,
                       const std::uint16_t* codes) {
  GroupCount count{
      std::vector<std::uint16_t>(static_cast<std::size_t>(matrix.panels() * kSparseOutputs))};
  for (std::int64_t o = 0; o < matrix.outputs(group); ++o) {
    for (std::int64_t p = 0; p < matrix.panels(); ++p) {
      std::int64_t last = -1;
      for_entries(matrix, p, codes + (group * kSparseOutputs + o) * matrix.columns,
                  [&](std::int64_t quad, FourCodes) {
                    ++count.entries[p * kSparseOutputs + o];
                    if (quad != std::exchange(last, quad)) ++count.blocks;
                  });
    }
  }
  return count;
}

void put_codes(int bits, FourCodes quad, std::uint8_t* to) {
  if (bits == 8) {
    std::memcpy(to, quad.codes, sizeof(quad));
    return;
  }
  for (int j = 0; j < kQuad; j += 2)
    to[j / 2] = static_cast<std::uint8_t>((quad.codes[j] & 15) | (quad.codes[j + 1] & 15) << 4);
}

FourCodes codes_at(const SparseInt8Matrix& matrix, const SparseLists& lists, std::int64_t entry) {
  FourCodes quad;
  if (matrix.bits == 4) {
    for (int j = 0; j < kQuad; ++j) {
      const int code = lists.codes[2 * entry + j / 2] >> j % 2 * 4 & 15;
      quad.codes[j] = static_cast<std::int8_t>((code ^ 8) - 8);
    }
    return quad;
  }
  std::memcpy(quad.codes, lists.codes + kQuad * entry, sizeof(quad));
  return quad;
}

std::int64_t first_entry(const SparseLists& lists, std::int64_t cell) {
  return cell == 0 ? 0 : lists.ends[cell - 1];
}

// Writes a cell; `ends` are already stored.
void arrange_cell(const SparseInt8Matrix& matrix, std::int64_t cell, const std::uint16_t* by_output,
                  const std::uint16_t* codes, std::uint8_t* bytes) {
  const Parts parts(matrix, entries_of(matrix, bytes));
  const auto* const ends = reinterpret_cast<const std::uint32_t*>(bytes);
  auto* const counts = reinterpret_cast<std::uint16_t*>(bytes + parts.counts);
  const std::int64_t group = cell / matrix.panels(), panel = cell % matrix.panels();
  std::array<std::uint8_t, kSparseOutputs> order;
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return by_output[a] > by_output[b]; });
  std::int64_t entry = cell == 0 ? 0 : ends[cell - 1];
  for (std::int64_t i = 0; i < kSparseOutputs; ++i) {
    const std::int64_t o = order[static_cast<std::size_t>(i)], row = group * kSparseOutputs + o;
    bytes[parts.outputs + cell * kSparseOutputs + i] = static_cast<std::uint8_t>(o);
    counts[cell * kSparseOutputs + i] = by_output[o];
    if (by_output[o] == 0) continue;
    for_entries(matrix, panel, codes + row * matrix.columns, [&](std::int64_t q, FourCodes quad) {
      put_codes(matrix.bits, quad, bytes + parts.codes + entry * code_bytes(matrix));
      bytes[parts.quads + entry++] = static_cast<std::uint8_t>(q);
    });
  }
}

// Calls body(output of the group, quad within the panel, its codes) for the entries of a cell.
template <typename Body>
void for_cell(const SparseInt8Matrix& matrix, const SparseLists& lists, std::int64_t cell,
              Body&& body) {
  std::int64_t entry = first_entry(lists, cell);
  for (std::int64_t i = cell * kSparseOutputs; i < (cell + 1) * kSparseOutputs; ++i) {
    for (std::int64_t end = entry + lists.counts[i]; entry < end; ++entry)
      body(std::int64_t{lists.outputs[i]}, std::int64_t{lists.quads[entry]},
           codes_at(matrix, lists, entry));
  }
}

// Returns the sums of the codes of the outputs of a group.
std::array<std::int32_t, kSparseOutputs> sums_of(const SparseInt8Matrix& matrix,
                                                 const SparseLists& lists, std::int64_t group) {
  std::array<std::int32_t, kSparseOutputs> sums{};
  for (std::int64_t p = 0; p < matrix.panels(); ++p) {
    for_cell(matrix, lists, group * matrix.panels() + p,
             [&](std::int64_t output, std::int64_t, FourCodes quad) {
               for (const std::int8_t code : quad.codes)
                 sums[static_cast<std::size_t>(output)] += code;
             });
  }
  return sums;
}

}  // namespace

SparseLists sparse_lists(const SparseInt8Matrix& matrix, const std::uint8_t* bytes) {
  const Parts parts(matrix, entries_of(matrix, bytes));
  return {reinterpret_cast<const std::uint32_t*>(bytes),
          reinterpret_cast<const std::int32_t*>(bytes + parts.sums),
          reinterpret_cast<const std::uint16_t*>(bytes + parts.counts),
          bytes + parts.outputs,
          bytes + parts.codes,
          bytes + parts.quads};
}

CountedInt8Blocks count_blocks(ThreadPool& pool, const SparseInt8Matrix& matrix,
                               const std::uint16_t* codes) {
  check(matrix);
  std::vector<CountedInt8Blocks> groups(static_cast<std::size_t>(matrix.groups()));
  for_groups(pool, matrix, [&](std::int64_t group) {
    const GroupCount count = count_group(matrix, group, codes);
    CountedInt8Blocks& counted = groups[static_cast<std::size_t>(group)];
    counted.blocks.kept = count.blocks;
    counted.entries = std::accumulate(count.entries.begin(), count.entries.end(), std::int64_t{0});
  });
  CountedInt8Blocks all{.blocks = {.all = matrix.rows * matrix.quads()}};
  for (const CountedInt8Blocks& group : groups) {
    all.blocks.kept += group.blocks.kept;
    all.entries += group.entries;
  }
  return all;
}

std::size_t sparse_bytes(const SparseInt8Matrix& matrix, std::int64_t entries) {
  check(matrix);
  return static_cast<std::size_t>(Parts(matrix, entries).end);
}

void arrange(ThreadPool& pool, const SparseInt8Matrix& matrix, const std::uint16_t* codes,
             std::uint8_t* bytes) {
  check(matrix);
  const std::int64_t cells = matrix.cells();
  if (cells == 0) {
    std::fill_n(bytes, sparse_bytes(matrix, 0), std::uint8_t{0});
    return;
  }
  std::vector<std::vector<std::uint16_t>> counts(static_cast<std::size_t>(matrix.groups()));
  for_groups(pool, matrix, [&](std::int64_t group) {
    counts[static_cast<std::size_t>(group)] = count_group(matrix, group, codes).entries;
  });
  const auto of_cell = [&](std::int64_t cell) {
    return counts[static_cast<std::size_t>(cell / matrix.panels())].data() +
           cell % matrix.panels() * kSparseOutputs;
  };
  auto* const ends = reinterpret_cast<std::uint32_t*>(bytes);
  std::int64_t entries = 0;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    entries = std::accumulate(of_cell(cell), of_cell(cell) + kSparseOutputs, entries);
    HONE_ASSERT(entries <= kMaxEntries, "a sparse matrix of {} entries", entries);
    ends[cell] = static_cast<std::uint32_t>(entries);
  }
  const SparseLists lists = sparse_lists(matrix, bytes);
  auto* const sums = reinterpret_cast<std::int32_t*>(bytes + Parts(matrix, entries).sums);
  for_groups(pool, matrix, [&](std::int64_t group) {
    for (std::int64_t p = 0; p < matrix.panels(); ++p) {
      const std::int64_t cell = group * matrix.panels() + p;
      arrange_cell(matrix, cell, of_cell(cell), codes, bytes);
    }
    const auto group_sums = sums_of(matrix, lists, group);
    std::copy(group_sums.begin(), group_sums.end(), sums + group * kSparseOutputs);
  });
}

}  // namespace hone::kernels
