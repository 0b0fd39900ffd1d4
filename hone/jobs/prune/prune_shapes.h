#pragma once

#include "hone/jobs/prune/prune.h"
#include "hone/passes/prune_structure.h"
#include "hone/train/calibration.h"

namespace hone {

/// A request to remove heads, neurons and layers of a model.
struct PruneShapesJob {
  /// Model, data, training and output; the options for single weights are ignored.
  PruneJob common;
  StructureOptions structure = {};  ///< heads and neurons; without kinds none are removed
  bool layers = false;              ///< remove the same share of layers, evenly spaced
  CalibrationRun importance = {.batch_size = 8, .batch_count = 32};  ///< for "first_order"
};

/// The parsed form of "heads,neurons,layers", each at most once. Parsing returns none for structures of weights
/// ("weights", "2:4", "1x4"), and throws `UserError` for other words.
struct ShapeStructure {
  std::vector<UnitKind> kinds;
  bool layers = false;
};
std::optional<ShapeStructure> parse_shape_structure(const std::string& text);

/// Makes a smaller copy of a model without these heads, neurons and layers, trained further if requested, and measures
/// it against its baseline: metric, parameters, bytes and latency. Removes layers first, then scores all units before
/// removing any. Layers are removed with their formats; the unrounded weights of the others stay as training left
/// them. Throws `UserError` as `prune_job`, `prune_structure` and `drop_layers` do, and for units of a quantized
/// model; `Interrupted`.
JobResult prune_shapes_job(const PruneShapesJob& job, Context& context);

}  // namespace hone
