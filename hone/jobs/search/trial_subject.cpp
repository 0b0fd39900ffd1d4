#include "hone/jobs/search/trial_subject.h"

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

ModelFacts trial_facts(const TrialSubject& subject, const Json& architecture) {
  Json config = subject.baseline.model.facts.config;
  config.update(architecture);
  return model_facts(config, "[architecture]");
}

Graph trial_graph(const TrialSubject& subject, const Json& architecture, const Context& context) {
  const ModelFacts facts = trial_facts(subject, architecture);
  return build_graph(context.library.ops, find_architecture(facts.architecture, "a model"),
                     config_of(facts), {});
}

LinearNames linears_of(const TrialSubject& subject, const Json& architecture,
                       const Context& context) {
  LinearNames names;
  if (!objection(subject, {.architecture = architecture}).empty()) return names;
  const Graph graph = architecture.empty() ? unquantized_graph(subject.baseline.model)
                                           : trial_graph(subject, architecture, context);
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is(kDefaultLayer)) continue;
    names.all.push_back(node->name());
    if (node->input_types()[0].dim(-1).size == node->types()[0].dim(-1).size)
      names.square.push_back(node->name());
  }
  return names;
}

std::string objection(const TrialSubject& subject, const TrialConfiguration& configuration) {
  if (configuration.architecture.empty()) return "";
  try {
    config_of(trial_facts(subject, configuration.architecture));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace hone
