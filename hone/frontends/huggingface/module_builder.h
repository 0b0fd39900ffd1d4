#pragma once

#include <string>
#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Builds a graph of the modules of Hugging Face's models. A node has its module's path as its name, and parameters
/// have their names in checkpoints: PATH.weight, PATH.bias.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(const OpTable& ops) : graph_(ops) {}

  Graph& graph() { return graph_; }

  /// Adds a trainable matrix PATH.weight.
  Value weight(const std::string& path, Shape shape);
  /// x (..., I) -> (..., outputs)
  Value linear(Value x, const std::string& path, std::int64_t outputs);
  /// Normalizes over the last axis.
  Value layer_norm(Value x, const std::string& path, double eps);
  /// x (B, C, H, W) -> (B, outputs, …) with a square kernel and no bias.
  Value convolution(Value x, const std::string& path, std::int64_t outputs, std::int64_t kernel,
                    std::int64_t stride, std::int64_t padding);
  /// Normalizes the channels of x (B, C, H, W) with PATH.running_mean and PATH.running_var; training replaces them by
  /// the batch's statistics.
  Value batch_norm(Value x, const std::string& path);
  /// Uses the input `random_key` i64[]. Returns x itself if p is 0. `limits` is the shape of x for the longest
  /// supported text, so that masks do not depend on padding.
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
