#include "hone/jobs/native/native_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "hone/base/text.h"
#include "hone/jobs/size_and_time.h"
#include "hone/metrics/evidence.h"
#include "hone/study/change_headline.h"

namespace hone {
namespace {

std::string mebibytes_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

std::string formats_text(const LayerFormats& formats) {
  return formats.weight ? to_string(*formats.weight) : "fp32";
}

std::string bytes_text(const NativeFindings& found) {
  const ModelSize &before = found.size_before, &after = found.size;
  return fmt::format("Weights: {} (baseline {}, {}); {} in memory (baseline {}).",
                     mebibytes_text(after.stored_bytes), mebibytes_text(before.stored_bytes),
                     size_change(static_cast<double>(before.stored_bytes),
                                 static_cast<double>(after.stored_bytes)),
                     mebibytes_text(after.memory_bytes), mebibytes_text(before.memory_bytes));
}

// "a, b, c and 5 more"
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  const std::size_t shown = names.size() > kMost + 1 ? kMost : names.size();
  std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Counts layers and embedding tables in the requested format.
std::ptrdiff_t count_as_requested(const NativeFindings& found) {
  return std::ranges::count_if(found.layers,
                               [](const NativeLayer& layer) { return layer.reason.empty(); });
}

// "16 of 17 layers (embedding tables included) have the requested format.", "classifier stays in fp32: …", grouped by
// reason.
std::vector<std::string> format_lines(const NativeFindings& found) {
  std::vector<std::pair<std::string, std::vector<std::string>>> others;
  for (const NativeLayer& layer : found.layers) {
    if (layer.reason.empty()) continue;
    const std::string what = fmt::format("in {}: {}", formats_text(layer.formats), layer.reason);
    auto at = std::ranges::find(others, what, [](const auto& other) { return other.first; });
    if (at == others.end()) at = others.insert(at, {what, {}});
    at->second.push_back(
        layer.widened ? fmt::format("{} ({:.1f} dB alone)", layer.name, layer.snr_db.value_or(0))
                      : layer.name);
  }
  std::vector<std::string> lines = {
      fmt::format("{} of {} layers (embedding tables included) have the requested format.",
                  count_as_requested(found), found.layers.size())};
  for (const auto& [what, names] : others)
    lines.push_back(
        fmt::format("{} {} {}.", names_text(names), names.size() == 1 ? "stays" : "stay", what));
  return lines;
}

// "Native products round their inputs to int(bits=8,per=token): query, key and 14 more."
std::vector<std::string> input_lines(const NativeFindings& found) {
  std::vector<std::pair<std::string, std::vector<std::string>>> formats;
  for (const NativeLayer& layer : found.layers) {
    if (!layer.formats.input) continue;
    const std::string text = short_text(*layer.formats.input);
    auto at = std::ranges::find(formats, text, [](const auto& one) { return one.first; });
    if (at == formats.end()) at = formats.insert(at, {text, {}});
    at->second.push_back(layer.name);
  }
  std::vector<std::string> lines;
  for (const auto& [format, names] : formats)
    lines.push_back(formats.size() == 1
                        ? fmt::format("Native products round their inputs to {}.", format)
                        : fmt::format("Native products round their inputs to {}: {}.", format,
                                      names_text(names)));
  return lines;
}

// "Smooth scales are used at 2 of 6 places: …"
std::string smooth_text(const NativeFindings& found) {
  const auto applied = std::ranges::count_if(found.smooth, &SmoothScales::applies);
  if (applied == 0)
    return found.smooth.empty()
               ? "No smooth scales are used: no layer supports them."
               : fmt::format(
                     "No smooth scales are used: they raise the output SNR too little at {} {}.",
                     found.smooth.size(),
                     found.smooth.size() == 1 ? "place that supports them"
                                              : "places that support them");
  const std::string text =
      fmt::format("Smooth scales are used at {} of {} places", applied, found.smooth.size());
  double least = 1e9, most = 0;
  for (const SmoothScales& one : found.smooth)
    if (one.applies()) {
      least = std::min(least, one.snr_after_db - one.snr_before_db);
      most = std::max(most, one.snr_after_db - one.snr_before_db);
    }
  const std::string low = fmt::format("{:.2f}", least), high = fmt::format("{:.2f}", most);
  return text + fmt::format(", where they raise the output SNR by {} dB on calibration examples.",
                            low == high ? low : fmt::format("{} to {}", low, high));
}

std::vector<std::string> native_layers(const NativeFindings& found, const ProductTimes& product) {
  std::vector<std::string> names;
  for (const NativeLayer& layer : found.layers)
    if (layer.formats.input &&
        std::ranges::find(product.layers, layer.name) != product.layers.end())
      names.push_back(layer.name);
  return names;
}

// Returns the verdict on the chosen plan, on the split that decides; none if it is all fp32, which is not measured.
const GateVerdict* verdict_of_choice(const Widening& widening) {
  const auto taken = std::ranges::find(widening.tried, widening.steps, &WideningTrial::steps);
  return taken == widening.tried.end() ? nullptr : &taken->verdict;
}

// "Wider formats, chosen on validation, n = 2,000: 3 of 15 steps, costliest layers first; 5 plans tried. …"
std::string widening_text(const Widening& widening) {
  std::string text =
      fmt::format("Wider formats, chosen on {}: ",
                  split_text(widening.part, widening.examples, widening.effective_examples));
  text += widening.steps == 0
              ? "none needed"
              : fmt::format("{} of {} steps, costliest layers first; {} plans tried",
                            widening.steps, widening.all_steps, widening.tried.size());
  if (const GateVerdict* shown = verdict_of_choice(widening))
    text += fmt::format(". The chosen plan there: {}", shown->summary);
  return text + ".";
}

Table smooth_table(const NativeFindings& found) {
  Table table({{"value", "Input"},
               {"linear_layers", "Linear layers"},
               {"where", "Applied in"},
               {"snr_before_db", "Output SNR without (dB)"},
               {"snr_after_db", "With best scales (dB)"},
               {"alpha", "α"}});
  for (const SmoothScales& one : found.smooth)
    table.add_row({one.group.value, std::ssize(one.group.linears),
                   one.group.free() ? one.group.rows.front() : "an extra multiplication",
                   real(one.snr_before_db, 2), real(one.snr_after_db, 2),
                   one.applies() ? real(one.alpha, 2) : Cell(absent)});
  return table;
}

// Lists how many layers skip zeros, and the bytes that zeros save.
std::vector<std::string> zeros_lines(const NativeFindings& found) {
  if (!found.skipping) return {};
  std::vector<std::string> lines = lines_of(*found.skipping);
  if (found.left_out_bytes > 0)
    lines.push_back(
        fmt::format("The file leaves out {} of zeros.", mebibytes_text(found.left_out_bytes)));
  return lines;
}

std::vector<std::string> size_lines(const NativeFindings& found) {
  std::vector<std::string> lines;
  for (const ModelTimes& times : found.times) lines.push_back(times_line(times, found.threads));
  lines.push_back(bytes_text(found));
  std::ranges::move(zeros_lines(found), std::back_inserter(lines));
  return lines;
}

// Lists formats and methods by layer.
std::vector<std::string> layer_lines(const NativeFindings& found) {
  std::vector<std::string> lines = format_lines(found);
  std::ranges::move(input_lines(found), std::back_inserter(lines));
  if (found.methods.smooth_scales) lines.push_back(smooth_text(found));
  if (found.methods.bias_correction)
    lines.push_back("Biases are corrected for the mean error of the rounded weights.");
  if (found.widening && !found.widening->too_few_examples)
    lines.push_back(widening_text(*found.widening));
  return lines;
}

}  // namespace

std::string baseline_text(const NativeFindings& found) {
  const std::string zeros = to_text(found.zeros_before);
  return zeros.empty() ? "fp32" : "fp32, " + zeros;
}

std::string coverage_text(const NativeFindings& found) {
  const std::ptrdiff_t as_asked = count_as_requested(found), all = std::ssize(found.layers),
                       wider = std::ranges::count_if(found.layers, &NativeLayer::widened);
  if (as_asked == all) return "";
  return fmt::format(" in {} of {} layers", as_asked, all) +
         (wider == 0 ? "" : fmt::format(", {} wider", wider));
}

Fact layers_fact(const NativeFindings& found, const std::string& keep_slower) {
  const std::ptrdiff_t as_asked = count_as_requested(found), all = std::ssize(found.layers),
                       wider = std::ranges::count_if(found.layers, &NativeLayer::widened),
                       slower = std::ranges::count_if(found.layers, &NativeLayer::slower),
                       others = all - as_asked - wider - slower;
  std::string layers = fmt::format("{} of {} in the requested format", as_asked, all);
  if (slower > 0)
    layers += fmt::format("; {} kept in fp32, which is faster there ({} quantizes all)", slower,
                          keep_slower);
  if (others > 0) layers += fmt::format("; {} without a native kernel", others);
  if (wider > 0) layers += fmt::format("; {} wider to stay within the limits", wider);
  if (found.skipping)
    layers += fmt::format("; {} of {} linear layers skip zeros", found.skipping->skipping_layers(),
                          found.skipping->linear_layers);
  return {"Layers", layers};
}

std::string format_text(const NativeFindings& found, const Format& requested) {
  const auto wider = std::ranges::count_if(found.layers, &NativeLayer::widened);
  return wider == 0
             ? to_string(requested)
             : fmt::format("{}, {} of {} wider", to_string(requested), wider, found.layers.size());
}

Table native_table(const std::vector<ComparedModel>& models, const NativeFindings& found) {
  const Table compared = comparison_table(models);
  std::vector<Column> columns = compared.columns();
  columns.push_back({"stored_bytes", "Size"});
  columns.push_back({"memory_bytes", "In memory"});
  for (const ModelTimes& times : found.times)
    columns.push_back({times.batch_size == 1 ? "ms_alone" : "ms",
                       fmt::format("Latency per example, batch size {} (ms)", times.batch_size)});
  Table table(std::move(columns));
  for (std::size_t row = 0; row < compared.rows().size(); ++row) {
    std::vector<Cell> cells = compared.rows()[row];
    const ModelSize& size = row == 0 ? found.size_before : found.size;
    cells.push_back(bytes(size.stored_bytes));
    cells.push_back(bytes(size.memory_bytes));
    for (const ModelTimes& times : found.times)
      cells.push_back(real((row == 0 ? times.times.before : times.times.after).median_ms, 3));
    table.add_row(std::move(cells));
  }
  return table;
}

Table products_table(const NativeFindings& found) {
  Table table({{"shape", "Product"},
               {"layers", "Layers"},
               {"fp32_ms", "fp32, fastest (ms)"},
               {"fp32_median_ms", "fp32, median (ms)"},
               {"native_ms", "Native, fastest (ms)"},
               {"native_median_ms", "Native, median (ms)"},
               {"speedup", "Speedup"},
               {"native", "Native layers"}});
  for (const ProductTimes& one : found.products) {
    const auto is_native = [&](const NativeLayer& layer) {
      return layer.formats.weight && std::ranges::find(one.layers, layer.name) != one.layers.end();
    };
    std::vector<Cell> row = {
        fmt::format("{}×{} by {}×{}", one.rows, one.inputs, one.inputs, one.outputs),
        std::ssize(one.layers)};
    const TimesInTurn t = one.times.value_or(TimesInTurn());
    for (const double ms : {t.before.min_ms, t.before.median_ms, t.after.min_ms, t.after.median_ms})
      row.push_back(one.times ? real(ms, 3) : Cell(absent));
    row.push_back(one.times
                      ? number_within(t.speedup, t.speedup_interval.low, t.speedup_interval.high)
                      : Cell(absent));
    row.push_back(static_cast<std::int64_t>(std::ranges::count_if(found.layers, is_native)));
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<std::string> lines_of(const NativeFindings& found) {
  std::vector<std::string> lines = size_lines(found);
  std::ranges::move(layer_lines(found), std::back_inserter(lines));
  return lines;
}

std::vector<std::string> native_concerns(const NativeFindings& found) {
  std::vector<std::string> concerns;
  const bool has_slower_layer = std::ranges::any_of(found.products, [&](const ProductTimes& one) {
    return one.times && one.times->shown_slower() && !native_layers(found, one).empty();
  });
  for (const ModelTimes& one : found.times)
    if (one.times.shown_slower())
      concerns.push_back(fmt::format(
          "on this machine the native model is slower than fp32 at batch size {}: {}{}",
          one.batch_size, speedup_text(one.times),
          one.batch_size != found.times.front().batch_size
              ? fmt::format("; layers are timed at batch size {}", found.times.front().batch_size)
          : has_slower_layer ? ""
                             : ", though no single layer is shown to be; packed embedding tables "
                               "also take longer to read"));
  for (const ProductTimes& one : found.products) {
    const std::vector<std::string> kept = native_layers(found, one);
    if (one.times && one.times->shown_slower() && !kept.empty())
      concerns.push_back(fmt::format("native layers that are slower than fp32, {}: {}",
                                     speedup_text(*one.times), names_text(kept)));
  }
  if (found.widening && found.widening->too_few_examples)
    concerns.push_back(
        fmt::format("{} examples of {} are too few to show that even fp32 passes the gates, so no "
                    "layer was kept wider; use more examples, or gates that allow a larger drop",
                    grouped(found.widening->examples), found.widening->part));
  return concerns;
}

std::vector<Section> sections_of(const NativeFindings& found) {
  Table layers({{"layer", "Layer"},
                {"format", "Format"},
                {"snr_db", "SNR alone (dB)"},
                {"reason", "Reason"}});
  for (const NativeLayer& layer : found.layers)
    layers.add_row({layer.name, formats_text(layer.formats),
                    layer.snr_db ? real(*layer.snr_db, 1) : Cell(absent),
                    layer.reason.empty() ? Cell(absent) : Cell(layer.reason)});
  std::vector<Block> about_layers = paragraphs(layer_lines(found));
  about_layers.emplace_back(
      PageTable{layers,
                "SNR alone: signal-to-noise ratio of the model's outputs on calibration examples "
                "with this layer in the requested format and all others in fp32."});
  std::vector<Section> sections = {
      {"Size and latency", paragraphs(size_lines(found)), /*folded=*/true},
      {"Layers", std::move(about_layers), /*folded=*/true},
      {"Products",
       {PageTable{products_table(found),
                  fmt::format("Each product alone, with its input rounded, against fp32 in {} "
                              "paired rounds. Speedup: the median ratio of paired rounds, which "
                              "can point another way than the medians. A layer stays in fp32 if "
                              "the whole 95% CI of its speedup is below 1, unless slower layers "
                              "are converted on request.",
                              kProductRounds)}},
       /*folded=*/true}};
  if (!found.smooth.empty())
    sections.push_back(
        {"Smooth scales",
         {PageTable{
             smooth_table(found),
             fmt::format("Signal-to-noise ratio of the layers' outputs with rounded weights and "
                         "inputs, on samples of calibration examples. Scales are used where they "
                         "gain {} dB, or {} dB where they need an extra multiplication.",
                         kFreeGainDb, kPaidGainDb)}},
         /*folded=*/true});
  return sections;
}

const Fields& fields_of(const NativeLayerResult*) {
  using L = NativeLayerResult;
  static const Fields fields = describe<L>(
      "native_layer", "The format of a layer or an embedding table.",
      field<&L::layer>("layer", "Its name."),
      field<&L::format>("format", "Format of its weight; fp32: unchanged."),
      field<&L::input_format>("input_format", "Format of its input; null: none."),
      field<&L::snr_db>("snr_db", Unit::decibels,
                        "Signal-to-noise ratio of the model's outputs on calibration examples, "
                        "with this layer alone in the requested format. Null: not measured, or "
                        "nothing is lost."),
      field<&L::reason>("reason", "Why its format is not the requested one; null: it is."));
  return fields;
}

const Fields& fields_of(const SmoothGroupResult*) {
  using S = SmoothGroupResult;
  static const Fields fields = describe<S>(
      "smooth_group",
      "Linear layers that read one value, whose channels can be divided by powers of two.",
      field<&S::value>("value", "Node that computes the value."),
      field<&S::linear_layers>("linear_layers", "Layers that read it."),
      field<&S::free>("free",
                      "Whether parameters absorb the scales; otherwise a multiplication is added."),
      field<&S::alpha>("alpha",
                       "Share of the range that moves into the weights; null: no scales are used."),
      field<&S::snr_before_db>("snr_before_db", Unit::decibels,
                               "Signal-to-noise ratio of the layers' outputs on calibration "
                               "examples, without scales; null: nothing is lost.")
          .or_null(),
      field<&S::snr_after_db>("snr_after_db", Unit::decibels,
                              "The same with the best scales that were tried.")
          .or_null());
  return fields;
}

std::vector<NativeLayerResult> layer_results(const NativeFindings& found) {
  std::vector<NativeLayerResult> results;
  for (const NativeLayer& layer : found.layers) {
    NativeLayerResult result{
        .layer = layer.name, .format = formats_text(layer.formats), .snr_db = layer.snr_db};
    if (layer.formats.input) result.input_format = to_string(*layer.formats.input);
    if (!layer.reason.empty()) result.reason = layer.reason;
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<SmoothGroupResult> smooth_results(const NativeFindings& found) {
  std::vector<SmoothGroupResult> results;
  for (const SmoothScales& one : found.smooth)
    results.push_back({.value = one.group.value,
                       .linear_layers = one.group.linears,
                       .free = one.group.free(),
                       .alpha = one.applies() ? std::optional(one.alpha) : std::nullopt,
                       .snr_before_db = one.snr_before_db,
                       .snr_after_db = one.snr_after_db});
  return results;
}

}  // namespace hone
