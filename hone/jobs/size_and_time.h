#pragma once

#include <string>
#include <vector>

#include "hone/jobs/native/native_times.h"
#include "hone/models/model_size.h"
#include "hone/models/model_source.h"

/// What a model takes beside the one it was made of: parameters, bytes and time.
namespace hone {

struct SizeAndTime {
  ModelSize size_before = {}, size = {};
  std::vector<ModelTimes> times = {};  ///< some texts at a time, then one
  int threads = 1;                     ///< that all of it was timed with
  bool others_load = true;             ///< see `others_load`
};

/// Sizes and times of `before` and `after`, which was written to `folder`. Both are timed in turn on their texts: those of
/// `texts_after` are `texts` as the tokenizer after has them. Throws `Interrupted`.
SizeAndTime size_and_time(const TextModel& before, const EncodedSet& texts, const Model& after,
                          const EncodedSet& texts_after, const fs::path& folder, Context& context);

/// Whether transformers finds the weights of a model that was written to `folder`, for what its config says.
bool others_load(const Model& model, const fs::path& folder);
/// Who can load it, and why others cannot: a sentence or two.
std::string loading_text(const Model& model, const fs::path& folder);

/// A sentence each: parameters, bytes, times.
std::vector<std::string> lines_of(const SizeAndTime& found);

/// "32 texts at a time: 1.84 times as fast (95 %: 1.79 to 1.90), by the median ratio of 12 rounds in turn; …"
std::string times_line(const ModelTimes& one, int threads);

/// `size_before`, `size`, `times`, `threads`, `others_load`.
Json to_json(const SizeAndTime& found);

}  // namespace hone
