#include "hone/jobs/search/search_recipe.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/formats/plan.h"
#include "hone/jobs/recipe.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/jobs/toml_file.h"
#include "hone/runtime/native_formats.h"

namespace hone {
namespace {

// Sets a list of values to choose from. Numbers are sorted; integers with equal steps become a range.
void choose_from(SearchSetting& setting, std::vector<Json> values) {
  if (values.size() == 1) {
    setting.value = values.front();
    return;
  }
  const bool numbers = std::ranges::all_of(values, [](const Json& v) { return v.is_number(); });
  choice_of(values);  // rejects empty lists and duplicates
  if (!numbers) {
    setting.distribution = choice_of(std::move(values));
    return;
  }
  std::ranges::sort(values, {}, [](const Json& v) { return v.get<double>(); });
  const bool whole =
      std::ranges::all_of(values, [](const Json& v) { return v.is_number_integer(); });
  if (whole) {
    const auto at = [&](std::size_t i) { return values[i].get<std::int64_t>(); };
    bool even = true;
    for (std::size_t i = 2; i < values.size(); ++i)
      even = even && at(i) - at(i - 1) == at(1) - at(0);
    if (even) {
      setting.distribution = integer_values(at(0), at(values.size() - 1), at(1) - at(0));
      return;
    }
  }
  setting.distribution = integer_values(0, std::ssize(values) - 1);
  setting.ordered = std::move(values);
}

// { low, high, step, log }
Distribution range_of(const toml::table& table) {
  const auto number = [&](const char* name) {
    const toml::node* value = table.get(name);
    user_check(value != nullptr && (value->is_integer() || value->is_floating_point()),
               "expected a number `{}`", name);
    return value;
  };
  const toml::node *low = number("low"), *high = number("high"),
                   *step = table.contains("step") ? number("step") : nullptr;
  const toml::node* log = table.get("log");
  user_check(log == nullptr || log->is_boolean(), "expected `log` to be true or false");
  const bool logarithmic = log != nullptr && log->as_boolean()->get();
  const auto real = [](const toml::node* value) { return *value->value<double>(); };
  if (low->is_integer() && high->is_integer() && (step == nullptr || step->is_integer()))
    return integer_values(*low->value<std::int64_t>(), *high->value<std::int64_t>(),
                          step == nullptr ? 1 : *step->value<std::int64_t>(), logarithmic);
  return real_values(real(low), real(high),
                     step == nullptr ? std::nullopt : std::optional(real(step)), logarithmic);
}

SearchSetting setting_of(const TomlPlace& place, const std::string& key, const toml::node& node) {
  SearchSetting setting{.key = key, .line = line_of(node)};
  const std::string where = fmt::format("{}: {}", place.at(node), key);
  if (const toml::array* list = node.as_array()) {
    std::vector<Json> values;
    for (const toml::node& item : *list) values.push_back(scalar_at(item, key, place));
    with_context(where, [&] { choose_from(setting, std::move(values)); });
  } else if (const toml::table* range = node.as_table()) {
    check_keys(*range, {"low", "high", "step", "log"}, key, place);
    with_context(where, [&] { setting.distribution = range_of(*range); });
    if (setting.distribution.single())
      setting.value = setting.distribution.external(setting.distribution.low);
  } else {
    setting.value = scalar_at(node, key, place);
  }
  return setting;
}

// Returns values of a setting to check before anything is computed: all choices, or both ends of a range.
std::vector<Json> samples_of(const SearchSetting& setting) {
  if (!setting.varies()) return {setting.value};
  if (!setting.ordered.empty()) return setting.ordered;
  const Distribution& d = setting.distribution;
  if (d.kind == DistributionKind::categorical) return d.choices;
  return {d.external(d.low), d.external(d.high)};
}

std::vector<SearchSetting> read_section(const TomlPlace& place, const RecipeSection& section,
                                        const toml::node& node) {
  const toml::table& table = table_at(node, section.name, place);
  check_keys(table, section.keys(), fmt::format("[{}]", section.name), place);
  std::vector<SearchSetting> settings;
  for (const auto& [key, value] : in_order(table)) {
    const OptionDef* const option = find_option(section.options, key);
    for (const SearchSetting& other : settings)
      user_check(find_option(section.options, other.key) != option,
                 "{}: {}.{} is {}.{}; give it once", place.at(*value), section.name, key,
                 section.name, other.key);
    settings.push_back(setting_of(place, key, *value));
    with_context(fmt::format("{}: {}.{}", place.at(*value), section.name, key), [&] {
      for (const Json& sample : samples_of(settings.back())) section.check(*option, sample);
    });
  }
  return settings;
}

// Parses "8" as a number and "percentile" as a string.
Json format_value(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? Json(number)
                                                                  : Json(std::string(text));
}

FormatTemplate template_of(const std::string& text) {
  FormatTemplate result{.text = text, .name = std::string(trim(text.substr(0, text.find('('))))};
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return result;
  for (const std::string& part : split_outside_brackets(text.substr(open + 1, close - open - 1))) {
    const std::size_t equals = part.find('=');
    user_check(equals != std::string::npos, "'{}': expected parameters such as bits=8", text);
    SearchSetting setting{.key = std::string(trim(part.substr(0, equals)))};
    std::string_view value = trim(std::string_view(part).substr(equals + 1));
    if (value.starts_with('[') && value.ends_with(']')) {
      std::vector<Json> values;
      for (const std::string& one : split(value.substr(1, value.size() - 2), ','))
        values.push_back(format_value(trim(one)));
      with_context(setting.key, [&] { choose_from(setting, std::move(values)); });
    } else {
      setting.value = format_value(value);
    }
    result.parameters.push_back(std::move(setting));
  }
  return result;
}

// Parses the format with every combination of its parameters.
void check_template(const FormatTemplate& one, const FormatTable& formats) {
  constexpr std::uint64_t kMost = 10'000;
  if (one.name == "none") return;
  SearchSpace choices;
  for (const SearchSetting& parameter : one.parameters)
    if (parameter.varies()) choices.parameters.push_back({parameter.key, parameter.distribution});
  const auto check = [&](const std::vector<TrialParameter>& point) {
    std::map<std::string, Json> values = assignment_of(point);
    for (const SearchSetting& parameter : one.parameters)
      if (parameter.varies()) values[parameter.key] = parameter.decoded(values[parameter.key]);
    parse_format(one.filled(values), formats);
    return true;
  };
  user_check(walk_points(choices, check, kMost), "'{}': more than {} formats", one.text, kMost);
}

// Names formats that share a name by their full texts, which must not vary.
void disambiguate(std::vector<FormatTemplate>& formats, const std::string& where) {
  std::map<std::string, std::vector<FormatTemplate*>> named;
  for (FormatTemplate& one : formats) named[one.name].push_back(&one);
  for (const auto& [name, same] : named) {
    if (same.size() == 1) continue;
    std::set<std::string> texts;
    for (FormatTemplate* one : same) {
      const bool varies = std::ranges::any_of(one->parameters, &SearchSetting::varies);
      user_check(
          !varies && texts.insert(one->text).second,
          "{}: formats: {} is listed twice; give its parameters as lists, \"{}(bits=[4,8])\"",
          where, name, name);
      one->name = one->text;
      one->parameters.clear();
    }
  }
}

PrecisionGroup group_of(const TomlPlace& place, const toml::node& node,
                        const FormatTable& formats) {
  const toml::table& table = table_at(node, "precision", place);
  check_keys(table, {"layers", "choice", "formats", "operands", "sparsities", "structure"},
             "[[precision]]", place);
  PrecisionGroup group{.line = line_of(node)};
  if (const toml::node* layers = table.get("layers"))
    group.layers = texts_at(*layers, "layers", place);
  if (const toml::node* choice = table.get("choice")) {
    const std::string word = text_at(*choice, "choice", place);
    user_check(word == "each" || word == "together",
               "{}: choice: expected \"each\" or \"together\", got \"{}\"", place.at(*choice),
               word);
    group.choice = word == "each" ? ChoiceScope::each : ChoiceScope::shared;
  }
  if (const toml::node* operands = table.get("operands")) {
    group.operands = texts_at(*operands, "operands", place);
    for (const std::string& operand : group.operands)
      user_check(
          operand == "input" || operand == "weight" || operand == "bias" || operand == "output",
          "{}: operands: expected input, weight, bias or output, got \"{}\"", place.at(*operands),
          operand);
  }
  if (const toml::node* sparsities = table.get("sparsities")) {
    group.sparsity = setting_of(place, "sparsity", *sparsities);
    with_context(fmt::format("{}: sparsities", place.at(*sparsities)), [&] {
      for (const Json& sample : samples_of(group.sparsity))
        settings_of<PruningSection>({{"sparsity", sample}});
    });
  }
  if (const toml::node* structure = table.get("structure")) {
    user_check(table.contains("sparsities"),
               "{}: structure without sparsities removes nothing; give both", place.at(*structure));
    group.structure = setting_of(place, "structure", *structure);
    with_context(fmt::format("{}: structure", place.at(*structure)), [&] {
      for (const Json& sample : samples_of(group.structure))
        parse_layer_structure(sample.is_string() ? sample.get<std::string>() : to_line(sample));
    });
  }
  const toml::node* list = table.get("formats");
  user_check(list != nullptr, "{}: [[precision]] has no `formats` to choose from", place.at(node));
  for (const std::string& text : texts_at(*list, "formats", place))
    with_context(fmt::format("{}: formats", place.at(*list)), [&] {
      group.formats.push_back(template_of(text));
      check_template(group.formats.back(), formats);
    });
  user_check(!group.formats.empty(), "{}: formats: none to choose from", place.at(*list));
  disambiguate(group.formats, place.at(*list));
  return group;
}

// "average_bits <= 5", or a list of two.
AllocationSection allocation_of(const TomlPlace& place, const toml::node& node,
                                const FormatTable& formats) {
  const toml::table& table = table_at(node, "allocation", place);
  check_keys(table,
             {"options", "sparsities", "structure", "operands", "budget", "together",
              "sensitivity_samples"},
             "[allocation]", place);
  AllocationSection section{.line = line_of(node)};
  AllocationRequest& request = section.request;
  std::vector<std::string> options = {}, operands = {"input", "weight", "bias"}, budgets;
  SparsityTexts sparsities;
  // Accepts lists, and comma-separated texts like the options of `hone allocate`.
  const auto texts = [&](const char* key, std::vector<std::string>& to) {
    const toml::node* list = table.get(key);
    if (list == nullptr) return;
    to.clear();
    for (const std::string& text : texts_at(*list, key, place))
      for (std::string& one : split_outside_brackets(text)) to.push_back(std::move(one));
  };
  texts("options", options);
  texts("operands", operands);
  texts("budget", budgets);
  texts("structure", sparsities.structures);
  user_check(!budgets.empty(),
             "{}: [allocation] has no budget; give budget = \"average_bits <= 5\"", place.at(node));
  texts("together", request.tied);
  if (const toml::node* list = table.get("sparsities"))
    for (const Json& share : samples_of(setting_of(place, "sparsities", *list)))
      sparsities.shares.push_back(share.is_number() ? share.get<double>() : -1);
  if (const toml::node* samples = table.get("sensitivity_samples")) {
    user_check(samples->is_integer() && *samples->value<std::int64_t>() >= 0,
               "{}: sensitivity_samples: expected a whole number, 0 for all", place.at(*samples));
    request.sensitivity_samples = *samples->value<std::int64_t>();
  }
  with_context(fmt::format("{}: [allocation]", place.at(node)), [&] {
    request.options = parse_options(options, sparsities, parse_operands(operands), formats);
    request.budgets = parse_budgets(budgets);
    for (const AllocationBudget& budget : request.budgets)
      user_check(budget.quantity != BudgetQuantity::latency_ms,
                 "budget {}: latencies vary between trials; only `hone allocate` supports it",
                 budget.text);
  });
  return section;
}

std::vector<SearchRecipe::Point> first_points(const TomlPlace& place, const toml::node& node) {
  user_check(node.is_array(), "{}: first: expected [[first]] tables", place.at(node));
  std::vector<SearchRecipe::Point> points;
  for (const toml::node& one : *node.as_array()) {
    points.push_back({.line = line_of(one)});
    for (const auto& [key, value] : in_order(table_at(one, "first", place)))
      points.back().values[key] = scalar_at(*value, key, place);
  }
  return points;
}

void read_architecture(const TomlPlace& place, const toml::node& node, SearchRecipe& recipe) {
  for (const auto& [key, value] : in_order(table_at(node, "architecture", place))) {
    if (key != "square_linears") {
      recipe.architecture.push_back(setting_of(place, key, *value));
      continue;
    }
    const std::vector<std::string> words = texts_at(*value, key, place);
    user_check(words == std::vector<std::string>{"linear", "identity"},
               "{}: square_linears: expected [\"linear\", \"identity\"]", place.at(*value));
    recipe.square_linears = true;
  }
}

void read_objectives(const TomlPlace& place, const toml::table& table, SearchRecipe& recipe) {
  for (const auto& [key, direction] :
       {std::pair("maximize", Direction::maximize), std::pair("minimize", Direction::minimize)}) {
    const toml::node* node = table.get(key);
    if (node == nullptr) continue;
    for (const std::string& text : texts_at(*node, key, place))
      with_context(fmt::format("{}: {}", place.at(*node), key), [&, sought = direction] {
        for (const ObjectiveFormula& other : recipe.objectives)
          user_check(other.formula.text() != text, "objective '{}' is listed twice", text);
        recipe.objectives.push_back({parse_formula(text), sought});
      });
  }
  if (const toml::node* node = table.get("constraints"))
    for (const std::string& text : texts_at(*node, "constraints", place))
      with_context(place.at(*node), [&] { recipe.constraints.push_back(parse_constraint(text)); });
}

// Pruning by layer and [pruning] exclude each other.
void check_one_pruning(const SearchRecipe& recipe) {
  if (!recipe.pruning) return;
  bool each = recipe.allocation && prunes(recipe.allocation->request.options);
  for (const PrecisionGroup& group : recipe.precision)
    each = each || group.sparsity.varies() || group.sparsity.value != 0;
  user_check(!each, "{}: [pruning] and `sparsities` of layers both choose what to prune; give one",
             recipe.where);
  for (const SearchSetting& setting : *recipe.pruning)
    for (const Json& sample : samples_of(setting))
      user_check(setting.key != "method" || sample != "movement",
                 "{}: pruning.method: movement needs a schedule, which trials do not support; use "
                 "`hone prune`",
                 recipe.at(setting.line));
}

// Units are scored once for all trials.
void check_structure(const SearchRecipe& recipe) {
  if (!recipe.structure) return;
  for (const SearchSetting& setting : *recipe.structure)
    user_check(setting.key != "method" || !setting.varies(),
               "{}: structure.method: units are scored once for all trials; give one method",
               recipe.at(setting.line));
}

// Checks every possible format of linears and embedding tables, and that native products support those of linears.
void check_native(const SearchRecipe& recipe, const FormatTable& formats) {
  if (!recipe.native) return;
  user_check(recipe.precision.empty() && !recipe.allocation,
             "{}: [native] and {} both choose formats of layers; give one", recipe.where,
             recipe.allocation ? "[allocation]" : "[[precision]]");
  if (recipe.pruning)
    for (const SearchSetting& setting : *recipe.pruning)
      user_check(setting.key != "activations",
                 "{}: pruning.activations: native products do not set inputs to zero; leave it or "
                 "[native] out",
                 recipe.at(setting.line));
  for (const SearchSetting& setting : *recipe.native)
    with_context(fmt::format("{}: native.{}", recipe.at(setting.line), setting.key), [&] {
      for (const Json& sample : samples_of(setting)) {
        const auto native = settings_of<NativeSection>({{setting.key, sample}});
        for (const std::string& text : {native.linears, native.narrow})
          if (const auto format = parse_optional_format(text, formats))
            native_input(*format, formats);
        parse_optional_format(native.tables, formats);
      }
    });
  const auto gives = [&](std::string_view key) {
    return std::ranges::find(*recipe.native, key, &SearchSetting::key) != recipe.native->end();
  };
  user_check(
      gives("narrow") == gives("narrow_share"),
      "{}: [native]: `narrow` is the format of the `narrow_share` of weights; give both or neither",
      recipe.where);
}

bool varies(const SearchRecipe& recipe) {
  const auto any = [](const std::vector<SearchSetting>& settings) {
    return std::ranges::any_of(settings, &SearchSetting::varies);
  };
  bool result = recipe.square_linears || any(recipe.architecture);
  for (const RecipeSection& section : recipe_sections())
    if (const SearchRecipe::Section& settings = recipe.*section.settings)
      result = result || any(*settings);
  for (const PrecisionGroup& group : recipe.precision) {
    result = result || group.formats.size() > 1 || group.sparsity.varies() ||
             (group.structure.varies() && group.sparsity.value != 0);
    for (const FormatTemplate& one : group.formats) result = result || any(one.parameters);
  }
  return result;
}

}  // namespace

Json SearchSetting::decoded(const Json& external) const {
  return ordered.empty() ? external : ordered.at(external.get<std::size_t>());
}

std::string FormatTemplate::filled(const std::map<std::string, Json>& values) const {
  if (parameters.empty()) return text;
  std::vector<std::string> parts;
  for (const SearchSetting& parameter : parameters) {
    const Json& value = parameter.varies() ? values.at(parameter.key) : parameter.value;
    parts.push_back(fmt::format("{}={}", parameter.key,
                                value.is_string() ? value.get<std::string>() : to_line(value)));
  }
  return fmt::format("{}({})", name, fmt::join(parts, ","));
}

std::string PrecisionGroup::name() const {
  return layers == std::vector<std::string>{"*"} ? "all"
                                                 : fmt::format("{}", fmt::join(layers, ","));
}

SearchRecipe parse_search_recipe(std::string_view text, std::string_view where,
                                 const FormatTable& formats) {
  const TomlPlace place{std::string(where)};
  const toml::table table = parse_toml(text, where);
  std::vector<std::string> known = {"maximize",  "minimize",   "constraints", "architecture",
                                    "precision", "allocation", "first"};
  for (const RecipeSection& section : recipe_sections()) known.emplace_back(section.name);
  check_keys(table, known, "a search", place);
  SearchRecipe recipe{.where = std::string(where), .text = std::string(text), .objectives = {}};
  read_objectives(place, table, recipe);
  if (const toml::node* node = table.get("architecture")) read_architecture(place, *node, recipe);
  for (const RecipeSection& section : recipe_sections())
    if (const toml::node* node = table.get(section.name))
      recipe.*section.settings = read_section(place, section, *node);
  if (const toml::node* node = table.get("precision")) {
    user_check(node->is_array(), "{}: precision: expected [[precision]] tables", place.at(*node));
    for (const toml::node& group : *node->as_array())
      recipe.precision.push_back(group_of(place, group, formats));
  }
  if (const toml::node* node = table.get("allocation")) {
    user_check(recipe.precision.empty(),
               "{}: [allocation] and [[precision]] both choose formats of layers; give one",
               place.at(*node));
    recipe.allocation = allocation_of(place, *node, formats);
  }
  check_one_pruning(recipe);
  check_structure(recipe);
  check_native(recipe, formats);
  if (const toml::node* node = table.get("first")) recipe.first = first_points(place, *node);
  user_check(varies(recipe),
             "{}: nothing varies; give lists of values, ranges {{ low = …, high = … }}, or several "
             "formats",
             where);
  return recipe;
}

}  // namespace hone
