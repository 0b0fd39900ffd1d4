#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "hone/models/model_source.h"

/// Truncation of texts.
namespace hone {

/// The user's settings for truncation.
struct TextCut {
  std::int64_t max_seq_length =
      0;  ///< maximum number of tokens; 0: the limit of the model's folder
  std::optional<Truncation> truncation = {};  ///< empty: as in the tokenizer's files
};

struct TextLimit {
  std::size_t tokens = 0;   ///< maximum length of a text, including special tokens
  std::string source = {};  ///< origin of the limit: a setting, a file, or the default
  bool of_folder = false;   ///< whether the model's folder sets it
  Truncation truncation = Truncation::head;  ///< how longer texts are truncated
};

/// The maximum length of texts if neither the user nor the folder sets one.
inline constexpr std::int64_t kDefaultTokens = 512;

/// Returns the limit: `max_seq_length` if positive, else the smaller of the folder's limit (`folder_limit`) and `usual`; never
/// more than the model's `positions`.
TextLimit text_limit(const TextCut& cut, std::int64_t positions,
                     const std::optional<TokenLimit>& folder_limit = {},
                     std::int64_t usual = kDefaultTokens);
/// The same for a model. If `cut` sets no truncation, that of the tokenizer's files applies.
TextLimit text_limit(const TextCut& cut, const TextModel& source,
                     std::int64_t usual = kDefaultTokens);

/// How other programs treat a model with Truncation::head_tail.
inline constexpr std::string_view kHeadTailInOtherPrograms =
    "`transformers` has no truncation like head_tail and keeps the last tokens of longer texts, so "
    "what it predicts for these differs.";

/// Returns the warning above for training or changing a model with `cut`; empty if other programs truncate the same
/// way.
std::string truncation_warning(const TextCut& cut);

/// Stores the truncation of `cut`, if set, in the model's written files.
void keep_truncation(const TextCut& cut, TextModel& source);

/// Throws `UserError` with the origin of the limit unless there is room for the special tokens of a text or pair.
void check_room(const TextLimit& limit, const Tokenizer& tokenizer, bool pairs);

/// Returns text that follows "truncated to 128 tokens": which tokens are kept, if not the first ones, and ", as
/// max_seq_length of m/sentence_bert_config.json says (…)" if the folder sets the limit; else empty.
std::string reason(const TextLimit& limit);

/// Returns the number of tokens of each text in a run whose costs are reported: `wanted`, or 128 if that is 0, or the
/// model's maximum if that is smaller. Throws `UserError` if `wanted` exceeds the maximum.
std::int64_t tokens_of_run(std::int64_t wanted, const InputLimits& limits);

/// "8 texts of 128 tokens", "8 images of 3 x 224 x 224".
std::string run_size_text(std::int64_t batch, std::int64_t tokens, const InputLimits& limits);

/// Returns a warning if the model has fewer positions than `max_seq_length`; otherwise empty.
std::string length_warning(std::int64_t max_seq_length, std::int64_t positions);

}  // namespace hone
