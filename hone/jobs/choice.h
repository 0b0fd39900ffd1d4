#pragma once

#include <string>
#include <vector>

#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"

/// Where one of several candidates is chosen, and where what was chosen is measured once, so that its figure does not
/// profit from the choice.
///
///     Choice choice = begin_choice(parent, data, /*batch_size=*/32, context);
///     ComparedModel row = compared(candidate, "int8", choice.parent, choice_part(data).examples, 32, context);
///     report_chosen(choice, {{"int8", &candidate}}, parent, data, 32, context);
namespace hone {

/// The examples a choice is made on.
struct ChoicePart {
  std::string name;  ///< "validation", or "test" under the original protocol
  const EncodedSet& examples;
};

/// Throws `UserError` when there is none.
ChoicePart choice_part(const EncodedSplits& data);

/// That the figures of what is chosen flatter, where choices are made on the part that is reported; else empty. Throws as `choice_part`.
std::string same_part_warning(const EncodedSplits& data);

/// The model measured on the examples, beside its parent measured on them.
ComparedModel compared(const Model& model, const std::string& label, const Measurement& parent,
                       const EncodedSet& examples, std::int64_t batch_size, Context& context);

/// What every choice has, whatever it is among.
struct Choice {
  std::string part;                        ///< it is made on
  std::vector<std::string> cautions = {};  ///< of that part, see hone/data/data_facts.h
  Measurement parent;                      ///< there
  std::string parent_label = "fp32";       ///< its formats, where it is quantized
  double parent_bits = 32;                 ///< per quantized weight
  std::string reported_part;
  std::vector<std::string> reported_cautions = {};
  /// Where that is the same part and something was chosen: that its figures flatter. Else empty.
  std::string warning;
  /// The parent and what was chosen, with verdicts, on the part that is reported; empty where that is the same.
  std::vector<ComparedModel> reported;

  /// "validation, n = 2,400", "test, n = 6,000".
  std::string made_on() const;
  std::string reported_on() const;
};

/// The parent as a row of a table, as it was measured on either part.
ComparedModel parent_row(const Choice& choice, const Measurement& parent);

/// Measures the parent where the choice is made. Throws `UserError` as `choice_part` does.
Choice begin_choice(const Model& parent, const EncodedSplits& data, std::int64_t batch_size,
                    Context& context);

struct ChosenModel {
  std::string label;
  const Model* model = nullptr;
};

/// Measures the parent and what was chosen, be it nothing, on the part that is reported, `data.test`; where the choice was
/// made on it, warns of what was chosen instead.
void report_chosen(Choice& choice, const std::vector<ChosenModel>& chosen, const Model& parent,
                   const EncodedSplits& data, std::int64_t batch_size, Context& context);

/// "int8, validation, n = 2,400: kept: +0.02 points …"
std::string finding(const ComparedModel& model, const std::string& measured_on);
/// A finding for each model that is reported, and the warning.
std::vector<std::string> reported_findings(const Choice& choice);

/// The parent and what was chosen, each with its part, for tables of their details: as they are reported, or where that is
/// the same part, as they were chosen by. `chosen`: their rows there. Empty when nothing was chosen.
std::vector<NamedEvaluation> chosen_evaluations(const Choice& choice,
                                                const std::vector<const ComparedModel*>& chosen);

/// `part`, `n`, `reported_part`, and `reported`: models with their measurements and comparisons. `labels` are the names of
/// the classes.
Json to_json(const Choice& choice, const std::vector<std::string>& labels);

/// The table of candidates with the part that it stands on and the number of its texts in every row, for files.
Table with_part(const Table& candidates, const Choice& choice);

/// The caption of the table of candidates: the part, and its baseline.
std::string candidates_caption(const Choice& choice);
/// What is reported, for a page: a table with its part, or that there is nothing to report on it.
Block reported_block(const Choice& choice);

/// All candidates in a table and what is reported in another, each with its part, and `lines`.
std::string choice_text(const Choice& choice, const Table& candidates,
                        const std::vector<std::string>& lines, const TextStyle& style);

}  // namespace hone
