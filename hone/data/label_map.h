#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// User-defined mapping of labels to classes: the `label_map` option.
namespace hone {

struct LabelMap {
  bool numbers = false;  ///< labels are class numbers, even if classes have names
  std::vector<std::pair<std::string, std::string>> names = {};  ///< from a label to a class

  bool empty() const { return !numbers && names.empty(); }
  /// Returns the class that `label` is mapped to, or `label` itself.
  const std::string& operator()(const std::string& label) const;
  std::vector<std::string> operator()(const std::vector<std::string>& labels) const;
};

/// Reads "neg=NEGATIVE,pos=POSITIVE", the same as a JSON object, or "ids" for `numbers`; "" maps
/// nothing. Throws `UserError` for anything else and for a label that is mapped twice.
LabelMap parse_label_map(std::string_view text);

}  // namespace hone
