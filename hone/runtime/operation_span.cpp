#include "hone/runtime/operation_span.h"

namespace hone {

std::map<std::string, KernelTime> kernel_times(std::span<const OperationSpan> spans) {
  std::map<std::string, KernelTime> times;
  for (const OperationSpan& span : spans) {
    KernelTime& time = times[fmt::format("{} / {}", span.node->op().name, span.kernel)];
    time.seconds += span.seconds();
    ++time.calls;
  }
  return times;
}

}  // namespace hone
