#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink.h"
#include "hone/jobs/shrink/shrink_trials.h"

namespace hone {

/// The result of trimming the vocabulary.
struct TrimmedVocabulary {
  std::int64_t before = 0, after = 0;  ///< tokens
  bool evaluated =
      false;  ///< evaluated, because some texts of the deciding split are tokenized differently
  bool applied = false;      ///< within the limit, so all candidates have the smaller vocabulary
  std::string summary = {};  ///< of the verdict, or why there is none
};
const Fields& fields_of(const TrimmedVocabulary*);

/// Everything that a shrink run found.
struct ShrinkFindings {
  const ShrinkJob& job;
  const TextModel& original;
  std::vector<Gate> gates;
  const EncodedSplits& data;    ///< as the original tokenizes it
  const TrialSubject& subject;  ///< the starting point of all candidates
  const ShrinkTimer& timer;
  std::vector<JudgedCandidate> points = {};
  std::optional<TrimmedVocabulary> trimmed = {};  ///< none: not requested, or every token is used
  std::optional<std::size_t> chosen =
      {};  ///< index into `points`; none: only the vocabulary changed, or nothing
  /// Index of a better candidate than the chosen one that more examples may show to be within the limit.
  std::optional<std::size_t> not_shown = {};
  bool proven = false;   ///< the result is shown to be within the limit on the deciding split
  std::string end = {};  ///< why the search ended, a sentence without its full stop
  /// A budget that is enough for the next candidate, if the time ran out.
  std::optional<double> enough_seconds = {};
  double seconds = 0;  ///< total time
  BaselineVerdict self_comparison =
      {};  ///< the original against itself: no candidate can be shown to lose less
  std::string space = {};
  std::int64_t trained_steps = 0;  ///< additional training steps of the chosen candidate

  /// Returns the number of tests that verdicts are corrected for: every gate in every evaluation of the budget.
  std::int64_t tests() const { return job.max_evaluations * std::ssize(gates); }
  /// Returns the allowed drop of the task's metric.
  double margin() const;
  const MeasuredSplit& chosen_on() const { return subject.data.measured_choice(); }
  /// "validation, n = 300": the split that decides.
  std::string made_on() const { return short_name_and_size(chosen_on()); }
  /// Returns whether the deciding split is also the reported one.
  bool is_measured_where_chosen() const;
  /// Returns whether nothing became smaller; then no model is written.
  bool is_unchanged() const { return !chosen && !proven; }
  /// Returns the folder of the packed model, within the output folder.
  std::string folder() const { return proven ? "model" : "unproven"; }
  /// Returns the folder of the model that is judged.
  std::string judged_folder() const;
  /// Returns the number of models evaluated on the deciding split.
  std::int64_t evaluations() const;
  /// Returns the number of evaluations that the verdict on the result is corrected for: above 1 if it was chosen on the
  /// reported split. A vocabulary on which no example depends was not chosen.
  std::int64_t corrected_evaluations() const;
};

}  // namespace hone
