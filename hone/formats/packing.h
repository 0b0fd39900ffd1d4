#pragma once

#include "hone/formats/format.h"
#include "hone/kernels/packed_matrix.h"

/// Packed tensors: the codes of a format in the layout that kernels read and files contain. See
/// docs/reference/model-folder.md.
///
///     const PackedLayout layout = packed_layout(format, {768, 768}, Arrangement::panels);
///     const PackedCodes packed = pack({format, sizes, w, state}, layout, pool);
///     unpack({format, sizes, {}, state}, layout, packed, pool, y);   // y == quantize(w)
namespace hone {

/// The version of this layout, stored in files.
inline constexpr std::int64_t kPackingVersion = 1;

/// The layout of element codes (kernels/packed_matrix.h).
enum class Arrangement : std::uint8_t {
  panels,  ///< for products that sum along the last axis
  rows,    ///< for everything else, so that single rows can be read
};
inline constexpr Arrangement kArrangements[] = {Arrangement::panels, Arrangement::rows};
std::string_view to_string(Arrangement arrangement);
/// Throws `UserError` for an unknown name.
Arrangement parse_arrangement(std::string_view word);

/// The byte layout of a packed tensor.
struct PackedLayout {
  kernels::PackedMatrix matrix;  ///< the tensor as rows along its last axis
  Arrangement arrangement = Arrangement::rows;
  CodeLayout codes;
  /// The number of blocks along a row whose shared codes, one byte each or float16 scales, are stored in panels next to
  /// those of the elements. 0: shared codes are stored in order.
  std::int64_t scale_blocks = 0;
  std::int64_t scale_bytes = 0;   ///< of a shared code, 1, 2, 3 or 4, lowest byte first
  std::int64_t code_bytes = 0;    ///< of the elements, including padding
  std::int64_t shared_bytes = 0;  ///< of the shared codes, including padding

  std::int64_t bytes() const { return code_bytes + shared_bytes; }
  /// The sizes without padding, rounded up to whole bytes: `code_bytes` and `bytes`.
  std::int64_t code_bytes_without_padding() const;
  std::int64_t bytes_without_padding() const;
};

/// Explains why tensors of this format have no packed form (codes of more than 16 bits); "" if they have one.
std::string packing_objection(const Format& format, const Sizes& sizes);

/// Throws `UserError` if there is a `packing_objection`.
PackedLayout packed_layout(const Format& format, const Sizes& sizes, Arrangement arrangement);

struct PackedCodes {
  Tensor codes;   ///< u8 (code_bytes)
  Tensor shared;  ///< u8 (shared_bytes)
};

/// Returns the codes of the quantized `input.x`. Throws `UserError` for NaN and infinities without a code.
PackedCodes pack(const QuantizerInput& input, const PackedLayout& layout, ThreadPool& pool);
/// Bytes of working memory of `pack` per element: its code in 32 bits and in 16.
inline constexpr double kPackingRoom = 6;

/// Returns the values of packed codes without reading `input.x`, bit-identical to `quantize` of the original.
void unpack(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
            ThreadPool& pool, std::span<float> y);

/// Returns the element codes of the format, row by row.
std::vector<std::uint16_t> element_codes(const PackedLayout& layout, const std::uint8_t* codes,
                                         ThreadPool& pool);

/// Returns `units_of` for codes of a tensor of these sizes with zero states, for properties that do not depend on
/// states.
std::optional<CodeUnits> units_for_any_state(const Format& format, const Sizes& sizes);
/// Returns the smallest nonzero magnitude of a code; infinity if there is none.
float smallest_unit(const CodeUnits& units);

/// Returns whether `PackedRows` can read rows of such a matrix: values are products (`units_of`), or depend only on
/// their row.
bool has_rows(const Format& format, const Sizes& sizes);

/// Packed codes of a matrix, readable by rows. Its references must outlive it.
struct PackedRows {
  const QuantizerInput& input;  ///< `x` is not read
  const PackedLayout& layout;
  const CodeUnits* units;  ///< null: the format decodes rows itself, which is slow
  const std::uint8_t* codes;
  const std::uint8_t* shared;

  /// Return the scale of block `block` of a row, and the offset added to its units. `units` must not be null.
  float scale(std::int64_t row, std::int64_t block) const;
  float offset(std::int64_t row, std::int64_t block) const;
  /// y (count, columns) = the values of `count` rows starting at `begin`; in panels, `begin` is the first row of a
  /// panel.
  void read(ThreadPool& pool, std::int64_t begin, std::int64_t count, float* y) const;
  /// y (columns) = the values of one row in `Arrangement::rows`; `row_codes` has room for the codes of a row.
  void gather(std::int64_t row, std::span<std::uint16_t> row_codes, float* y) const;

 private:
  std::int64_t group_of(std::int64_t row, std::int64_t block) const;
  std::uint32_t shared_of(std::int64_t row, std::int64_t block) const;
  void multiply(std::int64_t row, const std::uint16_t* row_codes, float* y) const;
  void decode(std::int64_t begin, std::int64_t count, std::span<const std::uint16_t> row_codes,
              float* y) const;
};

/// Throws `UserError` with row and column or block for codes without a number: element codes that the format does not
/// have, and shared codes that make a block NaN.
void check_codes(const QuantizerInput& input, const PackedLayout& layout, const PackedCodes& packed,
                 ThreadPool& pool);

}  // namespace hone
