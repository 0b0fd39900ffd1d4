#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_result.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// Lists kernels, and those that a model's operations use.
namespace hone {

/// The kernels of a library that come from plugins.
std::vector<const Kernel*> plugin_kernels(const Library& library);

/// A row for each kernel, by operation, in the order in which they are tried. `device`: only those of one kind, such as "cuda";
/// empty: all, with those for GPUs whether there is one or not.
Table kernel_table(const Library& library, const std::string& device);

/// The same as a result.
JobResult list_kernels(const Library& library, const std::string& device);

/// A model whose kernels to list.
struct KernelsJob {
  std::string model;   ///< as `bench_model` takes it
  bool train = false;  ///< of a training step; otherwise of inference
  std::uint64_t seed = 42;
};

/// The kernel of each operation of the graph on the device of the context, and why those tried before did not accept it.
/// Throws `UserError` as `bench_model`.
JobResult kernels_of_model(const KernelsJob& job, Context& context);

}  // namespace hone
