#include "hone/passes/pass.h"

#include <fmt/ranges.h>

#include <charconv>
#include <ranges>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/ir/quoted.h"
#include "hone/ir/verify.h"

namespace hone {
namespace {

template <typename Number>
Attribute number(std::string_view text, std::string_view expected) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  user_check(parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size(),
             "expected {}, got '{}'", expected, text);
  return value;
}

// Parses `text` as a value of the type of `like`.
Attribute value_like(const Attribute& like, std::string_view text, const FormatTable& formats) {
  struct Read {
    std::string_view text;
    const FormatTable& formats;
    Attribute operator()(bool) const {
      user_check(text == "true" || text == "false", "expected true or false, got '{}'", text);
      return text == "true";
    }
    Attribute operator()(std::int64_t) const {
      return number<std::int64_t>(text, "a whole number");
    }
    Attribute operator()(double) const { return number<double>(text, "a number"); }
    Attribute operator()(const std::string&) const { return std::string(text); }
    Attribute operator()(const Format&) const { return parse_format(text, formats); }
    Attribute operator()(const Shape&) const { throw InternalError("no pass takes a shape"); }
    Attribute operator()(std::monostate) const {
      throw InternalError("an option of a pass has no kind");
    }
  };
  return std::visit(Read{text, formats}, like);
}

// Removes and returns the text before the next comma outside of brackets, or up to the end; a quoted text whole.
std::string take_value(std::string_view& rest) {
  rest = trim(rest);
  if (rest.starts_with('"')) return take_quoted(rest);
  int depth = 0;
  std::size_t size = 0;
  for (; size < rest.size() && (depth > 0 || rest[size] != ','); ++size)
    depth += rest[size] == '(' ? 1 : rest[size] == ')' ? -1 : 0;
  std::string value(trim(rest.substr(0, size)));
  rest.remove_prefix(size);
  return value;
}

const PassOptionDef& option_called(const PassDef& def, std::string_view name) {
  std::vector<std::string> names;
  for (const PassOptionDef& option : def.options) {
    if (option.name == name) return option;
    names.emplace_back(option.name);
  }
  user_check(name.find(',') == std::string_view::npos,
             "expected option=value, got '{}'; a text that contains commas needs double "
             "quotes: option=\"a,b\"",
             name);
  fail("has no option '{}'; it has {}{}", name, fmt::join(names, ", "), did_you_mean(name, names));
}

}  // namespace

Attributes given_options(const PassDef& def, std::string_view text, const FormatTable& formats) {
  Attributes given;
  for (std::string_view rest = trim(text); !rest.empty(); rest = trim(rest)) {
    user_check(!def.options.empty(), "has no options, got '{}'", rest);
    const std::size_t equals = rest.find('=');
    user_check(equals != std::string_view::npos,
               "expected option=value, got '{}'; the options are {}", rest,
               fmt::join(std::views::transform(def.options, &PassOptionDef::name), ", "));
    const PassOptionDef& option = option_called(def, trim(rest.substr(0, equals)));
    user_check(given.find(option.name) == nullptr, "{} is given twice", option.name);
    rest.remove_prefix(equals + 1);
    with_context(option.name, [&] {
      given.set(option.name, value_like(option.default_value, take_value(rest), formats));
    });
    rest = trim(rest);
    user_check(rest.empty() || rest.starts_with(','), "expected ',' before '{}'", rest);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return given;
}

const PassDef& find_pass(const PassTable& passes, std::string_view name) {
  const auto found = passes.find(name);
  if (found != passes.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, def] : passes) names.push_back(known);
  fail("there is no pass '{}'; `hone passes` lists them{}", name, did_you_mean(name, names));
}

Pass parse_pass(std::string_view text, const PassTable& passes, const FormatTable& formats) {
  const std::string_view whole = trim(text);
  const std::size_t open = whole.find('(');
  const std::string name(trim(whole.substr(0, open)));
  const PassDef& def = find_pass(passes, name);
  return with_context("pass " + name, [&] {
    std::string_view inner;
    if (open != std::string_view::npos) {
      user_check(whole.ends_with(')'), "the bracket after {} is not closed", name);
      inner = whole.substr(open + 1, whole.size() - open - 2);
    }
    const Attributes given = given_options(def, inner, formats);
    Pass pass{&def, {}};
    for (const PassOptionDef& option : def.options) {
      const Attribute* value = given.find(option.name);
      user_check(value != nullptr || !option.required, "needs {}: {}", option.name, option.summary);
      pass.options.set(option.name, value != nullptr ? *value : option.default_value);
    }
    return pass;
  });
}

std::string to_string(const Pass& pass) {
  std::string options;
  for (const PassOptionDef& option : pass.def->options) {
    const Attribute& value = *pass.options.find(option.name);
    if (!option.required && value == option.default_value) continue;
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", option.name, to_string(value));
  }
  return options.empty() ? std::string(pass.def->name)
                         : fmt::format("{}({})", pass.def->name, options);
}

namespace {

// Errors in a plugin's pass are attributed to the plugin, not to this program.
template <typename Work>
auto by_plugin(const PassDef& def, Work&& work) -> decltype(work()) {
  if (def.plugin.empty()) return work();
  try {
    return work();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    fail("plugin {}: {}", def.plugin, error.what());
  }
}

}  // namespace

bool run_pass(const Pass& pass, Graph& graph, ParameterStore& parameters, const Session& session) {
  const PassDef& def = *pass.def;
  if (def.run == nullptr) return false;
  return by_plugin(def, [&] {
    const std::string before = def.plugin.empty() ? "" : to_string(graph);
    const bool changed = def.run(graph, parameters, pass.options, session);
    if (!def.plugin.empty()) {
      verify(graph);
      user_check(changed || to_string(graph) == before,
                 "returned false, which means unchanged, but changed the graph");
    }
    return changed;
  });
}

Attributes findings(const Pass& pass, const Graph& graph, const ParameterStore& parameters) {
  HONE_ASSERT(pass.def->analyze != nullptr, "pass {} does not analyze", pass.def->name);
  return by_plugin(*pass.def, [&] { return pass.def->analyze(graph, parameters, pass.options); });
}

}  // namespace hone
