#include "hone/passes/kept_elements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "hone/base/options.h"
#include "hone/base/random.h"
#include "hone/base/usage_check.h"

namespace hone {
namespace {

template <Worded Word>
Word parse_word(std::string_view text) {
  const Word any{};
  return static_cast<Word>(detail::value_of_word(std::string(text), enum_words(any)));
}

constexpr float kGoneBefore = -1;  // ranks before every magnitude and every number that is drawn

// By which elements are ranked: those with the lowest go first.
std::vector<float> scores_of(const PruneRule& rule, const PrunedTensor& tensor) {
  const std::span<const float> values = tensor.values.values<float>();
  std::vector<float> scores(values.size());
  if (rule.method == PruneMethod::l1) {
    std::ranges::transform(values, scores.begin(), [](float value) { return std::fabs(value); });
  } else {
    RandomSequence random(rule.seed, stream_of("prune " + tensor.name));
    for (float& score : scores) score = static_cast<float>(random.uniform());
  }
  if (!tensor.kept_before.defined()) return scores;
  const bool* const kept = tensor.kept_before.data<bool>();
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!kept[i]) scores[i] = kGoneBefore;
  return scores;
}

// Clears `kept` for the `count` lowest scores; of equal ones those that come first.
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

// Of all `scores` together.
void drop_share(const PruneRule& rule, std::span<const float> scores, std::span<bool> kept) {
  if (scores.empty()) return;
  if (rule.mode == PruneMode::mase) {
    const float bound = linear_quantile({scores.begin(), scores.end()}, rule.sparsity);
    for (std::size_t i = 0; i < scores.size(); ++i) kept[i] = scores[i] > bound;
    return;
  }
  // Half to even, as Python rounds.
  const auto count =
      static_cast<std::int64_t>(std::nearbyint(rule.sparsity * static_cast<double>(scores.size())));
  drop_lowest(scores, count, kept);
}

void drop_from_groups(const PrunedTensor& tensor, const KeptOf& pattern,
                      std::span<const float> scores, std::span<bool> kept) {
  const std::int64_t columns = tensor.values.size(-1);
  user_check(columns % pattern.of == 0,
             "{}: rows of {} weights do not divide into groups of {}; leave it out of `target`, or "
             "take another `structure`",
             tensor.name, columns, pattern.of);
  const auto size = static_cast<std::size_t>(pattern.of);
  for (std::size_t at = 0; at < scores.size(); at += size)
    drop_lowest(scores.subspan(at, size), pattern.of - pattern.kept, kept.subspan(at, size));
}

std::span<bool> elements_of(Tensor& kept) {
  return {kept.data<bool>(), static_cast<std::size_t>(kept.count())};
}

}  // namespace

std::span<const EnumWord> enum_words(PruneMethod) {
  static constexpr EnumWord kWords[] = {{static_cast<int>(PruneMethod::random), "random"},
                                        {static_cast<int>(PruneMethod::l1), "l1"}};
  return kWords;
}

std::span<const EnumWord> enum_words(PruneScope) {
  static constexpr EnumWord kWords[] = {{static_cast<int>(PruneScope::local), "local"},
                                        {static_cast<int>(PruneScope::global), "global"}};
  return kWords;
}

std::span<const EnumWord> enum_words(PruneMode) {
  static constexpr EnumWord kWords[] = {{static_cast<int>(PruneMode::exact), "exact"},
                                        {static_cast<int>(PruneMode::mase), "mase"}};
  return kWords;
}

PruneMethod parse_prune_method(std::string_view text) { return parse_word<PruneMethod>(text); }
PruneScope parse_prune_scope(std::string_view text) { return parse_word<PruneScope>(text); }
PruneMode parse_prune_mode(std::string_view text) { return parse_word<PruneMode>(text); }
std::string_view to_string(PruneMethod method) { return word_of(method); }
std::string_view to_string(PruneScope scope) { return word_of(scope); }
std::string_view to_string(PruneMode mode) { return word_of(mode); }

std::optional<KeptOf> parse_structure(std::string_view text) {
  if (text == "weights") return std::nullopt;
  const std::size_t colon = text.find(':');
  const auto number = [](std::string_view word) {
    std::int64_t value = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
    return read.ec == std::errc{} && read.ptr == word.data() + word.size() ? value : -1;
  };
  KeptOf pattern{0, 0};
  if (colon != std::string_view::npos)
    pattern = {number(text.substr(0, colon)), number(text.substr(colon + 1))};
  user_check(pattern.kept >= 1 && pattern.kept < pattern.of,
             "expected weights, or N:M with 0 < N < M, such as 2:4, which keeps 2 of "
             "every 4 weights of a row; got '{}'",
             text);
  return pattern;
}

std::string structure_text(const std::optional<KeptOf>& pattern) {
  return pattern ? fmt::format("{}:{}", pattern->kept, pattern->of) : "weights";
}

void check(const PruneRule& rule) {
  usage_check(rule.sparsity >= 0 && rule.sparsity <= 1,
              "`sparsity`: expected a share from 0 to 1, got {}", rule.sparsity);
  usage_check(rule.mode == PruneMode::exact || (rule.method == PruneMethod::l1 && !rule.pattern),
              "`mode` mase is a quantile of magnitudes: it goes with `method` l1 and `structure` "
              "weights");
  usage_check(!rule.pattern || rule.scope == PruneScope::local,
              "`structure` {} keeps as many of every group, so `scope` must be local",
              structure_text(rule.pattern));
}

std::vector<Tensor> kept_elements(const PruneRule& rule, const std::vector<PrunedTensor>& tensors) {
  check(rule);
  std::vector<Tensor> all;
  for (const PrunedTensor& tensor : tensors)
    all.push_back(Tensor::empty(DType::boolean, tensor.values.sizes()));
  if (rule.scope == PruneScope::global) {
    std::vector<float> scores;
    for (const PrunedTensor& tensor : tensors) {
      const std::vector<float> own = scores_of(rule, tensor);
      scores.insert(scores.end(), own.begin(), own.end());
    }
    const auto kept = std::make_unique<bool[]>(scores.size());
    drop_share(rule, scores, {kept.get(), scores.size()});
    const bool* from = kept.get();
    for (Tensor& tensor : all) {
      std::copy_n(from, tensor.count(), tensor.data<bool>());
      from += tensor.count();
    }
    return all;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<float> scores = scores_of(rule, tensors[i]);
    if (rule.pattern) {
      drop_from_groups(tensors[i], *rule.pattern, scores, elements_of(all[i]));
    } else {
      drop_share(rule, scores, elements_of(all[i]));
    }
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
