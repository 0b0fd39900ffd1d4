#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hone/base/file.h"
#include "hone/tensor/shape.h"

/// A model as an ONNX file holds it (https://onnx.ai/onnx/repo-docs/IR.html), without the bytes of its weights.
namespace hone {

/// Element types, with the numbers of ONNX's TensorProto.DataType.
enum class OnnxType : int {
  f32 = 1,
  u8 = 2,
  i8 = 3,
  i64 = 7,
  boolean = 9,
  f16 = 10,
  bf16 = 16,
  f8 = 17,  ///< E4M3 without infinities
  u4 = 21,
  i4 = 22,
};

using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

struct OnnxNode {
  std::string name;
  std::string op;  ///< "MatMul", of the default domain
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  OnnxAttributes attributes = {};
};

/// A constant of the graph (an initializer). Its bytes are made when they are written, so that only one is held at a time.
struct OnnxConstant {
  std::string name;
  OnnxType type = OnnxType::f32;
  Sizes sizes;
  std::uint64_t bytes = 0;
  std::function<void(const ByteSink&)> write;  ///< sends exactly `bytes` bytes, little-endian
};

/// An input or an output; symbols are dimensions whose size a run decides.
struct OnnxValue {
  std::string name;
  OnnxType type = OnnxType::f32;
  Shape shape;
};

struct OnnxModel {
  std::string name;
  int opset = 0;
  std::vector<OnnxNode> nodes = {};
  std::vector<OnnxConstant> constants = {};
  std::vector<OnnxValue> inputs = {}, outputs = {};
  std::map<std::string, std::string> metadata = {};
  std::set<std::string> notes = {};  ///< sentences: what the file does not express of the graph
};

/// The opsets that can be written, and the one that all engines of today read.
inline constexpr int kOldestOpset = 18, kNewestOpset = 23, kUsualOpset = 21;

/// The IR version of a file with that opset.
int onnx_ir_version(int opset);

/// The number of bytes of `count` elements; elements of 4 bits lie two in a byte.
std::uint64_t onnx_bytes(OnnxType type, std::int64_t count);

}  // namespace hone
