#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "hone/base/error.h"

/// Reads FlatBuffers, the encoding of Arrow's metadata, without generated code. Every access is checked against the end
/// of the buffer. Fields are numbered from 0 in the order of the schema; a union is two fields.
namespace hone {

/// Returns the little-endian number at `position`. Throws `UserError` if it is outside `bytes`.
template <typename Number>
Number number_at(std::string_view bytes, std::size_t position) {
  user_check(position <= bytes.size() && sizeof(Number) <= bytes.size() - position,
             "a number is past the end; the file is damaged");
  Number number;
  std::memcpy(&number, bytes.data() + position, sizeof(Number));
  return number;
}

/// A vector of a table.
struct FlatVector {
  std::string_view buffer = {};
  std::size_t begin = 0, count = 0;

  /// Returns element `index` of a vector of numbers, or a member of a struct: `offset` bytes into elements of `size`
  /// bytes.
  template <typename Number>
  Number at(std::size_t index, std::size_t size = sizeof(Number), std::size_t offset = 0) const {
    return number_at<Number>(buffer, begin + index * size + offset);
  }
};

/// A table in a buffer, which must outlive it.
class FlatTable {
 public:
  /// Returns the root table of a buffer.
  static FlatTable root(std::string_view buffer);

  /// Returns a number or boolean, or `otherwise` if the field is absent.
  template <typename Number>
  Number number(int field, Number otherwise = 0) const {
    const std::size_t at = find(field);
    return at == 0 ? otherwise : number_at<Number>(buffer_, at);
  }
  std::optional<FlatTable> table(int field) const;
  /// Returns "" if the field is absent.
  std::string_view text(int field) const;
  /// Returns a vector with elements of `size` bytes; empty if the field is absent.
  FlatVector vector(int field, std::size_t size) const;
  /// Returns element `index` of a vector of tables, whose elements have 4 bytes.
  static FlatTable element(const FlatVector& tables, std::size_t index);

 private:
  FlatTable(std::string_view buffer, std::size_t position);
  // Returns the position of a field; 0 if it is absent.
  std::size_t find(int field) const;

  std::string_view buffer_;
  std::size_t position_, fields_, fields_bytes_;
};

}  // namespace hone
