#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// The record of a pass that looks: how many operations there are of a kind and with names that a glob matches, and which.
/// That there are none is a finding.
PassDef count_operations_pass();

/// The record of a pass that erases the operations of a kind whose names a glob matches, which nothing may read: one that is
/// read is refused with the names of its readers, or with `bypass` its readers read its first input, which has to have its type.
/// Inputs and parameters that nothing reads then go along. Throws `UserError` where nothing matches, too.
PassDef erase_operations_pass();

}  // namespace hone
