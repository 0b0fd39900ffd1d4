#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/report/table.h"
#include "hone/runtime/context.h"

/// Which kernels there are, and which of them a model's operations take.
namespace hone {

/// The kernels of a library that its plugins brought.
std::vector<const Kernel*> plugin_kernels(const Library& library);

/// A row of every kernel by its operation, in the order in which they are asked, with what holds of all that it runs; `device`:
/// of one kind alone, such as "cuda"; empty: of all, the program's for cards among them whether there is one or not.
Table kernel_table(const Library& library, const std::string& device);

/// What operations of one model take.
struct KernelsJob {
  std::string model;   ///< as `bench_model` takes it
  bool train = false;  ///< of a training step; otherwise of inference
  std::uint64_t seed = 42;
};

struct KernelsResult {
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// The kernel of each operation of the graph that is run, on the device of the context, and what those before it had against
/// it. Throws `UserError` as `bench_model`.
KernelsResult kernels_of_model(const KernelsJob& job, Context& context);

}  // namespace hone
