#pragma once

#include <optional>
#include <vector>

#include "hone/formats/packing.h"
#include "hone/kernels/epilogue.h"
#include "hone/runtime/kernel.h"

/// Helpers for kernels that read packed weights: the order of operands, and the decoding of codes.
namespace hone {

/// Operands of `packed_linear`, `native_linear` and `native_linear_codes`. The last one is followed by the states of
/// the output format, if there is one, then by those of the weight's format.
inline constexpr std::size_t kLinearCodes = 1, kPackedBias = 3, kPackedResidual = 4;

const Format& format_of(const Attributes& attributes);
/// Returns the format that such products round their inputs to.
const Format& input_format_of(const Attributes& attributes);
/// Returns the sizes of the weight before packing.
Sizes weight_sizes(const Attributes& attributes);
Arrangement arrangement_of(const Attributes& attributes);
bool adds_residual(const Attributes& attributes);
/// Returns the format that a product rounds its results to; null if it returns floats.
const Format* output_format_of(const Attributes& attributes);
/// Return the index of the first state of the weight, and of the output.
std::size_t linear_states(const Attributes& attributes);
std::size_t output_states(const Attributes& attributes);
/// Returns what a product applies to its sums.
kernels::Epilogue epilogue_of(const Call& call);

/// Returns the states of a format among the inputs of a call, starting at `first`.
std::vector<Tensor> states_from(std::span<const Tensor* const> inputs, std::size_t first,
                                const Format& format);

/// Decoding data of a packed weight, valid as long as codes and states do not change.
struct PackedWeight {
  Format format = {};
  Sizes sizes = {};
  std::vector<Tensor> state = {};
  PackedLayout layout = {};
  std::optional<CodeUnits> units = {};
};
PackedWeight packed_weight(const Attributes& attributes, std::span<const Tensor* const> inputs,
                           std::size_t first_state, Arrangement arrangement);
/// Returns the weight of a product, arranged as its attributes say.
PackedWeight product_weight_of(const Attributes& attributes, std::span<const Tensor* const> inputs);

/// Calls `body` with the `PackedRows` of the weight whose codes are the input `codes`.
template <typename Body>
void with_rows(const PackedWeight& weight, std::span<const Tensor* const> inputs, std::size_t codes,
               Body&& body) {
  const QuantizerInput input{weight.format, weight.sizes, {}, weight.state};
  body(PackedRows{input, weight.layout, weight.units ? &*weight.units : nullptr,
                  inputs[codes]->data<std::uint8_t>(), inputs[codes + 1]->data<std::uint8_t>()});
}

/// Returns the scale of each row of a product's weight, times `unit`.
std::vector<float> row_scales_of(const PackedWeight& weight, std::span<const Tensor* const> inputs,
                                 float unit);

/// Returns why rows of a weight cannot be read independently; "" if they can.
std::string_view reads_rows(const CallSite& site);

/// A `Kernel::prepare` that stores the result of `kPrepare`.
template <typename Prepared, Prepared (*kPrepare)(const Call&)>
std::shared_ptr<const void> prepare_once(const Call& call) {
  return std::make_shared<Prepared>(kPrepare(call));
}

/// Calls `body` with the result of `kPrepare`, stored earlier or computed for this call alone.
template <typename Prepared, Prepared (*kPrepare)(const Call&), typename Body>
void with_prepared(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const Prepared*>(call.prepared));
  body(kPrepare(call));
}

}  // namespace hone
