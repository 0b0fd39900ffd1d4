#include "hone/data/stratified_draw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "hone/base/random.h"
#include "hone/data/row_hash.h"

namespace hone {
namespace {

/// State of a stratum during drawing.
struct Stratum {
  double wanted = 0;        // rows still to be drawn
  std::int64_t rows = 0;    // rows of undecided groups
  bool left_over = false;   // a group was not drawn
  std::uint64_t place = 0;  // position in the random order of strata
};

/// Groups of one size and stratum, in random order.
struct Level {
  std::int64_t rows = 0;  // per group
  std::int32_t stratum = 0;
  std::vector<std::size_t> groups = {};
};

std::vector<Stratum> make_strata(std::span<const RowGroup> groups, double share,
                                 RandomSequence& random) {
  std::vector<Stratum> strata;
  for (const RowGroup& group : groups) {
    const auto index = static_cast<std::size_t>(group.stratum);
    if (strata.size() <= index) strata.resize(index + 1);
    strata[index].rows += group.rows;
  }
  for (Stratum& stratum : strata) stratum.wanted = share * static_cast<double>(stratum.rows);
  std::vector<std::uint64_t> places(strata.size());
  std::iota(places.begin(), places.end(), std::uint64_t{0});
  random.shuffle(places);
  for (std::size_t i = 0; i < strata.size(); ++i) strata[i].place = places[i];
  return strata;
}

// Sorts by decreasing size, then by the order of strata.
std::vector<Level> make_levels(std::span<const RowGroup> groups, std::span<const Stratum> strata,
                               RandomSequence& random) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  std::map<std::pair<std::int64_t, std::uint64_t>, Level> levels;
  for (const std::size_t index : order) {
    const RowGroup& group = groups[index];
    const std::uint64_t place = strata[static_cast<std::size_t>(group.stratum)].place;
    Level& level = levels[{-group.rows, place}];
    level.rows = group.rows;
    level.stratum = group.stratum;
    level.groups.push_back(index);
  }
  std::vector<Level> sorted;
  for (auto& [key, level] : levels) sorted.push_back(std::move(level));
  return sorted;
}

// Returns deciles from 0 to 9; equal numbers share one.
std::vector<std::int32_t> tenths_of(std::span<const Example> examples) {
  std::vector<float> sorted;
  for (const Example& example : examples) sorted.push_back(example.targets[0]);
  std::ranges::sort(sorted);
  std::vector<std::int32_t> tenths;
  for (const Example& example : examples) {
    const auto below = std::ranges::lower_bound(sorted, example.targets[0]) - sorted.begin();
    tenths.push_back(static_cast<std::int32_t>(10 * below / std::ssize(sorted)));
  }
  return tenths;
}

// Returns the rarest label of each example; examples without labels form their own stratum.
std::vector<std::int32_t> rarest_labels(std::span<const Example> examples, std::size_t labels) {
  std::vector<std::int64_t> rows(labels, 0);
  for (const Example& example : examples)
    for (std::size_t i = 0; i < labels; ++i) rows[i] += example.targets[i] != 0 ? 1 : 0;
  std::vector<std::int32_t> strata;
  for (const Example& example : examples) {
    std::size_t rarest = labels;
    for (std::size_t i = 0; i < labels; ++i)
      if (example.targets[i] != 0 && (rarest == labels || rows[i] < rows[rarest])) rarest = i;
    strata.push_back(static_cast<std::int32_t>(rarest));
  }
  return strata;
}

// Groups examples by text. The stratum is that of most of them; the first one in a tie.
std::vector<RowGroup> make_groups(std::span<const std::int32_t> texts,
                                  std::span<const std::int32_t> strata) {
  std::vector<std::pair<std::int32_t, std::int32_t>> rows;
  for (std::size_t i = 0; i < texts.size(); ++i) rows.emplace_back(texts[i], strata[i]);
  std::ranges::sort(rows);
  std::vector<RowGroup> groups;
  std::int64_t most = 0;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end] == rows[begin]) ++end;
    const auto [text, stratum] = rows[begin];
    const auto count = static_cast<std::int64_t>(end - begin);
    if (static_cast<std::size_t>(text) == groups.size()) {
      groups.push_back({.rows = 0});
      most = 0;
    }
    groups.back().rows += count;
    if (count > most) groups.back().stratum = stratum;
    most = std::max(most, count);
  }
  return groups;
}

}  // namespace

std::vector<char> draw_groups(std::span<const RowGroup> groups, double share, std::uint64_t seed) {
  RandomSequence random(seed, stream_of("validation split"));
  std::vector<Stratum> strata = make_strata(groups, share, random);
  const std::vector<Level> levels = make_levels(groups, strata, random);
  double all_wanted = 0;
  for (const Stratum& stratum : strata) all_wanted += stratum.wanted;
  const double always_drawn = std::max(1.0, all_wanted / 10);
  const double most = (1 + share) / 2;  // of the rest: training keeps at least half of its share
  std::vector<char> drawn(groups.size(), 0);
  // Systematic sampling over the strata: fractions of a group accumulate to whole ones.
  double fraction = 0;
  std::int64_t size = 0;
  for (const Level& level : levels) {
    if (level.rows != size) fraction = random.uniform();
    size = level.rows;
    Stratum& stratum = strata[static_cast<std::size_t>(level.stratum)];
    const auto rows = static_cast<double>(level.rows);
    const std::int64_t count = std::ssize(level.groups);
    const bool fits = rows <= std::max(2 * stratum.wanted, always_drawn);
    const double probability =
        std::clamp(stratum.wanted / static_cast<double>(stratum.rows), 0.0, most);
    if (fits) fraction += static_cast<double>(count) * probability;
    auto take = static_cast<std::int64_t>(fraction);
    fraction -= static_cast<double>(take);
    stratum.rows -= level.rows * count;
    if (stratum.rows == 0 && !stratum.left_over) take = std::min(take, count - 1);
    for (std::int64_t i = 0; i < take; ++i) drawn[level.groups[static_cast<std::size_t>(i)]] = 1;
    stratum.wanted -= rows * static_cast<double>(take);
    stratum.left_over = stratum.left_over || take < count;
  }
  return drawn;
}

std::vector<std::int32_t> strata_of(std::span<const Example> examples, const LabelScheme& scheme) {
  if (scheme.task == Task::regression) return tenths_of(examples);
  if (scheme.task == Task::multi_label) return rarest_labels(examples, scheme.names.size());
  std::vector<std::int32_t> classes;
  for (const Example& example : examples) classes.push_back(example.label);
  return classes;
}

std::vector<char> draw_stratified(std::span<const Example> examples, const LabelScheme& scheme,
                                  double share, std::uint64_t seed) {
  const std::vector<std::uint64_t> hashes = row_hashes(examples);
  const std::vector<std::int32_t> texts = text_numbers(hashes);
  const std::vector<char> groups =
      draw_groups(make_groups(texts, strata_of(examples, scheme)), share, seed);
  std::vector<char> drawn;
  for (const std::int32_t text : texts) drawn.push_back(groups[static_cast<std::size_t>(text)]);
  return drawn;
}

}  // namespace hone
