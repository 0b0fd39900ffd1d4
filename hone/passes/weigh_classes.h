#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Adds a weight per class to every cross entropy of the graph: the new input `class_weights` f32[C]. Returns whether
/// there was one.
bool weigh_classes(Graph& graph);

PassDef weigh_classes_pass();

}  // namespace hone
