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

/// The implementations of a linear that `bench_linear` times, as graphs and their parameters.
namespace hone {

/// Whether its weight is in codes.
inline bool has_codes(ProductWay way) {
  return way == ProductWay::packed || way == ProductWay::native;
}

/// An implementation with its weight on the host.
struct LinearVariant {
  ProductWay way = ProductWay::fp32;
  std::optional<Format> format = {}, input_format = {};
  std::string objection = {};  ///< why there is no such linear; empty: there is
  /// As the product reads them: weight and bias, or codes, shared codes, bias and states.
  std::vector<std::pair<std::string, Tensor>> operands = {};
  std::int64_t weight_bytes = 0;
  /// Its zeros, and the kernel that skips them; none: a dense product by the kernel that the table chooses.
  std::optional<SparseWeight> sparse = {};

  /// The type of x and y.
  DType values() const { return way == ProductWay::bf16 && !sparse ? DType::bf16 : DType::f32; }
  /// Of weight, bias, x and y.
  std::int64_t bytes(const LinearJob& job, std::int64_t rows) const;
};

/// fp32 or bf16.
LinearVariant dense_variant(ProductWay way, const Tensor& weight, const Tensor& bias);
/// Every implementation of the job, those in codes once for each format; behind them, of each that has a sparse kernel on the device,
/// one for every sparsity of the job. `on_made` is called after each. Throws `Interrupted`.
std::vector<LinearVariant> linear_variants(const LinearJob& job, const Tensor& weight,
                                           const Tensor& bias, const std::function<void()>& on_made,
                                           Context& context);

/// `count` linears of one x, each with parameters of its own. x is a parameter, since a device copies inputs in every run. Nothing is
/// an output unless `gives_y`: a device would copy it likewise.
Graph linears_graph(const LinearVariant& variant, const LinearJob& job, std::int64_t count,
                    bool gives_y, const Session& session);
/// Copies of the operands on the device. On the host one weight in a file is enough, and one of a sparse kernel: what is laid out
/// anew is a copy.
ParameterStore linears_store(const LinearVariant& variant, std::int64_t count, Device& device);

/// Why the device has no kernel of an operation of the graph; "": it has all of them.
std::string missing_kernel(const Graph& graph, const Session& session);
/// "packed_linear / codes": the last operation and its kernel.
std::string product_kernel(const Graph& graph, const Session& session);

}  // namespace hone
