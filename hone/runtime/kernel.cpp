#include "hone/runtime/kernel.h"

#include <algorithm>

#include "hone/runtime/kernel_choice.h"
#include "hone/runtime/run_reference.h"
#include "hone/runtime/session.h"

namespace hone {

bool implements_op(const Kernel& kernel, const OpDef& op) {
  return kernel.op == op.name || (kernel.op == kAnyFormula && op.formula != nullptr);
}

CallSite call_site(const Node& node) {
  return {node.op(), node.attributes(), node.input_types(), node.types()};
}

std::vector<Type> types_of(const std::vector<Value>& values) {
  std::vector<Type> types;
  for (const Value& value : values) types.push_back(value.type());
  return types;
}

bool has_fast_kernel(std::string_view op, const Attributes& attributes,
                     const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                     const Session& session) {
  return fast_kernel(session.library.kernels,
                     {find_op(session.library.ops, op), attributes, inputs, outputs},
                     session.device) != nullptr;
}

const Kernel* fast_kernel(const KernelTable& kernels, const CallSite& site, const Device& device) {
  const std::vector<KernelCandidate> answers = kernel_candidates(kernels, site, device);
  return answers.empty() || !answers.back().refusal.empty() ? nullptr : answers.back().kernel;
}

const Kernel* find_kernel(const KernelTable& kernels, const Node& node, const Device& device) {
  const CallSite site = call_site(node);
  const Kernel* found = fast_kernel(kernels, site, device);
  if (found != nullptr || device.host_accessible()) return found;
  std::string refusals;
  for (const KernelCandidate& answer : kernel_candidates(kernels, site, device))
    refusals += fmt::format("; {}: {}", answer.kernel->name, answer.refusal);
  fail("no kernel on {}{}", to_string(device), refusals);
}

double computed_flops(const Kernel* kernel, const Node& node, const Bindings& bindings) {
  if (node.op().flops == nullptr) return 0;
  const double defined = node.op().flops({node.input_types(), node.attributes()}, bindings);
  return kernel == nullptr ? defined : kernel->flops_share * defined;
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
