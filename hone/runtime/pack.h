#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// The records of `pack_weights` and `unpack_weights` (passes/pack.h), which work on the threads of a session.
PassDef pack_pass();
PassDef unpack_pass();

}  // namespace hone
