#pragma once

#include "hone/runtime/session.h"

namespace hone::cuda {

/// Runs graphs on a GPU like `interpreted`, but captures the third run with the same shapes and parameters as a CUDA
/// graph. From then on, the host launches the whole run at once, not operation by operation. The kernels are the same,
/// and so are all bits of the results. Runs that cannot be captured, since a plugin's kernel waits in them, and
/// recorded runs are launched operation by operation.
std::unique_ptr<Executable> captured(const Graph& graph, const Session& session);

/// Steps that token counts are rounded up to, so that training and prediction have few shapes: a few more tokens take
/// less time than launching a run's kernels one by one.
inline constexpr TokenSteps kCapturedTokenSteps = {.batch = 64, .text = 16};

/// Returns for how many sets of shapes the executable holds captured runs now; 0 for executables that `captured` did
/// not make.
std::size_t captured_count(const Executable& executable);

}  // namespace hone::cuda
