#pragma once

#include <string>
#include <vector>

#include "hone/ir/parse.h"
#include "hone/ops/list.h"
#include "tests/support/message.h"

namespace hone::testing {

/// Returns the error of an operation's type rule for inputs of the given types, written as in graph text, or "no
/// error":
///
///     EXPECT_EQ(refusal("relu", {"i64[B]"}), "input must be f32, bf16 or f16, got i64[B]");
///
/// `attributes` is the text between the braces.
inline std::string refusal(const std::string& op, const std::vector<std::string>& types,
                           const std::string& attributes = "") {
  static const OpTable ops = builtin_ops();
  static const FormatTable formats = builtin_formats();
  std::string text, inputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    text += fmt::format("%in{} = input : {}\n", i, types[i]);
    inputs += fmt::format("{}%in{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("%node = {}({}) {{{}}} : ", op, inputs, attributes);
  const std::string message = message_of([&] { parse_graph(text, ops, formats); });
  const std::string context =
      fmt::format("graph text, line {}: at node %node ({}): ", types.size() + 1, op);
  if (message.starts_with(context)) return message.substr(context.size());
  // The text has no result type, so parsing fails here if the rule accepts the inputs.
  return message.find("expected a name at ''") != std::string::npos ? "no error" : message;
}

}  // namespace hone::testing
