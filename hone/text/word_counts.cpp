#include "hone/text/word_counts.h"

#include <unordered_map>

#include "hone/text/word_splitter.h"

namespace hone {
namespace {

// Supports lookup by views, so that known words do not allocate.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const {
    return std::hash<std::string_view>()(word);
  }
};
using Counts = std::unordered_map<std::string, std::int64_t, WordHash, std::equal_to<>>;

Counts counts_of(std::span<const std::string_view> texts, const WordSplitter& splitter) {
  Counts counts;
  WordSplitter::Scratch scratch;
  const auto add = [&](std::string_view word) {
    const auto found = counts.find(word);
    found != counts.end() ? ++found->second : ++counts[std::string(word)];
  };
  for (const std::string_view text : texts) splitter.split(text, scratch, add);
  return counts;
}

}  // namespace

std::vector<CountedWord> count_words(ThreadPool& pool, std::span<const std::string_view> texts,
                                     const Normalization& normalization) {
  constexpr std::int64_t kStretches = 64;  // enough for all threads, few enough to merge
  const auto total = static_cast<std::int64_t>(texts.size());
  const std::int64_t grain = std::max<std::int64_t>(1, (total + kStretches - 1) / kStretches);
  const WordSplitter splitter(normalization);
  std::vector<Counts> stretches(static_cast<std::size_t>((total + grain - 1) / grain));
  parallel_ranges(pool, total, grain, [&](std::int64_t begin, std::int64_t end) {
    stretches[static_cast<std::size_t>(begin / grain)] = counts_of(
        texts.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        splitter);
  });
  Counts all;
  for (Counts& stretch : stretches) {
    for (const auto& [word, count] : stretch) all[word] += count;
    stretch = {};
  }
  std::vector<CountedWord> words;
  words.reserve(all.size());
  for (auto& [word, count] : all) words.push_back({word, count});
  return words;
}

}  // namespace hone
