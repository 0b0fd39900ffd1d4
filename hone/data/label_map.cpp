#include "hone/data/label_map.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void refuse_map(std::string_view text) {
  fail(
      "`label_map`: expected LABEL=CLASS pairs between commas, such as neg=NEGATIVE,pos=POSITIVE, "
      "a JSON object of them, or ids where labels are class numbers; got '{}'",
      shorten(std::string(text), 60));
}

Pairs pairs_of_object(std::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) refuse_map(text);
  Pairs pairs;
  for (const auto& [label, name] : object.items()) {
    if (!name.is_string() && !name.is_number_integer()) refuse_map(text);
    pairs.emplace_back(trim(label), name.is_string() ? name.get<std::string>() : name.dump());
  }
  return pairs;
}

Pairs pairs_of_list(std::string_view text) {
  Pairs pairs;
  for (const std::string& piece : split(text, ',')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string::npos) refuse_map(text);
    const std::string_view whole = piece;
    pairs.emplace_back(trim(whole.substr(0, equals)), trim(whole.substr(equals + 1)));
    if (pairs.back().first.empty() || pairs.back().second.empty()) refuse_map(text);
  }
  return pairs;
}

}  // namespace

const std::string& LabelMap::operator()(const std::string& label) const {
  const auto found = std::ranges::find(names, label, &Pairs::value_type::first);
  return found == names.end() ? label : found->second;
}

std::vector<std::string> LabelMap::operator()(const std::vector<std::string>& labels) const {
  std::vector<std::string> mapped;
  for (const std::string& label : labels) mapped.push_back((*this)(label));
  return mapped;
}

LabelMap parse_label_map(std::string_view text) {
  text = trim(text);
  if (text.empty()) return {};
  if (text == "ids") return {.numbers = true};
  LabelMap map{.names = text.starts_with('{') ? pairs_of_object(text) : pairs_of_list(text)};
  for (std::size_t i = 0; i < map.names.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      user_check(map.names[i].first != map.names[k].first,
                 "`label_map`: the label '{}' is mapped twice", map.names[i].first);
  return map;
}

}  // namespace hone
