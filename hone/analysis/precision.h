#pragma once

#include <set>

#include "hone/formats/plan.h"
#include "hone/ir/graph.h"

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

/// Sizes of all parameters of a model under a plan.
struct PlannedSize {
  std::int64_t parameters = 0;            ///< elements
  std::int64_t quantized_parameters = 0;  ///< of them in a format
  double bits = 0;                        ///< of all: 32 each where unquantized
  double quantized_bits = 0;              ///< of the quantized ones
  double embedding_bits = 0;              ///< of the tables of which operations read rows
  bool embeddings_quantized = false;      ///< any of them is in a format

  /// Bits per quantized parameter; 32 when nothing is quantized.
  double average_weight_bits() const;
};

/// The parameters that are tables, of an unquantized graph: operations read rows of them by number, or the first ones.
std::set<std::string> table_parameters(const Graph& graph);

/// A parameter that layers want in several formats counts in the first of them.
PlannedSize planned_size(const Graph& graph, const QuantizationPlan& plan);

}  // namespace hone
