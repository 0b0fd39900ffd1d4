#pragma once

#include <string_view>

#include "hone/ir/attribute.h"

/// The activations that operations fuse with the preceding sum, selected by the attribute `activation`.
namespace hone::ops {

struct ActivationRow {
  std::string_view name;
  double (*function)(double);
};

/// Throws `UserError` for an unknown activation.
const ActivationRow& activation_of(const Attributes& attributes);

}  // namespace hone::ops
