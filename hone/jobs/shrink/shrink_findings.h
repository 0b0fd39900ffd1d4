#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/shrink/shrink.h"
#include "hone/jobs/shrink/shrink_trials.h"

namespace hone {

/// What became of the vocabulary.
struct TrimmedVocabulary {
  std::int64_t before = 0, after = 0;  ///< tokens
  bool looked =
      false;  ///< some texts that choices are made on are other tokens, so it was measured
  bool applied = false;  ///< it is within the limit, so that all else was done to the smaller one
  std::string summary = {};  ///< of the verdict, or why none was asked for
};
const Fields& fields_of(const TrimmedVocabulary*);

/// What shrinking has found.
struct ShrinkFindings {
  const ShrinkJob& job;
  const TextModel& original;
  std::vector<Gate> gates;
  const EncodedSplits& data;    ///< as the original reads it
  const TrialSubject& subject;  ///< what points were made of
  const ShrinkTimer& timer;
  std::vector<JudgedPoint> points = {};
  std::optional<TrimmedVocabulary> trimmed = {};  ///< none: nobody asked, or every token is used
  std::optional<std::size_t> chosen =
      {};  ///< of the points; none: it is the model with fewer tokens, or as it was given
  /// Of the points: takes less than what was chosen, lost less than the margin, and was not shown to, if there is one.
  std::optional<std::size_t> not_shown = {};
  bool proven = false;   ///< it was shown to be kept on the part that choices are made on
  std::string end = {};  ///< why it ended, a sentence without its full stop
  /// A budget that lets the next candidate begin, if it ended for want of time.
  std::optional<double> enough_seconds = {};
  double seconds = 0;        ///< all of it took
  ParentJudged itself = {};  ///< the original: nothing that is tried can be shown to lose less
  std::string space = {};
  std::int64_t trained_steps = 0;  ///< of what was chosen, more than the original

  /// Tests of the split that choices are made on, at most: of every gate in every evaluation. Verdicts there are corrected for so many.
  std::int64_t tests() const { return job.looks * std::ssize(gates); }
  /// What may be lost of the metric by which the task is judged.
  double margin() const;
  const MeasuredPart& chosen_on() const { return subject.data.measured_choice(); }
  /// "validation, n = 300": the split that choices are made on.
  std::string made_on() const { return short_name_and_size(chosen_on()); }
  /// Choices are made on the split that is reported.
  bool is_measured_where_chosen() const;
  /// Nothing became smaller, and no model is written.
  bool is_nothing() const { return !chosen && !proven; }
  /// Of the packed model in the output folder.
  std::string folder() const { return proven ? "model" : "unproven"; }
  /// Of the model that is judged.
  std::string judged_folder() const;
  /// Models that were evaluated on the split that choices are made on.
  std::int64_t evaluations() const;
  /// Those that the verdict on the result is corrected for: it was chosen among so many on the same examples. A vocabulary on which no
  /// example depends was not chosen.
  std::int64_t evaluations_behind() const;
};

}  // namespace hone
