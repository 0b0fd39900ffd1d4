#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/sparse_linears.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"

/// The implementations of a linear that `bench_linear` times, as graphs with parameters.
namespace hone {

/// Returns whether the weight is stored in codes.
inline bool has_codes(LinearImplementation implementation) {
  return implementation == LinearImplementation::packed ||
         implementation == LinearImplementation::native;
}

/// An implementation with its weight on the host.
struct LinearVariant {
  LinearImplementation implementation = LinearImplementation::fp32;
  std::optional<Format> format = {}, input_format = {};
  std::string objection = {};  ///< why it is not supported; empty: it is
  /// In the order that the product reads them: weight and bias, or codes, shared codes, bias and states.
  std::vector<std::pair<std::string, Tensor>> operands = {};
  std::int64_t weight_bytes = 0;
  /// Its zeros, and the kernel that skips them. Empty: a dense product by the kernel that the table chooses.
  std::optional<SparseWeight> sparse = {};

  /// Returns the type of x and y.
  DType values() const {
    return implementation == LinearImplementation::bf16 && !sparse ? DType::bf16 : DType::f32;
  }
  /// Returns the bytes of weight, bias, x and y.
  std::int64_t bytes(const LinearJob& job, std::int64_t rows) const;
};

/// Returns an fp32 or bf16 variant.
LinearVariant dense_variant(LinearImplementation implementation, const Tensor& weight,
                            const Tensor& bias);
/// Returns every implementation of the job; those in codes once for each format. They are followed by a sparse variant
/// for every sparsity of the job, for each implementation that has a sparse kernel on the device. Calls `on_made` after
/// each. Throws `Interrupted`.
std::vector<LinearVariant> linear_variants(const LinearJob& job, const Tensor& weight,
                                           const Tensor& bias, const std::function<void()>& on_made,
                                           Context& context);

/// Makes a graph with `count` linears of the same x, each with its own parameters. x is a parameter, because inputs are
/// copied to a GPU in every run. With `has_output` the last result is an output, which is copied likewise.
Graph linears_graph(const LinearVariant& variant, const LinearJob& job, std::int64_t count,
                    bool has_output, const Session& session);
/// Returns `count` copies of the operands on the device. On the host a weight that is mapped from a file or has a
/// sparse kernel is shared instead, because kernels copy it when they lay it out.
ParameterStore linears_store(const LinearVariant& variant, std::int64_t count, Device& device);

/// Returns which operation of the graph lacks a kernel on the device, and why; "" if none does.
std::string missing_kernel(const Graph& graph, const Session& session);
/// Returns "packed_linear / codes": the last operation and its kernel.
std::string product_kernel(const Graph& graph, const Session& session);

}  // namespace hone
