#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/run_report.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

namespace hone {

/// Of which models one is to be chosen, and on which texts.
struct ChooseJob {
  std::vector<std::string> models;  ///< as `open_model` takes them; two or more
  JobData data = {};
  std::string split = "validation";  ///< the part to choose on
  std::int64_t batch_size = 32;
  /// The one with the fewest bytes, packed, of those that are not shown to be worse than the best; otherwise the best.
  bool smallest = false;
  /// With it: of those that are shown to pass these, each beside the best by the gate's metric.
  GateOptions gates = {};
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report
};

struct ChooseResult {
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
  GateOutcome gate = {};  ///< whether any of them passes all gates
};

/// Measures the models on the same texts and chooses one: the best by the figure of the task, or the smallest that keeps up with it.
/// Every model is compared with the best on the texts of both, so that small differences count. Throws `UserError`, as
/// `open_model`, `load_measured` and `measure_models` do.
ChooseResult choose_model(const ChooseJob& job, Context& context);

}  // namespace hone
