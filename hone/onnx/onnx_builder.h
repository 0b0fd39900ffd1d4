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

/// Adds nodes and constants to a model, under names that are unique. Values are named as in the graph: those of parameters
/// as in the checkpoint, those of operations as their nodes.
class OnnxBuilder {
 public:
  /// `weights`: the type that matrices of floats are stored in, f32, f16 or bf16; they are read as f32.
  OnnxBuilder(OnnxModel& model, const Graph& graph, const ParameterStore& parameters,
              DType weights = DType::f32);

  int opset() const { return model_.opset; }
  const ParameterStore& parameters() const { return parameters_; }

  /// The name of a value of the graph: of an input or a parameter, or what `set_result` was given.
  std::string name_of(Value value);
  /// The operation `node` begins: what is added from here on is named after it.
  void begin(const Node& node);
  /// It ends, and `name` is its result, which gets the name `wanted` where a node of its own computes it.
  void end(Value result, const std::string& name, const std::string& wanted);
  /// All operations are there: outputs that are no results of their own get a node.
  void finish();

  /// Adds a node with one result and returns the name of that. An empty name in `inputs` is an input that is left out.
  std::string add(std::string_view op, std::vector<std::string> inputs,
                  OnnxAttributes attributes = {});
  /// The same of a node with `count` results.
  std::vector<std::string> add_with_results(std::string_view op, std::vector<std::string> inputs,
                                            std::size_t count);
  std::string cast(const std::string& value, OnnxType type);
  /// The values of a parameter of the graph, on the host.
  Tensor values_of(const Node& parameter) const;
  /// Something that the file does not express, once.
  void note(std::string text) { model_.notes.insert(std::move(text)); }

  /// Constants; equal ones are stored once.
  std::string number(float value);                                ///< f32[]
  std::string byte(std::uint8_t value);                           ///< u8[]
  std::string integer(std::int64_t value);                        ///< i64[]
  std::string integers(const std::vector<std::int64_t>& values);  ///< i64[n]
  /// A constant under a name of its own. Its bytes are made when they are written.
  std::string constant(OnnxConstant constant);

  /// What a symbol is in a run, i64[1].
  std::string size_of(char symbol);
  /// A shape, i64[n]. Dimensions that a value of the shape `like` has in the same place are 0, as `Reshape` has it.
  std::string target_shape(const Shape& shape, const Shape& like);
  /// A matrix with its two axes exchanged; for equal values once.
  std::string transposed(Value matrix);
  /// The name that was kept for `value` under `key`, empty at first: what several nodes share is added once.
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
  std::string node_;            // the name of the operation that is being added
  std::size_t first_node_ = 0;  // of its nodes
};

}  // namespace hone
