#include "hone/app/seeds.h"

#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::vector<double> values(const std::vector<Json>& results, const std::string& part,
                           const char* key) {
  std::vector<double> found;
  for (const Json& result : results) {
    const Json& value = result.at(part).at(key);
    found.push_back(value.is_null() ? std::nan("") : value.get<double>());
  }
  return found;
}

std::vector<double> changes(const std::vector<double>& before, const std::vector<double>& after) {
  HONE_ASSERT(before.size() == after.size(), "{} seeds against {}", before.size(), after.size());
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
  return differences;
}

std::string interval_text(const SeedSpread& s) {
  if (s.count < 2) return "one seed tells no spread";
  return fmt::format("95 %: {:.2f} to {:.2f}", 100 * s.interval.low, 100 * s.interval.high);
}

std::string over_seeds(std::int64_t count) {
  return fmt::format("on average over {} seed{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::vector<SeedFolder> seed_folders(const fs::path& folder, std::uint64_t first,
                                     std::int64_t count) {
  std::vector<SeedFolder> folders;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    const fs::path path = folder / fmt::format("seed-{}", seed);
    std::error_code error;
    fs::create_directories(path, error);
    user_check(!error, "{}: cannot create the folder: {}", path.string(), error.message());
    folders.push_back({seed, path, fs::exists(path / "results.json", error)});
  }
  return folders;
}

std::vector<double> accuracies(const std::vector<Json>& results, const std::string& part) {
  return values(results, part, "eval_accuracy");
}

Table seed_table(const std::vector<Json>& results, const std::vector<std::string>& parts) {
  std::vector<Column> columns = {{"seed", "Seed"}};
  std::vector<std::vector<double>> shares, losses;
  for (const std::string& part : parts) {
    if (!results.front().contains(part)) continue;
    columns.push_back({part + "_accuracy", part + " accuracy"});
    columns.push_back({part + "_loss", part + " loss"});
    shares.push_back(accuracies(results, part));
    losses.push_back(values(results, part, "eval_loss"));
  }
  Table table(std::move(columns));
  for (std::size_t seed = 0; seed < results.size(); ++seed) {
    std::vector<Cell> row = {std::to_string(results[seed].at("seed").get<std::int64_t>())};
    for (std::size_t part = 0; part < shares.size(); ++part) {
      row.push_back(percent(shares[part][seed], 2));
      row.push_back(real(losses[part][seed], 4));
    }
    table.add_row(std::move(row));
  }
  std::vector<Cell> mean = {"mean"}, deviation = {"standard deviation"};
  for (std::size_t part = 0; part < shares.size(); ++part) {
    const SeedSpread share = seed_spread(shares[part]), loss = seed_spread(losses[part]);
    mean.push_back(percent(share.mean, 2));
    mean.push_back(real(loss.mean, 4));
    deviation.push_back(percent(share.deviation, 2));
    deviation.push_back(real(loss.deviation, 4));
  }
  table.add_row(std::move(mean));
  table.add_row(std::move(deviation));
  return table;
}

Json to_json(const SeedSpread& s) {
  return {{"seeds", s.count},
          {"mean", number(s.mean)},
          {"standard_deviation", number(s.deviation)},
          {"least", number(s.least)},
          {"greatest", number(s.greatest)},
          {"interval", {number(s.interval.low), number(s.interval.high)}}};
}

std::string seed_sentence(const std::vector<double>& accuracies) {
  const SeedSpread s = seed_spread(accuracies);
  std::string text =
      fmt::format("{:.2f} % {} ({}", 100 * s.mean, over_seeds(s.count), interval_text(s));
  if (s.count >= 2)
    text += fmt::format("; standard deviation {:.2f} points, {:.2f} to {:.2f}", 100 * s.deviation,
                        100 * s.least, 100 * s.greatest);
  return text + ")";
}

std::string paired_sentence(const std::vector<double>& before, const std::vector<double>& after) {
  const std::vector<double> differences = changes(before, after);
  const SeedSpread s = seed_spread(differences);
  const double p = paired_t_test(differences);
  const std::string test = s.count < 2 ? ""
                                       : fmt::format("; p {}, paired t-test",
                                                     p == 0 ? "= 0" : fmt::format("= {:.2g}", p));
  const std::string average = fmt::format("{} ({}{})", over_seeds(s.count), interval_text(s), test);
  if (p < 0.05)
    return fmt::format("{} by {:.2f} points {}", s.mean > 0 ? "better" : "worse",
                       100 * std::abs(s.mean), average);
  return fmt::format("no difference found: {:+.2f} points {}", 100 * s.mean, average);
}

Json paired_json(const std::vector<double>& before, const std::vector<double>& after) {
  const std::vector<double> differences = changes(before, after);
  Json json = to_json(seed_spread(differences));
  json["paired_t_test_p"] = number(paired_t_test(differences));
  json["verdict"] = paired_sentence(before, after);
  return json;
}

Gate gate_of_seeds(const std::vector<double>& before, const std::vector<double>& after,
                   double max_drop) {
  std::vector<double> drops;
  for (std::size_t i = 0; i < before.size(); ++i) drops.push_back(before[i] - after[i]);
  const SeedSpread s = seed_spread(drops);
  const bool passed = s.interval.high <= max_drop;
  return {max_drop, s.interval, passed,
          fmt::format("lost {:.2f} points of accuracy on average (95 % over {} seeds: {:.2f} to "
                      "{:.2f}); {:.2f} are allowed: {}",
                      100 * s.mean, s.count, 100 * s.interval.low, 100 * s.interval.high,
                      100 * max_drop, passed ? "passed" : "failed")};
}

}  // namespace hone
