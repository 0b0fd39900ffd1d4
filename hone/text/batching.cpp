#include "hone/text/batching.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/random.h"

namespace hone {
namespace {

std::int64_t length_of(const EncodedSet& set, std::int64_t row) {
  return static_cast<std::int64_t>(set.ids[static_cast<std::size_t>(row)].size());
}

std::int64_t longest_of(const EncodedSet& set, std::span<const std::int64_t> rows) {
  std::int64_t longest = 0;
  for (const std::int64_t row : rows) longest = std::max(longest, length_of(set, row));
  return longest;
}

bool is_pairs(std::span<const Example> examples) {
  return std::any_of(examples.begin(), examples.end(),
                     [](const Example& example) { return example.text_pair.has_value(); });
}

}  // namespace

EncodedSet encode_examples(ThreadPool& pool, const Tokenizer& tokenizer,
                           std::span<const Example> examples, std::size_t max_length) {
  constexpr std::int64_t kTextsPerChunk = 16;
  EncodedSet set;
  set.ids.resize(examples.size());
  set.labels.resize(examples.size());
  set.truncated.resize(examples.size());
  if (is_pairs(examples)) set.type_1_begins.resize(examples.size());
  std::atomic<std::int64_t> truncated{0}, replaced{0};
  parallel_ranges(pool, static_cast<std::int64_t>(examples.size()), kTextsPerChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (auto i = static_cast<std::size_t>(begin);
                         i < static_cast<std::size_t>(end); ++i) {
                      const Example& example = examples[i];
                      Encoding encoding =
                          example.text_pair
                              ? tokenizer.encode_pair(example.text, *example.text_pair, max_length)
                              : tokenizer.encode_with_facts(example.text, max_length);
                      set.ids[i] = std::move(encoding.ids);
                      set.labels[i] = example.label;
                      if (!set.type_1_begins.empty()) set.type_1_begins[i] = encoding.type_1_begin;
                      set.truncated[i] = encoding.truncated;
                      truncated += encoding.truncated;
                      replaced += encoding.replaced_bytes;
                    }
                  });
  set.truncated_texts = truncated;
  set.replaced_bytes = replaced;
  return set;
}

Batch make_batch(const EncodedSet& set, std::span<const std::int64_t> rows, std::int32_t pad_id,
                 std::int64_t least_tokens) {
  HONE_ASSERT(!rows.empty(), "a batch of no rows");
  Batch batch;
  batch.batch = static_cast<std::int64_t>(rows.size());
  batch.tokens = std::max(least_tokens, longest_of(set, rows));
  const auto size = static_cast<std::size_t>(batch.batch * batch.tokens);
  batch.input_ids.assign(size, pad_id);
  batch.attention_mask.assign(size, 0);
  batch.token_type_ids.assign(size, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const auto begin = static_cast<std::ptrdiff_t>(i) * batch.tokens;
    std::copy(set.ids[row].begin(), set.ids[row].end(), batch.input_ids.begin() + begin);
    std::fill_n(batch.attention_mask.begin() + begin, set.ids[row].size(), 1);
    if (!set.type_1_begins.empty())
      std::fill(batch.token_type_ids.begin() + begin + set.type_1_begins[row],
                batch.token_type_ids.begin() + begin + length_of(set, rows[i]), 1);
    batch.labels.push_back(set.labels[row]);
  }
  return batch;
}

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (shuffle)
    RandomSequence(seed, stream_of("epoch order") + static_cast<std::uint64_t>(epoch))
        .shuffle(order);
  return order;
}

std::vector<std::int64_t> sample_rows(std::int64_t count, std::int64_t most, std::uint64_t seed,
                                      std::string_view purpose) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RandomSequence(seed, stream_of(purpose)).shuffle(order);
  order.resize(static_cast<std::size_t>(std::min(most, count)));
  return order;
}

void group_by_length(const EncodedSet& set, std::int64_t batch_size, std::uint64_t seed,
                     std::int64_t epoch, std::vector<std::int64_t>& order) {
  constexpr std::int64_t kBatchesPerStretch = 50;
  RandomSequence random(seed, stream_of("length groups") + static_cast<std::uint64_t>(epoch));
  std::vector<std::int64_t> grouped;
  for (const std::span<const std::int64_t> stretch :
       batches(order, kBatchesPerStretch * batch_size)) {
    std::vector<std::int64_t> rows(stretch.begin(), stretch.end());
    std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
      return length_of(set, a) > length_of(set, b);
    });
    std::vector<std::span<const std::int64_t>> groups = batches(rows, batch_size);
    // A shorter batch stays at the end: all others must begin at multiples of the batch size.
    const auto whole =
        static_cast<std::size_t>(static_cast<std::int64_t>(rows.size()) / batch_size);
    std::vector<std::span<const std::int64_t>> shuffled(
        groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(whole));
    random.shuffle(shuffled);
    shuffled.insert(shuffled.end(), groups.begin() + static_cast<std::ptrdiff_t>(whole),
                    groups.end());
    for (const auto& group : shuffled) grouped.insert(grouped.end(), group.begin(), group.end());
  }
  order = std::move(grouped);
}

std::vector<std::span<const std::int64_t>> batches(std::span<const std::int64_t> order,
                                                   std::int64_t batch_size) {
  user_check(batch_size >= 1, "batch size: expected at least 1, got {}", batch_size);
  std::vector<std::span<const std::int64_t>> result;
  const auto size = static_cast<std::size_t>(batch_size);
  for (std::size_t begin = 0; begin < order.size(); begin += size) {
    result.push_back(order.subspan(begin, std::min(size, order.size() - begin)));
  }
  return result;
}

double padding_share(const EncodedSet& set, std::span<const std::int64_t> order,
                     std::int64_t batch_size) {
  std::int64_t text = 0;
  std::int64_t all = 0;
  for (const std::span<const std::int64_t> rows : batches(order, batch_size)) {
    for (const std::int64_t row : rows) text += length_of(set, row);
    all += longest_of(set, rows) * static_cast<std::int64_t>(rows.size());
  }
  return all == 0 ? 0 : 1 - static_cast<double>(text) / static_cast<double>(all);
}

}  // namespace hone
