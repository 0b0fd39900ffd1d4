#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"
#include "hone/formats/format.h"
#include "hone/jobs/allocation/allocation_options.h"
#include "hone/search/formula.h"
#include "hone/search/space.h"

/// Search recipes in TOML (docs/guides/search.md):
///
///     maximize = "accuracy - 0.01*average_bits"    # on the validation split
///     constraints = ["packed_bytes <= 4e6"]
///
///     [architecture]                               # of fresh weights: keys of config.json
///     num_hidden_layers = [1, 2, 4]
///     hidden_size = [64, 128]
///     square_linears = ["linear", "identity"]      # of each linear with as many outputs as inputs
///
///     [structure]                                  # of a trained model: shares of units to remove, before all else
///     neurons = [0, 0.5]
///
///     [training]                                   # before anything is compressed
///     epochs = 1
///     learning_rate = { low = 1e-5, high = 1e-3, log = true }
///
///     [pruning]
///     sparsity = [0, 0.3, 0.5]
///     structure = ["weights", "1x4"]
///
///     [[precision]]                                # later ones win
///     layers = "*"
///     choice = "each"                              # or "together"
///     formats = ["none", "integer(width=[8,16,32],frac=[2,4,8])", "mxint(bits=[4,6,8])"]
///
///     [allocation]                                 # instead of [[precision]]: solved exactly for each trial
///     options = ["int(bits=8)", "mxint(bits=4)"]
///     budget = "average_bits <= 5"
///
///     [native]                                     # instead of either: packed, native products
///     linears = "int(bits=8,per=row)"
///
///     [train_on]                                   # afterwards, through quantizers and masks
///     epochs = 1
///
///     [distillation]                               # trainings use the baseline as teacher
///     alpha = 0.5
///
///     [[first]]                                    # points to try first, by the names of parameters
///     "training.learning_rate" = 1e-4
///
/// A setting is a value, a list of values to choose from, or a range `{ low, high, step, log }`.
namespace hone {

/// A setting of a search: one value, or values to choose from.
struct SearchSetting {
  std::string key;
  int line = 0;
  Json value = nullptr;  ///< the only value; null: it varies
  Distribution distribution = {};
  /// Numbers to choose from, in rising order. The search parameter is the index, so that samplers know the order.
  std::vector<Json> ordered = {};

  bool varies() const { return value.is_null(); }
  /// Returns the setting for an external value of the distribution.
  Json decoded(const Json& external) const;
};

/// A format with parameters that may vary: "integer(width=[8,16,32],frac=4)".
struct FormatTemplate {
  std::string text;
  std::string name;                            ///< "integer"; "none": full precision
  std::vector<SearchSetting> parameters = {};  ///< in order, including constant ones

  /// Returns the format with these values for the parameters that vary, by their keys.
  std::string filled(const std::map<std::string, Json>& values) const;
};

enum class ChoiceScope : std::uint8_t {
  each,    ///< every layer has its own choice
  shared,  ///< all layers have the same choice
};

/// Layers that choose from the same formats.
struct PrecisionGroup {
  int line = 0;
  std::vector<std::string> layers = {"*"};  ///< globs over the names of linears
  ChoiceScope choice = ChoiceScope::each;
  std::vector<FormatTemplate> formats = {};
  SearchSetting sparsity = {.key = "sparsity", .value = 0};  ///< of their weights, before rounding
  SearchSetting structure = {.key = "structure", .value = "weights"};  ///< of the pruned weights
  std::vector<std::string> operands = {"input", "weight", "bias"};
  std::string name() const;  ///< of its parameters if it chooses together: "all", or the globs
};

struct ObjectiveFormula {
  MetricFormula formula;
  Direction direction = Direction::maximize;
};

/// [allocation]: options of the exact allocation that is solved for each trial
/// (hone/jobs/allocation/best_allocation.h).
struct AllocationSection {
  int line = 0;
  AllocationRequest request = {};
};

struct SearchRecipe {
  std::string where;  ///< its file, for error messages
  std::string text;
  std::vector<ObjectiveFormula> objectives;
  std::vector<FormulaConstraint> constraints = {};
  std::vector<SearchSetting> architecture = {};
  bool square_linears = false;  ///< each square linear may be replaced by the identity
  /// The settings of a section, which may be empty; none: the recipe has no such section.
  using Section = std::optional<std::vector<SearchSetting>>;
  Section structure = {}, training = {}, lora = {}, pruning = {}, native = {}, train_on = {},
          distillation = {};
  std::vector<PrecisionGroup> precision = {};
  std::optional<AllocationSection> allocation = {};
  /// Points that are tried first, by the names of parameters.
  struct Point {
    int line = 0;
    Json values = Json::object();
  };
  std::vector<Point> first = {};

  std::string at(int line) const { return fmt::format("{}, line {}", where, line); }
};

/// Parses a recipe. Throws `UserError` with file and line for invalid TOML, unknown keys, values of a wrong type,
/// formats that do not parse with one of their values, invalid formulas, and a recipe in which nothing varies.
SearchRecipe parse_search_recipe(std::string_view text, std::string_view where,
                                 const FormatTable& formats);

}  // namespace hone
