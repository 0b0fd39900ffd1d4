#include "hone/runtime/kernel_choice.h"

#include <algorithm>

#include "hone/runtime/run_reference.h"

namespace hone {
namespace {

bool has_halves(const CallSite& site) {
  return std::ranges::any_of(site.inputs, is_half, &Type::dtype) ||
         std::ranges::any_of(site.outputs, is_half, &Type::dtype);
}

}  // namespace

bool is_widened(const Kernel& kernel, const CallSite& site) {
  return kernel.device == "cpu" && kernel.values == KernelValues::f32 && has_halves(site);
}

bool computes_halves(std::string_view op, const KernelTable& kernels, const Device& device) {
  return std::ranges::any_of(kernels, [&](const Kernel& kernel) {
    return kernel.op == op && kernel.device == device.kind() && kernel.values != KernelValues::f32;
  });
}

std::string_view kernel_refusal(const Kernel& kernel, const CallSite& site) {
  if (kernel.values == KernelValues::bf16 && !has_halves(site)) return "values are not bf16";
  if (kernel.values != KernelValues::f32 || !has_halves(site)) return kernel.accepts(site);
  if (!is_widened(kernel, site)) return "values are not f32";
  const auto widened = [](std::span<const Type> types) {
    std::vector<Type> wide(types.begin(), types.end());
    for (Type& type : wide)
      if (is_half(type.dtype)) type.dtype = DType::f32;
    return wide;
  };
  const std::vector<Type> outputs = widened(site.outputs);
  return kernel.accepts({site.op, site.attributes, widened(site.inputs), outputs});
}

std::vector<KernelCandidate> kernel_candidates(const KernelTable& kernels, const CallSite& site,
                                               const Device& device) {
  std::vector<KernelCandidate> answers;
  for (const Kernel& kernel : kernels) {
    if (!implements_op(kernel, site.op) || kernel.device != device.kind()) continue;
    answers.push_back({&kernel, kernel_refusal(kernel, site)});
    if (answers.back().refusal.empty()) break;
  }
  return answers;
}

}  // namespace hone
