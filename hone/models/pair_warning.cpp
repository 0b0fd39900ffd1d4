#include "hone/models/pair_warning.h"

#include "hone/frontends/huggingface/score_activation.h"

namespace hone {

std::string pair_warning(const TextModel& source, bool pairs, std::string_view option) {
  const std::string second = source.trained_on ? source.trained_on->columns.text_pair : "";
  const bool scores_pairs = is_cross_encoder(source.model.facts);
  if (pairs || (second.empty() && !scores_pairs)) return "";
  return fmt::format(
      "the model {} pairs of texts, but these examples have one text each{}; set `{}`",
      second.empty() ? "is a cross-encoder, which scores" : "was trained on",
      second.empty() ? "" : fmt::format(" (it was '{}')", second), option);
}

}  // namespace hone
