#pragma once

#include <vector>

#include "hone/base/output_folder.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/job_result.h"
#include "hone/models/encoding.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"

/// What a run is, so that one that is asked for again is known to be the same: the settings that decide on its result,
/// and fingerprints of the contents of model and data. A file may move, but not change. It stays in the record of the
/// run's folder.
namespace hone {

/// Counts the ways in which training rounded: to be raised when any kernel gives other bits, dropout draws other
/// numbers, or other rows are set aside for validation. Only a run of the same numerics goes on from its checkpoints; what is finished is read whatever it was.
inline constexpr int kNumerics = 9;

/// Those of a command's settings that decide on the result: without where it is written, how it is shown and by how
/// many threads. Of model and data, the contents count, not the paths.
Json result_settings(Json settings);

/// The command that made the folder of this record, or was interrupted there: "train". Empty: unknown.
std::string command_of(const FolderRecord& record, const fs::path& folder);

/// What the last bits of results depend on besides the work: the kind of device with its settings, the type of values, and the executor,
/// as "cuda, NVIDIA H100 80GB HBM3, products of fp32 in tf32, values in bf16"; "" for fp32 with the interpreter on the CPU.
std::string computed_by(const Session& session);

/// The identity of a run with the command's `settings`, and its numerics. `parent`: what it learns from beside the data.
Json run_identity(const Json& settings, const ParameterStore& parameters, const EncodedSplits& data,
                  const Parent* parent = nullptr);

/// Begins a run in its folder; with `resume`, goes on in what an interrupted one left, or begins where there is nothing
/// to go on with. Returns false when the same run is finished: there is nothing left to do, the result stands at the
/// destination. `bounds` are settings that say how
/// far a run goes and nothing of the way: an interrupted one may go on to others.
///
/// Throws `UserError` when another command made the folder, or the interrupted run is of other numerics; with every difference when another run was
/// interrupted, or is finished and not to be overwritten; and with every file when the finished one has lost some, or
/// others than it wrote stand there.
bool begin_run(const Invocation& invocation, const ParameterStore& parameters,
               const EncodedSplits& data, OutputFolder& output, const Parent* parent = nullptr,
               const std::vector<std::string>& bounds = {});

}  // namespace hone
