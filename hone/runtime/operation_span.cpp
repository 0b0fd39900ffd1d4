#include "hone/runtime/operation_span.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {

std::vector<OperationSpan> of_faster_half(std::span<const OperationSpan> spans, std::int64_t runs) {
  const auto count = static_cast<std::size_t>(runs);
  HONE_ASSERT(runs > 0 && spans.size() % count == 0, "{} spans of {} runs", spans.size(), runs);
  const std::size_t each = spans.size() / count;
  std::vector<std::pair<double, std::size_t>> order(count);
  for (std::size_t run = 0; run < count; ++run) {
    order[run] = {0, run};
    for (const OperationSpan& span : spans.subspan(run * each, each))
      order[run].first += span.seconds();
  }
  std::ranges::sort(order);
  std::vector<bool> is_fast(count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(faster_half(runs)); ++i)
    is_fast[order[i].second] = true;
  std::vector<OperationSpan> fast;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (is_fast[i / each]) fast.push_back(spans[i]);
  return fast;
}

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
