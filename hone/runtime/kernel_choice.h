#pragma once

#include <string_view>
#include <vector>

#include "hone/runtime/kernel.h"

/// Why a kernel is taken, and why others are not.
namespace hone {

/// Whether a kernel runs such calls by `run_widened`: one of the host, which takes no halves.
bool is_widened(const Kernel& kernel, const CallSite& site);

/// Whether a kernel for devices of this kind computes the operation with bf16 or f16 as they are.
bool computes_halves(std::string_view op, const KernelTable& kernels, const Device& device);

/// What a kernel has against such calls; "" when it runs them.
std::string_view kernel_refusal(const Kernel& kernel, const CallSite& site);

/// A row of the kernel table, asked about a node.
struct KernelAnswer {
  const Kernel* kernel = nullptr;
  std::string_view refusal;  ///< "": it takes the node
};

/// What the rows of a node's operation on a device say, in the order in which they are asked, up to the first that takes it:
/// where none does, its reference is left, on a device that the host can reach.
std::vector<KernelAnswer> kernel_answers(const KernelTable& kernels, const CallSite& site,
                                         const Device& device);

}  // namespace hone
