#pragma once

#include <string>
#include <vector>

#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"

/// Choice among several candidates on one split. The chosen one is measured once on another split, so that the choice
/// does not inflate its metric.
///
///     Choice choice = begin_choice(baseline, data, /*batch_size=*/32, context);
///     ComparedModel row = compared(candidate, "int8", choice.baseline, choice_split(data).examples, 32, context);
///     report_chosen(choice, {{"int8", &candidate}}, baseline, data, 32, context);
namespace hone {

/// The examples that decide a choice.
struct ChoiceSplit {
  std::string name;  ///< "validation", or "test" under the original protocol
  const EncodedSet& examples;
};

/// Returns the examples that decide. Throws `UserError` if there are none.
ChoiceSplit choice_split(const EncodedSplits& data);

/// Returns a warning if the reported split also decides the choice, or "". Throws like `choice_split`.
std::string same_split_warning(const EncodedSplits& data);

/// Measures a model on the examples and compares it with `baseline`, measured on the same examples.
ComparedModel compared(const Model& model, const std::string& label, const Measurement& baseline,
                       const EncodedSet& examples, std::int64_t batch_size, Context& context);

/// The parts of a choice that do not depend on the kind of candidates.
struct Choice {
  std::string split;                       ///< the split that decides
  std::vector<std::string> cautions = {};  ///< about that split, see hone/data/data_facts.h
  Measurement baseline;                    ///< the baseline on that split
  std::string baseline_label = "fp32";     ///< the baseline's formats if it is quantized
  double baseline_bits = 32;               ///< per quantized weight
  std::string_view baseline_arithmetic = kFloat;
  std::string reported_split;
  std::vector<std::string> reported_cautions = {};
  /// A warning if both are one split and something was chosen; else empty.
  std::string warning;
  /// The baseline and the chosen models, with verdicts, on the reported split; empty if both are one split.
  std::vector<ComparedModel> reported;

  /// "validation, n = 2,400", "test, n = 6,000".
  std::string made_on() const;
  std::string reported_on() const;
};

/// Returns the baseline as a table row, as measured on either split.
ComparedModel baseline_row(const Choice& choice, const Measurement& baseline);

/// Measures the baseline on the split that decides. Throws `UserError` like `choice_split`.
Choice begin_choice(const Model& baseline, const EncodedSplits& data, std::int64_t batch_size,
                    Context& context);

struct ChosenModel {
  std::string label;
  const Model* model = nullptr;
};

/// Measures the baseline and the chosen models, if any, on the reported split, `data.test`. If that split also decided
/// the choice, sets `warning` instead.
void report_chosen(Choice& choice, const std::vector<ChosenModel>& chosen, const Model& baseline,
                   const EncodedSplits& data, std::int64_t batch_size, Context& context);

/// Returns "int8, validation, n = 2,400: accuracy changed by +0.02 points …".
std::string finding(const ComparedModel& model, const std::string& measured_on);
/// Returns a finding for each reported model, and the warning.
std::vector<std::string> reported_findings(const Choice& choice);

/// Returns the baseline and the chosen models, each with its split, for tables of details: on the reported split or, if
/// it is the same, on the one that decides. `chosen`: their rows there. Empty if nothing was chosen.
std::vector<NamedEvaluation> chosen_evaluations(const Choice& choice,
                                                const std::vector<const ComparedModel*>& chosen);

/// A choice among models in results.
struct ChoiceResult {
  std::string reported_split;
  std::vector<std::string> reported_cautions = {};
  std::vector<MeasuredModelResult> reported = {};
  std::string summary;
  std::vector<std::string> findings = {};
  std::int64_t seeds = 1;
};
const Fields& fields_of(const ChoiceResult*);
ChoiceResult choice_result(const Choice& choice, const std::vector<std::string>& labels,
                           std::string summary, std::vector<std::string> findings);

/// Returns the change of each chosen model, on the reported split or, if it is the same, on the one that decides:
/// {"int8, test", "94.6% → 94.7% (+0.10 points)"}. `chosen`: their rows there.
std::vector<Fact> chosen_facts(const Choice& choice,
                               const std::vector<const ComparedModel*>& chosen);

/// Adds the split and its number of examples to every row, for files.
Table with_split_columns(const Table& candidates, const Choice& choice);

/// Returns the caption of the table of candidates: the split, and the accuracy of the simplest prediction.
std::string candidates_caption(const Choice& choice);
/// Returns a table of the reported models, or a sentence if nothing was chosen.
Block reported_block(const Choice& choice);

}  // namespace hone
