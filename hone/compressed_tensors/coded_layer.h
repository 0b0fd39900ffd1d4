#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/passes/pack.h"

/// Weights and inputs of linear layers as the Python package compressed-tensors stores and rounds them. No format is
/// known by name: `FormatDef::units` defines how codes become values.
namespace hone {

/// The quantization of a layer's inputs.
struct CodedInputs {
  Json scheme;             ///< the package's quantization arguments
  bool of_floats = false;  ///< rounded to fp8, otherwise int8
  TensorMap tensors = {};  ///< static values, by the last component of the name: "input_scale"
  std::string note = {};   ///< how results differ from hone's, as a sentence; may be empty
};

/// Returns the package's form of a quantizer with this format and these states, for inputs with `columns` columns:
/// 8-bit integers or fp8 (E4M3), with static or dynamic scales. Returns nothing for other formats.
std::optional<CodedInputs> coded_inputs(const Format& format, const std::vector<Tensor>& state,
                                        std::int64_t columns);

/// The encoded weight of a layer.
struct CodedWeight {
  std::string format;          ///< the package's name of the layout: "pack-quantized"
  Json scheme;                 ///< the package's quantization arguments
  TensorMap tensors;           ///< by the last component of the name: "weight_packed"
  bool of_float8 = false;      ///< the tensor "weight" contains fp8 (E4M3)
  bool rounds_inputs = false;  ///< whether the layout is combined with these inputs
  bool in_bfloat16 = false;    ///< the package unpacks it to bfloat16 only
};

/// A weight in the package's codes, with the same values.
struct WeightCoding {
  std::optional<CodedWeight> weight;
  std::string objection = {};  ///< why it cannot be encoded, as a clause
};
WeightCoding coded_weight(const PackedTensor& tensor, const std::optional<CodedInputs>& inputs,
                          ThreadPool& pool);

}  // namespace hone
