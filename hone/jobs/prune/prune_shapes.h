#pragma once

#include "hone/jobs/prune/prune.h"
#include "hone/passes/prune_structure.h"
#include "hone/train/calibration.h"

namespace hone {

/// Which whole parts of a model are to go.
struct PruneShapesJob {
  /// Model, data, training and output; how single weights are pruned is not read.
  PruneJob common;
  StructureOptions structure = {};  ///< heads and neurons; without kinds none of them goes
  bool layers = false;              ///< the same share of layers goes too, those evenly between
  CalibrationRun importance = {.batch_size = 8, .batch_count = 32};  ///< texts of "first_order"
};

/// "heads,neurons,layers", any of them once, as kinds of units and layers. Nothing where it is another word; throws
/// `UserError` for a list of which one is none.
struct ShapeStructure {
  std::vector<UnitKind> kinds;
  bool layers = false;
};
std::optional<ShapeStructure> parse_shape_structure(const std::string& text);

/// Makes a copy of a model without these heads, neurons and layers, whose shapes are smaller, trained on where asked for, and
/// measures it beside the model it was made of: answers, parameters, bytes, and time, in turn on texts of 128 tokens. Layers go
/// first, then units are scored, all before any goes. Layers take their formats with them, and the unrounded weights of the others
/// stay as training left them. Throws `UserError` as `prune_job`, `prune_structure` and `drop_layers`, and for units of a quantized
/// model; `Interrupted`.
PruneResult prune_shapes_job(const PruneShapesJob& job, Context& context);

}  // namespace hone
