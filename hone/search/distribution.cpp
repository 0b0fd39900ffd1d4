#include "hone/search/distribution.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/error.h"
#include "hone/search/python_json.h"

namespace hone {
namespace {

using Wide = __int128;

// digits · 10^exponent
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
};

// Returns the shortest decimal fraction that reads back as `value`.
Decimal shortest_decimal(double value) {
  char shortest[40];  // "-1.25e-05"
  const auto [end, error] =
      std::to_chars(shortest, shortest + sizeof shortest, value, std::chars_format::scientific);
  HONE_ASSERT(error == std::errc(), "no text for {}", value);
  Decimal result;
  bool negative = false, behind_point = false;
  const char* at = shortest;
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '-') {
      negative = true;
    } else if (*at == '.') {
      behind_point = true;
    } else {
      result.digits = 10 * result.digits + (*at - '0');
      result.exponent -= behind_point ? 1 : 0;
    }
  }
  int exponent = 0;
  if (at != end) std::from_chars(at[1] == '+' ? at + 2 : at + 1, end, exponent);
  result.exponent += exponent;
  if (negative) result.digits = -result.digits;
  return result;
}

double to_double(const Decimal& decimal) {
  Wide digits = decimal.digits < 0 ? -decimal.digits : decimal.digits;
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(digits % 10)));
    digits /= 10;
  } while (digits > 0);
  text += fmt::format("e{}", decimal.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return decimal.digits < 0 ? -value : value;
}

// Returns the digits of the number for a lower exponent; none if there are too many.
std::optional<Wide> digits_at(const Decimal& decimal, int exponent) {
  constexpr Wide kMost = Wide{1} << 120;
  Wide digits = decimal.digits;
  for (int i = decimal.exponent; i > exponent && digits != 0; --i) {
    digits *= 10;
    if (digits > kMost || digits < -kMost) return std::nullopt;
  }
  return digits;
}

// Returns the last of low, low + step, … that is at most `high`.
double last_step(double low, double high, double step) {
  const Decimal l = shortest_decimal(low), h = shortest_decimal(high), s = shortest_decimal(step);
  const int exponent = std::min({l.exponent, h.exponent, s.exponent});
  const auto first = digits_at(l, exponent), last = digits_at(h, exponent),
             width = digits_at(s, exponent);
  user_check(first && last && width,
             "values from {} to {} by {}: numbers this large have no such steps between them", low,
             high, step);
  const Wide whole = (*last - *first) / *width * *width;
  return whole == *last - *first ? high : to_double({*first + whole, exponent});
}

void check_range(double low, double high, bool logarithmic) {
  user_check(std::isfinite(low) && std::isfinite(high) && low <= high,
             "values from {} to {}: expected two numbers, the lower one first", low, high);
  user_check(!logarithmic || low > 0,
             "values from {} to {} on a logarithmic scale: expected numbers above 0", low, high);
}

constexpr double kStepTolerance = 1e-8;  // Optuna's

}  // namespace

bool Distribution::single() const {
  if (kind == DistributionKind::categorical) return choices.size() == 1;
  return low == high || (step && high - low < *step);
}

bool Distribution::contains(double internal) const {
  if (kind == DistributionKind::categorical)
    return internal >= 0 && internal < static_cast<double>(choices.size()) &&
           internal == std::floor(internal);
  if (!(internal >= low && internal <= high)) return false;
  if (!step) return true;
  const double steps = (internal - low) / *step;
  return std::abs(steps - std::round(steps)) < kStepTolerance;
}

std::optional<std::uint64_t> Distribution::size() const {
  if (kind == DistributionKind::categorical) return choices.size();
  if (low == high) return 1;
  if (!step) return std::nullopt;
  return static_cast<std::uint64_t>(std::floor((high - low) / *step + kStepTolerance)) + 1;
}

double Distribution::value_at(std::uint64_t index) const {
  const auto place = static_cast<double>(index);
  if (kind == DistributionKind::categorical) return place;
  return std::min(low + place * step.value_or(0), high);
}

Json Distribution::external(double internal) const {
  switch (kind) {
    case DistributionKind::real:
      return internal;
    case DistributionKind::integer:
      return static_cast<std::int64_t>(internal);
    case DistributionKind::categorical:
      break;
  }
  HONE_ASSERT(contains(internal), "{} is not the index of a choice", internal);
  return choices[static_cast<std::size_t>(internal)];
}

double Distribution::internal(const Json& external) const {
  if (kind == DistributionKind::categorical) {
    const auto found = std::find(choices.begin(), choices.end(), external);
    user_check(found != choices.end(), "{} is not one of the choices {}", to_line(external),
               to_line(Json(choices)));
    return static_cast<double>(found - choices.begin());
  }
  user_check(external.is_number(), "expected a number, got {}", to_line(external));
  const double value = external.get<double>();
  user_check(kind == DistributionKind::real || value == std::floor(value),
             "expected a whole number, got {}", to_line(external));
  return value;
}

Distribution real_values(double low, double high, std::optional<double> step, bool logarithmic) {
  check_range(low, high, logarithmic);
  if (step) {
    user_check(std::isfinite(*step) && *step > 0, "a step of {}: expected a number above 0", *step);
    user_check(!logarithmic, "a step of {} on a logarithmic scale: use one or the other", *step);
    high = last_step(low, high, *step);
  }
  return {DistributionKind::real, low, high, step, logarithmic, {}};
}

Distribution integer_values(std::int64_t low, std::int64_t high, std::int64_t step,
                            bool logarithmic) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  check_range(static_cast<double>(low), static_cast<double>(high), logarithmic);
  user_check(low >= -kExact && high <= kExact, "whole numbers from {} to {}: at most {} are exact",
             low, high, kExact);
  user_check(step >= 1, "a step of {}: expected a whole number above 0", step);
  user_check(step == 1 || !logarithmic, "a step of {} on a logarithmic scale: use one or the other",
             step);
  high = low + (high - low) / step * step;
  return {DistributionKind::integer,
          static_cast<double>(low),
          static_cast<double>(high),
          static_cast<double>(step),
          logarithmic,
          {}};
}

Distribution choice_of(std::vector<Json> choices) {
  user_check(!choices.empty(), "no values to choose from");
  for (auto choice = choices.begin(); choice != choices.end(); ++choice) {
    user_check(!choice->is_structured(), "{} is not a valid choice: expected a text or a number",
               to_line(*choice));
    user_check(std::find(choices.begin(), choice, *choice) == choice, "{} occurs twice in {}",
               to_line(*choice), to_line(Json(choices)));
  }
  return {DistributionKind::categorical,
          0,
          static_cast<double>(choices.size()) - 1,
          {},
          false,
          std::move(choices)};
}

bool compatible(const Distribution& a, const Distribution& b) {
  if (a.kind != b.kind) return false;
  return a.kind == DistributionKind::categorical ? a.choices == b.choices
                                                 : a.logarithmic == b.logarithmic;
}

std::string to_optuna(const Distribution& d) {
  switch (d.kind) {
    case DistributionKind::real: {
      const Json attributes = {{"step", d.step ? Json(*d.step) : Json(nullptr)},
                               {"low", d.low},
                               {"high", d.high},
                               {"log", d.logarithmic}};
      return to_python_json({{"name", "FloatDistribution"}, {"attributes", attributes}});
    }
    case DistributionKind::integer: {
      const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
      const Json attributes = {{"log", d.logarithmic},
                               {"step", whole(*d.step)},
                               {"low", whole(d.low)},
                               {"high", whole(d.high)}};
      return to_python_json({{"name", "IntDistribution"}, {"attributes", attributes}});
    }
    case DistributionKind::categorical:
      break;
  }
  return to_python_json(
      {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", d.choices}}}});
}

Distribution parse_optuna_distribution(std::string_view text) {
  const Json json = parse_python_json(text, "distribution");
  const std::string what = fmt::format("{} is not a distribution of Optuna", text);
  user_check(json.is_object() && json.contains("name") && json["name"].is_string() &&
                 json.contains("attributes") && json["attributes"].is_object(),
             "{}", what);
  const std::string name = json["name"];
  const Json& attributes = json["attributes"];
  const auto number = [&](const char* key) {
    user_check(attributes.contains(key) && attributes[key].is_number(), "{}: no number '{}'", what,
               key);
    return attributes[key].get<double>();
  };
  const auto whole = [&](const char* key) { return static_cast<std::int64_t>(number(key)); };
  const auto flag = [&](const char* key) {
    return attributes.contains(key) && attributes[key].is_boolean() && attributes[key].get<bool>();
  };
  const auto given = [&](const char* key) {
    return attributes.contains(key) && !attributes[key].is_null();
  };
  return with_context(what, [&]() -> Distribution {
    if (name == "FloatDistribution")
      return real_values(number("low"), number("high"),
                         given("step") ? std::optional(number("step")) : std::nullopt, flag("log"));
    if (name == "UniformDistribution") return real_values(number("low"), number("high"));
    if (name == "LogUniformDistribution")
      return real_values(number("low"), number("high"), std::nullopt, true);
    if (name == "DiscreteUniformDistribution")
      return real_values(number("low"), number("high"), number("q"));
    if (name == "IntDistribution" || name == "IntUniformDistribution" ||
        name == "IntLogUniformDistribution")
      return integer_values(whole("low"), whole("high"), given("step") ? whole("step") : 1,
                            flag("log") || name == "IntLogUniformDistribution");
    user_check(name == "CategoricalDistribution", "no kind is called '{}'", name);
    user_check(attributes.contains("choices") && attributes["choices"].is_array(),
               "no list 'choices'");
    // A list that another program wrote may contain what ours may not, such as NaN, which never equals itself.
    Distribution result;
    result.kind = DistributionKind::categorical;
    result.choices = attributes["choices"].get<std::vector<Json>>();
    user_check(!result.choices.empty(), "no choices");
    result.high = static_cast<double>(result.choices.size()) - 1;
    return result;
  });
}

}  // namespace hone
