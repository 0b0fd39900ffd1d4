#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// What values are for. Roles are written down, by operations for what they read and in the graph for parameters; what is
/// quantized, decayed or counted follows from them and never from a name.
namespace hone {

/// What an operation reads an operand as: `input`, `weight` and `bias` are what a recipe calls so.
enum class OperandRole : std::uint8_t {
  input,
  weight,
  bias,
  state,  ///< kept between runs or beside the weights: of a quantizer, of an optimizer
};

/// What an operation calls an operand, and reads it as.
struct OperandDef {
  /// "x" is required, "bias?" may be left out (from the end), "values..." takes any number (last only).
  std::string_view name;
  OperandRole role = OperandRole::input;

  // Most are inputs, and in the records of operations a name should do for those.
  OperandDef(const char* input_name) : name(input_name) {}  // NOLINT(google-explicit-constructor)
  OperandDef(const char* operand_name, OperandRole operand_role)
      : name(operand_name), role(operand_role) {}
};

/// What a parameter is to its model, wherever it is read.
enum class ParameterRole : std::uint8_t {
  weight,  ///< of a product, or a table of embeddings
  gain,    ///< of a normalization (Ba, Kiros and Hinton, "Layer Normalization", 2016)
  bias,
  mask,          ///< which elements of a weight are kept
  adapter,       ///< what was learned beside a weight that stays: LoRA's factors
  format_state,  ///< of a quantizer: a calibrated range, a learned scale
  codes,         ///< of a packed weight, and what its blocks share
  moment,        ///< of an optimizer
  buffer,        ///< given or computed, never learned
};

/// What follows from a parameter's role.
struct ParameterRoleInfo {
  ParameterRole role;
  std::string_view name;  ///< in graph text
  bool counted;           ///< among a model's parameters, as people count them
  bool
      decayed;  ///< by AdamW. Biases and gains are not, as in Hugging Face's Trainer, nor scales of quantizers
  bool saved;  ///< with the model
};

/// A row per role, in their order.
std::span<const ParameterRoleInfo> parameter_roles();
const ParameterRoleInfo& info(ParameterRole role);
/// Throws `UserError` for an unknown name, naming the nearest.
ParameterRole parse_parameter_role(std::string_view name);

}  // namespace hone
