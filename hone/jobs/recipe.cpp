#include "hone/jobs/recipe.h"

#include <algorithm>
#include <regex>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/toml_file.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr Operand kReads[] = {Operand::input, Operand::weight, Operand::bias};

void set_reads(OperandFormats& formats, const std::optional<Format>& format) {
  for (const Operand operand : kReads) formats[operand] = format;
}

std::optional<Format> format_of(const toml::node& node, std::string_view key,
                                const TomlPlace& place, const FormatTable& formats) {
  const std::string text = text_at(node, key, place);
  return with_context(place.at(node), [&] { return parse_optional_format(text, formats); });
}

// Reads the keys `format`, `input`, `weight`, `bias` and `output` of a table.
OperandFormats operand_formats(const toml::table& table, const TomlPlace& place,
                               const FormatTable& formats) {
  OperandFormats chosen;
  if (const toml::node* all = table.get("format"))
    set_reads(chosen, format_of(*all, "format", place, formats));
  for (const Operand operand : kOperands) {
    const std::string_view key = to_string(operand);
    if (const toml::node* node = table.get(key))
      chosen[operand] = format_of(*node, key, place, formats);
  }
  return chosen;
}

OperandFormats default_formats(const toml::node& node, const TomlPlace& place,
                               const FormatTable& formats) {
  if (const toml::table* table = node.as_table()) {
    check_keys(*table, {"format", "input", "weight", "bias", "output"}, "a default", place);
    return operand_formats(*table, place, formats);
  }
  OperandFormats chosen;
  set_reads(chosen, format_of(node, "default", place, formats));
  return chosen;
}

// Reads the keys `sparsity` and `structure` of a rule.
std::optional<LayerSparsity> sparsity_of(const toml::table& table, const TomlPlace& place) {
  const toml::node *sparsity = table.get("sparsity"), *structure = table.get("structure");
  if (sparsity == nullptr) {
    if (structure != nullptr)
      fail("{}: structure without sparsity removes nothing; give both", place.at(*structure));
    return std::nullopt;
  }
  const std::optional<double> share = sparsity->value<double>();
  user_check(share && *share >= 0 && *share < 1,
             "{}: sparsity: expected a share from 0 on and below 1", place.at(*sparsity));
  LayerSparsity result{.share = *share};
  if (structure != nullptr)
    with_context(fmt::format("{}: structure", place.at(*structure)), [&] {
      result.structure = parse_layer_structure(text_at(*structure, "structure", place));
    });
  return result;
}

RecipeRule rule_of(const toml::node& node, const TomlPlace& place, const FormatTable& formats) {
  const toml::table* table = node.as_table();
  user_check(table != nullptr, "{}: expected a table; write [[rule]]", place.at(node));
  check_keys(*table,
             {"op", "name", "regex", "format", "input", "weight", "bias", "output", "sparsity",
              "structure"},
             "a rule", place);
  RecipeRule rule;
  rule.where = place.at(node);
  if (const toml::node* op = table->get("op")) rule.ops = texts_at(*op, "op", place);
  if (const toml::node* name = table->get("name")) rule.name = text_at(*name, "name", place);
  if (const toml::node* regex = table->get("regex")) {
    rule.regex = text_at(*regex, "regex", place);
    try {
      std::regex compiled(*rule.regex);
    } catch (const std::regex_error& error) {
      fail("{}: '{}' is not a valid regular expression: {}", rule.where, *rule.regex, error.what());
    }
  }
  rule.formats = operand_formats(*table, place, formats);
  rule.sparsity = sparsity_of(*table, place);
  user_check(!rule.formats.empty() || rule.sparsity,
             "{}: the rule sets nothing; give format, input, weight, bias, output or sparsity",
             rule.where);
  return rule;
}

bool matches(const RecipeRule& rule, const Node& node) {
  return std::ranges::find(rule.ops, node.op().name) != rule.ops.end() &&
         (!rule.name || glob_match(*rule.name, node.name())) &&
         (!rule.regex || std::regex_search(node.name(), std::regex(*rule.regex)));
}

void apply(const OperandFormats& formats, const Node& node, LayerFormats& layer) {
  for (const auto& [operand, format] : formats)
    if (has_operand(node, operand)) layer[operand] = format;
}

void check_effect(const RecipeRule& rule, const std::vector<Node*>& nodes) {
  std::vector<const Node*> matched;
  for (const Node* node : nodes)
    if (matches(rule, *node)) matched.push_back(node);
  user_check(!matched.empty(),
             "{}: the rule matches no operation ({}{}{}); see the names in `hone inspect MODEL`",
             rule.where, fmt::format("op {}", fmt::join(rule.ops, ", ")),
             rule.name ? fmt::format(", name '{}'", *rule.name) : "",
             rule.regex ? fmt::format(", regex '{}'", *rule.regex) : "");
  for (const auto& [operand, format] : rule.formats) {
    // `format` covers all inputs of an operation, and not every operation has a bias.
    const bool any = std::ranges::any_of(
        matched, [&, o = operand](const Node* node) { return has_operand(*node, o); });
    const bool of_format = rule.formats.contains(Operand::input) && operand != Operand::output;
    user_check(any || of_format, "{}: no operation that the rule matches has a {}", rule.where,
               to_string(operand));
  }
}

}  // namespace

std::optional<Format> parse_optional_format(std::string_view text, const FormatTable& formats) {
  if (trim(text) == "none") return std::nullopt;
  return parse_format(text, formats);
}

Recipe parse_recipe(std::string_view text, std::string_view where, const FormatTable& formats) {
  const TomlPlace place{std::string(where)};
  const toml::table table = parse_toml(text, where);
  check_keys(table, {"default", "rule"}, "a recipe", place);
  Recipe recipe;
  if (const toml::node* node = table.get("default"))
    recipe.defaults = default_formats(*node, place, formats);
  if (const toml::node* node = table.get("rule")) {
    user_check(node->is_array(), "{}: rule: expected [[rule]] tables", place.at(*node));
    for (const toml::node& rule : *node->as_array())
      recipe.rules.push_back(rule_of(rule, place, formats));
  }
  user_check(!recipe.defaults.empty() || !recipe.rules.empty(),
             "{}: the recipe is empty; give a default or a [[rule]]", where);
  return recipe;
}

Recipe read_recipe(const fs::path& path, const FormatTable& formats) {
  return parse_recipe(read_file(path), path.string(), formats);
}

LayerSparsities resolve_sparsities(const Recipe& recipe, const Graph& graph) {
  LayerSparsities sparsities;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    LayerSparsity sparsity;
    for (const RecipeRule& rule : recipe.rules) {
      if (!rule.sparsity || !matches(rule, *node)) continue;
      user_check(has_operand(*node, Operand::weight), "{}: sparsity: {} has no weights to prune",
                 rule.where, node->name());
      sparsity = *rule.sparsity;
    }
    if (sparsity.share > 0) sparsities.emplace_back(node->name(), sparsity);
  }
  return sparsities;
}

void check_no_sparsities(const Recipe& recipe) {
  for (const RecipeRule& rule : recipe.rules)
    user_check(!rule.sparsity,
               "{}: sparsity: this command supports formats only; `hone quantize` also prunes",
               rule.where);
}

std::string to_recipe(const LayerSparsities& sparsities) {
  std::string text;
  for (const auto& [layer, sparsity] : sparsities) {
    text += fmt::format("[[rule]]\nname = \"{}\"\nsparsity = {}\n", layer, sparsity.share);
    if (!sparsity.structure.block.is_single())
      text += fmt::format("structure = \"{}\"\n", structure_text(sparsity.structure));
    text += "\n";
  }
  return text;
}

QuantizationPlan resolve(const Recipe& recipe, const Graph& graph) {
  const std::vector<Node*> nodes = graph.of_kind(NodeKind::operation);
  for (const RecipeRule& rule : recipe.rules) check_effect(rule, nodes);
  QuantizationPlan plan;
  for (const Node* node : nodes) {
    LayerFormats layer;
    if (is_default_layer(*node)) apply(recipe.defaults, *node, layer);
    for (const RecipeRule& rule : recipe.rules)
      if (matches(rule, *node)) apply(rule.formats, *node, layer);
    if (layer != LayerFormats{}) plan.emplace_back(node->name(), layer);
  }
  return plan;
}

}  // namespace hone
