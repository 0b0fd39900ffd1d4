#pragma once

#include <string>
#include <vector>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/native/native_times.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"

/// What a model takes beside the one it was made of: parameters, bytes and time.
namespace hone {

struct SizeAndTime {
  ModelSize size_before = {}, size = {};
  std::vector<ModelTimes> times = {};  ///< some texts at a time, then one
  int threads = 1;                     ///< that all of it was timed with
  TransformersLoading loading = {};    ///< of what it is now
};

/// Sizes and times of `before` and `after`, which was written to `folder`. Both are timed in turn on their texts: those of
/// `texts_after` are `texts` as the tokenizer after has them. Throws `Interrupted`.
SizeAndTime size_and_time(const TextModel& before, const EncodedSet& texts, const Model& after,
                          const EncodedSet& texts_after, const fs::path& folder, Context& context);

/// A sentence each: parameters, bytes, times.
std::vector<std::string> lines_of(const SizeAndTime& found);

/// "32 texts at a time: 1.84 times as fast (95% CI 1.79 to 1.90), by the median ratio of 12 rounds in turn; …"
std::string times_line(const ModelTimes& one, int threads);

/// `size_before`, `size`, `times`, `threads`, and as the next one.
Json to_json(const SizeAndTime& found);

/// `others_load`, `others_load_reason`.
Json to_json(const TransformersLoading& loading);

}  // namespace hone
