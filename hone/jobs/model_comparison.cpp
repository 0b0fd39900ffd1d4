#include "hone/jobs/model_comparison.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/data/row_hash.h"
#include "hone/jobs/compress.h"

namespace hone {
namespace {

ComparedModel measured(const TextModel& source, const std::string& label,
                       const std::vector<Example>& examples, std::int64_t max_seq_length,
                       std::int64_t batch_size, Context& context,
                       std::vector<std::string>& warnings) {
  const EncodedSet data = encode_part(source, examples, label, max_seq_length, context, warnings);
  return {label, average_weight_bits(source.model),
          measure(source.model, data, batch_size, context, label), std::nullopt,
          source.model.quantization.has_value()};
}

std::vector<Flip> find_flips(const Logits& first, const Logits& second,
                             const std::vector<Example>& examples) {
  const std::vector<std::int32_t> before = predictions(first), after = predictions(second);
  std::vector<Flip> flips;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (before[i] == after[i]) continue;
    Flip flip{static_cast<std::int64_t>(i), examples[i].label, before[i], after[i], 0};
    if (flip.first != kNoPrediction && flip.second != kNoPrediction) {
      const auto margin = [&](const Logits& logits) {
        const std::span<const float> row = logits.row(flip.example);
        return static_cast<double>(row[static_cast<std::size_t>(flip.second)]) -
               row[static_cast<std::size_t>(flip.first)];
      };
      flip.swing = margin(second) - margin(first);
    }
    flips.push_back(flip);
  }
  // Lost, then neither right, then gained.
  const auto order = [](const Flip& flip) {
    return flip.first == flip.label ? 0 : flip.second == flip.label ? 2 : 1;
  };
  std::ranges::stable_sort(flips, [&](const Flip& a, const Flip& b) {
    return order(a) != order(b) ? order(a) < order(b) : a.swing > b.swing;
  });
  return flips;
}

}  // namespace

ModelComparison compare_models(const TextModel& first, const TextModel& second,
                               const std::vector<Example>& examples, std::int64_t max_seq_length,
                               std::int64_t batch_size, Context& context,
                               std::vector<std::string>& warnings) {
  const std::vector<std::string>&labels = first.model.facts.labels,
        &others = second.model.facts.labels;
  user_check(labels == others, "the models have different classes: {} and {}",
             fmt::join(labels, ", "), fmt::join(others, ", "));
  const auto measure_one = [&](const TextModel& source, const char* label) {
    return measured(source, label, examples, max_seq_length, batch_size, context, warnings);
  };
  ModelComparison result{measure_one(first, "A"), measure_one(second, "B"), {}, {}, labels};
  const Logits a = result.first.measurement.view(), b = result.second.measurement.view();
  std::vector<std::int32_t> truth;
  for (const Example& example : examples) truth.push_back(example.label);
  result.comparison = compare(a, b, truth, text_numbers(row_hashes(examples)));
  result.second.comparison = result.comparison;
  result.flips = find_flips(a, b, examples);
  return result;
}

ChangedTexts changed_texts(const ModelComparison& comparison, const std::vector<Example>& examples,
                           std::size_t count) {
  const auto name = [&](std::int32_t label) { return prediction_name(label, comparison.labels); };
  ChangedTexts texts;
  for (const Flip& flip : comparison.flips) {
    if (texts.rows.size() == count) break;
    const Example& example = examples[static_cast<std::size_t>(flip.example)];
    const std::string text =
        example.text_pair ? example.text + " | " + *example.text_pair : example.text;
    texts.rows.push_back({text, name(flip.label), name(flip.first), name(flip.second)});
  }
  return texts;
}

}  // namespace hone
