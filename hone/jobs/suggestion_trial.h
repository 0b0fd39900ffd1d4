#pragma once

#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/study/format_search.h"

namespace hone {

/// What suggestions do to the whole model, beside the plan they were made for.
struct SuggestionTrial {
  Choice choice;
  bool is_as_given = false;  ///< nothing that loses less was found
  /// Where the choice is made, with verdicts corrected for the two of them.
  ComparedModel given, suggested;

  /// The parent there and both.
  std::vector<ComparedModel> models() const {
    return {parent_row(choice, choice.parent), given, suggested};
  }
};

/// Quantizes the model by `options.plan` and by the plan with the suggestions in it, nothing being trained, and measures
/// both on the part that choices are made on; the suggested one once on `data.test` too.
/// Throws `UserError` when there is no part to choose on.
SuggestionTrial try_suggestions(const Model& model, const EncodedSplits& data,
                                const CompressOptions& options,
                                const std::vector<Suggestion>& suggestions, Context& context);

/// The parent and the suggested (see `chosen_evaluations` of a choice).
std::vector<NamedEvaluation> chosen_evaluations(const SuggestionTrial& trial);

/// The choice with `models`, `summary` and `findings`. `labels` are the names of the classes.
Json to_json(const SuggestionTrial& trial, const std::vector<std::string>& labels);
std::string to_text(const SuggestionTrial& trial, const TextStyle& style = {});

}  // namespace hone
