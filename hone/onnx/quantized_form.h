#pragma once

#include <string>

#include "hone/onnx/onnx_builder.h"

/// Quantizers and packed weights in ONNX. Whole numbers with scales are `DequantizeLinear` of int8, uint8, int4 or uint4; what
/// other formats hold are the values it takes. Nothing here knows a format by name: how codes become values says
/// `FormatDef::units`.
namespace hone {

/// Whether an operation `unpack` gives the value.
bool is_packed_weight(Value value);

/// The values of an operation `unpack`.
std::string packed_weight(OnnxBuilder& to, Node& unpack);
/// Its rows `ids`: codes are gathered before they become values.
std::string packed_rows(OnnxBuilder& to, Node& unpack, const std::string& ids);

/// x (..., K) times the transpose of one that is a matrix (N, K). It is a product of integers where a quantizer rounds x by
/// scales of its own values.
std::string packed_product(OnnxBuilder& to, Value x, Node& unpack);

/// What an operation `quantize` gives.
std::string rounded_value(OnnxBuilder& to, Node& quantizer);

}  // namespace hone
