#include "hone/text/tokenizer_draft.h"

#include <algorithm>
#include <unordered_set>

#include "hone/base/printable.h"

namespace hone {
namespace {

std::vector<std::string> in_order(std::vector<TokenizerDraft::NumberedToken> numbered) {
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
    user_check(next.id == std::ssize(tokens) && !next.token.empty(),
               "id {} has no token; expected every id from 0 to {}", std::ssize(tokens),
               numbered.back().id);
    tokens.push_back(std::move(next.token));
  }
  return tokens;
}

bool has_added(const TokenizerDefinition& definition, std::string_view text) {
  return std::any_of(definition.added.begin(), definition.added.end(),
                     [&](const AddedToken& token) { return token.text == text; });
}

AddedToken read_added_token(const Members& description, bool byte_pair) {
  AddedToken token;
  bool single_word = false;
  read_member(description, "content", token.text);
  read_member(description, "lstrip", token.strip_left);
  read_member(description, "rstrip", token.strip_right);
  read_member(description, "normalized", token.late);
  read_member(description, "single_word", single_word);
  user_check((!token.late || byte_pair) && !single_word,
             "added token '{}' asks for \"normalized\" or \"single_word\" matching; only literal "
             "matching of the raw text is supported",
             shown_name(token.text));
  return token;
}

// Special tokens with plain rules are not listed twice.
void take_special_from_added(TokenizerDefinition& definition) {
  const SpecialTokens& special = definition.special;
  const Framing& framing = definition.framing;
  std::vector<std::string> known = {special.pad, special.unknown, special.mask};
  for (const auto* tokens : {&framing.front, &framing.between, &framing.behind})
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
  const bool is_id = id.is_number_integer() && id >= 0 && id <= INT32_MAX;
  if (!is_id) fail("token '{}': expected an id from 0, got {}", shown_name(token), excerpt(id));
  tokens.push_back({id.get<std::int64_t>(), token});
}

void TokenizerDraft::add_added_token(const Members& description, const Members& id) {
  const AddedToken token = read_added_token(description, is_byte_pair());
  if (has_added(definition, token.text)) return;
  add_token(id, token.text);
  definition.added.push_back(token);
}

void TokenizerDraft::add_rules(const Members& description) {
  // White space beside a token is none of its neighbours' in word pieces, so rules change nothing.
  if (!is_byte_pair() || !description.is_object()) return;
  ruled.push_back(read_added_token(description, true));
}

TokenizerDefinition finish(TokenizerDraft draft) {
  TokenizerDefinition definition = std::move(draft.definition);
  const bool byte_pair = std::holds_alternative<BytePairModel>(definition.model);
  definition.tokens = in_order(std::move(draft.tokens));
  const std::string &cls = draft.cls, &sep = draft.sep;
  definition.framing = draft.framing ? *draft.framing
                       : byte_pair   ? Framing{{cls}, {sep, sep}, {sep}, false}
                                     : Framing{{cls}, {sep}, {sep}, true};
  const std::unordered_set<std::string_view> tokens(definition.tokens.begin(),
                                                    definition.tokens.end());
  draft.literal.insert(draft.literal.end(), {cls, sep});
  for (const std::string& text : draft.literal) draft.ruled.push_back({text});
  for (const AddedToken& token : draft.ruled)
    if (tokens.contains(token.text) && !has_added(definition, token.text))
      definition.added.push_back(token);
  take_special_from_added(definition);
  return definition;
}

}  // namespace hone
