#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Return the records of `pack_weights` and `unpack_weights` (passes/pack.h), which use the threads of a session.
PassDef pack_pass();
PassDef unpack_pass();

}  // namespace hone
