#include <cmath>

#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/model_card_sections.h"
#include "hone/metrics/evidence.h"

namespace hone {

std::string yaml_text(const std::string& text) { return to_line(Json(text)); }

std::string_view kind_of_examples(const Model& model) {
  return model.facts.limits.image ? "image" : "text";
}

std::string library_name(const Model& model) {
  return transformers_loading(model).loads() ? "transformers" : "hone";
}

std::string format_tags(const Model& model) {
  if (!model.quantization) return "";
  return fmt::format("- quantized\n- {}\n", yaml_text(model.quantization->method));
}

namespace {

std::string base_model(const CardFacts& facts) {
  std::error_code error;
  if (is_new_model(facts.base) || fs::exists(facts.base, error)) return "";
  const std::optional<HubName> name = parse_hub_name(facts.base);
  return name ? name->repository : "";
}

// The model's results in the format of the hub.
std::string model_index(const ModelCard& card, const Model& model) {
  const std::string_view kind = kind_of_examples(model);
  const std::string source = card.facts.data ? card.facts.data->source : "";
  std::string results;
  for (const CardRow* row : own_rows(card.facts)) {
    const EvaluationResult& m = row->evaluation;
    std::string basis = sample_size_text(m.samples, m.effective_samples);
    for (const std::string& caution : row->split.cautions) basis += ", " + caution;
    std::string metrics;
    for (const std::string& type : {m.metric.key, std::string("loss")}) {
      const double value = metric_of(m, type);
      if (std::isnan(value)) continue;
      const std::string interval = interval_of(m, type);
      metrics += fmt::format(
          "    - type: {}\n      value: {}\n      name: {}\n", type, to_line(Json(value)),
          yaml_text(fmt::format("{} ({}{})", type, basis,
                                interval == kDash ? "" : fmt::format("; 95%: {}", interval))));
    }
    if (metrics.empty()) continue;
    results += fmt::format(
        "  - task:\n      type: {}-classification\n    dataset:\n      name: {}\n      type: {}\n"
        "      split: {}\n    metrics:\n{}",
        kind, yaml_text(source), yaml_text(source), row->split.split, metrics);
  }
  return results.empty() ? ""
                         : fmt::format("model-index:\n- name: {}\n  results:\n{}",
                                       yaml_text(card.name), results);
}

}  // namespace

std::string card_metadata(const ModelCard& card, const Model& model) {
  const CardFacts& facts = card.facts;
  const std::string_view kind = kind_of_examples(model);
  std::string text = fmt::format("---\nlibrary_name: {}\npipeline_tag: {}-classification\n",
                                 facts.library.empty() ? library_name(model) : facts.library, kind);
  const std::string base = base_model(facts);
  if (!base.empty()) text += fmt::format("base_model: {}\n", yaml_text(base));
  if (!base.empty() && !facts.relation.empty())
    text += fmt::format("base_model_relation: {}\n", facts.relation);
  text += fmt::format("tags:\n- hone\n- {}\n- {}-classification\n", model.facts.architecture, kind);
  for (const std::string& tag : facts.tags) text += fmt::format("- {}\n", tag);
  text += format_tags(model);
  if (const auto own = own_rows(facts); !own.empty())
    text += fmt::format("metrics:\n- {}\n", own.back()->evaluation.metric.key);
  return text + model_index(card, model) + "---\n";
}

}  // namespace hone
