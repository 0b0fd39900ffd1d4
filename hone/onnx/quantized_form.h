#pragma once

#include <string>

#include "hone/onnx/onnx_builder.h"

/// Quantizers and packed weights in ONNX. Integers with scales become `DequantizeLinear` of int8, uint8, int4 or uint4;
/// other formats are stored as their values. No format is known by name: `FormatDef::units` defines how codes become
/// values.
namespace hone {

/// Returns whether an `unpack` operation computes the value.
bool is_packed_weight(Value value);

/// Returns the values of an `unpack` operation, or "" if all users request their own form (`packed_rows`,
/// `packed_product`).
std::string packed_weight(OnnxBuilder& to, Node& unpack);
/// Returns the rows `ids` of an `unpack` operation. One-byte codes without groups or zero points are gathered before
/// they are dequantized.
std::string packed_rows(OnnxBuilder& to, Node& unpack, const std::string& ids);

/// Returns x (..., K) times the transpose of an unpacked matrix (N, K). It is an integer product if x is dynamically
/// quantized and the weight allows it.
std::string packed_product(OnnxBuilder& to, Value x, Node& unpack);

/// Returns the result of a `quantize` operation.
std::string rounded_value(OnnxBuilder& to, Node& quantizer);

}  // namespace hone
