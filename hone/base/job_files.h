#pragma once

#include "hone/base/output_folder.h"

/// The names of all files that jobs write: one table. What is not in it counts as somebody else's, which no job removes
/// or replaces. Whoever lets a job write a new file adds its name there; a test holds every job to it.
namespace hone {

/// The role of a file in the folder of a job, by its path there.
FileRole job_file_role(const fs::path& path);

/// The same where the moments of AdamW in checkpoints are a result too.
FileRole job_file_role_with_moments(const fs::path& path);

/// Whether the weights of a model are among what the program wrote there.
bool holds_model(const FolderRecord& record);
/// Whether those of an adapter are.
bool holds_adapter(const FolderRecord& record);

/// Whether a job that did not finish can go on from the file: a checkpoint, or the result of one of its seeds.
bool is_job_progress(const fs::path& path);

}  // namespace hone
