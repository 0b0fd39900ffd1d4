#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"
#include "hone/runtime/kernel_choice.h"

/// Listing of kernels, and of those that a model's operations use.
namespace hone {

/// Returns the kernels of a library that come from plugins.
std::vector<const Kernel*> plugin_kernels(const Library& library);

std::span<const EnumName> enum_names(Layout);

/// A kernel of an operation.
struct KernelRow {
  std::string operation, device, kernel;  ///< "reference": tried last
  Layout layout = Layout::strided;
  std::string values, arithmetic;
  bool prepares = false, workspace = false;
  std::string origin;
};
const Fields& fields_of(const KernelRow*);

/// The kernels of all operations.
struct KernelsFields {
  std::vector<KernelRow> kernels;
};
const Fields& fields_of(const KernelsFields*);

/// Returns a row for each kernel, by operation, in the order in which they are tried. `device`: only kernels for this
/// kind of device, such as "cuda"; empty: all, including kernels for GPUs on machines without one.
std::vector<KernelRow> kernel_rows(const Library& library, const std::string& device);

/// Returns the same as a result.
JobResult list_kernels(const Library& library, const std::string& device);

/// A model whose kernels to list.
struct KernelsJob {
  std::string model;   ///< see `bench_model`
  bool train = false;  ///< of a training step, otherwise of inference
  std::uint64_t seed = 42;
};

/// Why a kernel does not run an operation.
struct KernelRefusal {
  std::string kernel, reason;
  bool operator==(const KernelRefusal&) const = default;
};
const Fields& fields_of(const KernelRefusal*);

/// Selects the refusals among these candidates.
std::vector<KernelRefusal> refusals_of(const std::vector<KernelCandidate>& candidates);
/// Returns "name: reason; …"; absent if there are none.
Cell refusals_cell(const std::vector<KernelRefusal>& refusals);

/// An operation of a model's graph.
struct NodeKernel {
  std::string node, operation, kernel, arithmetic;
  bool prepares = false;
  std::vector<KernelRefusal> refused = {};
};
const Fields& fields_of(const NodeKernel*);

/// The kernels of a model.
struct ModelKernelsFields {
  std::string model, what, device;
  std::vector<NodeKernel> nodes = {};
};
const Fields& fields_of(const ModelKernelsFields*);

/// Lists the kernel of each operation of the graph on the device of the context, and why those tried before did not
/// accept it. Throws `UserError` like `bench_model`.
JobResult kernels_of_model(const KernelsJob& job, Context& context);

}  // namespace hone
