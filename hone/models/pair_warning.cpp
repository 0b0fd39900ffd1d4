#include "hone/models/pair_warning.h"

namespace hone {

std::string pair_warning(const TextModel& source, bool pairs, std::string_view option) {
  const std::string second = source.trained_on ? source.trained_on->columns.text_pair : "";
  if (pairs || second.empty()) return "";
  return fmt::format(
      "the model was trained on pairs of texts, and these texts have no second one (it was '{}'); "
      "give `{}`",
      second, option);
}

}  // namespace hone
