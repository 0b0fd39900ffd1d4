#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/model_card.h"

/// Sections of a model card, in Markdown; each ends with an empty line or is empty.
namespace hone {

inline constexpr std::string_view kWeightsTitle = "## Weights and compatible programs\n",
                                  kSizeTitle = "## Size and latency\n",
                                  kOriginTitle = "## How it was made\n";
inline constexpr std::string_view kDash = "–";

/// Returns the metadata between two lines of three dashes, as the Hugging Face hub expects it.
std::string card_metadata(const ModelCard& card, const Model& model);
/// Returns the metrics of all rows, and the comparison with the base.
std::string metrics_section(const CardFacts& facts);
/// Returns the metrics of each class on the split that judges the model, and the confusion matrix of a few classes.
std::string classes_section(const CardFacts& facts);
/// Returns the limitations of the model.
std::string limits_section(const CardFacts& facts, const Model& model, const CardCut& cut);

// ---- shared by several sections and by cards of copies

/// Returns the rows of this model as computed by hone.
std::vector<const CardRow*> own_rows(const CardFacts& facts);
/// Returns NaN if the task does not have the metric.
double metric_of(const EvaluationResult& evaluation, std::string_view name);
/// Returns "89.5 to 91.0%", or "–" if the metric has no interval.
std::string interval_of(const EvaluationResult& evaluation, std::string_view name);
/// Returns the metrics of each class or label; empty for regression.
EvaluationResult::ByName<ClassResult> of_classes_or_labels(const EvaluationResult& evaluation);
/// Returns "image" or "text", the hub's terms for what is classified.
std::string_view kind_of_examples(const Model& model);
/// Returns the hub's name of the library that loads the model.
std::string library_name(const Model& model);
/// Returns the tags of a quantized model, or "".
std::string format_tags(const Model& model);
/// Quotes a string for YAML. JSON strings are valid in YAML and can hold any characters.
std::string yaml_text(const std::string& text);
/// Returns sentences on how the weights are stored and which programs load the folder.
std::vector<std::string> about_weights(const Model& model);
std::string weights_section(const std::vector<std::string>& sentences);
/// Lists the passes over the model's graph, and says if some are unknown.
std::string history_text(const History& history);

}  // namespace hone
