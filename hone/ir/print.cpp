#include "hone/ir/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/ir/quoted.h"

namespace hone {
namespace {

// The name as it is if the parser reads it as one word, else quoted.
std::string spelled(const std::string& name) {
  const bool word =
      !name.empty() && std::ranges::all_of(name, [](char c) { return is_word_character(c); });
  return word ? name : quoted(name);
}

std::string reference(const Value& value) {
  return value.index == 0 ? "%" + spelled(value.node->name())
                          : fmt::format("%{}:{}", spelled(value.node->name()), value.index);
}

std::string real(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <typename Items, typename Print>
std::string joined(const Items& items, Print&& print) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + print(item);
  return text;
}

}  // namespace

std::string to_string(const Attribute& attribute) {
  struct Print {
    std::string operator()(std::monostate) const { return "required"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return real(value); }
    std::string operator()(const std::string& value) const { return quoted(value); }
    std::string operator()(const Shape& value) const { return to_string(value); }
    std::string operator()(const Format& value) const { return to_string(value); }
  };
  return std::visit(Print{}, attribute);
}

std::string to_string(const Node& node) {
  std::string text = "%" + spelled(node.name()) + " = ";
  if (node.kind() == NodeKind::input) {
    text += "input";
  } else if (node.kind() == NodeKind::parameter) {
    text += fmt::format("parameter {} {}", info(node.role()).name,
                        node.trainable() ? "trainable" : "frozen");
  } else {
    text += fmt::format("{}({})", node.op().name,
                        joined(node.inputs(), [](const Value& value) { return reference(value); }));
    if (!node.attributes().empty()) {
      const auto pair = [](const auto& item) { return item.first + "=" + to_string(item.second); };
      text += " {" + joined(node.attributes().items(), pair) + "}";
    }
  }
  return text + " : " + joined(node.types(), [](const Type& type) { return to_string(type); });
}

std::string to_string(const Graph& graph) {
  std::string text;
  for (const auto& node : graph.nodes()) text += to_string(*node) + "\n";
  for (const auto& [name, value] : graph.outputs())
    text += fmt::format("output {} = {}\n", spelled(name), reference(value));
  return text;
}

}  // namespace hone
