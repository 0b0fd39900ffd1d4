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

/// An ONNX model (https://onnx.ai/onnx/repo-docs/IR.html), without the bytes of its weights.
namespace hone {

/// Element types, numbered as in ONNX's TensorProto.DataType.
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
  std::string op;  ///< "MatMul", in the default domain
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  OnnxAttributes attributes = {};
};

/// A constant of the graph (an initializer). Its bytes are produced when they are written, so that only one is in
/// memory at a time.
struct OnnxConstant {
  std::string name;
  OnnxType type = OnnxType::f32;
  Sizes sizes;
  std::uint64_t bytes = 0;
  std::function<void(const ByteSink&)> write;  ///< sends exactly `bytes` bytes, little-endian
};

/// An input or an output; symbols are dimensions with a size decided at run time.
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
  std::set<std::string> notes = {};  ///< sentences on what the file does not express of the graph
};

/// The supported opsets, and the one that all current engines read.
inline constexpr int kOldestOpset = 18, kNewestOpset = 23, kUsualOpset = 21;

/// Returns the IR version of a file with this opset.
int onnx_ir_version(int opset);

/// Returns the number of bytes of `count` elements; 4-bit elements are stored two per byte.
std::uint64_t onnx_bytes(OnnxType type, std::int64_t count);

}  // namespace hone
