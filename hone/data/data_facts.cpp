#include "hone/data/data_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>

#include "hone/base/error.h"
#include "hone/base/hash.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/class_names.h"
#include "hone/metrics/evidence.h"

namespace hone {
namespace {

constexpr std::int64_t kFewRows = 10;      // per class; metrics on fewer rows are uncertain
constexpr std::size_t kListedClasses = 6;  // listed by name
constexpr std::int64_t kStrayFactor = 10;  // this many times rarer than an even share

std::string number(std::int64_t count) { return grouped(static_cast<long long>(count)); }

// Returns "'bad' (3), 'good' (1)" for the first classes, without the number if it is 0.
std::string listed_classes(const std::vector<std::size_t>& classes, const SplitFacts& facts,
                           const std::vector<std::string>& labels) {
  std::string text;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i == kListedClasses) return text + fmt::format(" and {} more", classes.size() - i);
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", shown_name(labels[classes[i]]));
    const std::int64_t rows = facts.class_rows[classes[i]];
    if (rows > 0) text += fmt::format(" ({})", number(rows));
  }
  return text;
}

// Returns ": test.csv: line 2 is train.csv: line 7; and 12 more", or "" if no places are known.
std::string named_duplicates(const std::vector<DuplicateRow>& duplicates, std::int64_t all) {
  constexpr std::size_t kShown = 1;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, duplicates.size()); ++i)
    text +=
        fmt::format("{}{} is {}", i == 0 ? ": " : "; ", duplicates[i].row, duplicates[i].other_row);
  const std::int64_t more = all - static_cast<std::int64_t>(kShown);
  return text.empty() || more <= 0 ? text : text + fmt::format("; and {} more", number(more));
}

// Returns whether a class is so much rarer than the others that it may be a mistake.
bool is_stray(std::int64_t rows, const SplitFacts& facts) {
  if (rows == 0 || rows >= kFewRows) return false;
  const std::int64_t all =
      std::accumulate(facts.class_rows.begin(), facts.class_rows.end(), std::int64_t{0});
  return rows * kStrayFactor < all / static_cast<std::int64_t>(facts.classes_present());
}

// Formats with two decimals, more for a narrow range and fewer for a wide one.
std::string number_text(double value, const NumberFacts& facts) {
  constexpr int kMaxDigits = 6;
  const double range = facts.greatest - facts.least;
  const int digits = range > 0 ? 2 - static_cast<int>(std::floor(std::log10(range))) : 2;
  return fmt::format("{:.{}f}", value, std::clamp(digits, 0, kMaxDigits));
}

std::string range_text(const NumberFacts& facts) {
  return fmt::format("from {} to {}, mean {}", number_text(facts.least, facts),
                     number_text(facts.greatest, facts), number_text(facts.mean, facts));
}

std::string ranges_text(const SplitFacts& facts, const std::vector<std::string>& labels) {
  if (facts.numbers.size() == 1) return "numbers " + range_text(facts.numbers[0]);
  std::string text;
  for (std::size_t i = 0; i < std::min(facts.numbers.size(), labels.size()); ++i) {
    if (i == kListedClasses)
      return text + fmt::format(" and {} more", facts.numbers.size() - kListedClasses);
    text += fmt::format("{}{} {}", i == 0 ? "" : "; ", shown_name(labels[i]),
                        range_text(facts.numbers[i]));
  }
  return text;
}

// All examples have the same number of targets.
std::vector<NumberFacts> facts_of_numbers(const std::vector<Example>& examples) {
  std::vector<NumberFacts> facts;
  for (const Example& example : examples) {
    if (facts.empty())
      for (const float target : example.targets) facts.push_back({target, target, 0});
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const double target = example.targets[i];
      facts[i].least = std::min(facts[i].least, target);
      facts[i].greatest = std::max(facts[i].greatest, target);
      facts[i].mean += target / static_cast<double>(examples.size());
    }
  }
  return facts;
}

void count_labels(const std::vector<Example>& examples, SplitFacts& facts) {
  for (const Example& example : examples) {
    bool any = false;
    for (std::size_t i = 0; i < example.targets.size(); ++i) {
      if (example.targets[i] == 0) continue;
      ++facts.class_rows[i];
      any = true;
    }
    if (!any) ++facts.unlabelled_rows;
  }
}

void count_classes(const std::vector<Example>& examples, SplitFacts& facts) {
  for (const Example& example : examples) {
    const auto label = static_cast<std::size_t>(example.label);
    if (label >= facts.class_rows.size()) facts.class_rows.resize(label + 1);
    ++facts.class_rows[label];
  }
}

std::int64_t rows_in(const RowSet& set, std::span<const std::uint64_t> texts) {
  return std::ranges::count_if(texts, [&](std::uint64_t text) { return contains(set, text); });
}

// Normalizes the names of unnamed classes: "LABEL_0" becomes "0".
std::vector<std::string> plain_names(const std::vector<std::string>& labels) {
  if (!names_are_indices(labels)) return labels;
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < labels.size(); ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

// `texts` are the `row_hashes` of the examples.
std::string hash_of_texts(std::span<const std::uint64_t> texts,
                          const std::vector<Example>& examples, const LabelScheme& scheme) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < texts.size(); ++i)
    lines.push_back(fmt::format("{:016x} {}\n", texts[i], label_text(examples[i], scheme)));
  std::ranges::sort(lines);
  Fingerprint print;
  for (const std::string& line : lines) print.add(line);
  return print.text();
}

void warn_of_stray_classes(const DataSet& data, const SplitFacts& facts,
                           std::vector<std::string>& warnings) {
  std::size_t strays = 0;
  for (std::size_t i = 0; i < facts.class_rows.size(); ++i) {
    if (!is_stray(facts.class_rows[i], facts) || ++strays > kListedClasses) continue;
    const bool placed = i < data.label_places.size() && !data.label_places[i].empty();
    warnings.push_back(
        fmt::format("label '{}': only {} of {} training examples {} it{}; is it a typing error?",
                    shown_name(data.label_names[i]), number(facts.class_rows[i]),
                    number(facts.rows), facts.class_rows[i] == 1 ? "has" : "have",
                    placed ? ", first in " + data.label_places[i] : ""));
  }
  if (strays > kListedClasses)
    warnings.push_back(fmt::format("and {} more labels as rare as these", strays - kListedClasses));
}

void warn_of_contradictions(const DataSet& data, std::vector<std::string>& warnings) {
  std::unordered_map<std::uint64_t, const Example*> first;
  std::set<std::uint64_t> contradictory;
  for (const Example& example : data.train) {
    const std::uint64_t hash = row_hash(example);
    const Example& other = *first.emplace(hash, &example).first->second;
    if (other.label != example.label || other.targets != example.targets)
      contradictory.insert(hash);
  }
  if (!contradictory.empty())
    warnings.push_back(fmt::format("train: {} example{} repeated with different {}",
                                   number(static_cast<std::int64_t>(contradictory.size())),
                                   contradictory.size() == 1 ? " is" : "s are",
                                   data.task == Task::regression ? "numbers" : "labels"));
}

}  // namespace

std::int64_t SplitFacts::effective_rows() const { return effective_examples(rows, evidence); }

double SplitFacts::majority_share() const {
  if (rows == 0 || class_rows.empty() || task != Task::single_label)
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(class_rows[majority_class()]) / static_cast<double>(rows);
}

std::size_t SplitFacts::majority_class() const {
  return static_cast<std::size_t>(std::ranges::max_element(class_rows) - class_rows.begin());
}

std::size_t SplitFacts::classes_present() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(class_rows, [](std::int64_t count) { return count > 0; }));
}

SplitFacts split_facts(const std::string& split, const std::vector<Example>& examples,
                       std::span<const std::uint64_t> hashes, const LabelScheme& scheme,
                       const RowSet& training_rows) {
  SplitFacts facts{
      .split = split, .rows = static_cast<std::int64_t>(examples.size()), .task = scheme.task};
  if (scheme.task == Task::regression) {
    facts.numbers = facts_of_numbers(examples);
  } else {
    facts.class_rows.assign(scheme.names.size(), 0);
    scheme.task == Task::multi_label ? count_labels(examples, facts)
                                     : count_classes(examples, facts);
  }
  facts.duplicate_rows = rows_in(training_rows, hashes);
  const std::vector<std::int32_t> texts = text_numbers(hashes);
  if (!texts.empty()) facts.repeated_rows = facts.rows - 1 - std::ranges::max(texts);
  facts.evidence = evidence(texts);
  return facts;
}

std::vector<DuplicateRow> duplicate_rows(const std::vector<Example>& examples,
                                         const std::vector<Example>& others,
                                         const std::vector<ReadFile>& files) {
  std::vector<DuplicateRow> rows;
  if (files.empty()) return rows;
  std::unordered_map<std::uint64_t, const Example*> first;
  for (const Example& example : others) first.emplace(row_hash(example), &example);
  for (const Example& example : examples) {
    const auto found = first.find(row_hash(example));
    if (found == first.end()) continue;
    rows.push_back({place_of(example, files), place_of(*found->second, files)});
    if (rows.size() == kNamedDuplicates) break;
  }
  return rows;
}

const Fields& fields_of(const NumberFacts*) {
  using N = NumberFacts;
  static const Fields fields = describe<N>(
      "number_range", "Values of a number in a split.", field<&N::least>("min", "Smallest."),
      field<&N::greatest>("max", "Largest."), field<&N::mean>("mean", "Mean."));
  return fields;
}

const Fields& fields_of(const SplitResult*) {
  using S = SplitResult;
  static const Fields fields = describe<S>(
      "data_split", "A split of the data.",
      field<&S::split>("split",
                       "train, validation or test; all: data without splits, or every split."),
      field<&S::rows>("rows", Unit::rows, "Rows, after some were set aside."),
      field<&S::classes>("classes", Unit::rows, "Of each class, or label; null for regression."),
      field<&S::majority_share>("majority_share", Unit::share,
                                "Share of the most frequent class; null for other tasks.")
          .or_null(),
      field<&S::duplicate_rows>("duplicate_rows", Unit::rows,
                                "Rows whose text is in the training split, too."),
      field<&S::validation_duplicate_rows>("validation_duplicate_rows", Unit::rows,
                                           "Test rows whose text is in the validation split, too."),
      field<&S::repeated_rows>("repeated_rows", Unit::rows,
                               "Rows whose text is in an earlier row of the split."),
      field<&S::effective_rows>("effective_rows", Unit::rows,
                                "Effective sample size: equal rows count as one observation."),
      field<&S::unlabelled_rows>("unlabelled_rows", Unit::rows,
                                 "Rows without any label; null unless the task is multi-label."),
      field<&S::numbers>("numbers", "By number; null unless the task is regression."),
      field<&S::duplicates>("duplicates",
                            "The first 10 duplicate rows by file and line, each with the place of "
                            "its text in the training split."),
      field<&S::validation_duplicates>("validation_duplicates",
                                       "The same for the validation split."));
  return fields;
}

const Fields& fields_of(const DataResult*) {
  using D = DataResult;
  static const Fields fields = describe<D>(
      "data", "The data a result was measured on.",
      field<&D::source>("source", "As it was given: a file, a folder, a glob or synth:NAME?…"),
      field<&D::hash>("hash", "Fingerprint of its texts and labels in their order."),
      field<&D::rows>("rows", Unit::rows, "Rows of all splits."),
      field<&D::splits>("splits", "Those with rows."));
  return fields;
}

DataResult data_result(const DataIdentity& identity) {
  DataResult data{identity.source, identity.hash, identity.rows, {}};
  const auto by_label = [&](const auto& values) {
    SplitResult::ByName<std::ranges::range_value_t<decltype(values)>> named;
    for (std::size_t i = 0; i < std::min(values.size(), identity.labels.size()); ++i)
      named.emplace_back(identity.labels[i], values[i]);
    return named;
  };
  const auto places = [](const std::vector<DuplicateRow>& duplicates) {
    SplitResult::ByName<std::string> rows;
    for (const DuplicateRow& one : duplicates) rows.emplace_back(one.row, one.other_row);
    return rows;
  };
  for (const SplitFacts& facts : identity.splits) {
    SplitResult split{.split = facts.split,
                      .rows = facts.rows,
                      .majority_share = facts.majority_share(),
                      .duplicate_rows = facts.duplicate_rows,
                      .validation_duplicate_rows = facts.validation_duplicate_rows,
                      .repeated_rows = facts.repeated_rows,
                      .effective_rows = facts.effective_rows(),
                      .duplicates = places(facts.duplicates),
                      .validation_duplicates = places(facts.validation_duplicates)};
    if (facts.task == Task::regression)
      split.numbers = by_label(facts.numbers);
    else
      split.classes = by_label(facts.class_rows);
    if (facts.task == Task::multi_label) split.unlabelled_rows = facts.unlabelled_rows;
    data.splits.push_back(std::move(split));
  }
  return data;
}

std::string class_counts_text(const SplitFacts& facts, const std::vector<std::string>& labels) {
  if (facts.task == Task::regression) return ranges_text(facts, labels);
  const bool several = facts.task == Task::multi_label;
  const std::string none = several ? ", none " + number(facts.unlabelled_rows) : "";
  const std::size_t classes = std::min(facts.class_rows.size(), labels.size());
  const auto one = [&](std::size_t i) {
    return fmt::format("{} {}", shown_name(labels[i]), number(facts.class_rows[i]));
  };
  if (classes > kListedClasses) {
    const auto rarest = static_cast<std::size_t>(std::ranges::min_element(facts.class_rows) -
                                                 facts.class_rows.begin());
    return fmt::format("{} {}, from {} to {}{}", classes, several ? "labels" : "classes",
                       one(rarest), one(facts.majority_class()), none);
  }
  std::string text;
  for (std::size_t i = 0; i < classes; ++i) text += (i == 0 ? "" : ", ") + one(i);
  return text + none;
}

MeasuredSplit measured_split(SplitFacts facts, std::string origin,
                             const std::vector<Example>& examples,
                             std::span<const std::uint64_t> hashes,
                             const std::vector<std::string>& labels,
                             const std::optional<TrainedOn>& record) {
  MeasuredSplit measured{.facts = std::move(facts), .origin = std::move(origin)};
  const auto count_in = [&](const RowSet& set) { return rows_in(set, hashes); };
  if (record && record->known()) {
    measured.trained_on_rows = count_in(record->trained);
    measured.chosen_on_rows = count_in(record->chosen);
    // An incomplete record does not cover everything the weights learned, so 0 rows found does not mean none.
    if (!record->complete && measured.trained_on_rows == 0) measured.trained_on_rows.reset();
    measured.trained_on_more = !record->complete;
  }
  if (record && record->untrained())
    measured.untrained = record->nothing() ? "untrained weights" : "untrained head";
  if (record) measured.calibrated_on_rows = count_in(record->calibrated);
  const bool classes = measured.facts.task == Task::single_label;
  if (measured.facts.rows > 0 && classes && measured.facts.majority_class() < labels.size())
    measured.majority_label = labels[measured.facts.majority_class()];
  if (measured.facts.rows > 0 && !classes)
    measured.label_summary = class_counts_text(measured.facts, labels);
  measured.texts_hash = hash_of_texts(hashes, examples, {measured.facts.task, plain_names(labels)});
  return measured;
}

const Fields& fields_of(const MeasuredSplitResult*) {
  using M = MeasuredSplitResult;
  static const Fields fields = describe<M>(
      "measured_split", "The split that a result was measured on.",
      field<&M::split>("split", "Its name; all: data without splits, or every split."),
      field<&M::n>("n", Unit::examples, "Examples that were measured."),
      field<&M::effective_n>("effective_n", Unit::examples,
                             "Effective sample size: equal rows count as one observation."),
      field<&M::examples_hash>("examples_hash",
                               "Fingerprint of these examples and their labels in any order: only "
                               "results on equal examples can be compared."),
      field<&M::trained_on_rows>("trained_on_rows", Unit::rows,
                                 "Of them, those the model was trained on; null: not known."),
      field<&M::chosen_on_rows>("chosen_on_rows", Unit::rows,
                                "Of them, those training set aside for choices; null: not known."),
      field<&M::calibrated_on_rows>("calibrated_on_rows", Unit::rows,
                                    "Of them, those that quantizers were calibrated on; null: not "
                                    "known."),
      field<&M::duplicate_rows>("duplicate_rows", Unit::rows,
                                "Of them, those whose text is in the training split, too."),
      field<&M::validation_duplicate_rows>(
          "validation_duplicate_rows", Unit::rows,
          "Of the test split, those whose text is in the validation split, too."),
      field<&M::repeated_rows>("repeated_rows", Unit::rows,
                               "Of them, those that repeat an earlier one."),
      field<&M::majority_share>("majority_share", Unit::share,
                                "Share of the most frequent class; null for other tasks.")
          .or_null(),
      field<&M::cautions>("cautions",
                          "Reasons why the metrics are too optimistic or meaningless, a few words "
                          "each: `80 of them trained on`, `untrained head`."),
      field<&M::measured_on>("measured_on", "The split in a sentence, with the first caution."));
  return fields;
}

MeasuredSplitResult measured_split_result(const MeasuredSplit& measured) {
  return {.split = measured.facts.split,
          .n = measured.facts.rows,
          .effective_n = measured.facts.effective_rows(),
          .examples_hash = measured.texts_hash,
          .trained_on_rows = measured.trained_on_rows,
          .chosen_on_rows = measured.chosen_on_rows,
          .calibrated_on_rows = measured.calibrated_on_rows,
          .duplicate_rows = measured.facts.duplicate_rows,
          .validation_duplicate_rows = measured.facts.validation_duplicate_rows,
          .repeated_rows = measured.facts.repeated_rows,
          .majority_share = measured.facts.majority_share(),
          .cautions = cautions(measured),
          .measured_on = describe(measured)};
}

bool is_negligible(std::int64_t count, const SplitFacts& facts) { return 100 * count < facts.rows; }

namespace {

// The name of the validation split already says that it is used for choices.
bool is_validation_split(const MeasuredSplit& measured) {
  return measured.facts.split == "validation";
}

const char* are(std::int64_t count) { return count == 1 ? "is" : "are"; }

// Returns "so the metrics are too optimistic"; for few examples, "so the accuracy may be up to 0.09 points too high".
std::string optimism_text(std::int64_t count, const MeasuredSplit& measured,
                          std::string_view of = "", bool may_be_more = false) {
  if (may_be_more || measured.majority_label.empty() || !is_negligible(count, measured.facts))
    return fmt::format("so the metrics{} are too optimistic", of);
  return fmt::format(
      "so the accuracy{} may be up to {:.2f} points too high", of,
      std::ceil(1e4 * static_cast<double>(count) / static_cast<double>(measured.facts.rows)) / 100);
}

/// Cautions to include.
struct CautionChoice {
  bool with_choices = true, with_negligible = true;
};

std::vector<std::string> cautions_of(const MeasuredSplit& measured, CautionChoice choice) {
  std::vector<std::string> words;
  const std::int64_t rows = measured.facts.rows, trained = measured.trained_on_rows.value_or(0);
  const auto add = [&](std::int64_t count, const char* what, std::string_view at_least = "") {
    const bool may_be_more = !at_least.empty();
    if (count > 0 &&
        (choice.with_negligible || may_be_more || !is_negligible(count, measured.facts)))
      words.push_back((count == rows ? "all" : std::string(at_least) + number(count)) + " of them" +
                      what);
  };
  if (!measured.untrained.empty()) words.push_back(measured.untrained);
  add(trained, " trained on", measured.trained_on_more ? "at least " : "");
  if (rows > 0 && !measured.trained_on_rows && measured.untrained.empty())
    words.emplace_back("may be trained on");
  if (measured.facts.duplicate_rows > trained)
    add(measured.facts.duplicate_rows, " also in the training split");
  const std::int64_t chosen = measured.chosen_on_rows.value_or(0);
  if (measured.is_for_choices || !choice.with_choices) return words;
  if (measured.facts.validation_duplicate_rows >= chosen)
    add(measured.facts.validation_duplicate_rows, " also in the validation split");
  else
    add(chosen, " used for choices");
  return words;
}

}  // namespace

std::vector<std::string> first_if_any(std::vector<std::string> cautions) {
  if (cautions.size() > 1) cautions.resize(1);
  return cautions;
}

std::vector<std::string> cautions(const MeasuredSplit& measured) {
  return cautions_of(measured, {});
}

std::vector<std::string> notable_cautions(const MeasuredSplit& measured) {
  return cautions_of(measured, {.with_negligible = false});
}

std::vector<std::string> first_caution(const MeasuredSplit& measured) {
  return first_if_any(notable_cautions(measured));
}

std::string name_and_size(const MeasuredSplit& measured) {
  return split_text(
      measured.facts.split, measured.facts.rows, measured.facts.effective_rows(),
      first_if_any(cautions_of(
          measured, {.with_choices = !is_validation_split(measured), .with_negligible = false})));
}

std::string short_name_and_size(const MeasuredSplit& measured) {
  return split_text(measured.facts.split, measured.facts.rows, measured.facts.effective_rows());
}

std::string describe(const MeasuredSplit& measured) {
  std::string text = fmt::format(
      "{}: {}",
      split_text(
          measured.facts.split, measured.facts.rows, measured.facts.effective_rows(),
          first_if_any(cautions_of(measured, {.with_choices = !is_validation_split(measured)}))),
      measured.origin);
  if (!measured.majority_label.empty())
    text += fmt::format("; always predicting '{}' scores {}", shown_name(measured.majority_label),
                        share_text(measured.facts.majority_share()));
  if (!measured.label_summary.empty()) text += "; " + measured.label_summary;
  return text;
}

std::vector<std::string> warnings_of(const MeasuredSplit& measured,
                                     const std::vector<std::string>& labels) {
  std::vector<std::string> warnings;
  const SplitFacts& facts = measured.facts;
  const std::int64_t trained = measured.trained_on_rows.value_or(0);
  if (trained > 0 && trained == facts.rows)
    warnings.push_back(fmt::format(
        "{}: the model was trained on all {} examples; the metrics show how well it learned them, "
        "not how it does on new ones",
        facts.split, number(facts.rows)));
  else if (trained > facts.duplicate_rows)
    warnings.push_back(fmt::format("{}: the model was trained on {}{} of {} examples, {}",
                                   facts.split, measured.trained_on_more ? "at least " : "",
                                   number(trained), number(facts.rows),
                                   optimism_text(trained, measured, "", measured.trained_on_more)));
  const std::int64_t chosen = measured.chosen_on_rows.value_or(0);
  const bool in_both = facts.duplicate_rows > 0 && facts.validation_duplicate_rows > 0;
  if (in_both)
    warnings.push_back(fmt::format(
        "{} of {} {} examples {} also in the training split and {} in the validation split, {}{}",
        number(facts.duplicate_rows), number(facts.rows), facts.split, are(facts.duplicate_rows),
        number(facts.validation_duplicate_rows),
        optimism_text(facts.duplicate_rows + facts.validation_duplicate_rows, measured),
        named_duplicates(facts.duplicates, facts.duplicate_rows)));
  else if (facts.validation_duplicate_rows > 0)
    warnings.push_back(fmt::format(
        "{} of {} {} examples {} also in the validation split, where choices are made, {}{}",
        number(facts.validation_duplicate_rows), number(facts.rows), facts.split,
        are(facts.validation_duplicate_rows),
        optimism_text(facts.validation_duplicate_rows, measured, " of the chosen model"),
        named_duplicates(facts.validation_duplicates, facts.validation_duplicate_rows)));
  if (chosen > facts.validation_duplicate_rows && facts.split != "validation")  // its name says so
    warnings.push_back(fmt::format("{}: {} of {} examples were used for choices, {}", facts.split,
                                   number(chosen), number(facts.rows),
                                   optimism_text(chosen, measured)));
  if (facts.duplicate_rows > 0 && !in_both)
    warnings.push_back(fmt::format("{} of {} {} examples {} also in the training split, {}{}",
                                   number(facts.duplicate_rows), number(facts.rows), facts.split,
                                   are(facts.duplicate_rows),
                                   optimism_text(facts.duplicate_rows, measured),
                                   named_duplicates(facts.duplicates, facts.duplicate_rows)));
  if (is_notably_less(facts.effective_rows(), facts.rows))
    warnings.push_back(
        fmt::format("{}: {} of {} rows repeat an earlier one; intervals and verdicts use an "
                    "effective sample size of {}: n² / Σ m², where an example occurs in m rows",
                    facts.split, number(facts.repeated_rows), number(facts.rows),
                    number(facts.effective_rows())));
  if (facts.rows > 0 && facts.classes_present() == 1 && !measured.majority_label.empty()) {
    warnings.push_back(
        fmt::format("{}: all {} examples are '{}'; metrics on one class do not show whether the "
                    "model distinguishes it from others",
                    facts.split, number(facts.rows), shown_name(measured.majority_label)));
    return warnings;
  }
  for (std::size_t i = 0; i < std::min(facts.numbers.size(), labels.size()); ++i)
    if (facts.numbers[i].least == facts.numbers[i].greatest)
      warnings.push_back(
          fmt::format("{}: '{}' is {} for all {} examples; metrics on one value do not show "
                      "whether the model distinguishes examples",
                      facts.split, shown_name(labels[i]),
                      number_text(facts.numbers[i].mean, facts.numbers[i]), number(facts.rows)));
  std::vector<std::size_t> none, few;
  for (std::size_t i = 0; i < std::min(facts.class_rows.size(), labels.size()); ++i)
    if (facts.class_rows[i] < kFewRows) (facts.class_rows[i] == 0 ? none : few).push_back(i);
  if (facts.rows > 0 && !none.empty())
    warnings.push_back(fmt::format("{}: no examples of {}, so their metrics are unknown",
                                   facts.split, listed_classes(none, facts, labels)));
  if (facts.rows > 0 && !few.empty())
    warnings.push_back(fmt::format("{}: very few examples of {}, so their metrics are uncertain",
                                   facts.split, listed_classes(few, facts, labels)));
  return warnings;
}

// Outputs of new weights are near 0, and one step moves them by about the learning rate.
void warn_of_far_numbers(const SplitFacts& facts, const std::vector<std::string>& labels,
                         std::vector<std::string>& warnings) {
  constexpr double kFarthest = 100, kMinRange = 0.05;
  for (std::size_t i = 0; i < std::min(facts.numbers.size(), labels.size()); ++i) {
    const NumberFacts& one = facts.numbers[i];
    const double range = one.greatest - one.least;
    const double farthest = std::max(std::abs(one.least), std::abs(one.greatest));
    if (range == 0 || (farthest <= kFarthest && range >= kMinRange)) continue;
    warnings.push_back(
        fmt::format("train: '{}' ranges {}; a new model predicts numbers near 0 and learns best "
                    "from numbers that spread by about 1: train on (x - {}) / {:.3g}, and convert "
                    "the predictions back",
                    shown_name(labels[i]), range_text(one), number_text(one.mean, one), range / 4));
  }
}

std::vector<std::string> training_warnings(const DataSet& data) {
  std::vector<std::string> warnings;
  const SplitFacts facts =
      split_facts("train", data.train, row_hashes(data.train), data.scheme(), {});
  if (facts.rows == 0 || data.label_names.empty()) return warnings;
  warn_of_stray_classes(data, facts, warnings);
  warn_of_contradictions(data, warnings);
  warn_of_far_numbers(facts, data.label_names, warnings);
  return warnings;
}

}  // namespace hone
