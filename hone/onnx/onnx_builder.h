#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/onnx/onnx_model.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

/// Adds nodes and constants to a model under unique names. Parameters keep their checkpoint names, and results of
/// operations their node names.
class OnnxBuilder {
 public:
  /// `weights`: the storage type of float matrices, f32, f16 or bf16; they are cast to f32 when read.
  OnnxBuilder(OnnxModel& model, const Graph& graph, const ParameterStore& parameters,
              DType weights = DType::f32);

  int opset() const { return model_.opset; }
  const ParameterStore& parameters() const { return parameters_; }

  /// Returns the name of a value of the graph: an input, a parameter, or a result given to `end`.
  std::string name_of(Value value);
  /// Begins the operation `node`: nodes added from here on are named after it.
  void begin(const Node& node);
  /// Ends the operation, whose result is called `name`. It is renamed to `wanted` if one of the operation's own nodes
  /// computes it.
  void end(Value result, const std::string& name, const std::string& wanted);
  /// Call after the last operation: adds nodes for outputs that are not results with that name.
  void finish();

  /// Adds a node with one result and returns its name. An empty name in `inputs` is an omitted input.
  std::string add(std::string_view op, std::vector<std::string> inputs,
                  OnnxAttributes attributes = {});
  /// The same for a node with `count` results.
  std::vector<std::string> add_with_results(std::string_view op, std::vector<std::string> inputs,
                                            std::size_t count);
  std::string cast(const std::string& value, OnnxType type);
  /// Returns the values of a graph parameter on the CPU.
  Tensor values_of(const Node& parameter) const;
  /// Notes once something that the file does not express.
  void note(std::string text) { model_.notes.insert(std::move(text)); }

  /// Constants; equal ones are stored once.
  std::string number(float value);                                ///< f32[]
  std::string byte(std::uint8_t value);                           ///< u8[]
  std::string integer(std::int64_t value);                        ///< i64[]
  std::string integers(const std::vector<std::int64_t>& values);  ///< i64[n]
  /// Adds a constant with its own name. Its bytes are produced when they are written.
  std::string constant(OnnxConstant constant);

  /// Returns the size of a symbol at run time, i64[1].
  std::string size_of(char symbol);
  /// Returns a shape, i64[n]. Symbolic dimensions that equal those of `like` at the same position are 0, as in
  /// `Reshape`.
  std::string target_shape(const Shape& shape, const Shape& like);
  /// Transposes a matrix, once for each value.
  std::string transposed(Value matrix);
  /// Returns the name stored for `value` under `key`, initially empty, so that nodes can share it.
  std::string& shared(Value value, std::string_view key) {
    return shared_[{value, std::string(key)}];
  }

 private:
  std::string unique(const std::string& wanted);
  std::string small_constant(OnnxType type, Sizes sizes, std::string bytes);
  void rename(const std::string& from, const std::string& to);

  OnnxModel& model_;
  const Graph& graph_;
  const ParameterStore& parameters_;
  DType weights_;
  std::map<Value, std::string> names_;
  std::set<std::string, std::less<>> used_;
  std::map<std::string, std::string> small_constants_;  // by type, sizes and bytes
  std::map<char, std::string> sizes_;
  std::map<std::pair<Value, std::string>, std::string> shared_;
  std::string node_;            // name of the current operation
  std::size_t first_node_ = 0;  // index of its first node
};

}  // namespace hone
