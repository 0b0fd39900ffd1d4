#include "hone/ir/parse.h"

#include <charconv>

#include "hone/base/text.h"
#include "hone/ir/quoted.h"

namespace hone {
namespace {

class LineReader {
 public:
  LineReader(std::string_view line, const FormatTable& formats) : rest_(line), formats_(formats) {}

  bool at_end() {
    skip_space();
    return rest_.empty();
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    const bool found = accept(token);
    user_check(found, "expected '{}' at '{}'", token, rest_.substr(0, 40));
  }
  /// Reads at least one letter, digit or one of `_ . - /`. References may also contain a colon, so the caller passes
  /// the set.
  std::string word(std::string_view extra = "_.-/") {
    skip_space();
    std::size_t size = 0;
    while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 ||
                                   extra.find(rest_[size]) != std::string_view::npos)) {
      ++size;
    }
    user_check(size > 0, "expected a name at '{}'", rest_.substr(0, 40));
    return take(size);
  }
  /// The name of a node or an output: a word, or quoted.
  std::string name() {
    skip_space();
    return rest_.starts_with("\"") ? take_quoted(rest_) : word();
  }
  std::int64_t integer() {
    const std::string text = word("-");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    user_check(error == std::errc{} && end == text.data() + text.size(),
               "expected a whole number, got '{}'", text);
    return value;
  }
  Shape shape() {
    Shape dims;
    expect("[");
    while (!accept("]")) {
      if (!dims.empty()) expect(",");
      skip_space();
      const bool symbol = !rest_.empty() && rest_[0] >= 'A' && rest_[0] <= 'Z';
      user_check(dims.size() < kMaxDimensions, "more than {} dimensions", kMaxDimensions);
      dims.push_back(symbol ? Dim::of_symbol(take(1)[0]) : Dim(integer()));
    }
    return dims;
  }
  Type type() {
    const std::string dtype = word("");
    Type type{parse_dtype(dtype), shape()};
    for (const Dim& dim : type.shape)
      user_check(dim.size >= 0, "{} has a negative extent", to_string(type));
    return type;
  }
  Attribute attribute() {
    skip_space();
    if (rest_.starts_with("[")) return shape();
    if (rest_.starts_with("\"")) return take_quoted(rest_);
    const std::string text = word("_.-+");
    if (text == "true" || text == "false") return text == "true";
    if (rest_.starts_with("(") || formats_.contains(text)) {
      const std::size_t size = rest_.starts_with("(") ? rest_.find(')') + 1 : 0;
      return parse_format(text + take(size), formats_);
    }
    return number(text);
  }

 private:
  std::string take(std::size_t size) {
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }
  static Attribute number(const std::string& text) {
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto parsed = std::from_chars(text.data(), end, whole);
        parsed.ec == std::errc{} && parsed.ptr == end)
      return whole;
    double value = 0;
    const auto parsed = std::from_chars(text.data(), end, value);
    user_check(parsed.ec == std::errc{} && parsed.ptr == end, "'{}' is not an attribute value",
               text);
    return value;
  }

  std::string_view rest_;
  const FormatTable& formats_;
};

Value reference(LineReader& line, const Graph& graph) {
  line.expect("%");
  const std::string name = line.name();
  Node* node = graph.find(name);
  user_check(node != nullptr, "%{} is used before it is defined", name);
  const std::int64_t index = line.accept(":") ? line.integer() : 0;
  user_check(index >= 0 && index < static_cast<std::int64_t>(node->types().size()),
             "%{} has no result {}", name, index);
  return {node, static_cast<int>(index)};
}

void parse_operation(LineReader& line, const std::string& op, const std::string& name,
                     Graph& graph) {
  std::vector<Value> inputs;
  line.expect("(");
  while (!line.accept(")")) {
    if (!inputs.empty()) line.expect(",");
    inputs.push_back(reference(line, graph));
  }
  Attributes attributes;
  if (line.accept("{")) {
    while (!line.accept("}")) {
      if (!attributes.empty()) line.expect(",");
      const std::string key = line.word("_");
      line.expect("=");
      attributes.set(key, line.attribute());
    }
  }
  user_check(graph.find(name) == nullptr, "the graph has two nodes called '{}'", name);
  const Node& node = graph.add_node(op, std::move(inputs), std::move(attributes), name);
  line.expect(":");
  for (std::size_t i = 0; i < node.types().size(); ++i) {
    if (i > 0) line.expect(",");
    const Type written = line.type();
    user_check(written == node.types()[i], "result {} of %{} is {}, the text says {}", i, name,
               to_string(node.types()[i]), to_string(written));
  }
}

void parse_line(LineReader& line, Graph& graph) {
  if (line.accept("output ")) {
    const std::string name = line.name();
    line.expect("=");
    graph.set_output(name, reference(line, graph));
    return;
  }
  line.expect("%");
  const std::string name = line.name();
  line.expect("=");
  const std::string op = line.word("_");
  if (op == "input") {
    line.expect(":");
    graph.add_input(name, line.type());
  } else if (op == "parameter") {
    const ParameterRole role = parse_parameter_role(line.word("_"));
    const std::string state = line.word("");
    user_check(state == "trainable" || state == "frozen",
               "expected 'trainable' or 'frozen', got '{}'", state);
    line.expect(":");
    graph.add_parameter(name, line.type(), role, state == "trainable");
  } else {
    parse_operation(line, op, name, graph);
  }
}

}  // namespace

Graph parse_graph(std::string_view text, const OpTable& ops, const FormatTable& formats) {
  Graph graph(ops);
  int number = 0;
  for (const std::string& content : split(text, '\n')) {
    ++number;
    if (trim(content).empty() || trim(content).starts_with("#")) continue;
    with_context(fmt::format("graph text, line {}", number), [&] {
      LineReader line(content, formats);
      parse_line(line, graph);
      user_check(line.at_end(), "more text than expected at the end of the line");
    });
  }
  return graph;
}

}  // namespace hone
