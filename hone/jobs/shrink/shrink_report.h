#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/shrink/shrink.h"
#include "hone/jobs/shrink/shrink_trials.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/vocabulary_cut.h"

namespace hone {

/// What became of the vocabulary.
struct TrimmedVocabulary {
  std::int64_t before = 0, after = 0;  ///< tokens
  bool looked =
      false;          ///< some texts that choices are made on are other tokens, so it was measured
  bool kept = false;  ///< what was judged, so that all else was done to the smaller one
  std::string summary = {};  ///< of the verdict, or why none was asked for
};

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
  /// Of the points: takes less than what was chosen, lost less than the margin, and was not shown to; none: there is none.
  std::optional<std::size_t> not_shown = {};
  bool proven = false;       ///< it was shown to be kept on the part that choices are made on
  std::string end = {};      ///< why it ended, a sentence without its full stop
  double seconds = 0;        ///< all of it took
  ParentJudged itself = {};  ///< the original: nothing that is tried can be shown to lose less
  std::string space = {};

  /// What may be lost of the metric by which the task is judged.
  double margin() const;
};

/// That there are too few texts to show anything to be kept, with how many would do; "": there are enough.
std::string too_few_texts_sentence(const ShrinkFindings& findings);

/// Writes what was chosen to `output`/model, or where it was not shown to be kept to `output`/unproven, measures it once on the part that
/// is reported, beside the original, and writes page, tables and figures. Where nothing is smaller no model is written.
ShrinkResult report_shrink(const ShrinkFindings& findings, const TextModel& made, RunReport report,
                           OutputFolder& output, Context& context);

}  // namespace hone
