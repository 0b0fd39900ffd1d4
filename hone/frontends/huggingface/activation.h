#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/attribute.h"

namespace hone {

/// The operation and attributes that compute an activation.
struct Activation {
  std::string_view name;  ///< in a config.json
  std::string_view op;
  Attributes attributes;
};

/// Returns null for an unknown name.
const Activation* find_activation(std::string_view name);

std::vector<std::string> activation_names();

}  // namespace hone
