#include "hone/study/number_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/metrics/seeds.h"
#include "hone/study/class_table.h"

namespace hone {
namespace {

constexpr int kDigits = 4, kCorrelationDigits = 3;

// Keeps equal columns, so that the tables of two models can be compared.
Table table_of_numbers() {
  return Table({{"output", "Number"},
                {"r2", "R²"},
                {"rmse", "RMSE"},
                {"mae", "MAE"},
                {"pearson", "Pearson"},
                {"spearman", "Spearman"}});
}

Cell number_cell(double value, int digits) {
  return std::isnan(value) ? Cell(absent) : real(value, digits);
}

Cell correlation_cell(const Correlation& c) {
  if (std::isnan(c.value)) return absent;
  return number_within(c.value, c.interval.low, c.interval.high);
}

std::vector<Cell> error_cells(const std::string& name, const ErrorMetrics& errors, Cell r2) {
  return {name, std::move(r2), number_cell(errors.rmse, kDigits), number_cell(errors.mae, kDigits)};
}

std::vector<Cell> with(std::vector<Cell> cells, Cell pearson, Cell spearman) {
  cells.push_back(std::move(pearson));
  cells.push_back(std::move(spearman));
  return cells;
}

}  // namespace

Table number_table(const RegressionEvaluation& e, const std::vector<std::string>& outputs) {
  Table table = table_of_numbers();
  const bool one = outputs.size() == 1;
  const Cell all = percent_within(e.errors.r2, e.r2_interval.low, e.r2_interval.high);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const OutputMetrics& own = e.of_output[o];
    table.add_row(with(error_cells(outputs[o], own.errors, one ? all : percent(own.errors.r2)),
                       correlation_cell(own.pearson), correlation_cell(own.spearman)));
  }
  if (!one)
    table.add_row(with(error_cells("all, R² weighted by variance", e.errors, all),
                       number_cell(e.pearson, kCorrelationDigits),
                       number_cell(e.spearman, kCorrelationDigits)));
  table.add_row(
      with(error_cells("always the mean", e.constant_baseline, percent(e.constant_baseline.r2)),
           absent, absent));
  return table;
}

namespace {

bool any_undefined(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double value) { return std::isnan(value); });
}

// Returns the values of a few seeds, else their mean with its interval: "0.512 (0.498 to 0.526)".
Cell spread_cell(const std::vector<double>& values, int digits) {
  if (any_undefined(values)) return absent;
  const auto text = [&](double value) { return fmt::format("{:.{}f}", value, digits); };
  if (std::ssize(values) < kFewestSeeds) {
    std::string all;
    for (const double value : values) all += (all.empty() ? "" : ", ") + text(value);
    return all;
  }
  const SeedSpread s = seed_spread(values);
  if (!s.interval) return real(s.mean, digits);
  return fmt::format("{} ({} to {})", text(s.mean), text(s.interval->low), text(s.interval->high));
}

Cell share_cell(const std::vector<double>& values) {
  if (any_undefined(values)) return absent;
  if (std::ssize(values) < kFewestSeeds) return PerRun{values};
  const SeedSpread s = seed_spread(values);
  return s.interval ? percent_within(s.mean, s.interval->low, s.interval->high) : percent(s.mean);
}

}  // namespace

Table number_table_of_seeds(const std::vector<Json>& results, const std::string& key) {
  Table table = table_of_numbers();
  const Json::json_pointer outputs("/" + key + "/eval_outputs");
  for (const auto& [name, first] : results.front().at(outputs).items()) {
    const auto values = [&](const char* metric) {
      return values_at(results, outputs / name / metric);
    };
    table.add_row({name, share_cell(values("r2")), spread_cell(values("rmse"), kDigits),
                   spread_cell(values("mae"), kDigits),
                   spread_cell(values("pearson"), kCorrelationDigits),
                   spread_cell(values("spearman"), kCorrelationDigits)});
  }
  return table;
}

}  // namespace hone
