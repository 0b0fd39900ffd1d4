#include "hone/study/seeds.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kShared = "before";  // a model that no seed has a part in
constexpr double kBesideDots = 0.3;        // of the room of a part

double number_of(const Json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

std::vector<double> values(const std::vector<Json>& results, const std::string& part,
                           const char* key) {
  std::vector<double> found;
  for (const Json& result : results) found.push_back(number_of(result.at(part).at(key)));
  return found;
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

SeedSpread accuracy_spread(const std::vector<Json>& results, const std::string& part) {
  return accuracy_spread(accuracies(results, part));
}

namespace {

// A figure of a result with its interval, in `cell`; results without an accuracy have none.
Cell with_interval(const Json& figures, const char* key, const char* interval_key,
                   Cell (*cell)(double, double, double)) {
  const Json& interval = figures.at(interval_key);
  return cell(number_of(figures.at(key)), number_of(interval.at(0)), number_of(interval.at(1)));
}

std::vector<NamedFigures> those_in(const Json& result, std::vector<NamedFigures> figures) {
  std::erase_if(figures, [&](const NamedFigures& one) { return !result.contains(one.key); });
  return figures;
}

}  // namespace

Table seed_table(const std::vector<Json>& results, const std::vector<NamedFigures>& figures) {
  const bool compared = results.front().contains("comparison");
  const std::vector<NamedFigures> present = those_in(results.front(), figures);
  std::vector<Column> columns = {{"seed", "Seed"}};
  for (const NamedFigures& one : present) {
    columns.push_back({one.key + "_accuracy", fmt::format("Accuracy ({})", one.key)});
    columns.push_back({one.key + "_loss", fmt::format("Loss ({})", one.key)});
  }
  if (compared) {
    columns.push_back({"accuracy_change", "Change"});
    columns.push_back({"flips", "Flips"});
  }
  Table table(std::move(columns));
  for (const Json& result : results) {
    std::vector<Cell> row = {std::to_string(result.at("seed").get<std::int64_t>())};
    for (const NamedFigures& one : present) {
      const Json& measured = result.at(one.key);
      row.push_back(
          with_interval(measured, "eval_accuracy", "eval_accuracy_interval", percent_within));
      row.push_back(real(number_of(measured.at("eval_loss")), 4));
    }
    if (compared) {
      const Json& comparison = result.at("comparison");
      row.push_back(
          with_interval(comparison, "accuracy_change", "accuracy_change_interval", points_within));
      row.push_back(with_interval(comparison, "flip_share", "flip_interval", flips_within));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Figure seed_figure(const std::vector<Json>& results, const std::vector<NamedFigures>& figures,
                   const std::string& title) {
  Series dots{.label = "one seed", .draw = Draw::points},
      means{.label = "mean", .draw = Draw::points, .spread = Spread::bars};
  Panel panel{.y = {.label = "Accuracy (%)"}};
  for (const auto& [key, name, cautions] : those_in(results.front(), figures)) {
    const SeedSpread s = accuracy_spread(results, key);
    if (key == kShared && s.least == s.greatest) {
      panel.references.push_back(
          {100 * s.mean, fmt::format("{}, one model for all seeds: {}", key, share_text(s.mean))});
      continue;
    }
    const auto row = static_cast<double>(panel.x.ticks.size());
    panel.x.ticks.push_back({row, part_text({key, name, cautions}, results.front())});
    for (const Json& result : results) {
      Point dot{row, 100 * number_of(result.at(key).at("eval_accuracy"))};
      dot.name = fmt::format("seed {}, {}", result.at("seed").get<std::int64_t>(), name);
      dots.points.push_back(std::move(dot));
    }
    Point mean{row + kBesideDots, 100 * s.mean};
    if (s.interval) {
      mean.low = 100 * s.interval->low;
      mean.high = 100 * s.interval->high;
      means.label = "mean, with its 95 % interval";
    }
    mean.name = name;
    means.points.push_back(std::move(mean));
  }
  panel.x.range = Range{-0.5, static_cast<double>(panel.x.ticks.size()) - 0.5};
  panel.series = {dots, means};
  return {.title = title, .panels = {panel}, .width = 640, .height = 420};
}

Json runs_json(const std::vector<Json>& results, const std::vector<NamedFigures>& figures) {
  Json rows = Json::array(), accuracy = Json::object(), loss = Json::object();
  for (const Json& result : results) {
    rows.push_back({{"seed", result.at("seed")}});
    if (result.contains("comparison")) rows.back()["comparison"] = result["comparison"];
  }
  for (const auto& [key, name, cautions] : those_in(results.front(), figures)) {
    for (std::size_t i = 0; i < results.size(); ++i) rows[i][key] = results[i].at(key);
    accuracy[key] = to_json(accuracy_spread(results, key));
    loss[key] = to_json(seed_spread(values(results, key, "eval_loss")));
  }
  return {{"seeds", results.size()},
          {"runs", rows},
          {"accuracy_spread", accuracy},
          {"loss_spread", loss}};
}

Json to_json(const SeedSpread& s) {
  return {
      {"seeds", s.count},
      {"values", s.values},
      {"mean", s.mean},
      {"least", s.least},
      {"greatest", s.greatest},
      {"standard_deviation", s.deviation ? Json(*s.deviation) : Json()},
      {"mean_interval", s.interval ? Json::array({s.interval->low, s.interval->high}) : Json()}};
}

std::string seed_sentence(const SeedSpread& s) {
  if (s.count == 1) return fmt::format("{} with one seed", share_text(s.mean));
  if (s.count < kFewestSeeds)
    return fmt::format("{} with {} seeds; it takes {} to tell a spread", shares_text(s.values),
                       s.count, kFewestSeeds);
  if (!s.interval) return fmt::format("{} with each of {} seeds", share_text(s.mean), s.count);
  return fmt::format(
      "{} on average over {} seeds (95 % for other seeds on the same texts: {} to {}; standard "
      "deviation {} points, {} to {})",
      share_text(s.mean), s.count, percent_number(s.interval->low),
      percent_number(s.interval->high), percent_number(*s.deviation, kDifferenceDigits),
      percent_number(s.least), percent_number(s.greatest));
}

SeedChanges seed_changes(const std::vector<Json>& results) {
  SeedChanges changes{accuracies(results, "before"), accuracies(results, "after"), {}};
  for (const Json& result : results) {
    const Json &after = result.at("after"), &counted = result.at("comparison");
    const std::int64_t examples = after.at("eval_samples");
    changes.comparisons.push_back(
        {.examples = examples,
         .evidence = after.value("eval_effective_samples", static_cast<double>(examples)) /
                     static_cast<double>(examples),
         .flip_share = number_of(counted.at("flip_share")),
         .flip_interval = {},
         .only_parent = counted.at("only_parent_right"),
         .only_candidate = counted.at("only_candidate_right"),
         .mcnemar_p = counted.at("mcnemar_p")});
  }
  return changes;
}

Json paired_json(const SeedChanges& changes, const Verdict& verdict) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < changes.before.size(); ++i)
    differences.push_back(changes.after[i] - changes.before[i]);
  const std::optional<double> p = paired_t_test(differences);
  Json json = to_json(change_spread(changes.before, changes.after));
  json["paired_t_test_p"] = p ? Json(*p) : Json();
  json.update(to_json(verdict));
  return json;
}

namespace {

// What speaks against the figures of one seed, in words that are the same of every seed of which it does.
std::vector<std::string> doubts_of(const Json& figures) {
  std::vector<std::string> doubts;
  const Json only = figures.value("eval_only_predicts", Json());
  if (only.is_string())
    doubts.push_back(fmt::format("the model predicts one class only, '{}',",
                                 shown_name(only.get<std::string>())));
  if (!only.is_string() && figures.contains("eval_classes"))
    for (const auto& [label, one] : figures["eval_classes"].items())
      if (one.value("support", 0) > 0 && one.value("predicted", 1) == 0)
        doubts.push_back(fmt::format("the model never predicts '{}'", shown_name(label)));
  if (figures.value("eval_without_prediction", 0) > 0)
    doubts.push_back(
        "there are texts without a prediction, as the model's outputs are no finite "
        "numbers,");
  return doubts;
}

}  // namespace

std::string seeds_text(const std::vector<std::int64_t>& seeds, std::size_t of) {
  if (seeds.size() == of) return fmt::format("with each of {} seeds", of);
  return fmt::format("with {} of {} seeds ({})", seeds.size(), of, fmt::join(seeds, ", "));
}

std::vector<std::string> seed_concerns(const std::vector<Json>& results,
                                       const std::vector<NamedFigures>& figures) {
  std::vector<std::string> sentences;
  for (const auto& [key, name, cautions] : those_in(results.front(), figures)) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> seeds_by_doubt;
    for (const Json& result : results)
      for (const std::string& doubt : doubts_of(result.at(key))) {
        auto found =
            std::ranges::find(seeds_by_doubt, doubt, &decltype(seeds_by_doubt)::value_type::first);
        if (found == seeds_by_doubt.end()) found = seeds_by_doubt.insert(found, {doubt, {}});
        found->second.push_back(result.at("seed").get<std::int64_t>());
      }
    for (const auto& [doubt, seeds] : seeds_by_doubt)
      sentences.push_back(fmt::format("{}: {} {}", name, doubt, seeds_text(seeds, results.size())));
  }
  return sentences;
}

}  // namespace hone
