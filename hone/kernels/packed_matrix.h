#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/inline_vector.h"
#include "hone/base/thread_pool.h"

/// Layout of packed weights of 1 to 16 bits per element, as products and gathers read them. It is the same for every
/// instruction set, so files are read in place on any CPU.
///
/// A code of `bits` bits is split into planes of 16, 8, 4, 2 and 1 bits, with the highest bits in the widest plane: 6
/// bits are a plane of bits 2 to 5 and one of bits 0 and 1.
///
/// *In panels* (`arrange`), for products Y(M,N) = X(M,K) W(N,K)^T. The N rows are split into panels of 32. A panel
/// holds its planes one after the other. A plane of w bits is a run of units of 128 bytes. Byte 4 r + j of unit u
/// belongs to row r of the panel and to the columns
///
///     4 (u p + q) + j,   q = 0 … p - 1,   p = 8 / w columns in a byte,
///
/// where column q is stored in bits w q to w q + w - 1. So 4 neighbouring columns of 16 rows are one vector of 64
/// bytes, or two of 32, with p columns in every byte:
///
///     w = 8: a unit is 32 rows x 4 columns;   w = 4: 32 x 8, columns 0-3 in the low half of
///     bytes;   w = 2: 32 x 16;   w = 1: 32 x 32.
///
/// With w = 16 a unit is 32 x 2: bytes 4 r and 4 r + 1 are column 2 u, lowest byte first, and the next two bytes are
/// column 2 u + 1, as products of pairs read them.
///
/// N is padded to a multiple of 32, K to a multiple of 32 / (width of the narrowest plane): 2 for 16 bits, 4 for 8, 8
/// for 4, 16 for 6 and 2, 32 for odd ones. Every plane then ends with a whole unit, and panel i begins at byte
/// 4 i `bits` K_padded. The padding is the code 0.
///
/// *In rows* (`arrange_rows`), for tables from which single rows are read: row by row, and plane by plane within a row.
/// A plane begins with the first column in the lowest bits of the first byte (16 bits: lowest byte first) and is padded
/// to a whole byte. There is no other padding.
///
/// One-byte scales of blocks along K are stored separately (`arrange_scales`), at byte 32 (panel · blocks + block) +
/// row of the panel. Padding rows are 0.
namespace hone::kernels {

/// Rows of a panel.
inline constexpr std::int64_t kPackedRows = 32;

/// Sizes and codes of a packed matrix. Unpacked codes are the lowest bits of 16-bit words.
struct PackedMatrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, inputs
  int bits = 8;              ///< per code, 1 to 16
  /// Bits of every code that are stored inverted. Inverting the sign bit turns two's complement into offset binary,
  /// which integer products read; 0 stores codes unchanged.
  std::uint16_t flip = 0;
};

/// The bits [shift, shift + bits) of every code.
struct BitPlane {
  int bits = 0;
  int shift = 0;
};
/// Returns the planes of codes of 1 to 16 bits, widest first.
InlineVector<BitPlane, 5> bit_planes(int bits);

/// Returns K with its padding in panels.
std::int64_t packed_columns(const PackedMatrix& matrix);
/// Returns the exact size of all panels in bytes.
std::size_t packed_bytes(const PackedMatrix& matrix);
/// Packs `codes` (N,K) in panels into `packed`, of `packed_bytes(matrix)` bytes; `restore` is the inverse.
void arrange(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
             std::uint8_t* packed);
void restore(ThreadPool& pool, const PackedMatrix& matrix, const std::uint8_t* packed,
             std::uint16_t* codes);

/// The same for the scales (N, blocks) of blocks along K.
std::size_t packed_scale_bytes(std::int64_t rows, std::int64_t blocks);
void arrange_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* scales, std::uint8_t* packed);
void restore_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* packed, std::uint8_t* scales);

/// Return the size in bytes of one row, and of all rows, of the layout in rows.
std::size_t packed_row_bytes(const PackedMatrix& matrix);
std::size_t packed_rows_bytes(const PackedMatrix& matrix);
/// Packs `codes` (N,K) in rows into `packed`, of `packed_rows_bytes(matrix)` bytes.
void arrange_rows(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
                  std::uint8_t* packed);
/// Unpacks row `row` of the result of `arrange_rows` to `codes` (K).
void gather_packed_row(const PackedMatrix& matrix, const std::uint8_t* packed, std::int64_t row,
                       std::uint16_t* codes);

}  // namespace hone::kernels
