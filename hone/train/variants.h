#pragma once

#include <functional>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/train/example_source.h"

namespace hone {

/// A forward graph in training mode with one output, as a `Predictor` takes it, and its parameters.
struct Variant {
  Graph graph;
  ParameterStore parameters;
};

struct VariantRuns {
  std::int64_t batch_size = 32;
  /// Values of the base that are kept at once, and parameters that only variants have, take no more than this, but those of a
  /// single variant always find room: variants are taken in groups that fit, for each of which the base is run again.
  double most_bytes = 1 << 30;
};

struct VariantRows {
  std::vector<float> base;                   ///< (examples, W)
  std::vector<std::vector<float>> variants;  ///< the same of each
  std::int64_t width = 0;                    ///< W
  std::int64_t groups = 0;                   ///< of variants
  double kept_bytes =
      0;             ///< what a group took at most: values of the largest batch, and parameters
  double flops = 0;  ///< of what was run
  double apart_flops = 0;  ///< of running the base and every variant by itself
};

/// What a model and variants of it (`count`, each made by `make` when it is needed) give for all examples, in the order of
/// `data`. What a variant has in common with the base is computed once for a batch and a group (hone/runtime/graph_rest.h).
///
/// Rows have the bits that a `Predictor` of each would give with this batch size, whatever `most_bytes` is.
/// `on_progress` is told how many rows are done, of count times the examples. Throws `Interrupted`.
VariantRows rows_of_variants(const Variant& base, std::size_t count,
                             const std::function<Variant(std::size_t)>& make,
                             const ExampleSource& data, const VariantRuns& runs,
                             const Session& session,
                             const std::function<void(std::int64_t)>& on_progress = {});

}  // namespace hone
