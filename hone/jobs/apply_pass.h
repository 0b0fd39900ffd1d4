#pragma once

#include <functional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which pass is to be run over which model, and where to.
struct PassJob {
  std::string model;  ///< as `open_model` takes it
  std::string pass;   ///< as `parse_pass` takes it
  JobOutput output;
  std::uint64_t seed = 42;  ///< of fresh weights
};

struct PassJobResult {
  Json fields;                                        ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text;  ///< the same for people
};

/// Writes a copy of the model over whose graph the pass was run for good. Throws `UserError` as `open_model` and `transform`,
/// where nothing changed, and where what is left is no model that a folder can hold.
PassJobResult apply_pass(const PassJob& job, Context& context);

}  // namespace hone
