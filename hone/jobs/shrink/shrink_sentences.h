#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/shrink/shrink_models.h"

/// Sentences of shrink reports, with full stops unless stated otherwise.
namespace hone {

/// Says that there are too few texts to show that anything is within the limit, how many would be enough, and how to
/// get them; "" if there are enough.
std::string too_few_texts_sentence(const ShrinkFindings& findings);

/// Says whether to use the model: "You can use small/model: it is shown to be within the limit."
std::string use_of_result(const ShrinkFindings& findings, const JudgedGates& gates);

/// Describes the chosen candidate, and a better one that was not shown to be within the limit.
std::vector<std::string> choice_sentences(const ShrinkFindings& findings);
/// Says why the search ended, and what may help if there are too few examples.
std::string end_sentence(const ShrinkFindings& findings);
/// Describes the vocabulary, and how candidates were evaluated.
std::vector<std::string> search_sentences(const ShrinkFindings& findings);
/// Counts candidates that reuse weights of an earlier run, without a full stop; "" if there are none.
std::string reused_sentence(const ShrinkFindings& findings);

/// Says that the change includes the effect of training; "" if nothing was trained.
std::string training_sentence(const ShrinkFindings& findings);

/// Says how many tokens were removed, and the consequence; "" if none were.
std::string removed_tokens_sentence(const ShrinkFindings& findings);
/// Says why and how much stricter the tests of candidates are than a single test, after a space; "" for one test.
std::string stricter_tests_text(const ShrinkFindings& findings);

/// Describes predictions, size and latency of a model.
std::vector<std::string> model_sentences(const ShrinkFindings& findings, const ShrunkModel& model);
/// Describes the folders with --loadable; empty without.
std::vector<std::string> loadable_sentences(const ShrinkFindings& findings,
                                            const std::vector<ShrunkModel>& models);

/// Explains how to read the numbers of a report.
std::vector<std::string> reading_notes(const ShrinkFindings& findings, std::string_view arithmetic);

}  // namespace hone
