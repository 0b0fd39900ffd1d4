#include "hone/study/class_table.h"

#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/seeds.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// Keeps equal columns, so that the tables of two models can be compared.
Table table_of_classes(const char* label) {
  return Table({{"label", label},
                {"support", "Examples"},
                {"precision", "Precision"},
                {"recall", "Recall"},
                {"f1", "F1"}});
}

// Keeps equal columns, because it is read by rows and by columns.
Table table_of_confusion(const std::vector<std::string>& labels) {
  std::vector<Column> columns = {{"label", "Examples of"}};
  for (std::size_t c = 0; c < labels.size(); ++c)
    columns.push_back({fmt::format("taken_for_{}", c), "predicted as " + labels[c]});
  return Table(std::move(columns));
}

// Like scikit-learn's `samples` average with `zero_division=0`: a text without true labels, or without predicted ones,
// counts as 0.
constexpr const char* kMeanOverTexts = "mean over texts (0 where none)";

std::vector<Cell> mean_row(const char* name, const PrecisionRecall& mean) {
  return {name, absent, percent(mean.precision), percent(mean.recall), percent(mean.f1)};
}

std::vector<Cell> class_row(const std::string& label, const ClassMetrics& one) {
  const auto& [support, predicted, found, scores, precision, recall] = one;
  return {label, support, percent_within(scores.precision, precision.low, precision.high),
          percent_within(scores.recall, recall.low, recall.high), percent(scores.f1)};
}

}  // namespace

Table class_table(const Evaluation& e, const std::vector<std::string>& labels) {
  Table table = table_of_classes("Class");
  for (std::size_t c = 0; c < labels.size(); ++c)
    table.add_row(class_row(labels[c], e.of_class[c]));
  table.add_row(mean_row("macro mean", e.macro));
  table.add_row(mean_row("weighted mean", e.weighted));
  return table;
}

Table label_table(const MultiLabelEvaluation& e, const std::vector<std::string>& labels) {
  Table table = table_of_classes("Label");
  for (std::size_t l = 0; l < labels.size(); ++l)
    table.add_row(class_row(labels[l], e.of_label[l]));
  table.add_row(mean_row("micro mean", e.micro));
  table.add_row(mean_row("macro mean", e.macro));
  table.add_row(mean_row("weighted mean", e.weighted));
  table.add_row(mean_row(kMeanOverTexts, e.samples));
  return table;
}

Table confusion_table(const Evaluation& e, const std::vector<std::string>& labels) {
  Table table = table_of_confusion(labels);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    std::vector<Cell> cells = {labels[row]};
    for (std::size_t column = 0; column < labels.size(); ++column)
      cells.emplace_back(e.confusion[row * labels.size() + column]);
    table.add_row(std::move(cells));
  }
  return table;
}

std::string auc_text(const Evaluation& e, const std::vector<std::string>& labels) {
  if (std::isnan(e.auc.value)) return "";
  return fmt::format("AUC of {}: {:.3f} (95% CI {:.3f} to {:.3f})", shown_name(labels[1]),
                     e.auc.value, e.auc.interval.low, e.auc.interval.high);
}

namespace {

Cell spread_cell(const std::vector<double>& shares) {
  const auto defined = [](double share) { return !std::isnan(share); };
  if (std::ranges::none_of(shares, defined)) return absent;
  if (std::ssize(shares) < kFewestSeeds) return PerRun{shares};
  if (!std::ranges::all_of(shares, defined)) return absent;
  const SeedSpread s = share_spread(shares);
  return s.interval ? percent_within(s.mean, s.interval->low, s.interval->high) : percent(s.mean);
}

// Returns the counts of a few seeds, like the shares in the same row: "412, 409, 415".
Cell count_cell(const std::vector<std::int64_t>& texts) {
  if (std::ssize(texts) < kFewestSeeds) return fmt::format("{}", fmt::join(texts, ", "));
  const double all = std::reduce(texts.begin(), texts.end(), 0.0);
  return real(all / static_cast<double>(texts.size()), 1);
}

// Returns a row for each class or label under `key`, and for each mean.
Table table_of_seeds(const std::vector<Json>& results, const std::string& key, const char* classes,
                     const char* label,
                     const std::vector<std::pair<const char*, const char*>>& means) {
  Table table = table_of_classes(label);
  const Json::json_pointer metrics("/" + key);
  for (const auto& [name, first] : results.front().at(metrics).at(classes).items()) {
    const Json::json_pointer one = metrics / classes / name;
    table.add_row({name, first.at("support").get<std::int64_t>(),
                   spread_cell(values_at(results, one / "precision")),
                   spread_cell(values_at(results, one / "recall")),
                   spread_cell(values_at(results, one / "f1"))});
  }
  for (const auto& [mean, suffix] : means) {
    const auto cell = [&](const char* metric) {
      return spread_cell(values_at(results, metrics / fmt::format("eval_{}_{}", metric, suffix)));
    };
    table.add_row({mean, absent, cell("precision"), cell("recall"), cell("f1")});
  }
  return table;
}

}  // namespace

std::vector<double> values_at(const std::vector<Json>& results, const Json::json_pointer& where) {
  std::vector<double> values;
  for (const Json& result : results)
    values.push_back(result.contains(where) && result.at(where).is_number()
                         ? result.at(where).get<double>()
                         : std::nan(""));
  return values;
}

std::string auc_text_of_seeds(const std::vector<Json>& results, const std::string& key,
                              const std::vector<std::string>& labels) {
  const std::vector<double> areas = values_at(results, Json::json_pointer("/" + key + "/eval_auc"));
  if (std::ranges::any_of(areas, [](double area) { return std::isnan(area); })) return "";
  const SeedSpread s = share_spread(areas);
  const std::string of = "AUC of " + shown_name(labels.at(1));
  if (s.count < kFewestSeeds) {
    std::string values;
    for (const double area : areas)
      values += fmt::format("{}{:.3f}", values.empty() ? "" : ", ", area);
    return fmt::format("{}: {} with {} seeds", of, values, s.count);
  }
  if (!s.interval) return fmt::format("{}: {:.3f} with each of {} seeds", of, s.mean, s.count);
  return fmt::format(
      "{}: {:.3f} on average over {} seeds (95% for other seeds on the same texts: {:.3f} to "
      "{:.3f})",
      of, s.mean, s.count, s.interval->low, s.interval->high);
}

Table class_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  return table_of_seeds(results, key, "eval_classes", "Class",
                        {{"macro mean", "macro"}, {"weighted mean", "weighted"}});
}

Table label_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  return table_of_seeds(results, key, "eval_labels", "Label",
                        {{"micro mean", "micro"},
                         {"macro mean", "macro"},
                         {"weighted mean", "weighted"},
                         {kMeanOverTexts, "samples"}});
}

Table confusion_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  const std::vector<std::string> labels = keys_of(results.front().at(key).at("eval_classes"));
  Table table = table_of_confusion(labels);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    std::vector<Cell> cells = {labels[row]};
    for (std::size_t column = 0; column < labels.size(); ++column) {
      std::vector<std::int64_t> texts;
      for (const Json& result : results)
        texts.push_back(result.at(key).at("eval_confusion").at(row).at(column).get<std::int64_t>());
      cells.push_back(count_cell(texts));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace hone
