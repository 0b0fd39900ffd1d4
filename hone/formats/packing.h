#pragma once

#include "hone/formats/format.h"
#include "hone/kernels/packed_matrix.h"

/// Tensors whose bytes are really small: the codes of a format as kernels read them, and as files hold them. See
/// docs/reference/model-folder.md.
///
///     const PackedLayout layout = packed_layout(format, {768, 768}, Arrangement::panels);
///     const PackedCodes packed = pack({format, sizes, w, state}, layout, pool);
///     unpack({format, sizes, {}, state}, layout, packed, pool, y);   // y == quantize(w)
namespace hone {

/// The version of all that is laid out here; what a file was packed by stands in it.
inline constexpr std::int64_t kPackingVersion = 1;

/// How element codes lie (kernels/packed_matrix.h).
enum class Arrangement : std::uint8_t {
  panels,  ///< for products that sum along the last axis
  rows,    ///< for all else, so that single rows can be read
};
inline constexpr Arrangement kArrangements[] = {Arrangement::panels, Arrangement::rows};
std::string_view to_string(Arrangement arrangement);
/// Throws `UserError` for an unknown word.
Arrangement parse_arrangement(std::string_view word);

/// Where the bytes of a packed tensor lie.
struct PackedLayout {
  kernels::PackedMatrix matrix;  ///< the tensor as rows along its last axis
  Arrangement arrangement = Arrangement::rows;
  CodeLayout codes;
  /// Blocks along a row whose shared codes, of a byte each or float16 scales, lie in panels beside those of the elements; 0:
  /// shared codes lie in their order.
  std::int64_t scale_blocks = 0;
  std::int64_t scale_bytes = 0;   ///< of a shared code, 1, 2, 3 or 4, lowest byte first
  std::int64_t code_bytes = 0;    ///< of the elements, with what pads them
  std::int64_t shared_bytes = 0;  ///< of the shared codes, with what pads them

  std::int64_t bytes() const { return code_bytes + shared_bytes; }
  /// Of `code_bytes` and of `bytes` what the codes alone take, rounded up to whole bytes.
  std::int64_t code_bytes_without_padding() const;
  std::int64_t bytes_without_padding() const;
};

/// Why tensors of this format have no packed form, codes of more than 16 bits; "" where they have.
std::string packing_objection(const Format& format, const Sizes& sizes);

/// Throws `UserError` where there is a `packing_objection`.
PackedLayout packed_layout(const Format& format, const Sizes& sizes, Arrangement arrangement);

struct PackedCodes {
  Tensor codes;   ///< u8 (code_bytes)
  Tensor shared;  ///< u8 (shared_bytes)
};

/// The codes of the values that `input.x` takes. Throws `UserError` for NaN and infinities that have no code.
PackedCodes pack(const QuantizerInput& input, const PackedLayout& layout, ThreadPool& pool);
/// Bytes that it works in for each element: its code in 32 bits, and in 16.
inline constexpr double kPackingRoom = 6;

/// The values of packed codes, `input.x` not read: `quantize` of what was packed, bit for bit.
void unpack(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
            ThreadPool& pool, std::span<float> y);

/// The codes of the elements as the format has them, row by row.
std::vector<std::uint16_t> element_codes(const PackedLayout& layout, const std::uint8_t* codes,
                                         ThreadPool& pool);

/// `units_of` codes of a tensor of these sizes with states of zeros: what does not depend on those.
std::optional<CodeUnits> units_for_any_state(const Format& format, const Sizes& sizes);
/// The smallest magnitude but 0 that a code stands for; infinity where there is none.
float smallest_unit(const CodeUnits& units);

/// Whether `PackedRows` reads rows of such a matrix: values are products (`units_of`), or depend on nothing but their row.
bool has_rows(const Format& format, const Sizes& sizes);

/// Packed codes of a matrix of which some rows are read at a time. What it refers to must outlive it.
struct PackedRows {
  const QuantizerInput& input;  ///< `x` is not read
  const PackedLayout& layout;
  const CodeUnits* units;  ///< null: the format decodes rows itself, which is slow
  const std::uint8_t* codes;
  const std::uint8_t* shared;

  /// The scale of block `block` of a row, and what is added to its units, which there must be.
  float scale(std::int64_t row, std::int64_t block) const;
  float offset(std::int64_t row, std::int64_t block) const;
  /// y (count, columns) = the values of rows from `begin` on; in panels `begin` is the first row of one.
  void read(ThreadPool& pool, std::int64_t begin, std::int64_t count, float* y) const;
  /// y (columns) = the values of one row of what lies in rows; `row_codes` has room for as many codes.
  void gather(std::int64_t row, std::span<std::uint16_t> row_codes, float* y) const;

 private:
  std::int64_t group_of(std::int64_t row, std::int64_t block) const;
  std::uint32_t shared_of(std::int64_t row, std::int64_t block) const;
  void multiply(std::int64_t row, const std::uint16_t* row_codes, float* y) const;
  void decode(std::int64_t begin, std::int64_t count, std::span<const std::uint16_t> row_codes,
              float* y) const;
};

/// Throws `UserError`, naming row and column or block, for codes that stand for no number: element codes that the format does
/// not have, and shared ones that make a block NaN.
void check_codes(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
                 ThreadPool& pool);

}  // namespace hone
