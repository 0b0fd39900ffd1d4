#pragma once

#include <string_view>

#include "hone/kernels/epilogue.h"

namespace hone {

/// Returns the kernels' activation for the attribute `activation` of an operation.
kernels::Activation activation_called(std::string_view name);

}  // namespace hone
