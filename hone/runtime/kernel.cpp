#include "hone/runtime/kernel.h"

#include <algorithm>

namespace hone {

CallSite call_site(const Node& node) {
  return {node.op(), node.attributes(), node.input_types(), node.types()};
}

const Kernel* find_kernel(const KernelTable& kernels, const Node& node, const Device& device) {
  const CallSite site = call_site(node);
  std::string refusals;
  for (const Kernel& kernel : kernels) {
    if (kernel.op != node.op().name || kernel.device != device.kind()) continue;
    const std::string_view reason = kernel.accepts(site);
    if (reason.empty()) return &kernel;
    refusals += fmt::format("; {}: {}", kernel.name, reason);
  }
  user_check(device.host_accessible(), "no kernel on {}{}", to_string(device), refusals);
  return nullptr;
}

std::int64_t workspace_bytes(const Kernel* kernel, const Node& node, const Bindings& bindings) {
  if (kernel == nullptr || kernel->workspace_bytes == nullptr) return 0;
  return kernel->workspace_bytes(call_site(node), bindings);
}

std::int64_t workspace_bytes(const KernelTable& kernels, const Graph& graph, const Device& device,
                             const Bindings& bindings) {
  std::int64_t most = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    most = std::max(most, workspace_bytes(find_kernel(kernels, *node, device), *node, bindings));
  return most;
}

}  // namespace hone
