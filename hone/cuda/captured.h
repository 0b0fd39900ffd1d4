#pragma once

#include "hone/runtime/session.h"

namespace hone::cuda {

/// Runs graphs on a GPU as `interpreted` does, but what comes with the same shapes and parameters for the third time is
/// captured as a CUDA graph: from then on the host starts the whole run at once, not each of its operations. The same
/// kernels, the same bits. A run that cannot be captured, since a kernel of a plugin waits in it, goes on operation by
/// operation, and so does one that is recorded.
std::unique_ptr<Executable> captured(const Graph& graph, const Session& session);

/// With which trainings and predictions bring few shapes: some tokens more take less time than starting a run's kernels one by one.
inline constexpr TokenSteps kCapturedTokenSteps = {.batch = 64, .text = 16};

/// Of how many sets of shapes an executable has captured runs now; none of those that are made otherwise.
std::size_t captured_count(const Executable& executable);

}  // namespace hone::cuda
