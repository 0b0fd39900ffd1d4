#include "hone/models/text_limit.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {

TextLimit text_limit(const TextCut& cut, std::int64_t positions,
                     const std::optional<TokenLimit>& folder_limit, std::int64_t usual) {
  TokenLimit limit{usual, "the default"};
  bool of_folder = false;
  if (cut.max_seq_length > 0) {
    limit = {cut.max_seq_length, "`max_seq_length`"};
  } else if (folder_limit && folder_limit->tokens < limit.tokens) {
    limit = *folder_limit;
    of_folder = true;
  }
  if (positions < limit.tokens) {
    limit = {positions, "the positions of the model"};
    of_folder = false;
  }
  return {static_cast<std::size_t>(limit.tokens), std::move(limit.source), of_folder,
          cut.truncation.value_or(Truncation::head)};
}

TextLimit text_limit(const TextCut& cut, const TextModel& source, std::int64_t usual) {
  const Truncation of_model = source.truncation.value_or(source.tokenizer.definition().truncation);
  return text_limit({cut.max_seq_length, cut.truncation.value_or(of_model)},
                    source.model.facts.limits.tokens, source.limit, usual);
}

std::string truncation_warning(const TextCut& cut) {
  if (cut.truncation != Truncation::head_tail) return "";
  return fmt::format("`truncation` head_tail: {}", kHeadTailInOtherPrograms);
}

void keep_truncation(const TextCut& cut, TextModel& source) {
  if (cut.truncation) source.truncation = cut.truncation;
}

void check_room(const TextLimit& limit, const Tokenizer& tokenizer, bool pairs) {
  const std::vector<std::string> tokens = tokenizer.framing_tokens(pairs);
  user_check(limit.tokens >= tokens.size(),
             "{}: expected at least {} {}for the special tokens {}, got {}", limit.source,
             tokens.size(), pairs ? "for pairs, " : "", fmt::join(tokens, " "), limit.tokens);
}

std::string reason(const TextLimit& limit) {
  std::string text(kept_tokens_text(limit.truncation));
  if (limit.of_folder)
    text += fmt::format(", as {} sets (`max_seq_length` overrides it)", limit.source);
  return text;
}

std::int64_t tokens_of_run(std::int64_t wanted, const InputLimits& limits) {
  constexpr std::int64_t kDefault = 128;
  user_check(!limits.image || wanted <= limits.tokens,
             "`tokens` applies to texts, but the model reads images; omit it");
  user_check(wanted <= limits.tokens, "`tokens`: the model has {} positions, got {}", limits.tokens,
             wanted);
  return wanted > 0 ? wanted : std::min(kDefault, limits.tokens);
}

std::string run_size_text(std::int64_t batch, std::int64_t tokens, const InputLimits& limits) {
  if (limits.image)
    return fmt::format("{} of {} x {} x {}", counted_text(batch, "image"), limits.image->channels,
                       limits.image->height, limits.image->width);
  return fmt::format("{} of {}", counted_text(batch, "text"), counted_text(tokens, "token"));
}

std::string length_warning(std::int64_t max_seq_length, std::int64_t positions) {
  if (max_seq_length <= positions) return "";
  return fmt::format(
      "`max_seq_length` {}: the model has {} positions; texts are truncated to {} tokens",
      max_seq_length, positions, positions);
}

}  // namespace hone
