#include "hone/text/byte_pair_encoder.h"

#include "hone/text/byte_level.h"
#include "hone/text/character.h"
#include "hone/text/normalizer.h"
#include "hone/text/utf8.h"

namespace hone {

BytePairEncoder::BytePairEncoder(const BytePairModel& model, const std::vector<std::string>& tokens)
    : pieces_(tokens, model.merges),
      prefix_space_(model.prefix_space),
      split_words_(model.split_words) {}

std::string BytePairEncoder::normalized(std::string_view text, std::int64_t& replaced) const {
  return is_utf8(text) ? std::string(text) : repair_utf8(text, replaced);
}

std::int64_t BytePairEncoder::encode(std::string_view text, bool is_normalized, std::size_t limit,
                                     std::vector<std::int32_t>& ids) const {
  std::int64_t replaced = 0;
  std::string changed;
  if (!is_normalized && !is_utf8(text)) text = changed = repair_utf8(text, replaced);
  if (prefix_space_ && !text.empty() && !text.starts_with(' '))
    text = changed = ' ' + std::string(text);
  for (std::size_t begin = 0; begin < text.size() && ids.size() <= limit;) {
    const std::size_t end = split_words_ ? word_end(text, begin) : text.size();
    pieces_.encode(text.substr(begin, end - begin), ids);
    begin = end;
  }
  return replaced;
}

bool BytePairEncoder::continues_word(std::string_view token) const {
  const std::optional<std::string> bytes = bytes_of(token);
  if (!bytes || bytes->empty()) return false;
  const DecodedCharacter first = decode_first(*bytes);
  return !first.valid || is_letter(first.value) || is_number(first.value);
}

std::string BytePairEncoder::shown(std::string_view token) const {
  const std::optional<std::string> bytes = bytes_of(token);
  return bytes ? shown_bytes(*bytes) : std::string(token);
}

}  // namespace hone
