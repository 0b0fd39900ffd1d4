#include "hone/jobs/shrink_findings.h"

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::int64_t kTextsAtATime = 8;

double less(std::int64_t after, std::int64_t before) {
  return 100 * (1 - static_cast<double>(after) / static_cast<double>(before));
}

std::string bytes_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

Json to_json(const RoundTimes& times) {
  return {{"min_ms", times.min_ms}, {"median_ms", times.median_ms}};
}

std::string times_line(const ModelTimes& one, int threads) {
  const TimesInTurn& times = one.times;
  const std::string way =
      one.at_a_time == 1 ? "One text at a time" : fmt::format("{} texts at a time", one.at_a_time);
  const std::string tokens = one.tokens == one.tokens_after
                                 ? fmt::format("{:.1f} tokens on average", one.tokens)
                                 : fmt::format("{:.1f} tokens on average before and {:.1f} after",
                                               one.tokens, one.tokens_after);
  return fmt::format(
      "{}: {}; {:.3g} ms a text at least and {:.3g} in the median, {:.3g} and {:.3g} before; {} "
      "texts of {}, {}.",
      way, speedup_text(times), times.after.min_ms, times.after.median_ms, times.before.min_ms,
      times.before.median_ms, grouped(one.texts), tokens,
      threads == 1 ? "one thread" : fmt::format("{} threads", threads));
}

}  // namespace

ShrinkFindings shrink_findings(const TextModel& before, const EncodedSet& texts, const Model& after,
                               const EncodedSet& texts_after, const fs::path& folder,
                               Context& context) {
  return {.size_before = model_size(before.model, before.folder),
          .size = model_size(after, folder),
          .times = time_models(before.model, after, texts, kTextsAtATime, context, &texts_after),
          .threads = context.pool.threads()};
}

std::vector<std::string> lines_of(const ShrinkFindings& found) {
  const ModelSize &before = found.size_before, &after = found.size;
  std::string disk;
  if (after.disk_bytes) disk += fmt::format(", {} on disk", bytes_text(*after.disk_bytes));
  if (after.disk_bytes && before.disk_bytes)
    disk += fmt::format(" ({} before)", bytes_text(*before.disk_bytes));
  std::vector<std::string> lines = {
      fmt::format("{} parameters, {} before: {:.1f} % less. Weights: {} in memory ({} before){}.",
                  grouped(after.parameters), grouped(before.parameters),
                  less(after.parameters, before.parameters), bytes_text(after.memory_bytes),
                  bytes_text(before.memory_bytes), disk)};
  for (const ModelTimes& one : found.times) lines.push_back(times_line(one, found.threads));
  return lines;
}

Json to_json(const ShrinkFindings& found) {
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
  return {{"size_before", to_json(found.size_before)},
          {"size", to_json(found.size)},
          {"times", times},
          {"threads", found.threads}};
}

}  // namespace hone
