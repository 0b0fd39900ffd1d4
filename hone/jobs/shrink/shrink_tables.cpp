#include "hone/jobs/shrink/shrink_tables.h"

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/native/native_times.h"
#include "hone/models/transform.h"
#include "hone/study/change_headline.h"

namespace hone {
namespace {

using Cells = std::vector<Cell>;

/// A table that compares models with their baseline.
class BaselineTable {
 public:
  explicit BaselineTable(const std::vector<ShrunkModel>& models)
      : models_(models), table_(columns_of(models)) {}

  /// Adds a row; `after` returns the value of a model and its change.
  template <typename After>
  void add(const std::string& what, const Cell& before, const After& after) {
    Cells cells = {what, before};
    for (const ShrunkModel& model : models_)
      for (Cell& cell : after(model)) cells.push_back(std::move(cell));
    table_.add_row(std::move(cells));
  }

  /// Adds a row for a size, unless it is 0 (not known).
  template <typename SizeOf, typename Text>
  void add_size(const std::string& what, const SizeOf& size_of, const Text& text) {
    const double before = size_of(models_.front().size_and_time.size_before);
    if (before == 0) return;
    add(what, text(before), [&](const ShrunkModel& model) {
      const double after = size_of(model.size_and_time.size);
      return Cells{text(after), size_change(before, after)};
    });
  }

  Table take() && { return std::move(table_); }

 private:
  static std::vector<Column> columns_of(const std::vector<ShrunkModel>& models) {
    std::vector<Column> columns = {{"what", "What"}, {"before", "Baseline"}};
    for (const ShrunkModel& model : models) {
      const bool alone = models.size() == 1, first = &model == &models.front();
      columns.push_back(
          {first ? "after" : "packed",
           alone ? "Compressed" : fmt::format("{} ({})", model.name, model.arithmetic)});
      columns.push_back({first ? "change" : "packed_change",
                         alone ? "Change (95% CI)" : fmt::format("Change of {}", model.name)});
    }
    return columns;
  }

  const std::vector<ShrunkModel>& models_;
  Table table_;
};

// "within limit, chosen", "inconclusive for recall of science, most promising"
Cell result_cell(const ShrinkFindings& f, const JudgedCandidate& one) {
  if (!one.measured) return "failed";
  const std::string verdict = candidate_verdict(*one.measured, f.gates);
  const Cell cell(one.chosen
                      ? fmt::format("{}, {}", verdict, f.proven ? "chosen" : "most promising")
                      : verdict);
  return toned(cell, one.within_limit() ? Tone::good : Tone::plain);
}

Cell change_cell(const JudgedCandidate& one) {
  if (!one.measured) return absent;
  const auto& [low, high] = one.measured->change_interval;
  return fmt::format("{:+.2f} ({:+.2f} to {:+.2f})", 100 * one.measured->change, 100 * low,
                     100 * high);
}

// "12.0", "0.4, reused"
std::string took_text(const JudgedCandidate& one) {
  return one.measured
             ? fmt::format("{:.1f}{}", one.measured->seconds, one.trained_before ? ", reused" : "")
             : "–";
}

// "61.6% (58.0 to 66.2)"; if rounds vary much, "11.8% to 416.2%, noisy".
Cell latency_cell(const std::optional<CandidateMeasurement>& measured, double ShrinkShares::*share,
                  std::optional<Interval> CandidateMeasurement::*interval) {
  if (!measured) return absent;
  const double value = 100 * (*measured).shares.*share;
  const std::optional<Interval>& within = (*measured).*interval;
  if (!within) return fmt::format("{:.1f}%", value);
  if (Speedup{.value = value, .interval = within}.noisy())
    return fmt::format("{:.1f}% to {:.1f}%, noisy", 100 * within->low, 100 * within->high);
  return fmt::format("{:.1f}% ({:.1f} to {:.1f})", value, 100 * within->low, 100 * within->high);
}

std::string latency_header(const ShrinkFindings& f) {
  return fmt::format("Latency per example, batch size {}", f.timer.batch_size());
}

// "15.1% (19.8%)"
Cell measured_and_predicted(const JudgedCandidate& one, double ShrinkShares::*share) {
  return fmt::format("{} ({})", one.measured ? share_text(one.measured->shares.*share) : "–",
                     share_text(one.predicted.shares.*share));
}

}  // namespace

Table before_and_after_table(const std::vector<ShrunkModel>& models) {
  BaselineTable table(models);
  table.add_size(
      "Size", [](const ModelSize& size) { return static_cast<double>(size.stored_bytes); },
      short_bytes);
  table.add_size(
      "Parameters", [](const ModelSize& size) { return static_cast<double>(size.parameters); },
      [](double count) { return grouped(std::llround(count)); });
  const auto ms_text = [](double ms) { return three_digits(ms) + " ms"; };
  const std::vector<ModelTimes>& times = models.front().size_and_time.times;
  for (std::size_t i = 0; i < times.size(); ++i)
    table.add(fmt::format("Latency per example, batch size {}", times[i].batch_size),
              ms_text(times[i].times.before.median_ms), [&](const ShrunkModel& model) {
                const TimesInTurn& own = model.size_and_time.times[i].times;
                return Cells{ms_text(own.after.median_ms), speedup_text(own)};
              });
  const TaskEvaluation& before = models.front().both.before.evaluation;
  table.add(metric_title(before.metric), share_text(before.value), [](const ShrunkModel& model) {
    return Cells{share_text(model.both.after.evaluation.value),
                 points_change(model.both.comparison)};
  });
  table.add(flips_fact(models.front().both.comparison).name, absent, [](const ShrunkModel& model) {
    return Cells{absent, flips_fact(model.both.comparison).value};
  });
  return std::move(table).take();
}

Table other_sizes_table(const std::vector<ShrunkModel>& models) {
  BaselineTable table(models);
  table.add_size(
      "Weights in memory",
      [](const ModelSize& size) { return static_cast<double>(size.memory_bytes); }, short_bytes);
  table.add_size(
      "File with the weights",
      [](const ModelSize& size) { return static_cast<double>(size.disk_bytes.value_or(0)); },
      short_bytes);
  return std::move(table).take();
}

Table candidate_table(const ShrinkFindings& f) {
  Table table({{"candidate", "Candidate"},
               {"recipe", "Recipe"},
               {"size_share", "Size (predicted)"},
               {"latency_share", latency_header(f) + " (predicted)"},
               {"chance", "Predicted chance"},
               {"change", "Change (95% CI)"},
               {"flip_share", "Predictions changed"},
               {"p_value", "p"},
               {"verdict", "Result"},
               {"seconds", "Took (predicted), s"}});
  for (const JudgedCandidate& one : f.points) {
    const auto& measured = one.measured;
    table.add_row(
        {one.number, one.recipe, measured_and_predicted(one, &ShrinkShares::bytes),
         measured_and_predicted(one, &ShrinkShares::batch_latency),
         percent(one.predicted.chance, 0), change_cell(one),
         measured && measured->flip_share ? percent(*measured->flip_share, 2) : Cell(absent),
         measured ? p_value(measured->p_value) : Cell(absent), result_cell(f, one),
         fmt::format("{} ({:.1f})", took_text(one), one.predicted.seconds)});
  }
  return table;
}

Table brief_candidate_table(const ShrinkFindings& f) {
  Table table({{"candidate", "Candidate"},
               {"size_share", "Size"},
               {"latency_share", latency_header(f)},
               {"batch_1_latency_share", "Latency per example, batch size 1"},
               {"change", "Change (95% CI)"},
               {"verdict", "Result"},
               {"seconds", "Took (s)"},
               {"recipe", "Recipe"}});
  for (const JudgedCandidate& one : f.points) {
    const bool timed = one.measured && !one.trained_before;
    table.add_row({one.number, one.measured ? percent(one.measured->shares.bytes) : Cell(absent),
                   latency_cell(one.measured, &ShrinkShares::batch_latency,
                                &CandidateMeasurement::batch_latency_interval),
                   latency_cell(one.measured, &ShrinkShares::batch1_latency,
                                &CandidateMeasurement::batch1_latency_interval),
                   change_cell(one), result_cell(f, one),
                   timed ? real(one.measured->seconds, 1) : Cell(took_text(one)), one.recipe});
  }
  return table;
}

Table layer_format_table(const Model& model) {
  Table table({{"layer", "Layer"},
               {"weight", "Weight"},
               {"input", "Input"},
               {"shape", "Shape"},
               {"remark", "Remark"}});
  if (!model.quantization) return table;
  const Graph graph = unquantized_graph(model);
  const auto text = [](const std::optional<Format>& format) {
    return format ? Cell(to_string(*format)) : Cell(kFloat);
  };
  for (const auto& [layer, formats] : model.quantization->plan) {
    const Node* node = graph.find(layer);
    // Embedding tables are indexed by rows, so their input has no format.
    Cell shape = absent, input = absent, remark = absent;
    if (node != nullptr && node->is(kDefaultLayer)) {
      const std::int64_t outputs = node->types()[0].dim(-1).size,
                         inputs = node->input_types()[0].dim(-1).size;
      input = text(formats.input);
      shape = Cell::List{outputs, inputs};
      if (formats.input && !has_native_panels(outputs))
        remark = fmt::format("packed, multiplied in fp32: {}", no_native_product(outputs, inputs));
    }
    table.add_row({layer, text(formats.weight), input, shape, remark});
  }
  return table;
}

}  // namespace hone
