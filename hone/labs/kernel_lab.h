#pragma once

#include "hone/jobs/kernel_check.h"
#include "hone/labs/lab.h"

/// Lab 4.4: a kernel of one's own, from a plugin: taken or refused, right or wrong, and how fast beside the program's.
namespace hone {

/// The lab with the sizes that these fidelities have.
Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes);
/// With the usual ones.
Lab kernel_lab();

}  // namespace hone
