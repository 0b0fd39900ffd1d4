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

/// What a job leaves, and how it is kept safe.
namespace hone {

/// How a job with training is kept safe.
struct JobResume {
  bool resume = false;
  std::int64_t save_steps = 0;
  std::int64_t save_total_limit = 2;
  bool save_optimizer_state = false;
};

Options options_of(const JobResume*);

/// The folder a job writes.
struct JobOutput {
  std::string folder;
  bool overwrite = false;
  OutputFolderOptions options() const;
  /// What the model is called that is written into `part`, `temporary` or a folder in it, which will be `folder`.
  std::string name_of(const fs::path& part, const fs::path& temporary) const;
  OutputFolderOptions resumable(const JobResume& arguments) const;
};

/// `--output_dir`, which must be given, and `--overwrite`.
Options options_of(const JobOutput*);
/// The same of a job that writes a report, where it is given.
Options report_output();

/// A name for a folder beside this one that does not exist yet: "small-4-bits", or "small-4-bits-2".
std::string free_name(const std::string& folder, std::string_view ending);

/// Checkpoints in `folder`, a part of `output`, that are models with the tokenizer and the record of what was learned from
/// of `source`; both must outlive them.
/// A training that diverges gives `output` up.
CheckpointOptions checkpoints_in(const fs::path& folder, const JobResume& arguments,
                                 const TextModel& source, OutputFolder& output);

/// The same for each of several trainings that lead to the result of a job, by its name: until the job is done. All must outlive it.
std::function<CheckpointOptions(const std::string&)> checkpoints_by_name(const JobResume& arguments,
                                                                         const TextModel& source,
                                                                         OutputFolder& output);

/// The log of a training in `folder`, reported where `report_to` says.
TrainingLog training_log_in(const fs::path& folder, const std::string& report_to);

/// The results.json of a job that stands finished in its folder (see `begin_run`); null where it has none.
Json finished_results(const OutputFolder& output);

}  // namespace hone
