#include "hone/jobs/size_and_time.h"

#include "hone/base/text.h"
#include "hone/study/change_headline.h"

namespace hone {
namespace {

// "540,674 parameters (baseline 738,178, 1.37× smaller).", "738,178 parameters, as in the baseline."
std::string parameters_text(std::int64_t after, std::int64_t before) {
  if (after == before) return fmt::format("{} parameters, as in the baseline.", grouped(after));
  return fmt::format("{} parameters (baseline {}, {}).", grouped(after), grouped(before),
                     size_change(static_cast<double>(before), static_cast<double>(after)));
}

std::string bytes_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

}  // namespace

SizeAndTime size_without_time(const TextModel& before, const Model& after, const fs::path& folder,
                              Context& context) {
  return {.size_before = model_size(before.model, before.folder),
          .size = model_size(after, folder),
          .when_packed = bytes_when_packed(after, context.pool),
          .threads = context.pool.threads(),
          .loading = transformers_loading(after)};
}

SizeAndTime size_and_time(const TextModel& before, const EncodedSet& texts, const Model& after,
                          const EncodedSet& texts_after, const fs::path& folder, Context& context) {
  // Times the model as users load it, because products read weights in files faster (`prepared_copies`).
  const Model written =
      load_model(folder, context.library.ops, context.library.formats, /*seed=*/0);
  SizeAndTime found = size_without_time(before, after, folder, context);
  found.times =
      time_models({before.model, texts}, {written, texts_after}, kLatencyBatches, context);
  return found;
}

std::vector<std::string> lines_of(const SizeAndTime& found) {
  const ModelSize &before = found.size_before, &after = found.size;
  std::string disk;
  if (after.disk_bytes) disk += fmt::format(", {} on disk", bytes_text(*after.disk_bytes));
  if (after.disk_bytes && before.disk_bytes)
    disk += fmt::format(" (baseline {})", bytes_text(*before.disk_bytes));
  std::vector<std::string> lines = {
      fmt::format("{} Weights: {} in memory (baseline {}){}.",
                  parameters_text(after.parameters, before.parameters),
                  bytes_text(after.memory_bytes), bytes_text(before.memory_bytes), disk)};
  const SavedBytes& packed = found.when_packed;
  if (!after.packed && (after.quantized || packed.left_out > 0))
    lines.push_back(
        packed.left_out > 0
            ? fmt::format("`hone pack` leaves out {} of zeros and stores {}.",
                          bytes_text(packed.left_out), bytes_text(packed.stored()))
            : fmt::format("`hone pack` stores the weights in {}.", bytes_text(packed.stored())));
  for (const ModelTimes& one : found.times) lines.push_back(times_line(one, found.threads));
  if (std::string warning = noise_warning(found.times, found.models); !warning.empty())
    lines.push_back(std::move(warning));
  return lines;
}

std::vector<Fact> size_and_latency_facts(const SizeAndTime& found) {
  std::vector<Fact> figures = {size_fact("Size",
                                         static_cast<double>(found.size_before.stored_bytes),
                                         static_cast<double>(found.size.stored_bytes))};
  if (!found.size.packed && has_many_zeros(found.when_packed))
    figures.push_back(size_fact("Size after hone pack",
                                static_cast<double>(found.size_before.stored_bytes),
                                static_cast<double>(found.when_packed.stored())));
  for (Fact& figure : latency_facts(found.times)) figures.push_back(std::move(figure));
  return figures;
}

Section size_and_latency_section(const SizeAndTime& found) {
  return {"Size and latency", paragraphs(lines_of(found)), /*folded=*/true};
}

const Fields& fields_of(const SizeAndTimeResult*) {
  using S = SizeAndTimeResult;
  static const Fields fields = describe<S>(
      "size_and_time", "Size and latency of a compressed model and its baseline.",
      field<&S::size_before>("size_before", "Size of the weights of the baseline."),
      field<&S::size>("size", "Size of the weights."),
      field<&S::times>("times",
                       "Latencies of batches, then of single examples; empty: not measured."),
      field<&S::threads>("threads", "Threads that were used."), inlined<&S::loading>());
  return fields;
}

SizeAndTimeResult size_and_time_result(const SizeAndTime& found) {
  return {.size_before = found.size_before,
          .size = found.size,
          .times = found.times,
          .threads = found.threads,
          .loading = loading_result(found.loading)};
}

const Fields& fields_of(const LoadingResult*) {
  using L = LoadingResult;
  static const Fields fields = describe<L>(
      "loading", "Which programs load the folder of a model.",
      field<&L::others_load>("others_load", "Whether transformers loads and computes it."),
      field<&L::others_load_reason>("others_load_reason", "Why it does not; null: it does."));
  return fields;
}

LoadingResult loading_result(const TransformersLoading& loading) {
  if (loading.loads()) return {};
  return {.others_load = false, .others_load_reason = loading.reason};
}

std::string size_change(double before, double after) {
  if (before == after) return "the same";
  return before > after ? fmt::format("{}× smaller", three_digits(before / after))
                        : fmt::format("{}× larger", three_digits(after / before));
}

std::string size_and_speed(const ModelSize& before, const ModelSize& after,
                           const std::vector<ModelTimes>& times) {
  std::string text = size_change(static_cast<double>(before.stored_bytes),
                                 static_cast<double>(after.stored_bytes));
  if (text == "the same") text = "same size";
  return fmt::format("{}, {}", text, speedup_headline(times.front().times.ratio()));
}

}  // namespace hone
