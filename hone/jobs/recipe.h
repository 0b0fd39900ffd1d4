#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/formats/plan.h"
#include "hone/passes/layer_sparsity.h"
#include "hone/passes/quantize.h"

/// A recipe assigns formats and sparsities to operations. In TOML:
///
///     default = "mxint(bits=8)"             # inputs, weights and biases of all linears
///     [[rule]]                              # later rules win over earlier ones
///     name = "bert.encoder.layer.0.*"       # a glob; or regex = "…"; all given conditions must match
///     weight = "mxint(bits=4)"
///     bias = "none"                         # full precision
///     [[rule]]
///     op = "matmul"                         # other operations than linear
///     input = "bf16"
///
///     [[rule]]
///     name = "bert.pooler.dense"
///     sparsity = 0.5                        # prunes the smaller half of its weights before rounding
///     structure = "1x4"                     # in blocks of 1 output by 4 inputs
///
/// `default` can be a table with `input`, `weight`, `bias` and `output`. A rule can have `format` for all inputs of an
/// operation.
namespace hone {

/// Formats that a rule or the default sets. Operands without an entry keep what earlier rules set; an empty format is
/// "none".
using OperandFormats = std::map<Operand, std::optional<Format>>;

struct RecipeRule {
  std::string where;  ///< for messages: "recipe.toml, line 3"
  std::vector<std::string> ops = {std::begin(kDefaultLayers), std::end(kDefaultLayers)};
  std::optional<std::string> name;   ///< glob
  std::optional<std::string> regex;  ///< ECMAScript, matches anywhere in the name
  OperandFormats formats;
  std::optional<LayerSparsity> sparsity = {};  ///< of the weights of every matching operation
};

struct Recipe {
  OperandFormats defaults;  ///< of linears
  std::vector<RecipeRule> rules;
};

/// Parses TOML. Throws `UserError` with file and line for invalid TOML, unknown keys (suggesting the nearest), wrong
/// types, and invalid formats.
Recipe parse_recipe(std::string_view toml, std::string_view where, const FormatTable& formats);
Recipe read_recipe(const fs::path& path, const FormatTable& formats);

/// Parses a format or "none".
std::optional<Format> parse_optional_format(std::string_view text, const FormatTable& formats);

/// Returns the formats of every operation of an unquantized graph that has any. Throws `UserError` for a rule that
/// matches no operation, or that names an operand which none of its operations has.
QuantizationPlan resolve(const Recipe& recipe, const Graph& graph);
/// Returns the sparsities of the operations that have one. Throws `UserError` for a rule that matches an operation
/// without weights.
LayerSparsities resolve_sparsities(const Recipe& recipe, const Graph& graph);
/// Throws `UserError` for a recipe with sparsities, where only formats are supported.
void check_no_sparsities(const Recipe& recipe);

/// Returns rules for these sparsities as TOML.
std::string to_recipe(const LayerSparsities& sparsities);

}  // namespace hone
