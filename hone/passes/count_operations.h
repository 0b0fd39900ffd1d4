#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Returns the record of an analysis that counts and lists the operations of a kind whose names match a glob. Finding
/// none is not an error.
PassDef count_operations_pass();

/// Returns the record of a pass that erases the unread operations of a kind whose names match a glob. For an
/// operation that is read, it throws an error that lists its readers; with `bypass`, they read its first input
/// instead, which must have the same type. Inputs and parameters without remaining readers are erased, too. Throws
/// `UserError` if nothing matches.
PassDef erase_operations_pass();

}  // namespace hone
