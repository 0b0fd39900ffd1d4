#include "hone/text/word_piece_trainer.h"

#include <algorithm>
#include <map>
#include <queue>

#include "hone/base/error.h"
#include "hone/base/interrupt.h"
#include "hone/text/pair_table.h"

namespace hone {
namespace {

using Id = std::uint32_t;

constexpr std::string_view kPrefix = "##";

/// An adjacent pair of pieces.
struct Pair {
  std::int64_t count = 0;            // over all words, weighted by their counts
  std::vector<std::uint32_t> words;  // words that contain or contained it, ascending, distinct
};

/// A pair with its count when it entered the queue; the count may have fallen since.
struct CountedPair {
  std::int64_t count;
  std::uint64_t key;
  std::uint32_t pair;
  bool operator<(const CountedPair& other) const {
    return count != other.count ? count < other.count : key > other.key;
  }
};

class Trainer {
 public:
  Trainer(std::span<const CountedWord> words, const WordPieceTrainerOptions& options)
      : options_(options) {
    const SpecialTokens special;
    const Framing framing;
    tokens_ = {special.pad, special.unknown, framing.front[0], framing.trailing[0], special.mask};
    split_words(words);
    count_pairs();
  }

  std::vector<std::string> train() {
    while (tokens_.size() < options_.vocab_size && !queue_.empty()) {
      CountedPair best = queue_.top();
      queue_.pop();
      const std::int64_t count = pairs_[best.pair].count;
      if (best.count != count) {  // stale: queue it again
        best.count = count;
        offer(best);
        continue;
      }
      join(best);
      stop_if_interrupted();
    }
    return std::move(tokens_);
  }

 private:
  struct Word {
    std::size_t begin;   // index in pieces_
    std::uint32_t size;  // shrinks as pieces are joined
    std::int64_t count;
  };

  // Returns the letters to keep, by code point.
  std::map<char32_t, Id> choose_alphabet(const std::vector<CodePoints>& words,
                                         std::span<const CountedWord> counted) {
    std::map<char32_t, std::int64_t> counts;
    for (std::size_t i = 0; i < words.size(); ++i)
      for (const char32_t c : words[i]) counts[c] += counted[i].count;
    std::vector<std::pair<std::int64_t, char32_t>> kept;
    for (const auto& [c, count] : counts) kept.emplace_back(-count, c);
    std::sort(kept.begin(), kept.end());
    kept.resize(std::min(kept.size(), options_.limit_alphabet));
    std::map<char32_t, Id> alphabet;
    for (const auto& [count, c] : kept) alphabet.emplace(c, Id{0});
    add_letters(alphabet, "");
    return alphabet;
  }

  void add_letters(std::map<char32_t, Id>& letters, std::string_view prefix) {
    for (auto& [c, id] : letters) {
      id = static_cast<Id>(tokens_.size());
      append_utf8(c, tokens_.emplace_back(prefix));
    }
  }

  void split_words(std::span<const CountedWord> counted) {
    std::vector<CodePoints> words(counted.size());
    for (std::size_t i = 0; i < words.size(); ++i) decode_utf8(counted[i].word, words[i]);
    const std::map<char32_t, Id> alphabet = choose_alphabet(words, counted);
    std::map<char32_t, Id> continuing;
    for (const CodePoints& word : words)
      for (std::size_t i = 1; i < word.size(); ++i)
        if (alphabet.contains(word[i])) continuing.emplace(word[i], Id{0});
    add_letters(continuing, kPrefix);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t begin = pieces_.size();
      for (std::size_t k = 0; k < words[i].size(); ++k)
        if (alphabet.contains(words[i][k]))
          pieces_.push_back((k == 0 ? alphabet : continuing).at(words[i][k]));
      words_.push_back(
          {begin, static_cast<std::uint32_t>(pieces_.size() - begin), counted[i].count});
    }
  }

  void count_pairs() {
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
      const Id* piece = pieces_.data() + words_[w].begin;
      for (std::uint32_t i = 0; i + 1 < words_[w].size; ++i)
        add(piece[i], piece[i + 1], w, words_[w].count);
    }
    offer_from(0);
  }

  void add(Id left, Id right, std::uint32_t word, std::int64_t count) {
    const std::uint64_t key = PairTable::key(left, right);
    const std::uint32_t number =
        table_.find_or_insert(key, static_cast<std::uint32_t>(pairs_.size()));
    if (number == pairs_.size()) {
      pairs_.emplace_back();
      keys_.push_back(key);
    }
    Pair& pair = pairs_[number];
    pair.count += count;
    if (count > 0 && (pair.words.empty() || pair.words.back() != word)) pair.words.push_back(word);
  }

  void offer(const CountedPair& candidate) {
    if (candidate.count >= std::max<std::int64_t>(1, options_.min_frequency))
      queue_.push(candidate);
  }

  void offer_from(std::size_t first) {
    for (std::size_t i = first; i < pairs_.size(); ++i)
      offer({pairs_[i].count, keys_[i], static_cast<std::uint32_t>(i)});
  }

  // All resulting pairs contain the new piece, so they are new too; existing pairs only become rarer.
  void join(const CountedPair& best) {
    const Id left = static_cast<Id>(best.key >> 32), right = static_cast<Id>(best.key);
    const Id joined = static_cast<Id>(tokens_.size());
    tokens_.push_back(tokens_[left] + tokens_[right].substr(kPrefix.size()));
    const std::vector<std::uint32_t> places = std::exchange(pairs_[best.pair].words, {});
    const std::size_t first_new = pairs_.size();
    for (const std::uint32_t w : places) join_in_word(w, left, right, joined);
    offer_from(first_new);
  }

  // From left to right, so that in "aaa" the first two are joined.
  void join_in_word(std::uint32_t w, Id left, Id right, Id joined) {
    Word& word = words_[w];
    Id* piece = pieces_.data() + word.begin;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < word.size; ++i) {
      if (piece[i] != left || i + 1 == word.size || piece[i + 1] != right) {
        piece[kept++] = piece[i];
        continue;
      }
      if (kept > 0) {
        add(piece[kept - 1], left, w, -word.count);
        add(piece[kept - 1], joined, w, word.count);
      }
      if (i + 2 < word.size) {
        add(right, piece[i + 2], w, -word.count);
        add(joined, piece[i + 2], w, word.count);
      }
      piece[kept++] = joined;
      ++i;
    }
    word.size = kept;
  }

  WordPieceTrainerOptions options_;
  std::vector<std::string> tokens_;
  std::vector<Id> pieces_;  // of all words in order
  std::vector<Word> words_;
  PairTable table_;
  std::vector<Pair> pairs_;
  std::vector<std::uint64_t> keys_;  // of `pairs_`
  std::priority_queue<CountedPair> queue_;
};

}  // namespace

std::vector<std::string> train_word_pieces(std::span<const CountedWord> words,
                                           const WordPieceTrainerOptions& options) {
  return Trainer(words, options).train();
}

double marked_word_share(ThreadPool& pool, std::span<const std::string_view> texts,
                         Normalization normalization) {
  normalization.strip_accents = false;
  const Normalization strip{
      .clean_text = false, .split_cjk = false, .strip_accents = true, .lowercase = false};
  std::int64_t words = 0, marked = 0;
  for (const CountedWord& word : count_words(pool, texts, normalization)) {
    words += word.count;
    if (normalize(strip, word.word) != word.word) marked += word.count;
  }
  return static_cast<double>(marked) / static_cast<double>(std::max<std::int64_t>(1, words));
}

Tokenizer train_tokenizer(ThreadPool& pool, std::span<const std::string_view> texts,
                          const WordPieceTrainerOptions& options,
                          const Normalization& normalization) {
  TokenizerDefinition definition;
  const WordPieceModel model{.normalization = normalization};
  const std::vector<CountedWord> words = count_words(pool, texts, model.normalization);
  user_check(!words.empty(), "a vocabulary cannot be learned: there are no words in the {} texts",
             texts.size());
  definition.model = model;
  definition.tokens = train_word_pieces(words, options);
  user_check(definition.tokens.size() <= options.vocab_size,
             "`vocab_size`: expected at least {}, for the special tokens and the letters of these "
             "texts, got {}",
             definition.tokens.size(), options.vocab_size);
  return Tokenizer(std::move(definition));
}

}  // namespace hone
