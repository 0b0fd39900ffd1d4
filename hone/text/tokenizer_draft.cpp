#include "hone/text/tokenizer_draft.h"

#include <algorithm>
#include <unordered_set>

#include "hone/base/printable.h"

namespace hone {
namespace {

using DescribedToken = TokenizerDraft::DescribedToken;
using NumberedToken = TokenizerDraft::NumberedToken;

std::vector<std::string> sorted_by_id(std::vector<NumberedToken> numbered) {
  std::stable_sort(numbered.begin(), numbered.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  std::vector<std::string> tokens;
  tokens.reserve(numbered.size());
  for (auto& next : numbered) {
    const bool again = next.id + 1 == std::ssize(tokens);
    if (again && tokens.back() != next.token)
      fail("id {} belongs to two tokens, '{}' and '{}'", next.id, shown_name(tokens.back()),
           shown_name(next.token));
    if (again) continue;
    user_check(next.id == std::ssize(tokens), "id {} has no token; expected every id from 0 to {}",
               std::ssize(tokens), numbered.back().id);
    tokens.push_back(std::move(next.token));
  }
  return tokens;
}

auto find_text(std::vector<DescribedToken>& tokens, std::string_view text) {
  return std::ranges::find_if(tokens, [&](const auto& known) { return known.token.text == text; });
}

// Assigns the next ids to extra tokens without one; named special tokens come first, as in transformers.
void number_extra(TokenizerDraft& draft) {
  const SpecialTokens& special = draft.definition.special;
  std::unordered_set<std::string> known;
  for (const std::string& token : draft.definition.tokens) known.insert(token);
  const auto is_absent = [&](const DescribedToken& extra) {
    return !known.contains(extra.token.text);
  };
  if (std::ranges::none_of(draft.extra_special, is_absent)) return;
  std::vector<std::string> wanted = {special.unknown, draft.sep, special.pad, draft.cls,
                                     special.mask};
  for (const DescribedToken& named : draft.special) wanted.push_back(named.token.text);
  for (const DescribedToken& extra : draft.extra_special) wanted.push_back(extra.token.text);
  for (const std::string& token : wanted)
    if (!token.empty() && known.insert(token).second) draft.definition.tokens.push_back(token);
}

// Returns the tokens of the vocabulary that are, or may be, matched literally.
std::unordered_set<std::string> added_pieces(const TokenizerDraft& draft) {
  std::unordered_set<std::string_view> added = {draft.cls, draft.sep};
  for (const auto* tokens : {&draft.added, &draft.special, &draft.extra_special})
    for (const DescribedToken& token : *tokens) added.insert(token.token.text);
  std::unordered_set<std::string> pieces;
  for (const NumberedToken& numbered : draft.tokens)
    if (added.contains(numbered.token)) pieces.insert(numbered.token);
  return pieces;
}

// Removes special tokens with default rules from the added ones.
void take_special_from_added(TokenizerDefinition& definition) {
  const SpecialTokens& special = definition.special;
  const Framing& framing = definition.framing;
  std::vector<std::string> known = {special.pad, special.unknown, special.mask};
  for (const auto* tokens : {&framing.front, &framing.between, &framing.trailing})
    known.insert(known.end(), tokens->begin(), tokens->end());
  std::erase_if(definition.added, [&](const AddedToken& token) {
    return token == AddedToken{token.text} &&
           std::find(known.begin(), known.end(), token.text) != known.end();
  });
}

}  // namespace

BytePairModel& TokenizerDraft::become_byte_pair() {
  definition.special = {.pad = "<pad>", .unknown = "<unk>", .mask = "<mask>"};
  cls = "<s>";
  sep = "</s>";
  return definition.model.emplace<BytePairModel>();
}

void TokenizerDraft::add_token(const Members& id, const std::string& token) {
  tokens.push_back(numbered_token(id, token));
}

void TokenizerDraft::describe(DescribedToken token) {
  const auto known = find_text(added, token.token.text);
  if (known == added.end()) return added.push_back(std::move(token));
  if (!token.numbered) token.numbered = known->numbered;
  *known = std::move(token);
}

void TokenizerDraft::describe_if_new(DescribedToken token) {
  if (find_text(added, token.token.text) == added.end()) added.push_back(std::move(token));
}

NumberedToken numbered_token(const Members& id, const std::string& token) {
  const bool is_id = id.is_number_integer() && id >= 0 && id <= INT32_MAX;
  if (!is_id) fail("token '{}': expected an id from 0, got {}", shown_name(token), excerpt(id));
  return {id.get<std::int64_t>(), token};
}

DescribedToken described_token(const Members& description, bool special) {
  DescribedToken described{.token = {}, .special = special};
  AddedToken& token = described.token;
  if (description.is_string()) {
    token.text = description.get<std::string>();
    token.normalized = !special;
  } else {
    user_check(description.is_object(), "added token: expected a text or an object, got {}",
               excerpt(description));
    read_member(description, "content", token.text);
    read_member(description, "special", described.special);
    token.normalized = !described.special;
    read_member(description, "normalized", token.normalized);
    read_member(description, "lstrip", token.strip_left);
    read_member(description, "rstrip", token.strip_right);
    read_member(description, "single_word", token.single_word);
  }
  return described;
}

TokenizerDefinition finish(TokenizerDraft draft) {
  TokenizerDefinition& definition = draft.definition;
  const bool byte_pair = draft.is_byte_pair();
  const std::unordered_set<std::string> pieces = added_pieces(draft);
  for (const DescribedToken& token : draft.added)
    if (token.numbered) draft.tokens.push_back(*token.numbered);
  definition.tokens = sorted_by_id(std::move(draft.tokens));
  number_extra(draft);
  const std::string &cls = draft.cls, &sep = draft.sep;
  definition.framing = draft.framing ? *draft.framing
                       : byte_pair   ? Framing{{cls}, {sep, sep}, {sep}, false}
                                     : Framing{{cls}, {sep}, {sep}, true};
  if (!draft.types_pairs) definition.framing.second_is_type_1 = false;
  for (const std::string& text : {cls, sep}) draft.special.push_back({{text}, true});
  for (auto* more : {&draft.special, &draft.extra_special})
    for (DescribedToken& token : *more) draft.describe_if_new(std::move(token));
  // If two tokens are equal after normalization, the special one matches first.
  std::ranges::stable_partition(draft.added, [](const auto& token) { return token.special; });
  const std::unordered_set<std::string_view> tokens(definition.tokens.begin(),
                                                    definition.tokens.end());
  for (const DescribedToken& token : draft.added)
    if (!token.token.text.empty() && tokens.contains(token.token.text)) {
      definition.added.push_back(token.token);
      definition.added.back().is_piece = pieces.contains(token.token.text);
    }
  take_special_from_added(definition);
  return std::move(definition);
}

}  // namespace hone
