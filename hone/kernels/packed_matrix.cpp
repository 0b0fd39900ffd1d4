#include "hone/kernels/packed_matrix.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"

namespace hone::kernels {
namespace {

constexpr std::int64_t kUnitBytes = 128;
constexpr std::int64_t kTogether = 4;  // neighbouring bytes of a row in a unit
constexpr int kMaxBits = 16;

void check(const PackedMatrix& matrix) {
  HONE_ASSERT(matrix.rows >= 0 && matrix.columns >= 0, "a packed matrix of {} x {}", matrix.rows,
              matrix.columns);
  HONE_ASSERT(matrix.bits >= 1 && matrix.bits <= kMaxBits, "a packed matrix of {} bits",
              matrix.bits);
  HONE_ASSERT(matrix.flip >> matrix.bits == 0, "{} inverts more than {} bits", matrix.flip,
              matrix.bits);
}

std::int64_t panels_of(std::int64_t rows) { return ceil_div(rows, kPackedRows); }

std::int64_t panel_bytes(const PackedMatrix& matrix) {
  return packed_columns(matrix) * kPackedRows * matrix.bits / 8;
}

// Calls body(plane, first byte) for the planes of a panel.
template <typename Byte, typename Body>
void for_planes(const PackedMatrix& matrix, Byte* panel, Body&& body) {
  const std::int64_t elements = packed_columns(matrix) * kPackedRows;
  for (const BitPlane& plane : bit_planes(matrix.bits)) {
    body(plane, panel);
    panel += elements * plane.bits / 8;
  }
}

// Calls body(first byte, first bit, column) for the columns of the row of a plane whose first byte is `row_begin`.
template <typename Byte, typename Body>
void for_columns(const BitPlane& plane, std::int64_t columns, Byte* row_begin, Body&& body) {
  if (plane.bits == 16) {
    for (std::int64_t column = 0; column < columns; ++column)
      body(row_begin + column / 2 * kUnitBytes + column % 2 * 2, 0, column);
    return;
  }
  const std::int64_t parts = 8 / plane.bits;
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int64_t quad = column / kTogether;
    body(row_begin + quad / parts * kUnitBytes + column % kTogether,
         static_cast<int>(quad % parts) * plane.bits, column);
  }
}

// Stores `part` of a plane in the bits of `bytes` from `shift` on, which are 0.
void put(const BitPlane& plane, int part, int shift, std::uint8_t* bytes) {
  bytes[0] = static_cast<std::uint8_t>(bytes[0] | part << shift);
  if (plane.bits == 16) bytes[1] = static_cast<std::uint8_t>(part >> 8);
}

// Padding columns and rows get the code 0.
void arrange_panel(const PackedMatrix& matrix, std::int64_t first, const std::uint16_t* codes,
                   std::uint8_t* panel) {
  std::fill_n(panel, panel_bytes(matrix), std::uint8_t{0});
  for_planes(matrix, panel, [&](const BitPlane& plane, std::uint8_t* bytes) {
    const int mask = (1 << plane.bits) - 1;
    for (std::int64_t r = 0; r < kPackedRows; ++r) {
      const bool exists = first + r < matrix.rows;
      const std::uint16_t* const row = codes + (first + r) * matrix.columns;
      for_columns(plane, packed_columns(matrix), bytes + r * kTogether,
                  [&](std::uint8_t* at, int shift, std::int64_t column) {
                    const int code = exists && column < matrix.columns ? row[column] : 0;
                    put(plane, (code ^ matrix.flip) >> plane.shift & mask, shift, at);
                  });
    }
  });
}

// Adds the bits of one plane of kBits bits to the codes of the rows of a panel. The width is a template parameter for
// speed, since products of some formats restore weights in every call.
template <int kBits>
void restore_plane(int shift, std::int64_t rows, std::int64_t columns, const std::uint8_t* plane,
                   std::uint16_t* codes) {
  constexpr int kParts = 8 / kBits, kMask = (1 << kBits) - 1;
  const auto restore_quad = [&](const std::uint8_t* bytes, int part, std::int64_t count,
                                std::uint16_t* to) {
    for (std::int64_t j = 0; j < count; ++j)
      to[j] = static_cast<std::uint16_t>(to[j] ^ (bytes[j] >> part * kBits & kMask) << shift);
  };
  for (std::int64_t column = 0; column < columns; plane += kUnitBytes) {
    for (int part = 0; part < kParts && column < columns; ++part, column += kTogether) {
      std::uint16_t* const to = codes + column;
      if (column + kTogether <= columns) {
        for (std::int64_t r = 0; r < rows; ++r)
          restore_quad(plane + r * kTogether, part, kTogether, to + r * columns);
      } else {
        for (std::int64_t r = 0; r < rows; ++r)
          restore_quad(plane + r * kTogether, part, columns - column, to + r * columns);
      }
    }
  }
}
template <>
void restore_plane<16>(int /*shift*/, std::int64_t rows, std::int64_t columns,
                       const std::uint8_t* plane, std::uint16_t* codes) {
  for (std::int64_t r = 0; r < rows; ++r, plane += kTogether, codes += columns) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::uint8_t* const at = plane + column / 2 * kUnitBytes + column % 2 * 2;
      codes[column] = static_cast<std::uint16_t>(codes[column] ^ (at[0] | at[1] << 8));
    }
  }
}

void restore_panel(const PackedMatrix& matrix, std::int64_t first, const std::uint8_t* panel,
                   std::uint16_t* codes) {
  const std::int64_t rows = std::min(kPackedRows, matrix.rows - first), columns = matrix.columns;
  std::uint16_t* const to = codes + first * columns;
  std::fill_n(to, rows * columns, matrix.flip);
  for_planes(matrix, panel, [&](const BitPlane& plane, const std::uint8_t* bytes) {
    if (plane.bits == 16) restore_plane<16>(plane.shift, rows, columns, bytes, to);
    if (plane.bits == 8) restore_plane<8>(plane.shift, rows, columns, bytes, to);
    if (plane.bits == 4) restore_plane<4>(plane.shift, rows, columns, bytes, to);
    if (plane.bits == 2) restore_plane<2>(plane.shift, rows, columns, bytes, to);
    if (plane.bits == 1) restore_plane<1>(plane.shift, rows, columns, bytes, to);
  });
}

// Calls body(panel, first row) for all panels, in parallel.
template <typename Body>
void for_panels(ThreadPool& pool, std::int64_t rows, std::int64_t row_elements, Body&& body) {
  const std::int64_t grain = rows_per_chunk(kPackedRows * row_elements);
  parallel_ranges(pool, panels_of(rows), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) body(panel, panel * kPackedRows);
  });
}

std::int64_t bytes_of_row(const BitPlane& plane, std::int64_t columns) {
  return ceil_div(columns * plane.bits, 8);
}

// Adds the bits of one plane of kBits bits to the codes of a row. The width is a template parameter for speed, since a
// model looks up a row for every token.
template <int kBits>
void take_plane(int shift, std::int64_t columns, const std::uint8_t* plane, std::uint16_t* codes) {
  constexpr int kParts = 8 / kBits, kMask = (1 << kBits) - 1;
  const auto take = [&](std::int64_t column, int part) {
    codes[column] = static_cast<std::uint16_t>(codes[column] ^ (part & kMask) << shift);
  };
  const std::int64_t whole = columns / kParts;
  for (std::int64_t i = 0; i < whole; ++i) {
    for (int q = 0; q < kParts; ++q) take(i * kParts + q, plane[i] >> q * kBits);
  }
  for (std::int64_t column = whole * kParts; column < columns; ++column)
    take(column, plane[whole] >> column % kParts * kBits);
}
template <>
void take_plane<16>(int /*shift*/, std::int64_t columns, const std::uint8_t* plane,
                    std::uint16_t* codes) {
  for (std::int64_t column = 0; column < columns; ++column) {
    const int code = plane[2 * column] | plane[2 * column + 1] << 8;
    codes[column] = static_cast<std::uint16_t>(codes[column] ^ code);
  }
}

}  // namespace

InlineVector<BitPlane, 5> bit_planes(int bits) {
  HONE_ASSERT(bits >= 1 && bits <= kMaxBits, "planes of {} bits", bits);
  InlineVector<BitPlane, 5> planes;
  for (int width = kMaxBits; width >= 1; width /= 2) {
    if ((bits & width) != 0) planes.push_back({width, bits & (width - 1)});
  }
  return planes;
}

std::int64_t packed_columns(const PackedMatrix& matrix) {
  const std::int64_t narrowest = bit_planes(matrix.bits).back().bits;
  const std::int64_t unit = kPackedRows / narrowest;
  return ceil_div(matrix.columns, unit) * unit;
}

std::size_t packed_bytes(const PackedMatrix& matrix) {
  return static_cast<std::size_t>(panels_of(matrix.rows) * panel_bytes(matrix));
}

void arrange(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
             std::uint8_t* packed) {
  check(matrix);
  for_panels(pool, matrix.rows, matrix.columns, [&](std::int64_t panel, std::int64_t first) {
    arrange_panel(matrix, first, codes, packed + panel * panel_bytes(matrix));
  });
}

void restore(ThreadPool& pool, const PackedMatrix& matrix, const std::uint8_t* packed,
             std::uint16_t* codes) {
  check(matrix);
  for_panels(pool, matrix.rows, matrix.columns, [&](std::int64_t panel, std::int64_t first) {
    restore_panel(matrix, first, packed + panel * panel_bytes(matrix), codes);
  });
}

std::size_t packed_scale_bytes(std::int64_t rows, std::int64_t blocks) {
  return static_cast<std::size_t>(panels_of(rows) * kPackedRows * blocks);
}

void arrange_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* scales, std::uint8_t* packed) {
  for_panels(pool, rows, blocks, [&](std::int64_t panel, std::int64_t first) {
    std::uint8_t* to = packed + panel * blocks * kPackedRows;
    for (std::int64_t block = 0; block < blocks; ++block) {
      for (std::int64_t row = first; row < first + kPackedRows; ++row)
        *to++ = row < rows ? scales[row * blocks + block] : std::uint8_t{0};
    }
  });
}

void restore_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* packed, std::uint8_t* scales) {
  for_panels(pool, rows, blocks, [&](std::int64_t panel, std::int64_t first) {
    const std::uint8_t* const from = packed + panel * blocks * kPackedRows;
    for (std::int64_t r = 0; r < std::min(kPackedRows, rows - first); ++r) {
      for (std::int64_t block = 0; block < blocks; ++block)
        scales[(first + r) * blocks + block] = from[block * kPackedRows + r];
    }
  });
}

std::size_t packed_row_bytes(const PackedMatrix& matrix) {
  std::int64_t bytes = 0;
  for (const BitPlane& plane : bit_planes(matrix.bits))
    bytes += bytes_of_row(plane, matrix.columns);
  return static_cast<std::size_t>(bytes);
}

std::size_t packed_rows_bytes(const PackedMatrix& matrix) {
  return static_cast<std::size_t>(matrix.rows) * packed_row_bytes(matrix);
}

void arrange_rows(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
                  std::uint8_t* packed) {
  check(matrix);
  const auto planes = bit_planes(matrix.bits);
  const auto row_bytes = static_cast<std::int64_t>(packed_row_bytes(matrix));
  const auto arrange_row = [&](const std::uint16_t* from, std::uint8_t* to) {
    std::fill_n(to, row_bytes, std::uint8_t{0});
    for (const BitPlane& plane : planes) {
      const int mask = (1 << plane.bits) - 1;
      for (std::int64_t column = 0; column < matrix.columns; ++column) {
        const int part = (from[column] ^ matrix.flip) >> plane.shift & mask;
        const std::int64_t bit = column * plane.bits;
        put(plane, part, static_cast<int>(bit % 8), to + bit / 8);
      }
      to += bytes_of_row(plane, matrix.columns);
    }
  };
  parallel_ranges(pool, matrix.rows, rows_per_chunk(matrix.columns),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row)
                      arrange_row(codes + row * matrix.columns, packed + row * row_bytes);
                  });
}

void gather_packed_row(const PackedMatrix& matrix, const std::uint8_t* packed, std::int64_t row,
                       std::uint16_t* codes) {
  const std::uint8_t* from = packed + row * static_cast<std::int64_t>(packed_row_bytes(matrix));
  std::fill_n(codes, matrix.columns, matrix.flip);
  for (const BitPlane& plane : bit_planes(matrix.bits)) {
    if (plane.bits == 16) take_plane<16>(plane.shift, matrix.columns, from, codes);
    if (plane.bits == 8) take_plane<8>(plane.shift, matrix.columns, from, codes);
    if (plane.bits == 4) take_plane<4>(plane.shift, matrix.columns, from, codes);
    if (plane.bits == 2) take_plane<2>(plane.shift, matrix.columns, from, codes);
    if (plane.bits == 1) take_plane<1>(plane.shift, matrix.columns, from, codes);
    from += bytes_of_row(plane, matrix.columns);
  }
}

}  // namespace hone::kernels
