#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/model_times.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"
#include "hone/report/document.h"

/// Parameters, bytes and latency of a compressed model and its baseline.
namespace hone {

struct SizeAndTime {
  ModelSize size_before = {}, size = {};
  SavedBytes when_packed = {};         ///< of the compressed model, see `bytes_when_packed`
  std::vector<ModelTimes> times = {};  ///< by batch size, single examples last; empty: not measured
  int threads = 1;                     ///< used for all timings
  TransformersLoading loading = {};    ///< of the compressed model
  std::string models = {};             ///< both, for `noise_warning`
};

/// Returns everything but the latencies of `before` and of `after`, which was written to `folder`.
SizeAndTime size_without_time(const TextModel& before, const Model& after, const fs::path& folder,
                              Context& context);

/// Measures sizes and latencies of `before` and of `after`, which was written to `folder` (`time_models`).
/// `texts_after` are `texts` encoded by the tokenizer of `after`. Throws like `time_models`.
SizeAndTime size_and_time(const TextModel& before, const EncodedSet& texts, const Model& after,
                          const EncodedSet& texts_after, const fs::path& folder, Context& context);

/// Returns sentences on parameters, bytes and latency.
std::vector<std::string> lines_of(const SizeAndTime& found);

/// Returns {"Size", "2.82 MiB → 181 KiB (16× smaller)"}, and the latency at each batch size.
std::vector<Fact> size_and_latency_facts(const SizeAndTime& found);

/// Returns `lines_of` as a folded section.
Section size_and_latency_section(const SizeAndTime& found);

/// `TransformersLoading` in results.
struct LoadingResult {
  bool others_load = true;
  std::optional<std::string> others_load_reason = {};
};
const Fields& fields_of(const LoadingResult*);
LoadingResult loading_result(const TransformersLoading& loading);

/// `SizeAndTime` in results.
struct SizeAndTimeResult {
  ModelSize size_before = {}, size = {};
  std::vector<ModelTimes> times = {};
  int threads = 1;
  LoadingResult loading = {};
};
const Fields& fields_of(const SizeAndTimeResult*);
SizeAndTimeResult size_and_time_result(const SizeAndTime& found);

/// Returns "16× smaller", "1.02× larger" or "the same".
std::string size_change(double before, double after);

/// Returns "16× smaller, 6.6× faster": the stored bytes, and the first of `times`.
std::string size_and_speed(const ModelSize& before, const ModelSize& after,
                           const std::vector<ModelTimes>& times);

}  // namespace hone
