#include "hone/base/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hone/base/text.h"

namespace hone {
namespace {

std::optional<double> parsed_number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::span<const EnumName> enum_names(Heading) {
  static constexpr std::array<EnumName, 7> words = {{{0, "Options"},
                                                     {1, "Data"},
                                                     {2, "Training"},
                                                     {3, "Calibration"},
                                                     {4, "Output"},
                                                     {5, "Execution"},
                                                     {6, "Debugging"}}};
  return words;
}

std::string choice_error(const std::string& text, const std::vector<std::string>& words) {
  if (std::ranges::find(words, text) != words.end()) return "";
  const std::string others = fmt::format("{}", fmt::join(words.begin(), words.end() - 1, ", "));
  return fmt::format("expected {}{}{}, got '{}'{}", others, others.empty() ? "" : " or ",
                     words.back(), text, did_you_mean(text, words));
}

OptionDef&& OptionDef::rare() && {
  is_common = false;
  return std::move(*this);
}

OptionDef&& OptionDef::required(bool is) && {
  is_required = is;
  return std::move(*this);
}

OptionDef&& OptionDef::under(Heading under) && {
  heading = under;
  return std::move(*this);
}

OptionDef&& OptionDef::inverted() && {
  is_inverted = true;
  return std::move(*this);
}

OptionDef&& OptionDef::for_caller() && {
  is_for_caller = true;
  return std::move(*this);
}

OptionDef&& OptionDef::repeated() && {
  list_form = ListForm::repeated;
  return std::move(*this);
}

OptionDef&& OptionDef::separated() && {
  list_form = ListForm::separated;
  return std::move(*this);
}

OptionDef&& OptionDef::takes(const ValueKind& taken) && {
  kind = taken;
  return std::move(*this);
}

OptionDef&& OptionDef::shown(std::string_view as) && {
  kind.shown = as;
  return std::move(*this);
}

OptionDef&& OptionDef::one_of(std::vector<std::string> known) && {
  choices = std::move(known);
  return std::move(*this);
}

OptionDef&& OptionDef::from(double low, double below) && {
  return std::move(*this).checked([=](const std::string& text) -> std::string {
    const std::optional<double> value = parsed_number(text);
    if (value && low <= *value && *value < below) return "";
    const std::string limit = std::isfinite(below) ? fmt::format(" and below {}", below) : "";
    return fmt::format("expected a number of at least {}{}, got {}", low, limit, text);
  });
}

OptionDef&& OptionDef::from_to(double low, double high) && {
  return std::move(*this).checked([=](const std::string& text) -> std::string {
    const std::optional<double> value = parsed_number(text);
    if (value && low <= *value && *value <= high) return "";
    return fmt::format("expected a number from {:g} to {:g}, got {}", low, high, text);
  });
}

OptionDef&& OptionDef::above_zero(double high) && {
  return std::move(*this).checked([=](const std::string& text) -> std::string {
    const std::optional<double> value = parsed_number(text);
    if (value && *value > 0 && *value <= high) return "";
    const std::string limit = std::isfinite(high) ? fmt::format(" and at most {:g}", high) : "";
    return fmt::format("expected a number above 0{}, got {}", limit, text);
  });
}

OptionDef&& OptionDef::checked(OptionCheck check) && {
  checks.push_back(std::move(check));
  return std::move(*this);
}

OptionDef&& OptionDef::replaced(OptionCheck by) && {
  replace = std::move(by);
  return std::move(*this);
}

OptionDef&& OptionDef::needing(std::string_view option) && {
  needs = option;
  return std::move(*this);
}

OptionDef&& OptionDef::warned(OptionCheck of) && {
  warning = std::move(of);
  return std::move(*this);
}

OptionDef&& OptionDef::excluding(std::string_view option) && {
  excludes = option;
  return std::move(*this);
}

const std::string& OptionDef::name() const {
  return *std::ranges::find_if(
      names, [&](const std::string& one) { return one.size() > 1 || names.size() == 1; });
}

Options::Options(Heading heading, std::initializer_list<Options> parts) {
  for (const Options& part : parts)
    for (const OptionDef& row : part.rows) {
      rows.push_back(row);
      if (!row.heading) rows.back().heading = heading;
    }
}

OptionDef& Options::at(std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const OptionDef& row) { return row.name() == name; });
  HONE_ASSERT(found != rows.end(), "there is no option '{}'", name);
  return *found;
}

const OptionDef* find_option(const Options& options, std::string_view name) {
  for (const OptionDef& row : options.rows)
    if (std::ranges::find(row.names, name) != row.names.end()) return &row;
  return nullptr;
}

std::vector<std::string> choices_of(const OptionDef& row) {
  if (!row.choices.empty() || row.type->choices == nullptr || row.type->flag) return row.choices;
  return row.type->choices();
}

std::string value_error(const OptionDef& row, const std::string& text) {
  const std::vector<std::string> words = choices_of(row);
  std::string problem = words.empty() ? "" : choice_error(text, words);
  for (const OptionCheck& check : row.checks)
    if (problem.empty()) problem = check(text);
  if (problem.empty() && row.type->problem != nullptr) problem = row.type->problem(text);
  if (problem.empty() && text.empty() && row.kind.access != Access::none)
    problem = fmt::format("expected {}, got ''", row.kind.shown);
  return problem;
}

void set_option(const OptionDef& row, void* object, const Json& value) {
  void* const member = row.at(object);
  if (row.type->flag) {
    user_check(value.is_boolean(), "expected true or false, got {}", to_line(value));
    *static_cast<bool*>(member) = value.get<bool>() != row.is_inverted;
    return;
  }
  user_check(value.is_string() || value.is_number(), "expected a text or a number, got {}",
             to_line(value));
  const std::string whole = value.is_string() ? value.get<std::string>() : to_line(value);
  if (row.type->list) row.type->clear(member);
  for (const std::string& text :
       row.type->list ? split(whole, ',') : std::vector<std::string>{whole}) {
    const std::string meant = row.replace ? row.replace(text) : text;
    const std::string problem = value_error(row, meant);
    user_check(problem.empty(), "{}", problem);
    row.type->parse(meant, member);
  }
}

namespace detail {

std::string number_error(const std::string& text, bool whole, bool is_signed) {
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = !whole      ? std::from_chars(text.data(), end, number)
                                      : is_signed ? std::from_chars(text.data(), end, integer)
                                                  : std::from_chars(text.data(), end, natural);
  if (read.ec == std::errc() && read.ptr == end) return "";
  return fmt::format("expected {}, got {}",
                     !whole      ? "a number"
                     : is_signed ? "a whole number"
                                 : "a whole number of at least 0",
                     text.empty() ? "nothing" : text);
}

std::vector<std::string> choices_of(std::span<const EnumName> words) {
  std::vector<std::string> texts;
  for (const EnumName& choice : words) texts.emplace_back(choice.name);
  return texts;
}

int enum_value(const std::string& text, std::span<const EnumName> words) {
  for (const EnumName& choice : words)
    if (choice.name == text) return choice.value;
  throw UserError(choice_error(text, choices_of(words)));
}

std::string number_text(double value) { return fmt::format("{:g}", value); }

std::vector<std::string> names_in(std::string_view names) { return split(std::string(names), ','); }

Options shifted(Options options, void* (*at)(void* object)) {
  for (OptionDef& row : options.rows)
    row.at = [at, inner = std::move(row.at)](void* object) { return inner(at(object)); };
  return options;
}

}  // namespace detail
}  // namespace hone
