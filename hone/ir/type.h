#pragma once

#include <string>

#include "hone/tensor/dtype.h"
#include "hone/tensor/shape.h"

namespace hone {

/// The static type of a value: element type and shape, with symbols for extents that only a run decides.
struct Type {
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  /// Extent of an axis; negative axes count from the end.
  const Dim& dim(std::int64_t axis) const {
    return shape[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  bool operator==(const Type&) const = default;
};

/// "f32[B, S, 128]"
inline std::string to_string(const Type& type) {
  return std::string(info(type.dtype).name) + to_string(type.shape);
}

}  // namespace hone
