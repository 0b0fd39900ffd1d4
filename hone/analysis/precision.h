#pragma once

#include <set>

#include "hone/formats/plan.h"
#include "hone/ir/graph.h"
#include "hone/passes/layer_sparsity.h"

namespace hone {

/// One tensor that a plan quantizes.
struct PlannedTensor {
  std::string layer;  ///< node that reads the tensor, or produces it if it is an output
  std::string_view op;
  Operand operand;
  std::string tensor;  ///< name of the value
  Sizes sizes;         ///< with the symbols bound
  Format format;
  double average_bits = 0;  ///< per element, including shared exponents and state
};

/// Returns the tensors of an unquantized graph that the plan quantizes, in the order of the plan. Throws `UserError`
/// for layers that the graph does not have.
std::vector<PlannedTensor> planned_tensors(const Graph& graph, const QuantizationPlan& plan,
                                           const Bindings& bindings);

enum class BitCount : std::uint8_t {
  stored,  ///< bits of the codes and of values shared by blocks, rows or tensors
  /// Width plus fraction of formats that have both: integer(width=8,frac=4) counts as 12, as in MASE's
  /// `average_bitwidth`. Only for comparison with published numbers; nothing is stored with so many bits.
  width_and_fraction,
};

/// The number of weights, and the bits that they take.
struct WeightBits {
  double elements = 0, bits = 0;
  double average() const { return elements == 0 ? 32 : bits / elements; }
};

/// Returns the weights whose average is reported as the average bits by all commands: those of the named layers, or of
/// all linears and convolutions, including shared scales. A weight without a format counts 32 bits per element. Biases,
/// norms and tables do not count. A pruned layer counts its remaining elements and one bit per block (`sparse_bits`). A
/// weight that several layers read counts once, in its first format in the plan. `graph` is unquantized. Throws like
/// `planned_tensors`.
WeightBits weight_bits(const Graph& graph, const QuantizationPlan& plan,
                       const std::vector<std::string>& layers = {},
                       const LayerSparsities& sparsities = {}, BitCount count = BitCount::stored);

/// The sizes of all parameters of a model under a plan.
struct PlannedSize {
  std::int64_t parameters = 0;            ///< elements
  std::int64_t quantized_parameters = 0;  ///< elements with a format
  double bits = 0;                        ///< of all parameters: 32 per element if unquantized
  double quantized_bits = 0;              ///< of the quantized ones
  double embedding_bits = 0;              ///< of embedding tables, whose rows operations read
  bool embeddings_quantized = false;      ///< whether any table has a format
};

/// Returns the names of the tables of an unquantized graph: parameters of which operations read rows by number, or the
/// first rows.
std::set<std::string> table_parameters(const Graph& graph);

/// A parameter with several formats in the plan counts in the first one.
PlannedSize planned_size(const Graph& graph, const QuantizationPlan& plan);

/// Bits per element of an unquantized graph under a plan.
struct AverageBits {
  double weights = 32;         ///< see `weight_bits`
  double all_parameters = 32;  ///< including biases, norms and tables
  double data = 32;            ///< all values that products read and compute
  std::int64_t quantized_parameters = 0, parameters = 0;  ///< elements
};

/// A value counts once per product that reads it. A parameter with several formats in the plan counts in the first one.
/// Throws like `planned_tensors`.
AverageBits average_bits(const Graph& graph, const QuantizationPlan& plan, const Bindings& bindings,
                         BitCount count = BitCount::stored);

}  // namespace hone
