#pragma once

#include <cstddef>
#include <cstdint>

#include "hone/kernels/int8_rows.h"

/// Activations of 8 bits for CPUs that multiply bytes by signed bytes and add pairs of products in 16 bits, saturating
/// above 32,767 (vpmaddubsw).
///
/// With weights as bytes of up to 255, a sum does not saturate if its positive activations add up to at most 128 and
/// its negative ones to at least -128. So activations are split into codes = limited + residues. The limited codes
/// satisfy this bound for `together` neighbouring quads, which are added in 16 bits. The remainders of the few quads
/// beyond it are stored in a list, one entry per quad, and their products are added to the 32-bit sums later. The sums
/// are exact, so results have the same bits as on any other CPU.
///
/// In the layers of an encoder, 1% to 20% of quads have residues. `together` is chosen for every chunk of rows by the
/// cost of its residues.
namespace hone::kernels {

struct FourCodes {
  std::int8_t codes[4];
};

struct Residue {
  std::int32_t quad;  ///< the four columns 4 quad to 4 quad + 3
  FourCodes left;     ///< their remainders; sums of pairs of products fit in 16 bits
};

/// The limited rows of one chunk.
struct LimitedRows {
  /// Number of quads whose products are added in 16 bits: 2 or 1; 0 if residues would cost more than they save, and the
  /// other members are then unset.
  int together = 0;
  const std::int8_t* codes = nullptr;  ///< (rows, stride), those of the chunk
  const Residue* residues = nullptr;
  const std::int32_t* ends = nullptr;  ///< (rows): end of the residues of each row
};

/// Returns the memory for `rows` rows of this shape: a copy of their codes, and residues for a third of their quads.
std::size_t limited_rows_bytes(const Int8Shape& shape, std::int64_t rows);
/// Splits the existing rows of [first, first + most) of `x`, which have one scale each. The result is stored in
/// `memory`, aligned to 64 bytes, of `limited_rows_bytes(x.shape, most)`.
LimitedRows limit_rows(const Int8Rows& x, std::int64_t first, std::int64_t most, void* memory);

}  // namespace hone::kernels
