#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/inline_vector.h"

/// Shapes: concrete ones (`Sizes`, for tensors) and symbolic ones (`Shape`, for types in a graph).
namespace hone {

/// The maximum number of dimensions of a tensor.
constexpr std::size_t kMaxDimensions = 8;

/// Extents or strides of a tensor, in elements.
using Sizes = InlineVector<std::int64_t, kMaxDimensions>;

/// Returns the product of the extents; 1 for a scalar.
std::int64_t element_count(const Sizes& sizes);
/// Returns the number of rows, where the last dimension is a row: the product of the others; 0 if rows are empty.
std::int64_t row_count(const Sizes& sizes);
/// Returns the strides of a contiguous row-major tensor.
Sizes contiguous_strides(const Sizes& sizes);
/// Returns "[8, 128]".
std::string to_string(const Sizes& sizes);

/// A dimension of a type: a number, or a symbol that is bound in each run (B batch, S sequence).
struct Dim {
  std::int64_t size = 0;
  char symbol = 0;  ///< upper-case letter; 0: `size` applies

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

/// Values of the symbols in one run.
using Bindings = std::pmr::map<char, std::int64_t>;

/// Returns "[B, S, 128]".
std::string to_string(const Shape& shape);
std::string to_string(const Dim& dim);

/// Returns the value of a dimension. Throws `InternalError` for an unbound symbol.
std::int64_t resolve(const Dim& dim, const Bindings& bindings);
Sizes resolve(const Shape& shape, const Bindings& bindings);

/// Binds the symbols of `shape` to `sizes`. Throws `UserError` naming `what` if the rank, a number or a bound symbol
/// differs.
void bind_symbols(const Shape& shape, const Sizes& sizes, std::string_view what,
                  Bindings& bindings);

}  // namespace hone
