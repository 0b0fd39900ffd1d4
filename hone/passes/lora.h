#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Low-rank adapters: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (arXiv 2106.09685), section
/// 4.1, as in PEFT.
///
///     y = W x + b + s B A dropout(x),   A (r, K), B (N, r), s = alpha / r
namespace hone {

struct LoraOptions {
  /// Globs over the names of linears. As in PEFT, a name without `*` matches every linear whose name ends with it:
  /// "query".
  std::vector<std::string> target = {"*"};
  std::int64_t rank = 8;         ///< r
  double alpha = 8;              ///< α of the factor s
  double dropout = 0;            ///< of the input of A, in training
  bool rank_stabilized = false;  ///< s = alpha / sqrt(r) (Kalajdzievski, arXiv 2312.03732)
  /// Modules, matched likewise, whose parameters are trained directly, including those of their submodules; they get
  /// no adapter.
  std::vector<std::string> modules_to_save = {};
  std::uint64_t seed = 42;  ///< for A

  double factor() const;
};

/// Adds an adapter to every linear that the targets match, and freezes all parameters except adapters and those of
/// modules to save. A, "<linear>.lora_A.weight", is uniform within ±1/sqrt(K) (Kaiming with a = sqrt(5), as a torch
/// linear); B, "<linear>.lora_B.weight", is 0, so nothing changes before training. Adapters read the input of their
/// linear before it is rounded. Throws `UserError` for a glob that matches nothing, a linear that already has an
/// adapter, and invalid options. Returns whether the graph changed.
bool insert_lora(Graph& graph, ParameterStore& parameters, const LoraOptions& options);

/// Returns whether a node is a parameter of an adapter.
bool is_adapter(const Node& node);

/// A linear with its adapter.
struct Adapter {
  Node* linear;
  Node* a;  ///< parameter
  Node* b;
  Node* sum;  ///< result of the linear with its adapter
  double factor;
};
std::vector<Adapter> adapters(const Graph& graph);

/// Returns whether a parameter or an operation belongs to one of the modules, which are matched as
/// `LoraOptions::target`.
bool is_within(const std::vector<std::string>& modules, std::string_view name);

/// Returns the last components of the names of these linears, "query" and "value", if they match no other linear of
/// the graph; else the full names.
std::vector<std::string> shortest_targets(const Graph& graph,
                                          const std::vector<std::string>& linears);

/// Adds s B A to the weights, in double and rounded once, and removes adapters; all weights, gains and biases are
/// trainable afterwards. Throws `UserError` for packed weights. Returns whether the graph changed.
bool fuse_lora(Graph& graph, ParameterStore& parameters);

/// Records of the passes, and options in the form of `insert_lora`.
PassDef insert_lora_pass();
PassDef fuse_lora_pass();
LoraOptions lora_options(const Attributes& options);
std::string insert_lora_text(const LoraOptions& options);

}  // namespace hone
