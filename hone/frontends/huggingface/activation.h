#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/attribute.h"

namespace hone {

/// What an activation is computed by.
struct Activation {
  std::string_view name;  ///< in a config.json
  std::string_view op;
  Attributes attributes;
};

/// Null for a name that is none.
const Activation* find_activation(std::string_view name);

std::vector<std::string> activation_names();

}  // namespace hone
