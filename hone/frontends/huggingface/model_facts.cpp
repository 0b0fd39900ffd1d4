#include "hone/frontends/huggingface/model_facts.h"

#include "hone/data/class_names.h"

namespace hone {

Task ModelFacts::task() const {
  return problem_type.value_or(labels.size() == 1 ? Task::regression : Task::single_label);
}

bool ModelFacts::unnamed() const { return are_unnamed(labels); }

void take_labels(ModelFacts& facts, const LabelScheme& labels) {
  facts.labels = labels.names;
  // A classification task is the default for several labels, so it needs no key.
  if (labels.task != Task::single_label || facts.task() != Task::single_label)
    facts.problem_type = labels.task;
}

}  // namespace hone
