#include "hone/runtime/kernel_choice.h"

#include <algorithm>

namespace hone {
namespace {

bool has_halves(const CallSite& site) {
  return std::ranges::any_of(site.inputs, is_half, &Type::dtype) ||
         std::ranges::any_of(site.outputs, is_half, &Type::dtype);
}

}  // namespace

std::string_view kernel_refusal(const Kernel& kernel, const CallSite& site) {
  if (!kernel.takes_halves && has_halves(site)) return "values are not f32";
  return kernel.accepts(site);
}

std::vector<KernelAnswer> kernel_answers(const KernelTable& kernels, const CallSite& site,
                                         const Device& device) {
  std::vector<KernelAnswer> answers;
  for (const Kernel& kernel : kernels) {
    if (kernel.op != site.op.name || kernel.device != device.kind()) continue;
    answers.push_back({&kernel, kernel_refusal(kernel, site)});
    if (answers.back().refusal.empty()) break;
  }
  return answers;
}

}  // namespace hone
