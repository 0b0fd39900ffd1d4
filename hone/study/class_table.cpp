#include "hone/study/class_table.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

// Wider or longer tables help nobody.
constexpr std::size_t kTerminalColumns = 4, kTerminalRows = 12, kPageColumns = 30;

constexpr const char* kHeading = "Classes, and what was taken for what";
constexpr const char* kClassNote =
    "Precision: of the texts taken for a class, those that are of it; – where none was. Recall: of "
    "the texts of a class, those that were found. F1: their harmonic mean. In their means, which "
    "have no interval, 0/0 counts as 0.";

/// What is shown of one evaluation, or of one over several seeds.
struct ClassFacts {
  std::string caption;  ///< "Test, n = 1 200"
  Table classes;
  Table confusion;
  std::string auc;        ///< a sentence without its full stop; "" where it is not defined
  std::size_t count = 0;  ///< classes
};

// A caption begins as a sentence does, unless with the name of a format: "Test, n = 40", "fp32, test, n = 40".
std::string capitalized(std::string text) {
  const std::size_t word =
      std::ranges::find_if_not(text, [](char c) { return 'a' <= c && c <= 'z'; }) - text.begin();
  if (word > 0 && (word == text.size() || text[word] == ',')) text[0] -= 'a' - 'A';
  return text;
}

// No column leaves: those of two models are compared.
Table table_of_classes() {
  return Table({{"label", "Class"},
                {"support", "Texts", /*lifts=*/false},
                {"precision", "Precision", /*lifts=*/false},
                {"recall", "Recall", /*lifts=*/false},
                {"f1", "F1", /*lifts=*/false}});
}

// Read by rows and by columns, so that none leaves.
Table table_of_confusion(const std::vector<std::string>& labels) {
  std::vector<Column> columns = {{"label", "Texts of"}};
  for (std::size_t c = 0; c < labels.size(); ++c)
    columns.push_back({fmt::format("taken_for_{}", c), "taken for " + labels[c], /*lifts=*/false});
  return Table(std::move(columns));
}

// The last rows of a table: the means over the classes.
Table only_means(const Table& classes) {
  Table means(classes.columns());
  for (auto row = classes.rows().end() - 2; row != classes.rows().end(); ++row) means.add_row(*row);
  return means;
}

// Of several models the tables are in one form, as they are compared.
std::string text_of(const std::vector<ClassFacts>& all, const TextStyle& style) {
  std::vector<Table> classes, confusions;
  for (const ClassFacts& facts : all) {
    classes.push_back(facts.count > kTerminalRows ? only_means(facts.classes) : facts.classes);
    confusions.push_back(facts.confusion);
  }
  const std::vector<std::string> class_texts = to_texts(classes, style),
                                 confusion_texts = to_texts(confusions, style);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fitted(all[i].caption + ":", style.columns) + "\n\n" + class_texts[i];
    if (all[i].count <= kTerminalColumns) text += "\n" + confusion_texts[i];
    text += all[i].auc.empty() ? "\n" : "\n" + fitted(all[i].auc + ".", style.columns) + "\n\n";
  }
  return text;
}

Section section_of(const std::vector<ClassFacts>& all) {
  Section section{kHeading, {}};
  for (const ClassFacts& facts : all) {
    section.blocks.push_back(PageTable{facts.classes, facts.caption});
    if (facts.count <= kPageColumns)
      section.blocks.push_back(
          PageTable{facts.confusion, facts.caption + ": texts of each class, by prediction"});
    if (!facts.auc.empty()) section.blocks.push_back(Paragraph{facts.auc + "."});
  }
  if (!all.empty()) section.blocks.push_back(Paragraph{kClassNote});
  return section;
}

std::vector<Cell> mean_row(const char* name, const PrecisionRecall& mean) {
  return {name, absent, percent(mean.precision), percent(mean.recall), percent(mean.f1)};
}

std::string auc_text(const Evaluation& e, const std::vector<std::string>& labels) {
  if (std::isnan(e.auc.value)) return "";
  return fmt::format("AUC of {}: {:.3f} (95 %: {:.3f} to {:.3f})", shown_name(labels[1]),
                     e.auc.value, e.auc.interval.low, e.auc.interval.high);
}

std::vector<ClassFacts> facts_of(const std::vector<NamedEvaluation>& measured,
                                 const std::vector<std::string>& labels) {
  std::vector<ClassFacts> all;
  for (const auto& [name, evaluation, cautions] : measured)
    all.push_back({capitalized(part_text(name, evaluation, cautions)),
                   class_table(evaluation, labels), confusion_table(evaluation, labels),
                   auc_text(evaluation, labels), labels.size()});
  return all;
}

}  // namespace

Table class_table(const Evaluation& e, const std::vector<std::string>& labels) {
  Table table = table_of_classes();
  for (std::size_t c = 0; c < labels.size(); ++c) {
    const auto& [support, predicted, found, figures, precision, recall] = e.of_class[c];
    table.add_row({labels[c], support,
                   percent_within(figures.precision, precision.low, precision.high),
                   percent_within(figures.recall, recall.low, recall.high), percent(figures.f1)});
  }
  table.add_row(mean_row("macro mean", e.macro));
  table.add_row(mean_row("weighted mean", e.weighted));
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

std::string class_text(const std::vector<NamedEvaluation>& measured,
                       const std::vector<std::string>& labels, const TextStyle& style) {
  return text_of(facts_of(measured, labels), style);
}

Section class_section(const std::vector<NamedEvaluation>& measured,
                      const std::vector<std::string>& labels) {
  return section_of(facts_of(measured, labels));
}

namespace {

std::vector<std::string> labels_of(const Json& measurement) {
  std::vector<std::string> labels;
  for (const auto& [label, figures] : measurement.at("eval_classes").items())
    labels.push_back(label);
  return labels;
}

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

// A figure of each seed, found by its keys; NaN where it is not defined, or an earlier version did not know it.
std::vector<double> values_of(const std::vector<Json>& results, const Json::json_pointer& where) {
  std::vector<double> values;
  for (const Json& result : results)
    values.push_back(result.contains(where) ? number_or_nan(result.at(where)) : std::nan(""));
  return values;
}

Cell spread_cell(const std::vector<double>& shares) {
  const auto defined = [](double share) { return !std::isnan(share); };
  if (std::ranges::none_of(shares, defined)) return absent;
  if (std::ssize(shares) < kFewestSeeds) return shares_of_seeds(shares);
  if (!std::ranges::all_of(shares, defined)) return absent;
  const SeedSpread s = accuracy_spread(shares);
  return s.interval ? percent_within(s.mean, s.interval->low, s.interval->high) : percent(s.mean);
}

// Of a few seeds each, as the shares beside: "412, 409, 415".
Cell count_cell(const std::vector<std::int64_t>& texts) {
  if (std::ssize(texts) < kFewestSeeds) return fmt::format("{}", fmt::join(texts, ", "));
  const double all = std::reduce(texts.begin(), texts.end(), 0.0);
  return real(all / static_cast<double>(texts.size()), 1);
}

// "AUC of good: 0.912, 0.931 with 2 seeds"
std::string auc_text_of_seeds(const std::vector<Json>& results, const std::string& key,
                              const std::vector<std::string>& labels) {
  const std::vector<double> areas = values_of(results, Json::json_pointer("/" + key + "/eval_auc"));
  if (std::ranges::any_of(areas, [](double area) { return std::isnan(area); })) return "";
  const SeedSpread s = accuracy_spread(areas);
  const std::string of = "AUC of " + shown_name(labels.at(1));
  if (s.count < kFewestSeeds) {
    std::string values;
    for (const double area : areas)
      values += fmt::format("{}{:.3f}", values.empty() ? "" : ", ", area);
    return fmt::format("{}: {} with {} seeds", of, values, s.count);
  }
  if (!s.interval) return fmt::format("{}: {:.3f} with each of {} seeds", of, s.mean, s.count);
  return fmt::format(
      "{}: {:.3f} on average over {} seeds (95 % for other seeds on the same texts: {:.3f} to "
      "{:.3f})",
      of, s.mean, s.count, s.interval->low, s.interval->high);
}

// "Test, n = 1 200: mean of 5 seeds (95 %, where they differ, for other seeds on the same texts)"
std::string caption_of_seeds(const std::vector<Json>& results, const NamedFigures& figures) {
  const auto count = static_cast<std::int64_t>(results.size());
  return capitalized(fmt::format(
      "{}: {} {} seeds{}", part_text(figures, results.front()),
      count < kFewestSeeds ? "each of" : "mean of", count,
      count < kFewestSeeds ? "" : " (95 %, where they differ, for other seeds on the same texts)"));
}

// Results of before class figures have none.
std::vector<ClassFacts> facts_of_seeds(const std::vector<Json>& results,
                                       const std::vector<NamedFigures>& figures) {
  std::vector<ClassFacts> all;
  for (const NamedFigures& one : figures) {
    const auto has_classes = [&](const Json& result) {
      return result.contains(one.key) && result[one.key].contains("eval_classes");
    };
    if (!std::ranges::all_of(results, has_classes)) continue;
    const std::vector<std::string> labels = labels_of(results.front()[one.key]);
    all.push_back({caption_of_seeds(results, one), class_table_of_seeds(results, one.key),
                   confusion_table_of_seeds(results, one.key),
                   auc_text_of_seeds(results, one.key, labels), labels.size()});
  }
  return all;
}

}  // namespace

Table class_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  Table table = table_of_classes();
  const Json::json_pointer figures("/" + key);
  for (const auto& [label, first] : results.front().at(figures).at("eval_classes").items()) {
    const Json::json_pointer one = figures / "eval_classes" / label;
    table.add_row({label, first.at("support").get<std::int64_t>(),
                   spread_cell(values_of(results, one / "precision")),
                   spread_cell(values_of(results, one / "recall")),
                   spread_cell(values_of(results, one / "f1"))});
  }
  for (const std::string mean : {"macro", "weighted"}) {
    const auto cell = [&](const char* figure) {
      return spread_cell(values_of(results, figures / fmt::format("eval_{}_{}", figure, mean)));
    };
    table.add_row({mean + " mean", absent, cell("precision"), cell("recall"), cell("f1")});
  }
  return table;
}

Table confusion_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  const std::vector<std::string> labels = labels_of(results.front().at(key));
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

std::string class_text_of_seeds(const std::vector<Json>& results,
                                const std::vector<NamedFigures>& figures, const TextStyle& style) {
  return text_of(facts_of_seeds(results, figures), style);
}

Section class_section_of_seeds(const std::vector<Json>& results,
                               const std::vector<NamedFigures>& figures) {
  return section_of(facts_of_seeds(results, figures));
}

}  // namespace hone
