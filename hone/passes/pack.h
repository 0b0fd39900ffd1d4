#pragma once

#include <string>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/formats/packing.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

bool has_packed_weights(const Graph& graph);

/// Returns the name of the parameter whose codes an `unpack` reads.
std::string packed_parameter(const Node& unpack);

/// A packed weight with its bytes.
struct PackedTensor {
  Format format;
  Sizes sizes;
  PackedLayout layout;
  PackedCodes packed;
  std::vector<Tensor> state;

  QuantizerInput input() const { return {format, sizes, {}, state}; }
  Tensor values(ThreadPool& pool) const;
  /// Calls `body` with the decoder of rows.
  template <typename Body>
  auto with_rows(const CodeUnits* units, Body&& body) const {
    const QuantizerInput in = input();
    return body(PackedRows{in, layout, units, packed.codes.data<std::uint8_t>(),
                           packed.shared.data<std::uint8_t>()});
  }
};
/// Returns the packed weight of an `unpack`, on the host. Throws `UserError` if hone did not write the graph.
PackedTensor packed_tensor(const Node& unpack, const ParameterStore& parameters);

/// A parameter that is not packed, and why.
struct UnpackedParameter {
  std::string parameter;
  std::string reason;  ///< "read as it is, too"
};
/// Returns the quantized parameters that `pack` leaves unchanged.
std::vector<UnpackedParameter> unpackable(const Graph& graph);

/// Replaces every `quantize(w, state…; format)` of a parameter w by `unpack(w.codes, w.shared, state…; format)` of
/// the same name. The codes are those of the values of w in `parameters`. Weights that products sum over are arranged
/// in panels, unless they have few rows; all others in rows. Parameters stay unchanged if they have other readers, or
/// if their format has no packed form (`unpackable`). Returns whether the graph changed. Moves all parameters to the
/// host and packs them there.
bool pack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool);

/// Reverts packing: every `unpack` of a parameter that the globs match becomes a quantizer again, of a parameter with
/// the decoded values.
bool unpack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool,
                    const std::vector<std::string>& names = {"*"});
/// Changes only the graph.
bool unpack_weights(Graph& graph);

/// Throws `UserError` naming the parameter, row and column or block, for packed codes that encode no number.
void check_packed_weights(const Graph& graph, const ParameterStore& parameters, ThreadPool& pool);

}  // namespace hone
