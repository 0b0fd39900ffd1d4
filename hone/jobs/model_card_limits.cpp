#include <fmt/ranges.h>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/data/synthetic.h"
#include "hone/jobs/model_card_sections.h"

namespace hone {
namespace {

constexpr std::int64_t kFewTexts = 1000;   // the interval of an accuracy of 90% is about ±2 points
constexpr std::int64_t kFewOfAClass = 50;  // training examples
constexpr double kRarelyFound = 0.5;       // recall

std::string_view tokens_read(Truncation truncation) {
  return truncation == Truncation::head   ? "the first tokens"
         : truncation == Truncation::tail ? "the last tokens"
                                          : "a quarter of them from the beginning, the others from "
                                            "the end";
}

// Lists the limitations that the metrics of a row show.
std::vector<std::string> limits_of(const CardRow& row, std::string_view kind) {
  const EvaluationResult& m = row.evaluation;
  const std::string& split = row.split.split;
  std::vector<std::string> lines;
  if (m.samples < kFewTexts)
    lines.push_back(fmt::format(
        "Its {} was measured on only {} {}s ({} split), so the 95% interval is wide: {}.",
        m.metric.text, grouped(m.samples), kind, split, interval_of(m, m.metric.key)));
  if (m.only_predicts)
    lines.push_back(
        fmt::format("It predicts only one class: it classified every {} of the {} split as {}.",
                    kind, split, markdown_code(*m.only_predicts)));
  for (const auto& [label, one] : of_classes_or_labels(m))
    if (one.recall < kRarelyFound)
      lines.push_back(fmt::format("{} has a recall of only {} ({} split, {} such {}s).",
                                  markdown_code(label), share_text(one.recall), split,
                                  grouped(one.support), kind));
  return lines;
}

// Returns a sentence for each limitation.
std::vector<std::string> limit_sentences(const CardFacts& facts, const Model& model,
                                         const CardCut& cut) {
  const std::string_view kind = kind_of_examples(model);
  std::vector<std::string> lines;
  if (facts.trained_on_data && facts.data && facts.data->source.starts_with(kSyntheticPrefix))
    lines.push_back(
        "It was trained on generated texts; its quality on texts written by people is unknown.");
  for (const CardRow* row : own_rows(facts))
    for (std::string& line : limits_of(*row, kind)) lines.push_back(std::move(line));
  // Quantization alone does not learn from this data.
  if (facts.steps > 0 && facts.data)
    for (const SplitResult& split : facts.data->splits)
      if (split.split == "train" && split.classes)
        for (const auto& [label, rows] : *split.classes)
          if (rows < kFewOfAClass)
            lines.push_back(fmt::format("It was trained on only {} {}s of {}.", rows, kind,
                                        markdown_code(label)));
  if (own_rows(facts).empty()) lines.push_back("It was not evaluated.");
  lines.insert(lines.end(), facts.limits.begin(), facts.limits.end());
  const std::string every =
      model.facts.task() == Task::regression ? "every text gets a number"
      : model.facts.task() == Task::multi_label
          ? fmt::format("every text gets any number of its {} labels", model.facts.labels.size())
          : fmt::format("every text gets one of its {} labels", model.facts.labels.size());
  if (const std::optional<ImageSize>& image = model.facts.limits.image) {
    lines.push_back(
        fmt::format("It reads only the center of an image, {} x {} pixels, as "
                    "preprocessor_config.json specifies.",
                    image->height, image->width));
    return lines;
  }
  lines.push_back(
      fmt::format("Texts of more than {} tokens are truncated: it reads {}.{}", cut.tokens,
                  tokens_read(cut.truncation),
                  cut.truncation == Truncation::head_tail
                      ? " `transformers` has no such truncation and reads the last ones."
                      : ""));
  lines.push_back(fmt::format("{}, even an unrelated text.", capitalized(every)));
  return lines;
}

}  // namespace

std::string limits_section(const CardFacts& facts, const Model& model, const CardCut& cut) {
  return fmt::format("## Limitations\n\n- {}\n",
                     fmt::join(limit_sentences(facts, model, cut), "\n- "));
}

}  // namespace hone
