#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/analysis/draw.h"
#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/models/model_source.h"
#include "hone/runtime/context.h"

namespace hone {

/// The inputs that a model is drawn with, besides `input_ids`.
struct DrawnInputs {
  bool attention_mask = true, token_type_ids = true;
  bool labels = false;  ///< also the loss
};

/// The property that colours show, see colouring.h.
enum class ColouredBy : std::uint8_t { kind, format, sparsity, cost, sensitivity };
std::span<const EnumName> enum_names(ColouredBy);
/// Their names, in their order.
std::vector<std::string> colour_names();

/// A model to draw.
struct DrawJob {
  std::string model;  ///< see `open_model`
  std::string
      output;  ///< file to write: .svg, .png, .pdf, .dot, or .html for a page (`drawing_page`)
  bool png = false;  ///< also write an .svg as .png
  bool overwrite = false;
  DrawnInputs inputs = {};
  bool train = false;                        ///< with labels, loss and dropout
  std::int64_t equal_layers = 1, depth = 0;  ///< see `DrawOptions`
  ColouredBy colour = ColouredBy::kind;
  std::string sensitivity = {};        ///< output folder of `hone sensitivity`, for its colours
  std::int64_t batch = 8, tokens = 0;  ///< of the run whose cost is drawn, as in `InspectJob`
  std::uint64_t seed = 42;
};

/// The JSON result.
struct DrawFields {
  std::string model, file;
  std::vector<std::string> inputs = {}, outputs = {}, made_inside = {};
  std::int64_t nodes = 0, operations = 0, drawn_operations = 0, folded_layers = 0;
  std::int64_t boxed_modules = 0, boxed_operations = 0;
  ColouredBy color_by = ColouredBy::kind;
};
const Fields& fields_of(const DrawFields*);

struct DrawResult : JobResult {
  Drawing drawing;
};

/// Returns the graph of a model with these inputs: for training, or without dropout and dead code.
Graph drawn_graph(const TextModel& source, const DrawnInputs& inputs, bool train, Context& context);

/// Returns the files of a drawing: `output`, and with `png` the same name as .png. Throws `UserError` if `png` is set
/// and `output` is not an .svg, and for files that exist unless `overwrite`.
std::vector<std::string> drawing_files(const std::string& output, bool png, bool overwrite);

/// Draws a model's graph into a file. Throws `UserError` like `open_model` and `write_drawing`.
DrawResult draw_model(const DrawJob& job, Context& context);

}  // namespace hone
