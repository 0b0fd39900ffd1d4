#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/text/normalizer.h"

namespace hone {

/// How often a word stands in some texts.
struct CountedWord {
  std::string word;  ///< normalized UTF-8, not empty
  std::int64_t count = 0;
};

/// All different words (see word_splitter.h) of the texts. In no particular order.
std::vector<CountedWord> count_words(ThreadPool& pool, std::span<const std::string_view> texts,
                                     const Normalization& normalization);

}  // namespace hone
