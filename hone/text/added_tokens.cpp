#include "hone/text/added_tokens.h"

#include <algorithm>

#include "hone/text/character.h"
#include "hone/text/normalizer.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

std::size_t leading_space_size(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const DecodedCharacter c = decode_first(text.substr(end));
    if (!is_white_space(c.value)) break;
    end += c.bytes;
  }
  return end;
}

bool is_whole_word(std::string_view before, std::string_view after) {
  return (before.empty() || !is_word_character(decode_last(before).value)) &&
         (after.empty() || !is_word_character(decode_first(after).value));
}

}  // namespace

void AddedTokens::add(const AddedToken& token, std::string pattern, std::int32_t id) {
  std::vector<Entry>& bucket = tokens_[static_cast<unsigned char>(pattern.front())];
  if (bucket.empty()) first_bytes_.push_back(pattern.front());
  const auto place = std::find_if(bucket.begin(), bucket.end(), [&](const Entry& known) {
    return known.pattern.size() < pattern.size();
  });
  bucket.insert(place, {token, std::move(pattern), id});
}

// Returns the next position, from `from` on, of a byte that begins a token.
std::size_t AddedTokens::candidate(std::string_view text, std::size_t from) const {
  if (first_bytes_.size() == 1) return std::min(text.find(first_bytes_[0], from), text.size());
  if (first_bytes_.empty()) return text.size();
  while (from < text.size() && tokens_[static_cast<unsigned char>(text[from])].empty()) ++from;
  return from;
}

AddedTokens::Match AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = candidate(text, from); at < text.size(); at = candidate(text, at + 1)) {
    const std::string_view rest = text.substr(at);
    for (const Entry& known : tokens_[static_cast<unsigned char>(text[at])])
      if (rest.starts_with(known.pattern)) return {&known, at, at + known.pattern.size(), known.id};
  }
  return {};
}

// Returns the range that a match covers; text before `begin` is already consumed. begin > end if its rules discard it.
AddedTokens::Stretch AddedTokens::stretch_of(const Match& match, std::string_view text,
                                             std::size_t begin) {
  const AddedToken& token = match.known->token;
  const std::string_view before = text.substr(0, match.begin), after = text.substr(match.end);
  if (token.single_word && !is_whole_word(before, after)) return {1, 0};
  return {
      token.strip_left ? std::max(match.begin - trailing_space_size(before), begin) : match.begin,
      match.end + (token.strip_right ? leading_space_size(after) : 0)};
}

}  // namespace hone
