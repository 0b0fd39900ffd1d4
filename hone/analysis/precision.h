#pragma once

#include <set>

#include "hone/formats/plan.h"
#include "hone/ir/graph.h"
#include "hone/passes/layer_sparsity.h"

namespace hone {

/// One tensor that a plan quantizes.
struct PlannedTensor {
  std::string layer;  ///< node that reads (for outputs: makes) it
  std::string_view op;
  Operand operand;
  std::string tensor;  ///< name of the value
  Sizes sizes;         ///< with the symbols bound
  Format format;
  double average_bits = 0;  ///< per element, shared exponents and state included
};

/// What the plan quantizes of an unquantized graph, in the order of the plan. Throws `UserError` for
/// layers the graph does not have.
std::vector<PlannedTensor> planned_tensors(const Graph& graph, const QuantizationPlan& plan,
                                           const Bindings& bindings);

enum class BitCount : std::uint8_t {
  stored,  ///< of the codes, with what blocks, rows or tensors share
  /// Width and fraction of formats that have both, added up: integer(width=8,frac=4) counts 12, as MASE's
  /// `average_bitwidth` has it. A number to compare with older ones; nothing has so many bits.
  width_and_fraction,
};

/// Weights, and the bits that they take.
struct WeightBits {
  double elements = 0, bits = 0;
  double average() const { return elements == 0 ? 32 : bits / elements; }
};

/// Average bits, as every command counts them, are those of these weights: of the layers that are named, or of all linears
/// and convolutions, with the scales that elements share. A weight without a format counts 32 bits for each element.
/// Biases, norms and tables do not count. Of a pruned layer the elements that stay count, and a bit for each block
/// (`sparse_bits`). A weight that several layers read counts once, in the first format that the plan has for it. `graph` is
/// unquantized. Throws as `planned_tensors`.
WeightBits weight_bits(const Graph& graph, const QuantizationPlan& plan,
                       const std::vector<std::string>& layers = {},
                       const LayerSparsities& sparsities = {}, BitCount count = BitCount::stored);

/// Sizes of all parameters of a model under a plan.
struct PlannedSize {
  std::int64_t parameters = 0;            ///< elements
  std::int64_t quantized_parameters = 0;  ///< of them in a format
  double bits = 0;                        ///< of all: 32 each where unquantized
  double quantized_bits = 0;              ///< of the quantized ones
  double embedding_bits = 0;              ///< of the tables of which operations read rows
  bool embeddings_quantized = false;      ///< any of them is in a format
};

/// The parameters that are tables, of an unquantized graph: operations read rows of them by number, or the first ones.
std::set<std::string> table_parameters(const Graph& graph);

/// A parameter that layers want in several formats counts in the first of them.
PlannedSize planned_size(const Graph& graph, const QuantizationPlan& plan);

/// Bits per element of what a plan makes of an unquantized graph.
struct AverageBits {
  double weights = 32;         ///< see `weight_bits`
  double all_parameters = 32;  ///< biases, norms and tables among them
  double data = 32;            ///< of all values that products read and compute
  std::int64_t quantized_parameters = 0, parameters = 0;  ///< elements
};

/// Values are counted as often as products read them. A parameter that layers want in several formats counts in the first of
/// them. Throws as `planned_tensors`.
AverageBits average_bits(const Graph& graph, const QuantizationPlan& plan, const Bindings& bindings,
                         BitCount count = BitCount::stored);

}  // namespace hone
