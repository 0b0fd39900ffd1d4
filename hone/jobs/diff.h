#pragma once

#include <functional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/draw.h"
#include "hone/report/text_layout.h"

namespace hone {

/// Two models whose graphs and parameters are compared, or one model with other inputs.
struct DiffJob {
  std::string a, b;     ///< as `open_model` takes them
  std::string drawing;  ///< file to draw both into, beside each other; empty: none
  bool png = false;     ///< beside an .svg the same picture as .png
  std::string csv;      ///< file for the table; empty: none
  bool overwrite = false;
  DrawnInputs a_inputs = {}, b_inputs = {};
  bool train = false;                        ///< as they are trained: with labels, loss and dropout
  std::int64_t equal_layers = 1, depth = 0;  ///< of the drawing, see `DrawOptions`
  std::uint64_t seed = 42;
};

struct DiffResult {
  Json fields;                                             ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};  ///< the same for people
};

/// Compares. Throws `UserError`, as `open_model` and `write_drawing` do, and for files that exist.
DiffResult diff_models(const DiffJob& job, Context& context);

}  // namespace hone
