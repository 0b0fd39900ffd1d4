#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/base/inline_vector.h"
#include "hone/base/thread_pool.h"

/// Weights of 1 to 16 bits per element as products and gathers read them: one arrangement of bytes
/// for every instruction set, so that what is written into a file once is read in place anywhere.
///
/// A code of `bits` bits is cut into planes of 16, 8, 4, 2 and 1 bits, the highest bits in the widest
/// one: 6 bits are a plane of bits 2 to 5 and one of bits 0 and 1.
///
/// *In panels* (`arrange`), for products Y(M,N) = X(M,K) W(N,K)^T. The N rows are cut into panels
/// of 32, and a panel holds its planes one after the other. A plane of w bits is a run of units of
/// 128 bytes. Byte 4 r + j of unit u belongs to row r of the panel and to the columns
///
///     4 (u p + q) + j,   q = 0 … p - 1,   p = 8 / w columns in a byte,
///
/// of which column q stands in bits w q to w q + w - 1. So 4 neighbouring columns of 16 rows are
/// one vector of 64 bytes, or two of 32, with as many parts in every byte as the plane allows:
///
///     w = 8: a unit is 32 rows x 4 columns;   w = 4: 32 x 8, columns 0-3 in the low half of
///     bytes;   w = 2: 32 x 16;   w = 1: 32 x 32.
///
/// With w = 16 a unit is 32 x 2: the bytes 4 r and 4 r + 1 are column 2 u, lowest byte first, those
/// behind them column 2 u + 1, as products of pairs read them.
///
/// N is padded to a multiple of 32, K to a multiple of 32 / (width of the narrowest plane): 2 for 16
/// bits, 4 for 8, 8 for 4, 16 for 6 and 2, 32 for odd ones. Every plane then ends with a whole unit, and
/// panel i begins at byte 4 i `bits` K_padded. What pads is the code 0.
///
/// *In rows* (`arrange_rows`), for tables of which single rows are read: row after row, of each row
/// plane after plane, of each plane the first column in the lowest bits of the first byte, of 16
/// bits the lowest byte first; a plane ends with a whole byte. Nothing else pads.
///
/// One-byte scales of blocks along K lie beside the codes of panels (`arrange_scales`): byte
/// 32 (panel · blocks + block) + row of the panel. What pads N is 0.
namespace hone::kernels {

/// Rows of a panel.
inline constexpr std::int64_t kPackedRows = 32;

/// What was packed. Codes stand in the lowest bits of words of 16.
struct PackedMatrix {
  std::int64_t rows = 0;     ///< N, outputs
  std::int64_t columns = 0;  ///< K, what products sum over
  int bits = 8;              ///< of a code, 1 to 16
  /// Bits of every code that are stored inverted. The sign bit turns two's complement into offset
  /// binary, which is what products of integers read; 0 stores codes as they are.
  std::uint16_t flip = 0;
};

/// The bits [shift, shift + bits) of every code.
struct BitPlane {
  int bits = 0;
  int shift = 0;
};
/// The planes of codes of 1 to 16 bits, widest first.
InlineVector<BitPlane, 5> bit_planes(int bits);

/// K with what pads it in panels.
std::int64_t packed_columns(const PackedMatrix& matrix);
/// The bytes of all panels, exactly.
std::size_t packed_bytes(const PackedMatrix& matrix);
/// `packed` has `packed_bytes(matrix)` bytes and becomes `codes` (N,K) in panels; `restore` is the
/// inverse.
void arrange(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
             std::uint8_t* packed);
void restore(ThreadPool& pool, const PackedMatrix& matrix, const std::uint8_t* packed,
             std::uint16_t* codes);

/// The same for scales (N, blocks) of the blocks along K.
std::size_t packed_scale_bytes(std::int64_t rows, std::int64_t blocks);
void arrange_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* scales, std::uint8_t* packed);
void restore_scales(ThreadPool& pool, std::int64_t rows, std::int64_t blocks,
                    const std::uint8_t* packed, std::uint8_t* scales);

/// The bytes of one row of the arrangement in rows, and of all.
std::size_t packed_row_bytes(const PackedMatrix& matrix);
std::size_t packed_rows_bytes(const PackedMatrix& matrix);
/// `packed` has `packed_rows_bytes(matrix)` bytes and becomes `codes` (N,K) in rows.
void arrange_rows(ThreadPool& pool, const PackedMatrix& matrix, const std::uint16_t* codes,
                  std::uint8_t* packed);
/// `codes` (K) of row `row` of what `arrange_rows` made.
void gather_packed_row(const PackedMatrix& matrix, const std::uint8_t* packed, std::int64_t row,
                       std::uint16_t* codes);

}  // namespace hone::kernels
