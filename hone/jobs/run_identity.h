#pragma once

#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/job_result.h"
#include "hone/models/encoding.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"

/// The identity of a run, by which a repeated request is recognized: the settings that affect its result, and
/// fingerprints of the contents of model and data. Files can be moved, but not changed. The identity is stored in the
/// record of the run's folder.
namespace hone {

/// Version of the numerics of training. Increment it when any kernel gives other bits, dropout draws other numbers, or
/// other rows are set aside for validation. Only a run with the same numerics resumes from its checkpoints; results of
/// finished runs are read regardless.
inline constexpr int kNumerics = 9;

/// Selects the settings of a command that affect the result: neither output locations nor display options nor the
/// number of threads. Model and data count by their contents, not their paths.
Json result_settings(Json settings);

/// Returns the command that made the folder of this record, or was interrupted there: "train"; "" if unknown.
std::string command_of(const FolderRecord& record, const fs::path& folder);

/// Describes what the last bits of results depend on besides the work: the kind of device with its settings, the type
/// of values, and the executor, as in "cuda, NVIDIA H100 80GB HBM3, products of fp32 in tf32, values in bf16"; "" for
/// fp32 with the interpreter on the CPU.
std::string computed_by(const Session& session);

/// Returns the identity of a run with the command's `settings`, and its numerics. `teacher`: null without distillation.
Json run_identity(const Json& settings, const ParameterStore& parameters, const EncodedSplits& data,
                  const Teacher* teacher = nullptr);

/// Begins a run in its folder. With `resume`, continues an interrupted run, or begins one if there is none. Returns
/// false if the same run is finished already; its result is at the destination. `bounds` are settings that limit how
/// far a run goes without changing its steps; an interrupted run can resume with other values.
///
/// Throws `UserError` if another command made the folder, or if the interrupted run has other numerics. Throws it with
/// all differences if another run was interrupted, or is finished and must not be overwritten. Throws it with all
/// affected files if files of the finished run are missing or were changed.
bool begin_run(const Invocation& invocation, const ParameterStore& parameters,
               const EncodedSplits& data, OutputFolder& output, const Teacher* teacher = nullptr,
               const std::vector<std::string>& bounds = {});

}  // namespace hone
