#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Roles of values. Operations declare the roles of their operands, and graphs the roles of parameters. Quantization,
/// weight decay and counting depend on roles and never on names.
namespace hone {

/// The role of an operation's operand. Recipes use `input`, `weight` and `bias` in the same sense.
enum class OperandRole : std::uint8_t {
  input,
  weight,
  bias,
  state,  ///< of a quantizer or an optimizer: kept between runs or stored with the weights
};

/// Name and role of an operation's operand.
struct OperandDef {
  /// "x" is required, "bias?" is optional (at the end only), "values..." is variadic (last only).
  std::string_view name;
  OperandRole role = OperandRole::input;

  // Most operands are inputs, so that a record may list them by name alone.
  OperandDef(const char* input_name) : name(input_name) {}  // NOLINT(google-explicit-constructor)
  OperandDef(const char* operand_name, OperandRole operand_role)
      : name(operand_name), role(operand_role) {}
};

/// The role of a parameter in its model.
enum class ParameterRole : std::uint8_t {
  weight,  ///< of a product, or an embedding table
  gain,    ///< of a normalization (Ba, Kiros and Hinton, "Layer Normalization", 2016)
  bias,
  mask,          ///< selects the elements of a weight that are kept
  adapter,       ///< trained in addition to a frozen weight: LoRA's factors
  format_state,  ///< of a quantizer: a calibrated range, a learned scale
  codes,         ///< of a packed weight, and the values shared by its blocks
  moment,        ///< of an optimizer
  buffer,        ///< given or computed, never trained
};

/// The properties of a role.
struct ParameterRoleInfo {
  ParameterRole role;
  std::string_view name;  ///< in graph text
  bool counted;           ///< in the number of parameters of a model
  bool
      decayed;  ///< by AdamW; not biases and gains, as in Hugging Face's Trainer, nor quantizer scales
  bool saved;  ///< with the model
};

/// One row per role, in the order of the enumeration.
std::span<const ParameterRoleInfo> parameter_roles();
const ParameterRoleInfo& info(ParameterRole role);
/// Throws `UserError` with the nearest name for an unknown one.
ParameterRole parse_parameter_role(std::string_view name);

}  // namespace hone
