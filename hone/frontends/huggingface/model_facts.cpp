#include "hone/frontends/huggingface/model_facts.h"

#include "hone/data/class_names.h"

namespace hone {

Task ModelFacts::task() const {
  return problem_type.value_or(labels.size() == 1 ? Task::regression : Task::single_label);
}

bool ModelFacts::has_default_labels() const { return names_are_indices(labels); }

void apply_labels(ModelFacts& facts, const LabelScheme& labels) {
  facts.labels = labels.names;
  // A classification task is the default for several labels, so it needs no key.
  if (labels.task != Task::single_label || facts.task() != Task::single_label)
    facts.problem_type = labels.task;
}

}  // namespace hone
