#include "hone/text/added_tokens.h"

#include <algorithm>

#include "hone/text/character.h"
#include "hone/text/normalizer.h"

namespace hone {
namespace {

// Bytes of white space at the end of well-formed `text`.
std::size_t space_at_end(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0) {
    std::size_t last = begin - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
    const DecodedCharacter c = decode_first(text.substr(last, begin - last));
    if (last + c.bytes != begin || !is_white_space(c.value)) break;
    begin = last;
  }
  return text.size() - begin;
}

std::size_t space_at_begin(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const DecodedCharacter c = decode_first(text.substr(end));
    if (!is_white_space(c.value)) break;
    end += c.bytes;
  }
  return end;
}

}  // namespace

void AddedTokens::add(const AddedToken& token, std::int32_t id) {
  (token.late ? late_ : early_).add(token, id);
}

void AddedTokens::Round::add(const AddedToken& token, std::int32_t id) {
  const auto place = std::find_if(tokens_.begin(), tokens_.end(), [&](const Known& known) {
    return known.token.text.size() < token.text.size();
  });
  tokens_.insert(place, {token, id});
  bool& begins = begins_[static_cast<unsigned char>(token.text.front())];
  if (!begins) first_bytes_.push_back(token.text.front());
  begins = true;
}

// Where from `from` on the next byte stands that a token begins with.
std::size_t AddedTokens::Round::candidate(std::string_view text, std::size_t from) const {
  if (first_bytes_.size() == 1) return std::min(text.find(first_bytes_[0], from), text.size());
  if (first_bytes_.empty()) return text.size();
  while (from < text.size() && !begins_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

AddedTokens::Found AddedTokens::Round::find(std::string_view text) const {
  for (std::size_t at = candidate(text, 0); at < text.size(); at = candidate(text, at + 1)) {
    const std::string_view rest = text.substr(at);
    for (const Known& known : tokens_) {
      if (!rest.starts_with(known.token.text)) continue;
      const std::size_t end = at + known.token.text.size();
      return {at - (known.token.strip_left ? space_at_end(text.substr(0, at)) : 0),
              end + (known.token.strip_right ? space_at_begin(text.substr(end)) : 0), known.id};
    }
  }
  return {text.size(), text.size()};
}

}  // namespace hone
