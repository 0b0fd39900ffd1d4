#include "hone/jobs/pipeline/report_values.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/pipeline_toml.h"

namespace hone {

std::optional<std::size_t> pick_named(const ReportConfig& f, const std::string& name) {
  const auto pick = std::ranges::find(f.pipeline.picks, name, &PipelinePick::name);
  if (pick == f.pipeline.picks.end()) return std::nullopt;
  return static_cast<std::size_t>(pick - f.pipeline.picks.begin());
}

namespace {

// Parses "STAGE.PATH", "PICK.PATH" or "PICK". Names and paths may both contain dots; the longest name wins.
ValueReference reference_of(const ReportConfig& f, const std::string& name, const toml::node& node,
                            std::string_view key) {
  ValueReference value;
  value.from.pick = pick_named(f, name);
  if (value.from.pick) return value;
  for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    const std::string owner = name.substr(0, dot);
    value.path = name.substr(dot + 1);
    value.from.pick = pick_named(f, owner);
    if (value.from.pick) return value;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < f.pipeline.stages.size(); ++i)
      if (f.pipeline.stages[i].name == owner || f.pipeline.stages[i].group == owner)
        found.push_back(i);
    if (found.empty()) continue;
    user_check(found.size() == 1, "{}: {}: {{{}}}: {} refers to {} stages; name one, or a pick",
               f.place.at(node), key, name, owner, found.size());
    value.from.stage = found.front();
    return value;
  }
  fail("{}: {}: {{{}}}: expected a setting, or {{STAGE.PATH}}, {{PICK.PATH}} or {{PICK}}",
       f.place.at(node), key, name);
}

StatementText::Piece value_piece(const ReportConfig& f, const std::string& name,
                                 const toml::node& node, std::string_view key) {
  using Form = StatementText::Form;
  constexpr std::pair<std::string_view, Form> kForms[] = {{":value", Form::value},
                                                          {":count", Form::count}};
  StatementText::Piece piece;
  std::string whole = name;
  for (const auto& [ending, form] : kForms)
    if (name.ends_with(ending)) {
      whole.resize(name.size() - ending.size());
      piece.form = form;
    }
  piece.value = reference_of(f, whole, node, key);
  user_check(
      piece.form != Form::count || (piece.value->from.pick && piece.value->path.empty()),
      "{}: {}: {{{}}}: expected a pick, to count its stages or rows that fulfil its conditions",
      f.place.at(node), key, name);
  return piece;
}

}  // namespace

StatementText statement_text(const ReportConfig& f, const toml::node& node, std::string_view key) {
  const std::string text = text_at(node, key, f.place);
  StatementText statement;
  std::string before;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "}}") == 0) {
      before += text[i++];
      continue;
    }
    if (text[i] != '{') {
      before += text[i];
      continue;
    }
    const std::size_t end = text.find('}', i);
    user_check(end != std::string::npos, "{}: {}: unmatched {{ in '{}'", f.place.at(node), key,
               text);
    const std::string name = text.substr(i + 1, end - i - 1);
    i = end;
    if (const auto setting = f.pipeline.settings.find(name); setting != f.pipeline.settings.end()) {
      before += setting->second;
      continue;
    }
    statement.pieces.push_back(value_piece(f, name, node, key));
    statement.pieces.back().text = std::exchange(before, "");
  }
  if (!before.empty()) statement.pieces.push_back({.text = std::move(before)});
  return statement;
}

namespace {

// Returns whether a text is a path, such as "tally.PATH.*.KEY". Text with spaces, braces or parentheses is a formula.
bool is_path(std::string_view text) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
           c == '*';
  };
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::ranges::all_of(text, belongs);
}

// Replaces the names of settings by their values.
std::string with_settings(const ReportConfig& f, const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
    const auto setting = end == std::string::npos
                             ? f.pipeline.settings.end()
                             : f.pipeline.settings.find(text.substr(i + 1, end - i - 1));
    if (setting == f.pipeline.settings.end()) {
      result += text[i];
    } else {
      result += setting->second;
      i = end;
    }
  }
  return result;
}

ValueFormula value_formula(const ReportConfig& f, MetricFormula formula, const toml::node& node,
                           std::string_view key) {
  ValueFormula made{.formula = std::move(formula)};
  for (const std::string& name : made.formula.names()) {
    if (name.starts_with('{'))
      made.others.emplace(name, reference_of(f, name.substr(1, name.size() - 2), node, key));
    else if (name == made.formula.text())
      made.path = name;
  }
  return made;
}

}  // namespace

ValueFormula formula_at(const ReportConfig& f, const toml::node& node, std::string_view key) {
  const std::string text = with_settings(f, scalar_text(node, key, f.place));
  if (is_path(text)) return {.path = text};
  return value_formula(f,
                       with_context(fmt::format("{}: {}", f.place.at(node), key),
                                    [&] { return parse_formula(text); }),
                       node, key);
}

ValueCondition condition_of(const ReportConfig& f, const std::string& text,
                            const toml::node& node) {
  FormulaConstraint both = with_context(fmt::format("{}: where", f.place.at(node)),
                                        [&] { return parse_constraint(with_settings(f, text)); });
  return {.left = value_formula(f, std::move(both.left), node, "where"),
          .right = value_formula(f, std::move(both.right), node, "where"),
          .equal = both.equal};
}

}  // namespace hone
