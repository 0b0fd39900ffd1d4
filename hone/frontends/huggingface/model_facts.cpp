#include "hone/frontends/huggingface/model_facts.h"

#include <fmt/format.h>

namespace hone {

std::vector<std::string> ModelFacts::chosen_labels() const {
  return labels == default_labels(class_count()) ? std::vector<std::string>{} : labels;
}

std::vector<std::string> default_labels(std::int64_t count) {
  std::vector<std::string> labels;
  for (std::int64_t id = 0; id < count; ++id) labels.push_back(fmt::format("LABEL_{}", id));
  return labels;
}

}  // namespace hone
