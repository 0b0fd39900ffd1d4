#include "hone/models/vocabulary.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/data/synthetic.h"
#include "hone/models/model_source.h"
#include "hone/text/tokenizer_files.h"
#include "hone/text/word_piece_trainer.h"

namespace hone {
namespace {

double tokens_per_text(const EncodedSet& set) {
  std::size_t tokens = 0;
  for (const auto& ids : set.ids) tokens += ids.size();
  return static_cast<double>(tokens) / static_cast<double>(std::max<std::int64_t>(set.size(), 1));
}

// Returns the tokenizer of the checkpoints in a folder, if any. Learning a vocabulary is deterministic, but earlier
// versions did not learn one, and their runs must resume with the original vocabulary.
std::optional<Tokenizer> checkpoint_tokenizer(const fs::path& folder) {
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
    if (entry->path().filename() == "vocab.txt") return load_tokenizer(entry->path().parent_path());
  return std::nullopt;
}

// Counts words, including punctuation marks: each has exactly one piece that does not continue a word.
std::int64_t count_words(const Tokenizer& tokenizer, const EncodedSet& texts) {
  std::vector<char> continues;
  for (std::int32_t id = 0; id < tokenizer.vocabulary_size(); ++id)
    continues.push_back(tokenizer.continues_word(id) ? 1 : 0);
  std::int64_t words = 0;
  for (const auto& ids : texts.ids)
    for (const std::int32_t id : ids) words += continues[static_cast<std::size_t>(id)] ? 0 : 1;
  return words;
}

}  // namespace

bool learns_vocabulary(const VocabularyOptions& options) {
  const VocabularyRules& rules = options.rules;
  const bool fresh = is_new_model(options.model) && folder_with_tokenizer(options.model).empty();
  const char* setting = rules.vocab_size > 0 ? "`vocab_size`"
                        : rules.lowercase    ? "`lowercase`"
                                             : "`strip_accents`";
  user_check(fresh || !rules.given(),
             "{}: {} already has a vocabulary; only a new text model (tiny, base, or a "
             "config.json without a tokenizer in its folder) learns one",
             setting, options.model);
  if (fresh && !rules.given() && new_model_facts(options.model).limits.image) return false;
  if (fresh && rules.given())
    check_reads_texts(new_model_facts(options.model), options.model, setting);
  return fresh && (rules.given() || !options.data.starts_with(kSyntheticPrefix));
}

std::optional<LearnedVocabulary> learn_vocabulary(const VocabularyOptions& options,
                                                  std::span<const Example> train,
                                                  Context& context) {
  if (!learns_vocabulary(options)) return std::nullopt;
  const auto count = static_cast<std::int64_t>(train.size());
  if (!options.interrupted.empty())
    if (std::optional<Tokenizer> tokenizer = checkpoint_tokenizer(options.interrupted))
      return LearnedVocabulary{std::move(*tokenizer), count};
  const VocabularyRules& rules = options.rules;
  const std::vector<std::string_view> texts = texts_of(train);
  WordPieceTrainerOptions wanted;
  if (rules.vocab_size > 0) wanted.vocab_size = static_cast<std::size_t>(rules.vocab_size);
  Normalization normalization;
  normalization.lowercase = rules.lowercase.value_or(true);
  std::optional<double> marked;
  if (!rules.strip_accents) marked = marked_word_share(context.pool, texts, normalization);
  constexpr double kFewMarked = 0.01;
  normalization.strip_accents = rules.strip_accents.value_or(marked <= kFewMarked);
  return LearnedVocabulary{train_tokenizer(context.pool, texts, wanted, normalization), count,
                           marked};
}

std::string vocabulary_text(const LearnedVocabulary& vocabulary, const EncodedSet& train) {
  const auto& model = std::get<WordPieceModel>(vocabulary.tokenizer.definition().model);
  std::string marks;
  if (vocabulary.marked_share && !model.normalization.strip_accents)
    marks = fmt::format(
        "; accents and other marks stay, as {:.0f}% of the words have some (`strip_accents` "
        "decides)",
        100 * *vocabulary.marked_share);
  else if (vocabulary.marked_share.value_or(0) > 0)
    marks = fmt::format(
        "; accents and other marks, which {:.2g}% of the words have, are removed "
        "(`strip_accents` decides)",
        100 * *vocabulary.marked_share);
  return fmt::format(
      "vocabulary of {} word pieces learned from {} training texts: {:.1f} tokens "
      "per text{}",
      grouped(vocabulary.tokenizer.vocabulary_size()), grouped(vocabulary.texts),
      tokens_per_text(train), marks);
}

const Fields& fields_of(const LearnedVocabularyResult*) {
  using V = LearnedVocabularyResult;
  static const Fields fields = describe<V>(
      "learned_vocabulary", "The vocabulary learned for a new model.",
      field<&V::vocab_size>("vocab_size", Unit::tokens, "Number of word pieces."),
      field<&V::source>("source", "Where they come from."),
      field<&V::training_texts>("training_texts", "Number of texts they were learned from."),
      field<&V::tokens_per_text>("tokens_per_text", Unit::tokens, "Mean over the training split."));
  return fields;
}

LearnedVocabularyResult learned_vocabulary_result(const LearnedVocabulary& vocabulary,
                                                  const EncodedSet& train) {
  return {.vocab_size = vocabulary.tokenizer.vocabulary_size(),
          .source = fmt::format("learned from {} training texts", grouped(vocabulary.texts)),
          .training_texts = vocabulary.texts,
          .tokens_per_text = tokens_per_text(train)};
}

std::string unknown_warning(std::int64_t unknown, std::int64_t tokens, const std::string& name) {
  constexpr std::int64_t kMost = 20;  // one token in this many, plus one
  if ((unknown - 1) * kMost <= tokens) return "";
  return fmt::format(
      "{}: {:.0f}% of the {} (`hone tokenize` shows which): the vocabulary has no "
      "pieces for these words, and the model cannot distinguish them; use a model "
      "for this language",
      name, 100 * static_cast<double>(unknown) / static_cast<double>(tokens), kUnknownTokens);
}

std::string unknown_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                            const std::string& name) {
  std::int64_t unknown = 0, tokens = 0;
  for (const auto& ids : texts.ids) {
    unknown += std::ranges::count(ids, tokenizer.unknown_id());
    tokens += std::ssize(ids);
  }
  return unknown_warning(unknown, tokens, name);
}

std::string spelling_warning(const Tokenizer& tokenizer, const EncodedSet& texts,
                             const std::string& name) {
  constexpr double kMostPieces = 2;  // per word; English has 1.2 to 1.4 with BERT's vocabulary
  const double pieces =
      tokens_per_text(texts) * static_cast<double>(texts.size()) /
      static_cast<double>(std::max<std::int64_t>(count_words(tokenizer, texts), 1));
  if (pieces <= kMostPieces) return "";
  return fmt::format(
      "{}: {} and cuts them into {:.1f} pieces each, {:.1f} tokens per text (`hone "
      "tokenize` shows how). It was made for other texts or another language, or "
      "from few words: use a model trained on such texts, or learn a vocabulary from "
      "more of them (`hone train tiny`)",
      name, kUnknownWords, pieces, tokens_per_text(texts));
}

Options options_of(const VocabularyRules*) {
  return {Heading::training,
          {option<&VocabularyRules::vocab_size>(
               "vocab_size", "vocabulary size learned for new models (0: 30,522)")
               .from(0)
               .rare(),
           option<&VocabularyRules::lowercase>("lowercase",
                                               "lower-case text when learning a vocabulary")
               .rare(),
           option<&VocabularyRules::strip_accents>(
               "strip_accents", "remove accents when learning a vocabulary; by default detected")
               .rare()}};
}

}  // namespace hone
