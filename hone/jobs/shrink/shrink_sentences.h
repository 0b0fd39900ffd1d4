#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/shrink/shrink_models.h"

/// What a report of shrinking says in words. All sentences have their full stop.
namespace hone {

/// That there are too few texts to show that anything is within the limit, with how many would do and how to get them; "": there are enough.
std::string too_few_texts_sentence(const ShrinkFindings& findings);

/// Whether to use the model that was written, and what to do if not: "You can use small/model: it is shown to be within the limit."
std::string use_of_result(const ShrinkFindings& findings, const JudgedGates& gates);

/// What was chosen, and what might have been.
std::vector<std::string> choice_sentences(const ShrinkFindings& findings);
/// Why the search ended, and what may help where there are too few examples.
std::string end_sentence(const ShrinkFindings& findings);
/// The vocabulary, and how candidates were evaluated.
std::vector<std::string> search_sentences(const ShrinkFindings& findings);
/// Candidates whose weights are of an earlier run, without its full stop; "" without such candidates.
std::string reused_sentence(const ShrinkFindings& findings);

/// That the change includes what training does; "": nothing was trained.
std::string training_sentence(const ShrinkFindings& findings);

/// How many tokens are gone, and what that changes; "": all are there.
std::string removed_tokens_sentence(const ShrinkFindings& findings);
/// Why and how much the tests of candidates are stricter than one alone, after a space; "": there is one test.
std::string stricter_tests_text(const ShrinkFindings& findings);

/// Predictions, size and latency of a model.
std::vector<std::string> model_sentences(const ShrinkFindings& findings, const ShrunkModel& model);
/// The folders with --loadable; none without.
std::vector<std::string> loadable_sentences(const ShrinkFindings& findings,
                                            const std::vector<ShrunkModel>& models);

/// How the numbers of a report are to be read, once for all of them.
std::vector<std::string> reading_notes(const ShrinkFindings& findings, std::string_view arithmetic);

}  // namespace hone
