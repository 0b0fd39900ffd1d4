#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/error.h"
#include "hone/formats/format.h"
#include "hone/tensor/shape.h"

namespace hone {

/// One attribute value. `monostate` among an operation's defaults marks a required attribute.
using Attribute =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Shape, Format>;

/// Named attribute values in a fixed order. They are few, so lookup is linear.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> items) : items_(items) {}

  const std::vector<std::pair<std::string, Attribute>>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  const Attribute* find(std::string_view name) const {
    for (const auto& [key, value] : items_)
      if (key == name) return &value;
    return nullptr;
  }
  /// The value of `name` as a T. Throws `InternalError` if it is absent or has another type.
  template <typename T>
  const T& get(std::string_view name) const {
    const Attribute* value = find(name);
    HONE_ASSERT(value != nullptr && std::holds_alternative<T>(*value), "attribute {}", name);
    return std::get<T>(*value);
  }
  void set(std::string_view name, Attribute value) {
    for (auto& [key, old] : items_) {
      if (key == name) {
        old = std::move(value);
        return;
      }
    }
    items_.emplace_back(name, std::move(value));
  }
  bool operator==(const Attributes&) const = default;

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

}  // namespace hone
