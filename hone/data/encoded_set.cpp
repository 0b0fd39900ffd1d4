#include "hone/data/encoded_set.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/own_process.h"

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

constexpr std::int64_t kShareOfFirst =
    16;  // one text in this many predicts the memory of the others

// Predicts the memory of the others from the first `count` texts.
void predict_others(const EncodedSet& set, std::int64_t count) {
  constexpr double kOfBlock = 16;  // overhead of one allocation
  double bytes = 0;
  for (std::int64_t row = 0; row < count; ++row)
    bytes += static_cast<double>(length_of(set, row)) * sizeof(std::int32_t) + kOfBlock;
  const auto others = static_cast<double>(set.size() - count);
  predict_memory(static_cast<double>(resident_bytes()) +
                 bytes * others / static_cast<double>(std::max<std::int64_t>(1, count)));
}

}  // namespace

EncodedSet encode_examples(ThreadPool& pool, const Tokenizer& tokenizer,
                           std::span<const Example> examples, std::size_t max_length, Task task,
                           std::optional<Truncation> truncation) {
  constexpr std::int64_t kTextsPerChunk = 16;
  EncodedSet set;
  set.pad_id = tokenizer.pad_id();
  set.task = task;
  set.target_width = examples.empty() ? 0 : std::ssize(examples[0].targets);
  for (const Example& example : examples) {
    HONE_ASSERT(std::ssize(example.targets) == set.target_width, "{} targets beside {}",
                example.targets.size(), set.target_width);
    set.targets.insert(set.targets.end(), example.targets.begin(), example.targets.end());
  }
  set.ids.resize(examples.size());
  set.labels.resize(examples.size());
  set.truncated.resize(examples.size());
  if (is_pairs(examples)) set.type_1_begins.resize(examples.size());
  std::atomic<std::int64_t> truncated{0}, replaced{0};
  const auto encode = [&](std::size_t i) {
    const Example& example = examples[i];
    Encoding encoding =
        example.text_pair
            ? tokenizer.encode_pair(example.text, *example.text_pair, max_length, truncation)
            : tokenizer.encode_text(example.text, max_length, truncation);
    set.ids[i] = std::move(encoding.ids);
    set.labels[i] = example.label;
    if (!set.type_1_begins.empty()) set.type_1_begins[i] = encoding.type_1_begin;
    set.truncated[i] = encoding.truncated ? 1 : 0;
    truncated += encoding.truncated;
    replaced += encoding.replaced_bytes;
  };
  const auto encode_texts = [&](std::int64_t first, std::int64_t end) {
    parallel_ranges(pool, end - first, kTextsPerChunk, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = first + from; i < first + to; ++i) encode(static_cast<std::size_t>(i));
    });
  };
  const std::int64_t first_texts = (set.size() + kShareOfFirst - 1) / kShareOfFirst;
  encode_texts(0, first_texts);
  predict_others(set, first_texts);
  encode_texts(first_texts, set.size());
  set.truncated_texts = truncated;
  set.replaced_bytes = replaced;
  return set;
}

std::vector<std::int64_t> lengths_of(const EncodedSet& set) {
  std::vector<std::int64_t> lengths;
  for (const auto& ids : set.ids) lengths.push_back(std::ssize(ids));
  return lengths;
}

std::int64_t longest_text(const EncodedSet& set) {
  std::int64_t most = 0;
  for (const auto& ids : set.ids) most = std::max<std::int64_t>(most, std::ssize(ids));
  return most;
}

std::vector<std::int64_t> unseen_rows(std::span<const Example> examples) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < examples.size(); ++i)
    if (!examples[i].seen) rows.push_back(static_cast<std::int64_t>(i));
  return rows.size() < examples.size() ? rows : std::vector<std::int64_t>();
}

EncodedSet select_examples(const EncodedSet& set, std::span<const std::int64_t> rows) {
  EncodedSet some{.ids = {}, .labels = {}, .task = set.task, .target_width = set.target_width};
  some.pad_id = set.pad_id;
  some.images = set.images;
  std::map<std::int32_t, std::int32_t> numbers;  // renumbers texts from 0
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    // Optional arrays may be empty.
    const auto take = [&](const auto& from, auto& to) {
      if (i < from.size()) to.push_back(from[i]);
    };
    take(set.ids, some.ids);
    take(set.labels, some.labels);
    take(set.type_1_begins, some.type_1_begins);
    take(set.truncated, some.truncated);
    if (i < set.text_numbers.size())
      some.text_numbers.push_back(
          numbers.emplace(set.text_numbers[i], static_cast<std::int32_t>(numbers.size()))
              .first->second);
    const auto width = static_cast<std::size_t>(set.target_width);
    for (std::size_t target = i * width; target < (i + 1) * width; ++target)
      some.targets.push_back(set.targets[target]);
    some.truncated_texts += i < set.truncated.size() && set.truncated[i] != 0 ? 1 : 0;
  }
  return some;
}

Batch make_batch(const EncodedSet& set, std::span<const std::int64_t> rows,
                 std::int64_t least_tokens) {
  HONE_ASSERT(!rows.empty(), "a batch of no rows");
  Batch batch;
  batch.batch = static_cast<std::int64_t>(rows.size());
  batch.target_width = set.target_width;
  batch.tokens = std::max(least_tokens, longest_of(set, rows));
  const auto size = static_cast<std::size_t>(batch.batch * batch.tokens);
  batch.input_ids.assign(size, set.pad_id);
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
    const auto targets = set.targets.begin() + static_cast<std::ptrdiff_t>(row) * set.target_width;
    batch.targets.insert(batch.targets.end(), targets, targets + set.target_width);
  }
  return batch;
}

}  // namespace hone
