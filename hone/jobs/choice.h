#pragma once

#include <string>
#include <vector>

#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"

/// Chooses one of several candidates on one split, and measures the chosen one once on another, so that its metric does not
/// profit from the choice.
///
///     Choice choice = begin_choice(parent, data, /*batch_size=*/32, context);
///     ComparedModel row = compared(candidate, "int8", choice.parent, choice_part(data).examples, 32, context);
///     report_chosen(choice, {{"int8", &candidate}}, parent, data, 32, context);
namespace hone {

/// The examples that decide a choice.
struct ChoicePart {
  std::string name;  ///< "validation", or "test" under the original protocol
  const EncodedSet& examples;
};

/// Throws `UserError` if there are none.
ChoicePart choice_part(const EncodedSplits& data);

/// A warning where the reported split also decides the choice; else empty. Throws as `choice_part`.
std::string same_part_warning(const EncodedSplits& data);

/// Measures a model on the examples and compares it with its baseline, `parent`, measured on the same.
ComparedModel compared(const Model& model, const std::string& label, const Measurement& parent,
                       const EncodedSet& examples, std::int64_t batch_size, Context& context);

/// What every choice has, whatever the candidates are.
struct Choice {
  std::string part;                        ///< the split that decides
  std::vector<std::string> cautions = {};  ///< about that split, see hone/data/data_facts.h
  Measurement parent;                      ///< the baseline on that split
  std::string parent_label = "fp32";       ///< the baseline's formats if it is quantized
  double parent_bits = 32;                 ///< per quantized weight
  std::string_view parent_arithmetic = kFloat;
  std::string reported_part;
  std::vector<std::string> reported_cautions = {};
  /// A warning if both are one split and something was chosen; else empty.
  std::string warning;
  /// The baseline and the chosen models, with verdicts, on the reported split; empty if both are one split.
  std::vector<ComparedModel> reported;

  /// "validation, n = 2,400", "test, n = 6,000".
  std::string made_on() const;
  std::string reported_on() const;
};

/// The baseline as a row of a table, as measured on either split.
ComparedModel parent_row(const Choice& choice, const Measurement& parent);

/// Measures the baseline on the split that decides. Throws `UserError` as `choice_part` does.
Choice begin_choice(const Model& parent, const EncodedSplits& data, std::int64_t batch_size,
                    Context& context);

struct ChosenModel {
  std::string label;
  const Model* model = nullptr;
};

/// Measures the baseline and the chosen models, which may be none, on the reported split, `data.test`. If that split also
/// decided the choice, sets `warning` instead.
void report_chosen(Choice& choice, const std::vector<ChosenModel>& chosen, const Model& parent,
                   const EncodedSplits& data, std::int64_t batch_size, Context& context);

/// "int8, validation, n = 2,400: accuracy changed by +0.02 points …"
std::string finding(const ComparedModel& model, const std::string& measured_on);
/// A finding for each reported model, and the warning.
std::vector<std::string> reported_findings(const Choice& choice);

/// The baseline and the chosen models, each with its split, for tables of details: on the reported split, or if it is the
/// same, on the one that decides. `chosen`: their rows there. Empty if nothing was chosen.
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

/// The change of each chosen model, on the reported split, or if it is the same, on the one that decides: {"int8, test",
/// "94.6% → 94.7% (+0.10 points)"}. `chosen`: their rows there.
std::vector<Fact> chosen_figures(const Choice& choice,
                                 const std::vector<const ComparedModel*>& chosen);

/// The table of candidates with the split and its number of examples in every row, for files.
Table with_part(const Table& candidates, const Choice& choice);

/// The caption of the table of candidates: the split, and the accuracy of the simplest prediction.
std::string candidates_caption(const Choice& choice);
/// The reported models: a table, or a sentence if nothing was chosen.
Block reported_block(const Choice& choice);

}  // namespace hone
