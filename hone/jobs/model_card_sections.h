#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/model_card.h"

/// The parts of a model card, in Markdown; each ends with an empty line, or is empty.
namespace hone {

inline constexpr std::string_view kWeightsTitle = "## Weights, and who can load them\n",
                                  kTakesTitle = "## What it takes\n",
                                  kOriginTitle = "## How it was made\n";
inline constexpr std::string_view kDash = "–";

/// Between lines of three dashes, as the Hugging Face hub reads it.
std::string card_metadata(const ModelCard& card, const Model& model);
/// Metrics of all rows, and the comparison with the base.
std::string metrics_section(const CardFacts& facts);
/// How each class was told from the others on the split that judges the model, and of a few what its examples were taken for.
std::string classes_section(const CardFacts& facts);
/// What the model should not be trusted with.
std::string limits_section(const CardFacts& facts, const Model& model, const CardCut& cut);

// ---- what several of them, and cards of copies, consist of

/// The rows of this model as hone computes it.
std::vector<const CardRow*> own_rows(const CardFacts& facts);
/// NaN where the task does not have the metric.
double metric_of(const EvaluationResult& evaluation, std::string_view name);
/// "89.5 to 91.0%"; "–" where the metric has no interval.
std::string interval_of(const EvaluationResult& evaluation, std::string_view name);
/// Metrics of each class, or of each label; of numbers there are none.
EvaluationResult::ByName<ClassResult> of_classes_or_labels(const EvaluationResult& evaluation);
/// "image" or "text", as the hub calls what is classified.
std::string_view kind_of_examples(const Model& model);
/// The program that loads it, as the hub calls it.
std::string library_name(const Model& model);
/// The tags of a quantized model; empty for others.
std::string format_tags(const Model& model);
/// A string in YAML: JSON's are among them, and so is what no plain scalar may hold.
std::string yaml_text(const std::string& text);
/// Sentences: how the weights are stored, and which programs load the folder.
std::vector<std::string> about_weights(const Model& model);
std::string weights_section(const std::vector<std::string>& sentences);
/// The passes over the model's graph, and that some are not known.
std::string history_text(const History& history);

}  // namespace hone
