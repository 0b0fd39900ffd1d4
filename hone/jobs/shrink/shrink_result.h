#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/before_and_after.h"
#include "hone/jobs/shrink/shrink_models.h"
#include "hone/jobs/size_and_time.h"
#include "hone/study/gates.h"
#include "hone/study/result.h"

namespace hone {

/// A shrunk model in results.
struct ShrunkModelResult {
  std::string output;
  BeforeAndAfterResult both = {};
  SizeAndTimeResult size_and_time = {};
  std::string arithmetic;
};
const Fields& fields_of(const ShrunkModelResult*);
ShrunkModelResult shrunk_model_result(const ShrunkModel& model);

/// The result of `hone shrink`.
struct ShrinkFields {
  SubjectResult subject;
  ShrinkGoal goal = ShrinkGoal::both;
  double max_drop = 0, budget_seconds = 0, seconds = 0;
  std::int64_t evaluations = 0, max_evaluations = 0;
  std::string end;
  bool proven = false;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  MeasuredSplitResult chosen_on = {};
  std::optional<std::int64_t> examples_needed = {}, candidate = {}, trial = {};
  std::vector<JudgedCandidate> candidates = {};
  std::optional<TrimmedVocabulary> vocabulary = {};
  std::optional<ShrunkModelResult> judged = {};
  std::optional<GateResult> gate = {};
  std::optional<std::string> loadable = {};
  std::optional<ShrunkModelResult> packed = {};
};
const Fields& fields_of(const ShrinkFields*);
/// `models` are the written ones, the judged one first; empty if nothing became smaller.
ShrinkFields shrink_fields(const ShrinkFindings& findings, const std::vector<ShrunkModel>& models);

}  // namespace hone
