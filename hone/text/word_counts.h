#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/text/normalizer.h"

namespace hone {

/// A word and its number of occurrences.
struct CountedWord {
  std::string word;  ///< normalized UTF-8, not empty
  std::int64_t count = 0;
};

/// Counts the distinct words (see word_splitter.h) of the texts, in no particular order.
std::vector<CountedWord> count_words(ThreadPool& pool, std::span<const std::string_view> texts,
                                     const Normalization& normalization);

}  // namespace hone
