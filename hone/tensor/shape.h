#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/inline_vector.h"

/// Shapes: concrete ones (`Sizes`, of tensors) and symbolic ones (`Shape`, of types in a graph).
namespace hone {

/// The most dimensions that a tensor has.
constexpr std::size_t kMostDimensions = 8;

/// Extents or strides of a tensor, in elements.
using Sizes = InlineVector<std::int64_t, kMostDimensions>;

/// Product of the extents; 1 for a scalar.
std::int64_t element_count(const Sizes& sizes);
/// Rows of a tensor, the last dimension being a row: the product of the others; 0 where rows are empty.
std::int64_t row_count(const Sizes& sizes);
/// Strides of a row-major tensor without gaps.
Sizes contiguous_strides(const Sizes& sizes);
/// "[8, 128]"
std::string to_string(const Sizes& sizes);

/// One dimension of a type: a number, or a symbol whose value a run decides (B batch, S sequence).
struct Dim {
  std::int64_t size = 0;
  char symbol = 0;  ///< upper-case letter, or 0 when `size` counts

  Dim() = default;
  Dim(std::int64_t size_) : size(size_) {}  // NOLINT: a number is a dimension
  static Dim of_symbol(char letter) {
    Dim dim;
    dim.symbol = letter;
    return dim;
  }
  bool operator==(const Dim&) const = default;
};

using Shape = std::vector<Dim>;

/// What the symbols are in one run.
using Bindings = std::pmr::map<char, std::int64_t>;

/// "[B, S, 128]"
std::string to_string(const Shape& shape);
std::string to_string(const Dim& dim);

/// The value of a dimension. Throws `InternalError` for an unbound symbol.
std::int64_t resolve(const Dim& dim, const Bindings& bindings);
Sizes resolve(const Shape& shape, const Bindings& bindings);

/// Binds the symbols of `shape` to `sizes`. Throws `UserError` naming `what` when rank, a number or
/// a bound symbol disagrees.
void bind_symbols(const Shape& shape, const Sizes& sizes, std::string_view what,
                  Bindings& bindings);

}  // namespace hone
