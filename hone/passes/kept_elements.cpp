#include "hone/passes/kept_elements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "hone/base/options.h"
#include "hone/base/random.h"
#include "hone/base/usage_check.h"

namespace hone {
namespace {

template <NamedEnum Word>
Word parse_word(std::string_view text) {
  const Word any{};
  return static_cast<Word>(detail::enum_value(std::string(text), enum_names(any)));
}

constexpr float kRemovedBefore = std::numeric_limits<float>::lowest();  // ranks before every score

std::span<const float> statistics_of(PruneMethod method, const PrunedTensor& tensor) {
  user_check(tensor.statistics.defined(), "`method` {} needs {}: use `hone prune --method {} {}`",
             to_string(method),
             method == PruneMethod::movement ? "weights that move in training" : "examples",
             to_string(method),
             method == PruneMethod::movement ? "--schedule cubic --epochs 1 --data" : "--data");
  return tensor.statistics.values<float>();
}

// Returns the scores of elements; the lowest are removed first.
std::vector<float> scores_of(const PruneRule& rule, const PrunedTensor& tensor) {
  const std::span<const float> values = tensor.values.values<float>();
  std::vector<float> scores(values.size());
  if (rule.method == PruneMethod::random) {
    RandomSequence random(rule.seed, stream_of("prune " + tensor.name));
    for (float& score : scores) score = static_cast<float>(random.uniform());
  } else if (rule.method == PruneMethod::movement) {
    std::ranges::copy(statistics_of(rule.method, tensor), scores.begin());
  } else {
    std::ranges::transform(values, scores.begin(), [](float value) { return std::fabs(value); });
    if (rule.method != PruneMethod::l1) {
      const std::span<const float> factors = statistics_of(rule.method, tensor);
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] *= factors[i % factors.size()];
    }
  }
  if (!tensor.kept_before.defined()) return scores;
  const bool* const kept = tensor.kept_before.data<bool>();
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!kept[i]) scores[i] = kRemovedBefore;
  return scores;
}

// Rounds half to even, as Python does.
std::int64_t rounded_share(double share, std::size_t count) {
  return static_cast<std::int64_t>(std::nearbyint(share * static_cast<double>(count)));
}

// Removes a share of all `scores` together.
void drop_share(const PruneRule& rule, std::span<const float> scores, std::span<bool> kept) {
  if (scores.empty()) return;
  const double share = rule.sparsity * rule.reached;
  if (rule.mode == PruneMode::mase) {
    const float bound = linear_quantile({scores.begin(), scores.end()}, share);
    for (std::size_t i = 0; i < scores.size(); ++i) kept[i] = scores[i] > bound;
    return;
  }
  drop_lowest(scores, rounded_share(share, scores.size()), kept);
}

// Keeps elements again, so that only this share of the removals remains, those with the lowest scores.
void undo_removals(double share, std::span<const float> scores, std::span<bool> kept) {
  std::vector<std::size_t> dropped;
  std::vector<float> of_dropped;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!kept[i]) {
      dropped.push_back(i);
      of_dropped.push_back(scores[i]);
    }
  const auto stays = std::make_unique<bool[]>(dropped.size());
  drop_lowest(of_dropped, rounded_share(share, dropped.size()), {stays.get(), dropped.size()});
  for (std::size_t i = 0; i < dropped.size(); ++i) kept[dropped[i]] = stays[i];
}

void drop_from_groups(const PruneRule& rule, const PrunedTensor& tensor,
                      std::span<const float> scores, std::span<bool> kept) {
  check_rows(rule, tensor);
  const NOfM& pattern = *rule.structure.pattern;
  const auto size = static_cast<std::size_t>(pattern.of);
  for (std::size_t at = 0; at < scores.size(); at += size)
    drop_lowest(scores.subspan(at, size), pattern.of - pattern.kept, kept.subspan(at, size));
  if (rule.reached < 1) undo_removals(rule.reached, scores, kept);
}

// The blocks of a tensor, row by row.
struct Blocks {
  PruneBlock size;
  std::int64_t rows, columns;  // in elements

  Blocks(const PruneBlock& block, const Tensor& tensor)
      : size(block),
        rows(tensor.size(-1) == 0 ? 0 : tensor.count() / tensor.size(-1)),
        columns(tensor.size(-1)) {}
  std::int64_t in_row() const { return (columns + size.columns - 1) / size.columns; }
  std::int64_t count() const { return (rows + size.rows - 1) / size.rows * in_row(); }
  // Calls body(element) for those of a block.
  template <class Body>
  void for_each(std::int64_t block, Body&& body) const {
    const std::int64_t row = block / in_row() * size.rows, column = block % in_row() * size.columns;
    for (std::int64_t r = row; r < std::min(row + size.rows, rows); ++r)
      for (std::int64_t c = column; c < std::min(column + size.columns, columns); ++c)
        body(static_cast<std::size_t>(r * columns + c));
  }
};

// Returns how many consecutive blocks of a tensor are compared: `wanda` removes the same share of each output's inputs.
std::int64_t compared_blocks(const PruneRule& rule, const PrunedTensor& tensor) {
  const Blocks blocks(rule.structure.block, tensor.values);
  return rule.method == PruneMethod::wanda ? blocks.in_row() : blocks.count();
}

// Returns the mean score of each block; a block that was removed ranks like a removed element.
std::vector<float> block_scores(const PruneRule& rule, const PrunedTensor& tensor) {
  std::vector<float> scores = scores_of(rule, tensor);
  if (rule.structure.block.is_single()) return scores;
  const Blocks blocks(rule.structure.block, tensor.values);
  std::vector<float> means;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    double sum = 0;
    std::int64_t elements = 0;
    bool is_gone = true;
    blocks.for_each(block, [&](std::size_t i) {
      if (scores[i] != kRemovedBefore) {
        sum += scores[i];
        is_gone = false;
      }
      ++elements;
    });
    means.push_back(is_gone ? kRemovedBefore
                            : static_cast<float>(sum / static_cast<double>(elements)));
  }
  return means;
}

// Sets `kept` of elements from that of blocks; elements removed before stay removed.
void spread(const PruneRule& rule, const PrunedTensor& tensor, std::span<const bool> blocks_kept,
            std::span<bool> kept) {
  const bool* const before =
      tensor.kept_before.defined() ? tensor.kept_before.data<bool>() : nullptr;
  const Blocks blocks(rule.structure.block, tensor.values);
  for (std::int64_t block = 0; block < blocks.count(); ++block)
    blocks.for_each(block, [&](std::size_t i) {
      kept[i] = blocks_kept[static_cast<std::size_t>(block)] && (before == nullptr || before[i]);
    });
}

std::span<bool> elements_of(Tensor& kept) {
  return {kept.data<bool>(), static_cast<std::size_t>(kept.count())};
}

}  // namespace

std::span<const EnumName> enum_names(PruneMethod) {
  static constexpr EnumName kWords[] = {{static_cast<int>(PruneMethod::random), "random"},
                                        {static_cast<int>(PruneMethod::l1), "l1"},
                                        {static_cast<int>(PruneMethod::wanda), "wanda"},
                                        {static_cast<int>(PruneMethod::first_order), "first_order"},
                                        {static_cast<int>(PruneMethod::movement), "movement"},
                                        {static_cast<int>(PruneMethod::sparsegpt), "sparsegpt"}};
  return kWords;
}

std::span<const EnumName> enum_names(PruneScope) {
  static constexpr EnumName kWords[] = {{static_cast<int>(PruneScope::local), "local"},
                                        {static_cast<int>(PruneScope::global), "global"}};
  return kWords;
}

std::span<const EnumName> enum_names(PruneMode) {
  static constexpr EnumName kWords[] = {{static_cast<int>(PruneMode::exact), "exact"},
                                        {static_cast<int>(PruneMode::mase), "mase"}};
  return kWords;
}

PruneMethod parse_prune_method(std::string_view text) { return parse_word<PruneMethod>(text); }
PruneScope parse_prune_scope(std::string_view text) { return parse_word<PruneScope>(text); }
PruneMode parse_prune_mode(std::string_view text) { return parse_word<PruneMode>(text); }
std::string_view to_string(PruneMethod method) { return enum_name(method); }
std::string_view to_string(PruneScope scope) { return enum_name(scope); }
std::string_view to_string(PruneMode mode) { return enum_name(mode); }

bool needs_examples(PruneMethod method) {
  return method == PruneMethod::wanda || method == PruneMethod::first_order ||
         method == PruneMethod::sparsegpt;
}

PruneStructure parse_structure(std::string_view text) {
  if (text == "weights") return {};
  const auto number = [](std::string_view word) {
    std::int64_t value = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    return read.ec == std::errc{} && read.ptr == word.data() + word.size() ? value : -1;
  };
  const std::size_t middle = text.find_first_of(":x");
  std::int64_t first = 0, second = 0;
  if (middle != std::string_view::npos) {
    first = number(text.substr(0, middle));
    second = number(text.substr(middle + 1));
  }
  const bool is_block = middle != std::string_view::npos && text[middle] == 'x';
  user_check(first >= 1 && (is_block ? second >= 1 : first < second),
             "expected weights; N:M with 0 < N < M, such as 2:4, which keeps 2 of every 4 weights "
             "of a row; or blocks of rows by columns, such as 4x1; got '{}'",
             text);
  if (is_block) return {.block = {first, second}};
  return {.pattern = NOfM{first, second}};
}

std::string structure_text(const PruneStructure& structure) {
  if (structure.pattern)
    return fmt::format("{}:{}", structure.pattern->kept, structure.pattern->of);
  if (structure.block.is_single()) return "weights";
  return fmt::format("{}x{}", structure.block.rows, structure.block.columns);
}

void check(const PruneRule& rule) {
  usage_check(rule.sparsity >= 0 && rule.sparsity <= 1,
              "`sparsity`: expected a share from 0 to 1, got {}", rule.sparsity);
  usage_check(rule.mode == PruneMode::exact ||
                  (rule.method == PruneMethod::l1 && structure_text(rule.structure) == "weights"),
              "`mode` mase is a quantile of magnitudes: it requires `method` l1 and "
              "`structure` weights");
  usage_check(!rule.structure.pattern || rule.scope == PruneScope::local,
              "`structure` {} keeps the same number of weights in every group, so `scope` "
              "must be local",
              structure_text(rule.structure));
  usage_check(rule.method != PruneMethod::sparsegpt || rule.scope == PruneScope::local,
              "`method` sparsegpt compares the errors that weights cause within their layer, so "
              "`scope` must be local");
}

void check_rows(const PruneRule& rule, const PrunedTensor& tensor) {
  if (!rule.structure.pattern) return;
  const std::int64_t columns = tensor.values.size(-1), size = rule.structure.pattern->of;
  user_check(columns % size == 0,
             "{}: rows of {} weights do not divide into groups of {}; exclude it from "
             "`target`, or use another `structure`",
             tensor.name, columns, size);
}

void drop_lowest(std::span<const float> scores, std::int64_t count, std::span<bool> kept) {
  std::ranges::fill(kept, true);
  if (count == 0) return;
  std::vector<float> ranked(scores.begin(), scores.end());
  const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(ranked, last);
  const float bound = *last;
  std::int64_t left = count;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] < bound) {
      kept[i] = false;
      --left;
    }
  for (std::size_t i = 0; left > 0; ++i)
    if (scores[i] == bound) {
      kept[i] = false;
      --left;
    }
}

std::vector<Tensor> kept_elements(const PruneRule& rule, const std::vector<PrunedTensor>& tensors) {
  check(rule);
  std::vector<Tensor> all;
  std::vector<std::vector<float>> scores;
  for (const PrunedTensor& tensor : tensors) {
    all.push_back(Tensor::empty(DType::boolean, tensor.values.sizes()));
    scores.push_back(block_scores(rule, tensor));
  }
  const bool is_global = rule.scope == PruneScope::global;
  std::vector<float> together;
  for (const std::vector<float>& own : scores)
    if (is_global) together.insert(together.end(), own.begin(), own.end());
  const auto kept_together = std::make_unique<bool[]>(together.size());
  drop_share(rule, together, {kept_together.get(), together.size()});
  const bool* from = kept_together.get();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t blocks = scores[i].size();
    std::unique_ptr<bool[]> own;
    if (!is_global) {
      own = std::make_unique<bool[]>(blocks);
      const std::span<bool> each(own.get(), blocks);
      if (rule.structure.pattern) {
        drop_from_groups(rule, tensors[i], scores[i], each);
      } else {
        const auto group = static_cast<std::size_t>(compared_blocks(rule, tensors[i]));
        for (std::size_t at = 0; at < blocks; at += group)
          drop_share(rule, std::span(scores[i]).subspan(at, group), each.subspan(at, group));
      }
    }
    spread(rule, tensors[i], {is_global ? from : own.get(), blocks}, elements_of(all[i]));
    if (is_global) from += blocks;
  }
  return all;
}

float linear_quantile(std::vector<float> values, double share) {
  const float rank = static_cast<float>(share) * static_cast<float>(values.size() - 1);
  const float below = std::floor(rank), weight = rank - below;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::ranges::nth_element(values, at);
  const float low = *at;
  const float high = at + 1 == values.end() ? low : *std::min_element(at + 1, values.end());
  return weight < 0.5f ? low + weight * (high - low) : high - (high - low) * (1 - weight);
}

std::int64_t pruned_count(const Tensor& kept) {
  const bool* const begin = kept.data<bool>();
  return std::count(begin, begin + kept.count(), false);
}

}  // namespace hone
