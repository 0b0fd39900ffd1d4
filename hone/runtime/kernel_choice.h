#pragma once

#include <string_view>
#include <vector>

#include "hone/runtime/kernel.h"

/// Explains why a kernel is chosen and others are not.
namespace hone {

/// Returns whether a kernel runs such calls through `run_widened`: a host kernel that does not support halves.
bool is_widened(const Kernel& kernel, const CallSite& site);

/// Returns whether a kernel for devices of this kind computes the operation directly in bf16 or f16.
bool computes_halves(std::string_view op, const KernelTable& kernels, const Device& device);

/// Returns why a kernel rejects such calls; "" if it runs them.
std::string_view kernel_refusal(const Kernel& kernel, const CallSite& site);

/// The answer of a row of the kernel table for a node.
struct KernelCandidate {
  const Kernel* kernel = nullptr;
  std::string_view refusal;  ///< "": it accepts the node
};

/// Returns the answers of the rows of a node's operation on a device, in order, up to the first that accepts it. If
/// none does, the reference remains, on a device that the host can access.
std::vector<KernelCandidate> kernel_candidates(const KernelTable& kernels, const CallSite& site,
                                               const Device& device);

}  // namespace hone
