#pragma once

#include "hone/ir/graph.h"

namespace hone {

/// Gives every cross entropy of the graph a weight per class: the new input `class_weights` f32[C]. Returns whether
/// there was one.
bool weigh_classes(Graph& graph);

}  // namespace hone
