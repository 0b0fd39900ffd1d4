#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/tensor/dtype.h"
#include "hone/tensor/shape.h"

/// Python pickles as `torch.save` writes them, and nothing more.
///
/// A pickle is a program: unpickling may call any function by name. This reader supports only the few names that state
/// dicts need, which just build values, and rejects all others by name before anything is executed. The pickle does not
/// contain the elements, only their locations.
namespace hone {

/// A run of elements stored in the file under `key`.
struct StorageRecord {
  std::string_view key;
  DType dtype = DType::f32;
  std::int64_t count = 0;  ///< in elements; never negative
};

/// A strided view of a storage. Every element that it reaches is inside, provided that `storage.count` is correct.
struct TensorRecord {
  StorageRecord storage;
  Sizes sizes;
  Sizes strides;            ///< in elements, never negative
  std::int64_t offset = 0;  ///< in elements
};

struct PickleCallable;
struct PickleValue;
using PickleItems = std::vector<PickleValue*>;

struct PickleNone {};
/// An integer of more than 64 bits, as its little-endian bytes.
struct PickleBigInteger {
  std::string_view bytes;
};
struct PickleTuple {
  PickleItems items;
};
struct PickleList {
  PickleItems items;
};
struct PickleDict {
  PickleItems items;  ///< key, value, key, value, …; a repeated key replaces the earlier one
};

struct PickleValue {
  std::variant<PickleNone, bool, std::int64_t, double, PickleBigInteger, std::string_view,
               PickleTuple, PickleList, PickleDict, const PickleCallable*, StorageRecord,
               std::unique_ptr<const TensorRecord>>
      data;

  /// Returns the value as a `T`, or null if it has another type.
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  /// "an integer", "a dict": for messages.
  std::string_view kind() const;
};

/// The values of one pickle. Strings and keys are views of the input bytes. Pointers refer to `values`, so cycles are
/// possible but harmless, because nothing here is walked or freed recursively.
struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* root = nullptr;
  std::size_t size_bytes = 0;  ///< length of the pickle in the bytes it was read from
};

/// Reads the pickle at the beginning of `bytes`: protocols 2 to 5, at most a million values and 64 dimensions. Throws
/// `UserError` with the offset of the invalid byte, and the name of a function that may not be called.
Pickle unpickle(std::string_view bytes);

}  // namespace hone
