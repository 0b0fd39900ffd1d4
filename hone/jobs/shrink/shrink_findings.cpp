#include "hone/jobs/shrink/shrink_findings.h"

namespace hone {

const Fields& fields_of(const TrimmedVocabulary*) {
  using T = TrimmedVocabulary;
  static const Fields fields = describe<T>(
      "shrink_vocabulary", "The result of trimming the vocabulary.",
      field<&T::before>("tokens_before", Unit::tokens, "Tokens of the baseline."),
      field<&T::after>("tokens", Unit::tokens,
                       "Tokens that the training split uses, or that are never removed."),
      field<&T::evaluated>(
          "evaluated",
          "Whether the model with these was evaluated; false: no example of the "
          "split that chooses has another token, or there is one evaluation, which "
          "is a candidate's."),
      field<&T::applied>("applied",
                         "Whether the model with these is within the limit, so that all "
                         "candidates have this vocabulary."),
      field<&T::summary>("summary", "The verdict as a clause."));
  return fields;
}

double ShrinkFindings::margin() const {
  return margin_for(gates, subject.baseline_measured->evaluation.metric);
}

bool ShrinkFindings::is_measured_where_chosen() const {
  return chosen_on().facts.split == data.measured.facts.split;
}

std::string ShrinkFindings::judged_folder() const {
  if (!job.loadable) return folder();
  return proven ? "transformers" : "unproven-transformers";
}

std::int64_t ShrinkFindings::evaluations() const {
  return std::ssize(points) + (trimmed && trimmed->evaluated ? 1 : 0);
}

std::int64_t ShrinkFindings::corrected_evaluations() const {
  const bool was_chosen = chosen || (trimmed && trimmed->evaluated);
  return is_measured_where_chosen() && was_chosen ? job.max_evaluations : 1;
}

}  // namespace hone
