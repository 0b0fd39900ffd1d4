#pragma once

#include <functional>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/train/example_source.h"

namespace hone {

/// A forward graph in training mode with one output, as for a `Predictor`, and its parameters.
struct Variant {
  Graph graph;
  ParameterStore parameters;
};

struct VariantRuns {
  std::int64_t batch_size = 32;
  /// Limit of the memory for values of the base that are kept at once, and for parameters that only variants have; a
  /// single variant may exceed it. Variants are processed in groups that fit; the base runs once per group.
  double most_bytes = 1 << 30;
};

struct VariantRows {
  std::vector<float> base;                   ///< (examples, W)
  std::vector<std::vector<float>> variants;  ///< the same for each
  std::int64_t width = 0;                    ///< W
  std::int64_t groups = 0;                   ///< number of groups of variants
  double kept_bytes = 0;      ///< maximum over groups: values of the largest batch, and parameters
  double flops = 0;           ///< of everything that ran
  double separate_flops = 0;  ///< of running the base and every variant separately
};

/// Returns the outputs of a model and of variants of it (`count`, each created by `make` when needed) for all
/// examples, in the order of `data`. Computation shared with the base runs once per batch and group
/// (hone/runtime/graph_remainder.h).
///
/// Rows are bit-identical to those of a `Predictor` of each with this batch size, whatever `most_bytes` is. Calls
/// `on_progress` with the number of rows done, out of count times the examples. Throws `Interrupted`.
VariantRows rows_of_variants(const Variant& base, std::size_t count,
                             const std::function<Variant(std::size_t)>& make,
                             const ExampleSource& data, const VariantRuns& runs,
                             const Session& session,
                             const std::function<void(std::int64_t)>& on_progress = {});

}  // namespace hone
