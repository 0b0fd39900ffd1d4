#pragma once

#include <string_view>

#include "hone/kernels/epilogue.h"

namespace hone {

/// What the attribute `activation` of an operation means to kernels.
kernels::Activation activation_called(std::string_view name);

}  // namespace hone
