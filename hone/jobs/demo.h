#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/run_report.h"
#include "hone/jobs/width_study.h"
#include "hone/report/text_layout.h"

namespace hone {

/// Built-in data: texts enough that each is seen once, and a small share to choose by.
JobData demo_data();

/// How long the demonstration trains, and on what.
struct DemoJob {
  JobData data = demo_data();    ///< of the built-in kind, for whose words the tokenizer is
  std::int64_t steps = 7000;     ///< of training, of 32 texts
  std::int64_t qat_steps = 300;  ///< of training of each quantized model
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

struct DemoResult {
  /// The folder holds what the same job has left before, and nothing was done; `fields` are its results.
  bool was_finished = false;
  Json fields = {};                      ///< what programs read, see `result_of`
  std::optional<WidthStudy> study = {};  ///< where something was done
  /// On the test part, to read the study with; of classes.
  std::optional<double> bag_of_words_accuracy = {};
  /// The same for people; null where nothing was done.
  std::function<std::string(const TextStyle&)> text = {};
};

/// The whole way on built-in data: trains a small model, quantizes it to fixed point of every width, by rounding alone and
/// with training, and writes the model, tables, figures and report into `output`. Throws `UserError`, as `load_splits`,
/// `study_widths` and `begin_run` do; `Interrupted`.
DemoResult run_demo(const DemoJob& job, Context& context);

}  // namespace hone
