#include "hone/frontends/huggingface/model_facts.h"

namespace hone {

Task ModelFacts::task() const {
  return problem_type.value_or(labels.size() == 1 ? Task::regression : Task::single_label);
}

std::vector<std::string> ModelFacts::chosen_labels() const {
  return labels == default_labels(class_count()) ? std::vector<std::string>{} : labels;
}

void take_labels(ModelFacts& facts, const LabelScheme& labels) {
  facts.labels = labels.names;
  // Classes are what is found by several labels without a key.
  if (labels.task != Task::single_label || facts.task() != Task::single_label)
    facts.problem_type = labels.task;
}

}  // namespace hone
