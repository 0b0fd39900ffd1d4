#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/analysis/graph_difference.h"
#include "hone/base/fields.h"
#include "hone/jobs/draw.h"
#include "hone/jobs/job_result.h"

namespace hone {

/// Two models whose graphs and parameters to compare, or one model with other inputs.
struct DiffJob {
  std::string a, b;     ///< see `open_model`
  std::string drawing;  ///< file for a drawing of both; empty: none
  bool png = false;     ///< also write an .svg as .png
  std::string csv;      ///< file for the table; empty: none
  bool overwrite = false;
  DrawnInputs a_inputs = {}, b_inputs = {};
  bool train = false;                        ///< with labels, loss and dropout
  std::int64_t equal_layers = 1, depth = 0;  ///< of the drawing, see `DrawOptions`
  std::uint64_t seed = 42;
};

/// `NodeDifference` in the result.
struct NodeDifferenceResult {
  DifferenceKind difference = DifferenceKind::changed;
  std::string what;
  std::optional<std::string> a = {}, b = {}, detail = {};
};
/// The JSON result.
struct DiffFields {
  std::string a, b, summary;
  std::int64_t only_in_a = 0, only_in_b = 0, changed = 0, equal = 0;
  std::vector<NodeDifferenceResult> differences = {};
  std::int64_t compared_parameters = 0;
  std::vector<ParameterDifference> parameters = {};
  std::optional<std::string> file = {};
};
const Fields& fields_of(const NodeDifferenceResult*);
const Fields& fields_of(const DiffFields*);

/// Compares the graphs and parameters. Throws `UserError` like `open_model` and `write_drawing`, and for files that
/// exist.
JobResult diff_models(const DiffJob& job, Context& context);

}  // namespace hone
