#pragma once

#include "hone/jobs/search/search.h"
#include "hone/jobs/search/search_trial.h"

namespace hone {

/// Opens the model and the data of a search. Weights are fresh if the model's are, or if the recipe varies the
/// architecture. Adds notes for the report to `notes`. Throws `UserError` if there are no texts to choose on.
TrialSubject open_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes);
/// Does the same without measuring `baseline_measured`.
TrialSubject read_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes);

/// Returns the finite metrics of the baseline, the trained model that all trials derive from, without latency.
std::map<std::string, double> baseline_metrics(const TrialSubject& subject, Context& context);

/// Scores the units of the subject's model if the recipe has [structure].
void score_units(const SearchRecipe& recipe, TrialSubject& subject, Context& context);

/// Returns the training record of a trial's model.
std::optional<TrainedOn> record_of_trial(const SearchJob& job, const TrialSubject& subject,
                                         const TrialConfiguration& configuration);

}  // namespace hone
