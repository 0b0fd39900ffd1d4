#include "hone/study/evaluation_details.h"

#include <algorithm>
#include <optional>

#include "hone/base/text.h"
#include "hone/metrics/seeds.h"
#include "hone/study/class_table.h"
#include "hone/study/gates.h"
#include "hone/study/number_table.h"

namespace hone {
namespace {

// The longest table of details and the widest confusion matrix that are shown.
constexpr std::size_t kTerminalRows = 12, kPageColumns = 30;

/// Heading and explanation of a task's details.
struct DetailWords {
  const char* heading;
  const char* note;
};

DetailWords words_of(Task task) {
  switch (task) {
    case Task::regression:
      return {"Numbers",
              "R²: the share of the targets' variance that is explained. RMSE, MAE: root mean "
              "squared and mean absolute error, in the unit of the targets. Pearson, Spearman: "
              "correlation of the numbers, and of their ranks, with the targets."};
    case Task::multi_label:
      return {"Labels",
              "Precision: share of the examples predicted to have a label that have it; – if none "
              "was predicted. Recall: share of the examples with a label that are predicted to "
              "have it. F1: their "
              "harmonic mean. In their means, which have no interval, 0/0 counts as 0."};
    case Task::single_label:
      break;
  }
  return {"Classes",
          "Precision: share of the examples predicted as a class that belong to it; – if none was "
          "predicted. Recall: share of the examples of a class that are predicted as it. F1: their "
          "harmonic mean. In "
          "their means, which have no interval, 0/0 counts as 0."};
}

/// The details of one evaluation, or of an evaluation over several seeds.
struct Details {
  Task task = Task::single_label;
  std::string caption;  ///< "Test, n = 1,200"
  Table table;
  std::size_t count = 0;                ///< classes, labels or numbers
  std::size_t means = 0;                ///< rows at the end of `table`
  std::optional<Table> confusion = {};  ///< of classes
  std::string sentence = {};            ///< without a full stop
  std::optional<Table> lost = {};       ///< classes or labels that lost recall
};

Table only_means(const Details& details) {
  Table means(details.table.columns());
  const auto& rows = details.table.rows();
  for (auto row = rows.end() - static_cast<std::ptrdiff_t>(details.means); row != rows.end(); ++row)
    means.add_row(*row);
  return means;
}

Section section_of(const std::vector<Details>& all) {
  if (all.empty()) return {};
  const DetailWords words = words_of(all.front().task);
  Section section{words.heading, {}, /*folded=*/true};
  for (const Details& details : all) {
    section.blocks.push_back(PageTable{details.table, details.caption});
    if (details.lost)
      section.blocks.push_back(
          PageTable{*details.lost, details.caption + ": recall fell significantly"});
    if (details.confusion && details.count <= kPageColumns)
      section.blocks.push_back(
          PageTable{*details.confusion, details.caption + ": texts of each class, by prediction"});
    if (!details.sentence.empty()) section.blocks.push_back(Paragraph{details.sentence + "."});
  }
  section.blocks.push_back(Paragraph{words.note});
  return section;
}

constexpr std::size_t kClassMeans = 2, kLabelMeans = 4;  // rows of their tables

Details details_of(const NamedEvaluation& named, const std::vector<std::string>& labels) {
  const auto& [name, evaluation, cautions, lost] = named;
  Details details{.task = evaluation.task(),
                  .caption = capitalized(split_text(name, evaluation, cautions)),
                  .table = Table(std::vector<Column>{}),
                  .count = labels.size()};
  if (const Evaluation* classes = evaluation.classes()) {
    details.table = class_table(*classes, labels);
    details.means = kClassMeans;
    details.confusion = confusion_table(*classes, labels);
    details.sentence = auc_text(*classes, labels);
  } else if (const auto* several = std::get_if<MultiLabelEvaluation>(&evaluation.details)) {
    details.table = label_table(*several, labels);
    details.means = kLabelMeans;
  } else {
    details.table = number_table(std::get<RegressionEvaluation>(evaluation.details), labels);
  }
  if (!lost.empty()) details.lost = degraded_class_table(lost, labels);
  return details;
}

std::vector<Details> details_of(const std::vector<NamedEvaluation>& measured,
                                const std::vector<std::string>& labels) {
  std::vector<Details> all;
  for (const NamedEvaluation& one : measured) all.push_back(details_of(one, labels));
  return all;
}

// Returns "Test, n = 1,200: mean of 5 seeds (95%, where they differ, for other seeds on the same texts)".
std::string caption_of_seeds(const std::vector<Json>& results, const MetricsKey& metrics) {
  const auto count = static_cast<std::int64_t>(results.size());
  return capitalized(fmt::format(
      "{}: {} {} seeds{}", split_text(metrics, results.front()),
      count < kFewestSeeds ? "each of" : "mean of", count,
      count < kFewestSeeds ? "" : " (95%, where they differ, for other seeds on the same texts)"));
}

// A split that was not measured, and metrics of other tasks, are null.
std::vector<Details> details_of_seeds(const std::vector<Json>& results,
                                      const std::vector<MetricsKey>& metrics) {
  std::vector<Details> all;
  for (const MetricsKey& one : metrics) {
    const auto all_have = [&](const char* key) {
      return std::ranges::all_of(results, [&](const Json& result) {
        return !value_at(value_at(result, one.key), key).is_null();
      });
    };
    const auto add = [&](Task task, const char* key, Table table, std::size_t means) -> Details& {
      return all.emplace_back(Details{.task = task,
                                      .caption = caption_of_seeds(results, one),
                                      .table = std::move(table),
                                      .count = results.front()[one.key][key].size(),
                                      .means = means});
    };
    if (all_have("eval_classes")) {
      Details& details = add(Task::single_label, "eval_classes",
                             class_table_of_seeds(results, one.key), kClassMeans);
      details.confusion = confusion_table_of_seeds(results, one.key);
      details.sentence =
          auc_text_of_seeds(results, one.key, keys_of(results.front()[one.key]["eval_classes"]));
    } else if (all_have("eval_labels")) {
      add(Task::multi_label, "eval_labels", label_table_of_seeds(results, one.key), kLabelMeans);
    } else if (all_have("eval_outputs")) {
      add(Task::regression, "eval_outputs", number_table_of_seeds(results, one.key), 0);
    }
  }
  return all;
}

}  // namespace

PageTable metrics_table(const NamedEvaluation& measured, const std::vector<std::string>& labels) {
  const Details details = details_of(measured, labels);
  const bool long_table = details.count > kTerminalRows && details.means > 0;
  return {long_table ? only_means(details) : details.table, details.caption};
}

Section details_section(const std::vector<NamedEvaluation>& measured,
                        const std::vector<std::string>& labels) {
  return section_of(details_of(measured, labels));
}

Section details_section_of_seeds(const std::vector<Json>& results,
                                 const std::vector<MetricsKey>& metrics) {
  return section_of(details_of_seeds(results, metrics));
}

}  // namespace hone
