#pragma once

#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/study/format_search.h"

namespace hone {

/// A model with suggested formats, compared with the original plan.
struct SuggestionTrial {
  Choice choice;
  bool is_as_given = false;  ///< whether no better parameters were found
  /// On the split that decides, with verdicts corrected for both.
  ComparedModel given, suggested;

  /// Returns the baseline on that split, and both.
  std::vector<ComparedModel> models() const {
    return {baseline_row(choice, choice.baseline), given, suggested};
  }
};

/// Quantizes the model by `options.plan` and by the plan with the suggestions, without training. Measures both on the
/// split that decides, and the suggested one also once on `data.test`. Throws `UserError` if there is no split to
/// choose on.
SuggestionTrial try_suggestions(const Model& model, const EncodedSplits& data,
                                const CompressOptions& options,
                                const std::vector<Suggestion>& suggestions, Context& context);

/// Returns the baseline and the suggested model (see `chosen_evaluations` of a choice).
std::vector<NamedEvaluation> chosen_evaluations(const SuggestionTrial& trial);

/// Returns the finding about the suggested model, in a sentence or two.
std::string summary_of(const SuggestionTrial& trial);
/// Sets the headline, key figures and evidence, and adds the tables.
void fill_document(const SuggestionTrial& trial, Document& document);

}  // namespace hone
