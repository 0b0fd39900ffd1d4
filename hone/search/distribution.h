#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"

/// What values a parameter of a search may have, and how they are kept. Values have two forms: the *external* one is what an
/// objective gets and people read (JSON: a number, a string, a boolean or null), the *internal* one a double that samplers
/// compute with and studies store: the number itself, or the index of a choice.
namespace hone {

enum class DistributionKind : std::uint8_t { real, integer, categorical };

/// An allowed set of values, closed at both ends. Make one by `real_values`, `integer_values` or `choice_of`.
struct Distribution {
  DistributionKind kind = DistributionKind::real;
  double low = 0;
  double high = 0;                  ///< of a stepped one the last value that a step reaches
  std::optional<double> step = {};  ///< of integers always there
  bool logarithmic = false;         ///< values are as likely by their logarithms
  std::vector<Json> choices = {};   ///< of categorical ones

  /// Whether there is one value alone: samplers are not asked for it.
  bool single() const;
  /// Whether an internal value is one of it. A stepped value may be off by what decimal fractions are as doubles.
  bool contains(double internal) const;
  /// Number of values; none for real ones without a step.
  std::optional<std::uint64_t> size() const;
  /// The internal value `index` of these, from 0 on in their order; of a real one without a step the lowest.
  double value_at(std::uint64_t index) const;

  Json external(double internal) const;
  /// Throws `UserError` for a value of another type, and for a choice that is not there; numbers outside of the range pass.
  double internal(const Json& external) const;

  bool operator==(const Distribution&) const = default;
};

/// low ≤ x ≤ high. Throws `UserError` for bounds out of order or not finite, a step that is not positive, a logarithm with
/// low ≤ 0 or with a step. With a step, `high` is lowered to what a step reaches, computed in exact decimal fractions of the shortest
/// texts of the three numbers: 0 to 0.5 by 0.1 keeps 0.5.
Distribution real_values(double low, double high, std::optional<double> step = {},
                         bool logarithmic = false);
/// The same of whole numbers. Throws `UserError` as `real_values`, for a step below 1, and for a logarithm with a step other than 1.
Distribution integer_values(std::int64_t low, std::int64_t high, std::int64_t step = 1,
                            bool logarithmic = false);
/// Throws `UserError` for no choices, the same twice, and a choice that is an array or an object.
Distribution choice_of(std::vector<Json> choices);

/// Whether one parameter may have both in different trials of a study, as Optuna has it: the same kind, for numbers the
/// same scale (logarithmic or not), for categorical ones the same list.
bool compatible(const Distribution& a, const Distribution& b);

/// As Optuna stores it, spaces included: {"name": "IntDistribution", "attributes": {"log": false, "step": 2, "low": 2, "high": 8}}
std::string to_optuna(const Distribution& distribution);
/// Reads that, the names that Optuna had before its version 3, and the literals NaN and Infinity. Throws `UserError`.
Distribution parse_optuna_distribution(std::string_view text);

}  // namespace hone
