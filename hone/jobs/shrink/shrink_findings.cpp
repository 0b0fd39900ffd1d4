#include "hone/jobs/shrink/shrink_findings.h"

namespace hone {

const Fields& fields_of(const TrimmedVocabulary*) {
  using T = TrimmedVocabulary;
  static const Fields fields = describe<T>(
      "shrink_vocabulary", "What became of the vocabulary.",
      field<&T::before>("tokens_before", Unit::tokens, "Of the baseline."),
      field<&T::after>("tokens", Unit::tokens, "Used by the training split, or never removed."),
      field<&T::looked>("evaluated",
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
  return margin_for(gates, subject.parent_measured->evaluation.figure);
}

bool ShrinkFindings::is_measured_where_chosen() const {
  return chosen_on().facts.part == data.measured.facts.part;
}

std::string ShrinkFindings::judged_folder() const {
  if (!job.loadable) return folder();
  return proven ? "transformers" : "unproven-transformers";
}

std::int64_t ShrinkFindings::evaluations() const {
  return std::ssize(points) + (trimmed && trimmed->looked ? 1 : 0);
}

std::int64_t ShrinkFindings::evaluations_behind() const {
  const bool was_chosen = chosen || (trimmed && trimmed->looked);
  return is_measured_where_chosen() && was_chosen ? job.looks : 1;
}

}  // namespace hone
