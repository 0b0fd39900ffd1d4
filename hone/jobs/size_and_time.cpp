#include "hone/jobs/size_and_time.h"

#include <cmath>

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::int64_t kTextsAtATime = 8;

// "540,674 parameters, 738,178 before: 26.8% less.", "738,178 parameters, as before."
std::string parameters_text(std::int64_t after, std::int64_t before) {
  if (after == before) return fmt::format("{} parameters, as before.", grouped(after));
  const double less = 100 * (1 - static_cast<double>(after) / static_cast<double>(before));
  return fmt::format("{} parameters, {} before: {:.1f}% {}.", grouped(after), grouped(before),
                     std::fabs(less), less > 0 ? "less" : "more");
}

std::string bytes_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

Json to_json(const RoundTimes& times) {
  return {{"min_ms", times.min_ms}, {"median_ms", times.median_ms}};
}

}  // namespace

std::string times_line(const ModelTimes& one, int threads) {
  const TimesInTurn& times = one.times;
  const bool texts = one.noun == "texts";
  const std::string way = one.at_a_time == 1
                              ? fmt::format("One {} at a time", texts ? "text" : "image")
                              : fmt::format("{} {} at a time", one.at_a_time, one.noun);
  const std::string tokens =
      !texts ? ""
      : one.tokens == one.tokens_after
          ? fmt::format(" of {:.1f} tokens on average", one.tokens)
          : fmt::format(" of {:.1f} tokens on average before and {:.1f} after", one.tokens,
                        one.tokens_after);
  return fmt::format(
      "{}: {}, by the median ratio of {} rounds in turn; {} ms each in the fastest round and {} in "
      "the median one, {} and {} before; {} {}{}, {}.",
      way, speedup_text(times), kTimedRounds, three_digits(times.after.min_ms),
      three_digits(times.after.median_ms), three_digits(times.before.min_ms),
      three_digits(times.before.median_ms), grouped(one.texts), one.noun, tokens,
      threads == 1 ? "one thread" : fmt::format("{} threads", threads));
}

SizeAndTime size_and_time(const TextModel& before, const EncodedSet& texts, const Model& after,
                          const EncodedSet& texts_after, const fs::path& folder, Context& context) {
  return {.size_before = model_size(before.model, before.folder),
          .size = model_size(after, folder),
          .times = time_models(before.model, after, texts, kTextsAtATime, context, &texts_after),
          .threads = context.pool.threads(),
          .loading = transformers_loading(after)};
}

std::vector<std::string> lines_of(const SizeAndTime& found) {
  const ModelSize &before = found.size_before, &after = found.size;
  std::string disk;
  if (after.disk_bytes) disk += fmt::format(", {} on disk", bytes_text(*after.disk_bytes));
  if (after.disk_bytes && before.disk_bytes)
    disk += fmt::format(" ({} before)", bytes_text(*before.disk_bytes));
  std::vector<std::string> lines = {
      fmt::format("{} Weights: {} in memory ({} before){}.",
                  parameters_text(after.parameters, before.parameters),
                  bytes_text(after.memory_bytes), bytes_text(before.memory_bytes), disk)};
  if (after.quantized && !after.packed)
    lines.push_back(fmt::format("Packed in their formats the weights would take {} ({} before).",
                                bytes_text(after.packed_bytes), bytes_text(before.packed_bytes)));
  for (const ModelTimes& one : found.times) lines.push_back(times_line(one, found.threads));
  return lines;
}

Json to_json(const SizeAndTime& found) {
  Json times = Json::array();
  for (const ModelTimes& one : found.times)
    times.push_back(
        {{"texts_at_a_time", one.at_a_time},
         {"texts", one.texts},
         {"tokens_before", one.tokens},
         {"tokens_after", one.tokens_after},
         {"before", to_json(one.times.before)},
         {"after", to_json(one.times.after)},
         {"speedup", one.times.speedup},
         {"speedup_interval", {one.times.speedup_interval.low, one.times.speedup_interval.high}}});
  Json json = {{"size_before", to_json(found.size_before)},
               {"size", to_json(found.size)},
               {"times", times},
               {"threads", found.threads}};
  json.update(to_json(found.loading));
  return json;
}

Json to_json(const TransformersLoading& loading) {
  return {{"others_load", loading.loads()},
          {"others_load_reason", loading.loads() ? Json() : Json(loading.reason)}};
}

}  // namespace hone
