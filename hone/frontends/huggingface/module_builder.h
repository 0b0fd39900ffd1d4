#pragma once

#include <string>
#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Builds a graph of the modules that Hugging Face's models consist of. A module's node has the module's path for a name,
/// its parameters those of checkpoints: PATH.weight, PATH.bias.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(const OpTable& ops) : graph_(ops) {}

  Graph& graph() { return graph_; }

  /// A matrix, PATH.weight, that is trained.
  Value weight(const std::string& path, Shape shape);
  /// x (..., I) -> (..., outputs)
  Value linear(Value x, const std::string& path, std::int64_t outputs);
  /// Over the last axis.
  Value layer_norm(Value x, const std::string& path, double eps);
  /// x (B, C, H, W) -> (B, outputs, …) by a square kernel, without a bias.
  Value convolution(Value x, const std::string& path, std::int64_t outputs, std::int64_t kernel,
                    std::int64_t stride, std::int64_t padding);
  /// Over the channels of x (B, C, H, W), by PATH.running_mean and PATH.running_var until training puts those of the batch there.
  Value batch_norm(Value x, const std::string& path);
  /// Draws from the input `random_key` i64[]; x itself where p is 0. `limits` is the shape of x with the most tokens a text
  /// may have, so that padding decides on no mask.
  Value dropout(Value x, const std::string& path, double p, Shape limits);
  /// `name`: one of activation_names().
  Value activation(Value x, const std::string& path, std::string_view name);
  Value reshape(Value x, const std::string& path, Shape shape);
  Value transpose(Value x, const std::string& path, Shape axes);

 private:
  Value parameter(const std::string& name, Shape shape, ParameterRole role);
  Value bias(const std::string& path, Dim size);

  Graph graph_;
  Value random_key_;
};

}  // namespace hone
