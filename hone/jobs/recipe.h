#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/formats/plan.h"
#include "hone/passes/layer_sparsity.h"
#include "hone/passes/quantize.h"

/// Recipes say which operation is quantized how. In TOML:
///
///     default = "mxint(bits=8)"             # inputs, weights and biases of all linears
///     [[rule]]                              # later rules win over earlier ones
///     name = "bert.encoder.layer.0.*"       # a glob; or regex = "…"; all that is given must match
///     weight = "mxint(bits=4)"
///     bias = "none"                         # full precision
///     [[rule]]
///     op = "matmul"                         # other operations than linear
///     input = "bf16"
///
///     [[rule]]
///     name = "bert.pooler.dense"
///     sparsity = 0.5                        # half of its weights, the smallest, go before it is rounded
///     structure = "1x4"                     # in blocks of 1 output by 4 inputs
///
/// `default` may be a table with `input`, `weight`, `bias` and `output`, and so may a rule have
/// `format` for all an operation reads.
namespace hone {

/// What a rule or the default says of each operand; an operand it does not name keeps what earlier
/// rules said, an empty format is "none".
using OperandFormats = std::map<Operand, std::optional<Format>>;

struct RecipeRule {
  std::string where;  ///< for messages: "recipe.toml, line 3"
  std::vector<std::string> ops = {std::begin(kUsualLayers), std::end(kUsualLayers)};
  std::optional<std::string> name;   ///< glob
  std::optional<std::string> regex;  ///< ECMAScript, found anywhere in the name
  OperandFormats formats;
  std::optional<LayerSparsity> sparsity = {};  ///< of the weights of each operation it matches
};

struct Recipe {
  OperandFormats defaults;  ///< of linears
  std::vector<RecipeRule> rules;
};

/// Reads TOML. Throws `UserError` with file and line for what is no TOML, unknown keys (naming the
/// nearest), wrong types, and formats that do not parse.
Recipe parse_recipe(std::string_view toml, std::string_view where, const FormatTable& formats);
Recipe read_recipe(const fs::path& path, const FormatTable& formats);

/// "none" or a format.
std::optional<Format> parse_optional_format(std::string_view text, const FormatTable& formats);

/// The formats of every operation of an unquantized graph; operations without any are left out.
/// Throws `UserError` for a rule that matches no operation, or whose operand none of the operations
/// it matches has.
QuantizationPlan resolve(const Recipe& recipe, const Graph& graph);
/// The sparsities of those that have one. Throws `UserError` for a rule that matches an operation without weights.
LayerSparsities resolve_sparsities(const Recipe& recipe, const Graph& graph);
/// Throws `UserError` for a recipe with sparsities, where only formats are looked at.
void check_formats_alone(const Recipe& recipe);

/// Rules for these, as text.
std::string to_recipe(const LayerSparsities& sparsities);

}  // namespace hone
