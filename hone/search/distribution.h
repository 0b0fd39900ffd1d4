#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"

/// Values that a parameter of a search may have, and their representations. Objectives and people see the *external*
/// value (JSON: a number, a string, a boolean or null). Samplers and storages use the *internal* value, a double: the
/// number itself, or the index of a choice.
namespace hone {

enum class DistributionKind : std::uint8_t { real, integer, categorical };

/// A set of allowed values, including both ends. Create one with `real_values`, `integer_values` or `choice_of`.
struct Distribution {
  DistributionKind kind = DistributionKind::real;
  double low = 0;
  double high = 0;                  ///< with a step: the last value that the steps reach
  std::optional<double> step = {};  ///< always set for integers
  bool logarithmic = false;         ///< values are log-uniform
  std::vector<Json> choices = {};   ///< for categorical parameters

  /// Returns whether there is only one value: samplers are not called for it.
  bool single() const;
  /// Returns whether an internal value is allowed. A stepped value may be off by the rounding error of decimal
  /// fractions.
  bool contains(double internal) const;
  /// Returns the number of values; none for reals without a step.
  std::optional<std::uint64_t> size() const;
  /// Returns the internal value number `index` of these, from 0 in order; for reals without a step the lowest.
  double value_at(std::uint64_t index) const;

  Json external(double internal) const;
  /// Throws `UserError` for a value of another type, and for an unknown choice; numbers outside the range are accepted.
  double internal(const Json& external) const;

  bool operator==(const Distribution&) const = default;
};

/// Returns the values low ≤ x ≤ high. Throws `UserError` for bounds that are out of order or not finite, a step that
/// is not positive, and a logarithmic scale with low ≤ 0 or with a step. `high` is lowered to the last step, computed
/// exactly with the shortest decimal texts of the three numbers: 0 to 0.5 by 0.1 keeps 0.5.
Distribution real_values(double low, double high, std::optional<double> step = {},
                         bool logarithmic = false);
/// Returns integers likewise. Throws `UserError` as `real_values`, for a step below 1, and for a logarithmic scale
/// with a step other than 1.
Distribution integer_values(std::int64_t low, std::int64_t high, std::int64_t step = 1,
                            bool logarithmic = false);
/// Throws `UserError` if there are no choices, for duplicates, and for a choice that is an array or an object.
Distribution choice_of(std::vector<Json> choices);

/// Returns whether a parameter may have both in different trials of a study, as in Optuna: the same kind, for numbers
/// the same scale (logarithmic or not), for categorical ones the same list.
bool compatible(const Distribution& a, const Distribution& b);

/// Returns Optuna's storage format, including spaces: {"name": "IntDistribution", "attributes": {"log": false,
/// "step": 2, "low": 2, "high": 8}}
std::string to_optuna(const Distribution& distribution);
/// Parses that format, the names that Optuna used before version 3, and the literals NaN and Infinity. Throws
/// `UserError`.
Distribution parse_optuna_distribution(std::string_view text);

}  // namespace hone
