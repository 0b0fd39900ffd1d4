#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/passes/pass.h"

/// Low-rank adapters: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (arXiv 2106.09685), section 4.1, as PEFT
/// computes them.
///
///     y = W x + b + s B A dropout(x),   A (r, K), B (N, r), s = alpha / r
namespace hone {

struct LoraOptions {
  /// Globs over the names of linears. One without `*` means every linear whose last names it is, as in PEFT: "query".
  std::vector<std::string> target = {"*"};
  std::int64_t rank = 8;         ///< r
  double alpha = 8;              ///< of the factor s
  double dropout = 0;            ///< of what A reads, in training
  bool rank_stabilized = false;  ///< s = alpha / sqrt(r) (Kalajdzievski, arXiv 2312.03732)
  /// Modules, named alike, whose parameters are trained themselves, with those of what stands in them; they get no adapter.
  std::vector<std::string> modules_to_save = {};
  std::uint64_t seed = 42;  ///< of A

  double factor() const;
};

/// Gives every linear that the targets name an adapter, and freezes all parameters but adapters and those of modules to save.
/// A, "<linear>.lora_A.weight", is uniform within ±1/sqrt(K) (Kaiming with a = sqrt(5), as a linear of torch), B,
/// "<linear>.lora_B.weight", is 0, so nothing changes before training. Adapters read what their linear reads before that is
/// rounded. Throws `UserError` for a glob that names nothing, a linear that has an adapter already, and options without sense.
/// Returns whether the graph changed.
bool insert_lora(Graph& graph, ParameterStore& parameters, const LoraOptions& options);

/// Whether a node is a parameter of an adapter.
bool is_adapter(const Node& node);

/// A linear with its adapter.
struct Adapter {
  Node* linear;
  Node* a;  ///< parameter
  Node* b;
  Node* sum;  ///< whatever reads the linear with its adapter reads this
  double factor;
};
std::vector<Adapter> adapters(const Graph& graph);

/// Whether a parameter or an operation is one of the modules, named as `LoraOptions::target` says, or stands in one.
bool is_within(const std::vector<std::string>& modules, std::string_view name);

/// The last names of these linears, "query" and "value", where they name no other linear of the graph; else the names as they
/// are.
std::vector<std::string> shortest_targets(const Graph& graph,
                                          const std::vector<std::string>& linears);

/// Adds s B A to the weights, in double and rounded once, and lets adapters go; all weights, gains and biases are trainable
/// then. Throws `UserError` for packed weights. Returns whether the graph changed.
bool fuse_lora(Graph& graph, ParameterStore& parameters);

/// Their records, and options as they stand in that of `insert_lora`.
PassDef insert_lora_pass();
PassDef fuse_lora_pass();
LoraOptions lora_options(const Attributes& options);
std::string insert_lora_text(const LoraOptions& options);

}  // namespace hone
