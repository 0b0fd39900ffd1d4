#pragma once

#include <string>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/formats/packing.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

bool has_packed_weights(const Graph& graph);

/// The name of the parameter whose codes an `unpack` reads.
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
  /// Calls `body(rows)`, by which rows are read.
  template <typename Body>
  auto with_rows(const CodeUnits* units, Body&& body) const {
    const QuantizerInput in = input();
    return body(PackedRows{in, layout, units, packed.codes.data<std::uint8_t>(),
                           packed.shared.data<std::uint8_t>()});
  }
};
/// That of an `unpack`, on the host. Throws `UserError` where nobody who packs wrote the graph.
PackedTensor packed_tensor(const Node& unpack, const ParameterStore& parameters);

/// What is left unpacked, and why.
struct LeftUnpacked {
  std::string parameter;
  std::string reason;  ///< "read as it is, too"
};
/// The quantized parameters that `pack` leaves as they are.
std::vector<LeftUnpacked> unpackable(const Graph& graph);

/// Replaces every `quantize(w, state…; format)` of a parameter w by `unpack(w.codes, w.shared, state…; format)` of the same
/// name. The codes are those of the values that w has in `parameters`. What products sum over lies in panels, but for a few rows; all else lies in rows.
/// Parameters stay that something else reads too, or whose formats have no packed form (`unpackable`). Returns whether the
/// graph changed. Moves all parameters to the host, where they are packed.
bool pack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool);

/// The inverse: every `unpack` of a parameter that the globs name becomes the quantizer that it was, of a parameter with the
/// values of the codes.
bool unpack_weights(Graph& graph, ParameterStore& parameters, ThreadPool& pool,
                    const std::vector<std::string>& names = {"*"});
/// The same to the graph alone.
bool unpack_weights(Graph& graph);

/// Throws `UserError` naming the parameter, row and column or block, for packed codes that stand for no number.
void check_packed_weights(const Graph& graph, const ParameterStore& parameters, ThreadPool& pool);

}  // namespace hone
