#pragma once

#include "hone/jobs/search/search.h"
#include "hone/jobs/search/search_trial.h"

namespace hone {

/// Opens the model and the data of a search. Weights are fresh where the model's are, and where there is an architecture to choose.
/// Adds to `notes` what a report is to tell. Throws `UserError` where there are no texts to choose on.
TrialSubject open_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes);
/// The same but for `parent_measured`, which is left out.
TrialSubject read_subject(const SearchJob& job, const SearchRecipe& recipe, Context& context,
                          std::vector<std::string>& notes);

/// Returns the metrics of the baseline, the trained model that all trials are made of: those that are numbers, latency aside.
std::map<std::string, double> baseline_metrics(const TrialSubject& subject, Context& context);

/// Scores the units of the subject's model, where a recipe with [structure] asks for it.
void score_units(const SearchRecipe& recipe, TrialSubject& subject, Context& context);

/// What the model of a trial has learned from.
std::optional<TrainedOn> record_of_trial(const SearchJob& job, const TrialSubject& subject,
                                         const TrialConfiguration& configuration);

}  // namespace hone
