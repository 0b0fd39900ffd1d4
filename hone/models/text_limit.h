#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hone/models/model_source.h"

/// Where texts are cut.
namespace hone {

/// How a person wants texts to be cut.
struct TextCut {
  std::int64_t max_seq_length = 0;            ///< most tokens; 0: as the model's folder says
  std::optional<Truncation> truncation = {};  ///< none: as the tokenizer's files say
};

struct TextLimit {
  std::size_t tokens = 0;   ///< the most a text may have, special ones included
  std::string source = {};  ///< who says so: a setting, a file, or what the program does unasked
  bool of_folder = false;   ///< it is the model's folder that says so
  Truncation truncation = Truncation::head;  ///< of longer texts
};

/// Texts have at most so many tokens where neither a person nor a folder says otherwise.
inline constexpr std::int64_t kUsualTokens = 512;

/// `max_seq_length` if positive, else what the model's folder says (`said`) or `usual`, whichever is less; never more than the
/// model's `positions`.
TextLimit text_limit(const TextCut& cut, std::int64_t positions,
                     const std::optional<TokenLimit>& said = {}, std::int64_t usual = kUsualTokens);
/// That of a model, by whose tokenizer's files texts are cut where `cut` does not say how.
TextLimit text_limit(const TextCut& cut, const TextModel& source,
                     std::int64_t usual = kUsualTokens);

/// What other programs make of a model whose texts are cut by Truncation::head_tail.
inline constexpr std::string_view kHeadTailElsewhere =
    "`transformers` has no truncation like head_tail and keeps the last tokens of longer texts, so "
    "what it predicts for these differs.";

/// That of training or changing a model under `cut`; empty where both cut texts alike.
std::string truncation_warning(const TextCut& cut);

/// Makes the files that are written of the model say how texts are cut, where `cut` does.
void keep_truncation(const TextCut& cut, TextModel& source);

/// Throws `UserError`, naming who set the limit, unless the special tokens of a text, or of a pair of texts, have room.
void check_room(const TextLimit& limit, const Tokenizer& tokenizer, bool pairs);

/// Behind "cut to 128 tokens": which ones are kept, if not the first ones, and ", as max_seq_length of
/// m/sentence_bert_config.json says (…)" where it is the folder that says so; else empty.
std::string reason(const TextLimit& limit);

/// The tokens of each text in a run whose costs are told: those that are wanted, or 128 where that is 0, or all that the model
/// takes if fewer. Throws `UserError` where more are wanted than it takes.
std::int64_t tokens_of_run(std::int64_t wanted, const InputLimits& limits);

/// "8 texts of 128 tokens", "8 images of 3 x 224 x 224".
std::string run_size_text(std::int64_t batch, std::int64_t tokens, const InputLimits& limits);

/// That the model has fewer positions than `max_seq_length`; empty where it does not.
std::string length_warning(std::int64_t max_seq_length, std::int64_t positions);

}  // namespace hone
