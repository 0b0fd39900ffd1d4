#include "hone/text/tokenizer_parse.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

using Members = LargeJson;  // a vocabulary is an object of 30 000 keys

Members parse_members(std::string_view text) {
  Members file = parse_large_json(text);
  user_check(file.is_object(), "expected an object, got {}", file.type_name());
  return file;
}

std::string excerpt(const Members& value) {
  return shorten(value.dump(-1, ' ', false, Members::error_handler_t::replace), 60);
}

// `object[key]`, or null where it is not there or `object` is none.
const Members& member(const Members& object, const char* key) {
  static const Members null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

// `object[key]` as a T where it is there and not null.
template <typename T>
void read_member(const Members& object, const char* key, T& value) {
  const Members& found = member(object, key);
  if (found.is_null()) return;
  try {
    value = found.get<T>();
  } catch (const Members::exception&) {
    fail("\"{}\" has an unexpected type: {}", key, excerpt(found));
  }
}

const Members& object_member(const Members& object, const char* key) {
  static const Members empty = Members::object();
  const Members& found = member(object, key);
  user_check(found.is_null() || found.is_object(), "\"{}\": expected an object, got {}", key,
             excerpt(found));
  return found.is_null() ? empty : found;
}

/// Tokens with their ids in any order, some twice, until all are known.
struct NumberedToken {
  std::int64_t id;
  std::string token;
};
using NumberedTokens = std::vector<NumberedToken>;

void add_token(NumberedTokens& tokens, const Members& id, const std::string& token) {
  user_check(id.is_number_integer() && id >= 0 && id <= INT32_MAX,
             "token '{}': expected an id from 0, got {}", shown_name(token), excerpt(id));
  tokens.push_back({id.get<std::int64_t>(), token});
}

// Every id has one token.
std::vector<std::string> in_order(NumberedTokens numbered) {
  std::stable_sort(numbered.begin(), numbered.end(),
                   [](const NumberedToken& a, const NumberedToken& b) { return a.id < b.id; });
  std::vector<std::string> tokens;
  tokens.reserve(numbered.size());
  for (NumberedToken& next : numbered) {
    const bool again = next.id + 1 == std::ssize(tokens);
    user_check(!again || tokens.back() == next.token, "id {} belongs to two tokens, '{}' and '{}'",
               next.id, tokens.empty() ? "" : shown_name(tokens.back()), shown_name(next.token));
    if (again) continue;
    user_check(next.id == std::ssize(tokens) && !next.token.empty(),
               "id {} has no token; expected every id from 0 to {}", std::ssize(tokens),
               numbered.back().id);
    tokens.push_back(std::move(next.token));
  }
  return tokens;
}

// Text is read as UTF-8, so a token in another encoding would never be found in it.
void check_token(std::string_view token, std::size_t line) {
  if (is_utf8(token)) return;
  std::int64_t replaced = 0;
  fail(
      "line {}: the token '{}' is not UTF-8; take the file from where the model comes from, or "
      "convert it with `iconv -f ENCODING -t UTF-8`",
      line, shown_name(repair_utf8(token, replaced)));
}

// One token per line.
void read_vocabulary(std::string_view text, NumberedTokens& tokens) {
  tokens.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    user_check(!line.empty(), "id {} has no token, its line is empty", tokens.size());
    check_token(line, tokens.size() + 1);
    tokens.push_back({std::ssize(tokens), std::string(line)});
  }
}

void read_model(const Members& model, NumberedTokens& tokens, TokenizerDefinition& definition) {
  std::string type = "WordPiece";
  read_member(model, "type", type);
  user_check(
      type == "WordPiece",
      "tokenizer model '{}' is not supported; expected WordPiece, the model of the BERT family",
      type);
  const Members& vocabulary = object_member(model, "vocab");
  user_check(!vocabulary.empty(), "model.vocab: expected an object of tokens and ids");
  for (const auto& [token, id] : vocabulary.items()) add_token(tokens, id, token);
  read_member(model, "unk_token", definition.special.unknown);
  read_member(model, "continuing_subword_prefix", definition.word_piece.continuation_prefix);
  const Members& longest = member(model, "max_input_chars_per_word");
  user_check(longest.is_null() || (longest.is_number_unsigned() && longest > 0),
             "\"max_input_chars_per_word\": expected a whole number from 1, got {}",
             excerpt(longest));
  read_member(model, "max_input_chars_per_word", definition.word_piece.longest_word_characters);
}

// White space beside a token is no token, so lstrip and rstrip change nothing here.
void read_added_token(const Members& added, const Members& id, NumberedTokens& tokens,
                      TokenizerDefinition& definition) {
  std::string content;
  bool normalized = false;
  bool single_word = false;
  read_member(added, "content", content);
  read_member(added, "normalized", normalized);
  read_member(added, "single_word", single_word);
  user_check(!normalized && !single_word,
             "added token '{}' asks for \"normalized\" or \"single_word\" matching; only literal "
             "matching of the raw "
             "text is supported",
             shown_name(content));
  add_token(tokens, id, content);
  definition.added.push_back(content);
}

void read_normalizer(const Members& normalizer, Normalization& normalization) {
  std::string type = "BertNormalizer";
  read_member(normalizer, "type", type);
  user_check(type == "BertNormalizer", "normalizer '{}' is not supported; expected BertNormalizer",
             type);
  read_member(normalizer, "clean_text", normalization.clean_text);
  read_member(normalizer, "handle_chinese_chars", normalization.split_cjk);
  read_member(normalizer, "lowercase", normalization.lowercase);
  normalization.strip_accents = normalization.lowercase;
  read_member(normalizer, "strip_accents", normalization.strip_accents);
}

void read_tokenizer_json(std::string_view text, NumberedTokens& tokens,
                         TokenizerDefinition& definition) {
  const Members file = parse_members(text);
  read_model(object_member(file, "model"), tokens, definition);
  if (const auto added = file.find("added_tokens"); added != file.end() && added->is_array()) {
    for (const Members& token : *added)
      read_added_token(token, member(token, "id"), tokens, definition);
  }
  read_normalizer(object_member(file, "normalizer"), definition.normalization);
}

// A special token is a string or an object with "content".
void read_special(const Members& config, const char* key, std::string& token) {
  const bool object = member(config, key).is_object();
  read_member(object ? member(config, key) : config, object ? "content" : key, token);
}

// A key of digits as the number; null for anything else.
Members parse_id(std::string_view key) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  return error == std::errc() && end == key.data() + key.size() ? Members(id) : Members();
}

// "added_tokens_decoder": tokens by id, those of the other files again.
void read_added_tokens(const Members& config, NumberedTokens& tokens,
                       TokenizerDefinition& definition) {
  for (const auto& [id, token] : object_member(config, "added_tokens_decoder").items()) {
    std::string content;
    user_check(token.is_object(), "\"added_tokens_decoder\": expected objects, got {}",
               excerpt(token));
    read_member(token, "content", content);
    const bool known = std::find(definition.added.begin(), definition.added.end(), content) !=
                       definition.added.end();
    if (!known) read_added_token(token, parse_id(id), tokens, definition);
  }
}

bool says_case(const Members& config) { return !member(config, "do_lower_case").is_null(); }

// Two files that both speak of case must say the same.
void read_case(const Members& config, bool from_json, Normalization& normalization) {
  if (!says_case(config)) return;
  bool lowercase = false;
  read_member(config, "do_lower_case", lowercase);
  user_check(!from_json || lowercase == normalization.lowercase,
             "do_lower_case is {}, but the normalizer in tokenizer.json has lowercase {}; make "
             "both say how the model was trained",
             lowercase, normalization.lowercase);
  normalization.lowercase = lowercase;
  normalization.strip_accents = lowercase;
}

void read_config(const Members& config, bool from_json, NumberedTokens& tokens,
                 TokenizerDefinition& definition) {
  SpecialTokens& special = definition.special;
  read_special(config, "pad_token", special.pad);
  read_special(config, "unk_token", special.unknown);
  read_special(config, "cls_token", special.cls);
  read_special(config, "sep_token", special.sep);
  read_special(config, "mask_token", special.mask);
  read_added_tokens(config, tokens, definition);
  // The generic classes take everything else from tokenizer.json; BERT's own class reads it here.
  std::string tokenizer_class;
  read_member(config, "tokenizer_class", tokenizer_class);
  if (tokenizer_class == "PreTrainedTokenizerFast" || tokenizer_class == "TokenizersBackend")
    return;
  read_case(config, from_json, definition.normalization);
  read_member(config, "strip_accents", definition.normalization.strip_accents);
  read_member(config, "tokenize_chinese_chars", definition.normalization.split_cjk);
}

// Where no tokenizer_config.json says how the model was trained, the vocabulary must bear out what
// is assumed: the ids of a cased model on lowercased text, or the other way round, are other ids
// than it knows, and nothing fails.
void check_case(const TokenizerDefinition& definition, std::string_view remedy) {
  constexpr std::int64_t kFewest = 100;
  std::int64_t capital = 0, small = 0;
  for (const std::string& token : definition.tokens) {
    const bool word = !token.starts_with('[') && !token.starts_with('<');
    const auto has = [&](char first, char last) {
      return std::any_of(token.begin(), token.end(),
                         [&](char c) { return c >= first && c <= last; });
    };
    if (word && has('A', 'Z')) {
      ++capital;
    } else if (word && has('a', 'z')) {
      ++small;
    }
  }
  const bool lowercase = definition.normalization.lowercase;
  user_check(
      !lowercase || capital < kFewest || capital * 20 < std::ssize(definition.tokens),
      "text is lowercased here, yet {} of the {} tokens have capital letters and could never "
      "be found; {}",
      capital, definition.tokens.size(), remedy);
  user_check(lowercase || capital > 0 || small < 10 * kFewest,
             "capital letters are kept here, yet none of the {} tokens has one; {}",
             definition.tokens.size(), remedy);
}

// Special tokens are not listed twice.
void take_special_from_added(TokenizerDefinition& definition) {
  const SpecialTokens& special = definition.special;
  std::erase_if(definition.added, [&](const std::string& token) {
    return token == special.pad || token == special.unknown || token == special.cls ||
           token == special.sep || token == special.mask;
  });
}

}  // namespace

Tokenizer parse_tokenizer(const TokenizerTexts& texts) {
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  const bool from_json = texts.json.has_value();
  const std::string source = path(from_json ? "tokenizer.json" : "vocab.txt");
  user_check(from_json || texts.vocabulary, "{}: no tokenizer; expected {} or {}",
             texts.folder.string(), path("tokenizer.json"), path("vocab.txt"));
  TokenizerDefinition definition;
  NumberedTokens tokens;
  with_context(source, [&] {
    from_json ? read_tokenizer_json(*texts.json, tokens, definition)
              : read_vocabulary(*texts.vocabulary, tokens);
  });
  bool case_is_vouched_for = false;
  if (texts.config) {
    with_context(path("tokenizer_config.json"), [&] {
      const Members config = parse_members(*texts.config);
      read_config(config, from_json, tokens, definition);
      case_is_vouched_for = says_case(config);
    });
  }
  return with_context(source, [&] {
    definition.tokens = in_order(std::move(tokens));
    take_special_from_added(definition);
    if (!case_is_vouched_for) {
      check_case(definition, from_json ? "set \"lowercase\" of its normalizer right, or say "
                                         "do_lower_case in tokenizer_config.json too"
                                       : "say \"do_lower_case\": true or false in "
                                         "tokenizer_config.json, as the model was trained");
    }
    return Tokenizer(std::move(definition));
  });
}

}  // namespace hone
