#pragma once

#include <string_view>

#include "hone/ir/attribute.h"

/// The activations that operations compute together with the sums before them, by their attribute `activation`.
namespace hone::ops {

struct ActivationRow {
  std::string_view name;
  double (*function)(double);
};

/// Throws `UserError` for one that is not known.
const ActivationRow& activation_of(const Attributes& attributes);

}  // namespace hone::ops
