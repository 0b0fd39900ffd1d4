#pragma once

#include <optional>
#include <vector>

#include "hone/formats/packing.h"
#include "hone/kernels/epilogue.h"
#include "hone/runtime/kernel.h"

/// What kernels that read packed weights share: which operand is what, and how the codes of a weight become values.
namespace hone {

/// Operands of `packed_linear`, `native_linear` and `native_linear_codes`. Behind the last one are the states of the weight's format,
/// then those of the format that results are rounded to.
inline constexpr std::size_t kLinearCodes = 1, kPackedBias = 3, kPackedResidual = 4;

const Format& format_of(const Attributes& attributes);
/// Of what such products round their inputs to.
const Format& input_format_of(const Attributes& attributes);
/// Of the weight, as it was before it was packed.
Sizes weight_sizes(const Attributes& attributes);
/// How the codes of a product's weight lie.
Arrangement arrangement_of(const Attributes& attributes);
/// Whether a product adds its `kPackedResidual`.
bool adds_residual(const Attributes& attributes);
/// Of such a product: none where it gives floats.
const Format* output_format_of(const Attributes& attributes);
/// Where the states of its weight begin, and those of its output.
std::size_t linear_states(const Attributes& attributes);
std::size_t output_states(const Attributes& attributes);
/// What such a product does to its sums.
kernels::Epilogue epilogue_of(const Call& call);

/// The states of a format among the inputs of a call, from one on.
std::vector<Tensor> states_from(std::span<const Tensor* const> inputs, std::size_t first,
                                const Format& format);

/// A weight as its codes say, made once for as long as codes and states stay.
struct PackedWeight {
  Format format = {};
  Sizes sizes = {};
  std::vector<Tensor> state = {};
  PackedLayout layout = {};
  std::optional<CodeUnits> units = {};
};
PackedWeight packed_weight(const Attributes& attributes, std::span<const Tensor* const> inputs,
                           std::size_t first_state, Arrangement arrangement);
/// Of a product, arranged as its attributes say.
PackedWeight product_weight_of(const Attributes& attributes, std::span<const Tensor* const> inputs);

/// Calls body(rows of the codes, `PackedRows`, that begin with the input `codes`).
template <typename Body>
void with_rows(const PackedWeight& weight, std::span<const Tensor* const> inputs, std::size_t codes,
               Body&& body) {
  const QuantizerInput input{weight.format, weight.sizes, {}, weight.state};
  body(PackedRows{input, weight.layout, weight.units ? &*weight.units : nullptr,
                  inputs[codes]->data<std::uint8_t>(), inputs[codes + 1]->data<std::uint8_t>()});
}

/// The scale of each row of a product's weight, times `unit`.
std::vector<float> row_scales_of(const PackedWeight& weight, std::span<const Tensor* const> inputs,
                                 float unit);

/// Why rows of a weight cannot be read one by one; "" where they can.
std::string_view reads_rows(const CallSite& site);

/// A `Kernel::prepare` that keeps what `kPrepare` makes of a call.
template <typename Prepared, Prepared (*kPrepare)(const Call&)>
std::shared_ptr<const void> prepare_once(const Call& call) {
  return std::make_shared<Prepared>(kPrepare(call));
}

/// Calls body(what `kPrepare` makes), prepared before or for this call alone.
template <typename Prepared, Prepared (*kPrepare)(const Call&), typename Body>
void with_prepared(const Call& call, Body&& body) {
  if (call.prepared != nullptr) return body(*static_cast<const Prepared*>(call.prepared));
  body(kPrepare(call));
}

}  // namespace hone
