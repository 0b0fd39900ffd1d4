#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/passes/pack.h"

/// Weights and inputs of linear layers as the Python package compressed-tensors stores and rounds them. Nothing here knows a
/// format by name: `FormatDef::units` says how codes become values.
namespace hone {

/// Inputs of a layer.
struct CodedInputs {
  Json scheme;             ///< the package's arguments of a quantization
  bool of_floats = false;  ///< rounded to fp8, otherwise to int8
  TensorMap tensors =
      {};  ///< what is known before a run, by the last part of the name: "input_scale"
  std::string note = {};  ///< how results differ from hone's, a sentence; may be empty
};

/// Inputs with so many columns that a quantizer of this format with these states rounds: whole numbers of 8 bits or fp8 (E4M3),
/// with known scales or scales of their own values. Nothing for other formats.
std::optional<CodedInputs> coded_inputs(const Format& format, const std::vector<Tensor>& state,
                                        std::int64_t columns);

/// A weight of a layer.
struct CodedWeight {
  std::string format;          ///< the package's name of the layout: "pack-quantized"
  Json scheme;                 ///< the package's arguments of a quantization
  TensorMap tensors;           ///< by the last part of the name: "weight_packed"
  bool of_float8 = false;      ///< the tensor "weight" contains fp8 (E4M3)
  bool rounds_inputs = false;  ///< the layout goes with these inputs
  bool in_bfloat16 = false;    ///< the package unpacks it to bfloat16 only
};

/// The same values in codes of the package.
struct WeightCoding {
  std::optional<CodedWeight> weight;
  std::string objection = {};  ///< why it has no codes, a clause
};
WeightCoding coded_weight(const PackedTensor& tensor, const std::optional<CodedInputs>& inputs,
                          ThreadPool& pool);

}  // namespace hone
