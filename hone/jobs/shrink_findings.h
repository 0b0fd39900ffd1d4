#pragma once

#include <string>
#include <vector>

#include "hone/jobs/native_times.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"

/// What a model whose shapes shrank takes beside the one it was made of: parameters, bytes and time.
namespace hone {

struct ShrinkFindings {
  ModelSize size_before = {}, size = {};
  std::vector<ModelTimes> times = {};  ///< some texts at a time, then one
  int threads = 1;                     ///< that all of it was timed with
};

/// Sizes and times of `before` and `after`, which was written to `folder`. Both are timed in turn on their texts: those of
/// `texts_after` are `texts` as the tokenizer after has them. Throws `Interrupted`.
ShrinkFindings shrink_findings(const TextModel& before, const EncodedSet& texts, const Model& after,
                               const EncodedSet& texts_after, const fs::path& folder,
                               Context& context);

/// A sentence each: parameters, bytes, times.
std::vector<std::string> lines_of(const ShrinkFindings& found);

/// `size_before`, `size`, `times`, `threads`.
Json to_json(const ShrinkFindings& found);

}  // namespace hone
