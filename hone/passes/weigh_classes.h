#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Gives every cross entropy of the graph a weight per class: the new input `class_weights` f32[C]. Returns whether
/// there was one.
bool weigh_classes(Graph& graph);

/// Its record.
PassDef weigh_classes_pass();

}  // namespace hone
