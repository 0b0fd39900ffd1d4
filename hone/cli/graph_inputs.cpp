#include "hone/cli/graph_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

DrawnInputs parse_graph_inputs(const std::string& option, const std::string& text) {
  const std::vector<std::string> names = split(text, ',');
  const std::vector<std::string> known = {"input_ids", "attention_mask", "token_type_ids",
                                          "labels"};
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(fmt::format("{}: '{}' is no input of the model; there are {}{}", option,
                                   name, fmt::join(known, ", "), did_you_mean(name, known)));
  }
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!has("input_ids")) throw UsageError(option + ": input_ids cannot be left out");
  return {has("attention_mask"), has("token_type_ids"), has("labels")};
}

}  // namespace hone
