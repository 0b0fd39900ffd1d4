#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hone/base/json.h"
#include "hone/base/options.h"
#include "hone/base/output_folder.h"
#include "hone/jobs/training_log.h"
#include "hone/models/model_source.h"
#include "hone/train/checkpoints.h"

/// The output of a job, and how its progress is kept.
namespace hone {

/// Checkpoint options of a job with training.
struct JobResume {
  bool resume = false;
  std::int64_t save_steps = 0;
  std::int64_t save_total_limit = 2;
  bool save_optimizer_state = false;
};

Options options_of(const JobResume*);

/// The output folder of a job.
struct JobOutput {
  std::string folder;
  bool overwrite = false;
  OutputFolderOptions options() const;
  /// Returns the name of the model that is written to `part`, which is `temporary` or a folder in it; `temporary` will
  /// become `folder`.
  std::string name_of(const fs::path& part, const fs::path& temporary) const;
  OutputFolderOptions resumable(const JobResume& arguments) const;
};

/// The options `--output_dir`, which is required, and `--overwrite`.
Options options_of(const JobOutput*);
/// The same for an optional report.
Options report_output();

/// Returns the name of a folder beside this one that does not exist yet: "small-4-bits", or "small-4-bits-2".
std::string unused_name(const std::string& folder, std::string_view ending);

/// Returns options for checkpoints in `folder`, a part of `output`. Each is a model folder with the tokenizer and
/// training record of `source`. If training diverges, `output` is given up. Both must outlive the result.
CheckpointOptions checkpoints_in(const fs::path& folder, const JobResume& arguments,
                                 const TextModel& source, OutputFolder& output);

/// The same for each of several trainings of a job, by name; they are removed when the job is done. All arguments must
/// outlive the result.
std::function<CheckpointOptions(const std::string&)> checkpoints_by_name(const JobResume& arguments,
                                                                         const TextModel& source,
                                                                         OutputFolder& output);

/// Opens the log of a training in `folder`; `report_to` "tensorboard" adds TensorBoard logs.
TrainingLog training_log_in(const fs::path& folder, const std::string& report_to);

/// Reads results.json of a finished job from its folder (see `begin_run`); null if there is none.
Json finished_results(const OutputFolder& output);

}  // namespace hone
