#include "hone/text/tokenizer_parse.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/text/tokenizer_json.h"
#include "hone/text/vocabulary_files.h"

namespace hone {
namespace {

// A special token is a string or an object with "content" and rules.
void read_special(const Members& config, const char* key, std::string& token,
                  TokenizerDraft& draft) {
  const Members& found = member(config, key);
  read_member(found.is_object() ? found : config, found.is_object() ? "content" : key, token);
  draft.add_rules(found);
}

// Names of special tokens: tokenizer_config.json and special_tokens_map.json have them alike.
void read_special_tokens(const Members& config, TokenizerDraft& draft) {
  SpecialTokens& special = draft.definition.special;
  read_special(config, "pad_token", special.pad, draft);
  read_special(config, "unk_token", special.unknown, draft);
  read_special(config, "cls_token", draft.cls, draft);
  read_special(config, "sep_token", draft.sep, draft);
  read_special(config, "mask_token", special.mask, draft);
  for (const char* key : {"bos_token", "eos_token"})
    read_special(config, key, draft.literal.emplace_back(), draft);
  // The older and the newer name of the same.
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
    if (const Members& others = member(config, key); others.is_array())
      for (const Members& token : others)
        read_special({{"token", token}}, "token", draft.literal.emplace_back(), draft);
}

// A key of digits as the number; null for anything else.
Members parse_id(std::string_view key) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  return error == std::errc() && end == key.data() + key.size() ? Members(id) : Members();
}

// "added_tokens_decoder": tokens by id, those of the other files again.
void read_added_tokens(const Members& config, TokenizerDraft& draft) {
  for (const auto& [id, token] : object_member(config, "added_tokens_decoder").items()) {
    user_check(token.is_object(), "\"added_tokens_decoder\": expected objects, got {}",
               excerpt(token));
    draft.add_added_token(token, parse_id(id));
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

// The file's own model is what cuts words, so another name elsewhere would change nothing there, and ids here.
void check_unknown(const TokenizerDraft& draft, const std::string& in_json) {
  const std::string& now = draft.definition.special.unknown;
  user_check(draft.is_byte_pair() || now == in_json,
             "unk_token is '{}', but the model in tokenizer.json has '{}'; make both say how the "
             "model was trained",
             shown_name(now), shown_name(in_json));
}

// Programs do not agree on what the tokenizer of BERT does where the file normalizes nothing.
void check_normalizer(const Members& config, const Normalization& normalization) {
  std::string tokenizer_class;
  read_member(config, "tokenizer_class", tokenizer_class);
  user_check(!tokenizer_class.starts_with("Bert") ||
                 normalization != Normalization{false, false, false, false},
             "tokenizer_class is {}, which normalizes text in some programs, but tokenizer.json "
             "has no normalizer; write its BertNormalizer there, or say \"tokenizer_class\": "
             "\"PreTrainedTokenizerFast\" if text is to stay as it is",
             shown_name(tokenizer_class));
}

// The same of the space in front of texts.
void read_prefix_space(const Members& config, bool from_json, BytePairModel& model) {
  bool prefix_space = model.prefix_space;
  read_member(config, "add_prefix_space", prefix_space);
  user_check(!from_json || prefix_space == model.prefix_space,
             "add_prefix_space is {}, but the pre_tokenizer in tokenizer.json has it {}; make both "
             "say how the model was trained",
             prefix_space, model.prefix_space);
  model.prefix_space = prefix_space;
}

void read_config(const Members& config, bool from_json, TokenizerDraft& draft) {
  read_special_tokens(config, draft);
  read_added_tokens(config, draft);
  // The generic classes take everything else from tokenizer.json; the models' own classes read it
  // here.
  std::string tokenizer_class;
  read_member(config, "tokenizer_class", tokenizer_class);
  if (tokenizer_class == "PreTrainedTokenizerFast" || tokenizer_class == "TokenizersBackend")
    return;
  if (draft.is_byte_pair()) {
    user_check(from_json || tokenizer_class.empty() || tokenizer_class.starts_with("Roberta"),
               "tokenizer_class is {}, and without a tokenizer.json only RobertaTokenizer is "
               "supported for vocab.json and merges.txt: these two do not say which special tokens "
               "stand around a text",
               tokenizer_class);
    return read_prefix_space(config, from_json, std::get<BytePairModel>(draft.definition.model));
  }
  Normalization& normalization = std::get<WordPieceModel>(draft.definition.model).normalization;
  if (from_json) check_normalizer(config, normalization);
  read_case(config, from_json, normalization);
  read_member(config, "strip_accents", normalization.strip_accents);
  read_member(config, "tokenize_chinese_chars", normalization.split_cjk);
}

// added_tokens.json: tokens and their ids. Those that are not special are looked for in normalized
// text.
void read_added_file(std::string_view text, TokenizerDraft& draft) {
  const SpecialTokens& special = draft.definition.special;
  std::vector<std::string> plain = draft.literal;
  plain.insert(plain.end(), {special.pad, special.unknown, special.mask, draft.cls, draft.sep});
  const Members file = parse_members(text);
  for (const auto& [token, id] : file.items()) {
    const bool is_special = std::find(plain.begin(), plain.end(), token) != plain.end();
    draft.add_added_token({{"content", token}, {"normalized", !is_special}}, id);
  }
}

// Where no tokenizer_config.json says how the model was trained, the vocabulary must bear out what
// is assumed: the ids of a cased model on lowercased text, or the other way round, are other ids
// than it knows, and nothing fails.
void check_case(const TokenizerDefinition& definition, std::string_view remedy) {
  const auto* model = std::get_if<WordPieceModel>(&definition.model);
  if (model == nullptr) return;  // bytes keep their case
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
  const bool lowercase = model->normalization.lowercase;
  user_check(
      !lowercase || capital < kFewest || capital * 20 < std::ssize(definition.tokens),
      "text is lowercased here, yet {} of the {} tokens have capital letters and could never "
      "be found; {}",
      capital, definition.tokens.size(), remedy);
  user_check(lowercase || capital > 0 || small < 10 * kFewest,
             "capital letters are kept here, yet none of the {} tokens has one; {}",
             definition.tokens.size(), remedy);
}

// The vocabulary and what is done to text, which is read first.
void read_model_files(const TokenizerTexts& texts, TokenizerDraft& draft) {
  const auto in_file = [&](const char* name, const auto& read) {
    with_context((texts.folder / name).string(), read);
  };
  if (texts.json) {
    in_file("tokenizer.json", [&] { read_tokenizer_json(*texts.json, draft); });
  } else if (texts.vocabulary) {
    in_file("vocab.txt", [&] { read_vocabulary_lines(*texts.vocabulary, draft); });
  } else {
    draft.become_byte_pair();
    in_file("vocab.json", [&] { read_vocabulary_object(*texts.byte_vocabulary, draft); });
    in_file("merges.txt", [&] { read_merges(*texts.merges, draft); });
  }
}

// Word pieces and byte pairs have other ids for the same text, and nothing fails.
void check_class(const TokenizerTexts& texts, const Members& config) {
  std::string tokenizer_class = texts.usual_class;
  read_member(config, "tokenizer_class", tokenizer_class);
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  user_check(!texts.vocabulary || !tokenizer_class.starts_with("Roberta"),
             "{}: is a vocabulary of word pieces, but the tokenizer of this model is {}, which "
             "reads byte pairs: {} and {}, or {}; fetch these, or, if the model was trained with "
             "word pieces, say \"tokenizer_class\": \"BertTokenizer\" in {}",
             path("vocab.txt"), shown_name(tokenizer_class), path("vocab.json"), path("merges.txt"),
             path("tokenizer.json"), path("tokenizer_config.json"));
}

void check_files(const TokenizerTexts& texts) {
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  if (texts.json || texts.vocabulary) return;
  user_check(texts.byte_vocabulary.has_value() || texts.merges.has_value(),
             "{}: no tokenizer; expected {}, or {}, or {} and {}", texts.folder.string(),
             path("tokenizer.json"), path("vocab.txt"), path("vocab.json"), path("merges.txt"));
  user_check(texts.byte_vocabulary.has_value() && texts.merges.has_value(),
             "{}: {} stands there without {}; a BPE tokenizer needs both, or tokenizer.json",
             texts.folder.string(), texts.merges ? "merges.txt" : "vocab.json",
             texts.merges ? "vocab.json" : "merges.txt");
}

}  // namespace

Tokenizer parse_tokenizer(const TokenizerTexts& texts) {
  check_files(texts);
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  const bool from_json = texts.json.has_value();
  TokenizerDraft draft;
  read_model_files(texts, draft);
  const std::string unknown = draft.definition.special.unknown;
  const Members config = with_context(path("tokenizer_config.json"), [&] {
    Members members = texts.config ? parse_members(*texts.config) : Members::object();
    read_config(members, from_json, draft);
    if (from_json) check_unknown(draft, unknown);
    return members;
  });
  check_class(texts, config);
  const bool complete = config.contains("added_tokens_decoder");
  if (texts.special && !complete)
    with_context(path("special_tokens_map.json"), [&] {
      read_special_tokens(parse_members(*texts.special), draft);
      if (from_json) check_unknown(draft, unknown);
    });
  if (texts.added && !complete)
    with_context(path("added_tokens.json"), [&] { read_added_file(*texts.added, draft); });
  const char* source = from_json ? "tokenizer.json" : texts.vocabulary ? "vocab.txt" : "vocab.json";
  const std::vector<std::size_t> merge_lines = std::move(draft.merge_lines);
  try {
    TokenizerDefinition definition = finish(std::move(draft));
    if (!says_case(config))
      check_case(definition, from_json ? "set \"lowercase\" of its normalizer right, or say "
                                         "do_lower_case in tokenizer_config.json too"
                                       : "say \"do_lower_case\": true or false in "
                                         "tokenizer_config.json, as the model was trained");
    return Tokenizer(std::move(definition));
  } catch (MergesError& error) {
    if (error.merge && !merge_lines.empty())
      error.add_context(fmt::format("line {}", merge_lines[*error.merge]));
    error.add_context(path(from_json ? source : "merges.txt"));
    throw;
  } catch (Error& error) {
    error.add_context(path(source));
    throw;
  }
}

}  // namespace hone
