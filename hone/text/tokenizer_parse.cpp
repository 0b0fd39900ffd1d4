#include "hone/text/tokenizer_parse.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/text/tokenizer_class.h"
#include "hone/text/tokenizer_json.h"
#include "hone/text/vocabulary_files.h"

namespace hone {
namespace {

// In the order of transformers.
constexpr const char* kNamedTokens[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                        "pad_token", "cls_token", "mask_token"};

bool is_named(std::string_view key) {
  return std::ranges::find(kNamedTokens, key) != std::end(kNamedTokens);
}

// Returns the member for a named special token; null for bos_token and eos_token, which have no role here.
std::string* role_of(std::string_view key, TokenizerDraft& draft) {
  SpecialTokens& special = draft.definition.special;
  return key == "pad_token"    ? &special.pad
         : key == "unk_token"  ? &special.unknown
         : key == "mask_token" ? &special.mask
         : key == "cls_token"  ? &draft.cls
         : key == "sep_token"  ? &draft.sep
                               : nullptr;
}

// Reads special tokens; tokenizer_config.json and special_tokens_map.json use the same keys.
void read_special_tokens(const Members& config, TokenizerDraft& draft) {
  for (const char* key : kNamedTokens) {
    const Members& found = member(config, key);
    if (found.is_null()) continue;
    with_context(key, [&] { draft.special.push_back(described_token(found, true)); });
    if (std::string* role = role_of(key, draft)) *role = draft.special.back().token.text;
  }
  const auto add_extra = [&](const Members& tokens) {
    for (const Members& token : tokens) draft.extra_special.push_back(described_token(token, true));
  };
  // The older and the newer key; custom tokens also have keys of their own.
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
    with_context(key, [&] {
      if (member(config, key).is_structured()) add_extra(member(config, key));
    });
  for (const auto& [key, token] : config.items())
    if (key.ends_with("_token") && !is_named(key) && token.is_string())
      draft.extra_special.push_back(described_token(token, true));
}

// Parses a key of digits; returns null for anything else.
Members parse_id(std::string_view key) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  return error == std::errc() && end == key.data() + key.size() ? Members(id) : Members();
}

// Reads "added_tokens_decoder", tokens by id. The classes of models use only these; the generic ones also use those of
// tokenizer.json.
void read_added_tokens(const Members& config, std::string_view tokenizer_class,
                       TokenizerDraft& draft) {
  if (!config.contains("added_tokens_decoder")) return;
  if (!is_generic_class(tokenizer_class)) draft.added.clear();
  for (const auto& [id, token] : object_member(config, "added_tokens_decoder").items()) {
    user_check(token.is_object(), "\"added_tokens_decoder\": expected objects, got {}",
               excerpt(token));
    auto described = described_token(token, false);
    described.numbered = numbered_token(parse_id(id), described.token.text);
    draft.describe(std::move(described));
  }
}

bool sets_lowercase(const Members& config) { return !member(config, "do_lower_case").is_null(); }

/// A setting that a model's class takes from tokenizer_config.json, regardless of tokenizer.json. If the former does
/// not set it, the class has its own default.
struct ClassSetting {
  const char* key;
  bool usual;           ///< default of the class
  const char* in_json;  ///< name in tokenizer.json
};

// `value`: that of tokenizer.json. `named`: the class that a file names, if any; only transformers uses classes.
void read_setting(const ClassSetting& setting, const Members& config, bool from_json,
                  std::string_view named, bool& value) {
  const bool says = !member(config, setting.key).is_null();
  user_check(says || !from_json || named.empty() || value == setting.usual,
             "tokenizer.json has {} {}, but {}, which tokenizer_config.json names, takes it as {} "
             "where that file has no {}; write \"{}\": {} there, as the model was trained",
             setting.in_json, value, named, setting.usual, setting.key, setting.key, value);
  read_member(config, setting.key, value);
}

// tokenizers takes the unknown token from the model in tokenizer.json, so another name elsewhere would have no effect
// there, but change ids here.
void check_unknown(const TokenizerDraft& draft, const std::string& in_json) {
  const std::string& now = draft.definition.special.unknown;
  user_check(draft.is_byte_pair() || now == in_json,
             "unk_token is '{}', but the model in tokenizer.json has '{}'; set both as the model "
             "was trained",
             shown_name(now), shown_name(in_json));
}

// Programs disagree on BERT's tokenizer if the file has no cleaning normalizer.
void check_normalizer(std::string_view tokenizer_class, const Normalization& normalization) {
  user_check(
      !is_bert_class(tokenizer_class) || normalization.clean_text,
      "tokenizer_class is {}, which normalizes text in some programs, but tokenizer.json "
      "has no normalizer that does (\"clean_text\": true); write its BertNormalizer there, or "
      "set \"tokenizer_class\": \"PreTrainedTokenizerFast\" if text is to stay as it is",
      shown_name(tokenizer_class));
}

void read_normalization(const Members& config, bool from_json, std::string_view named,
                        Normalization& normalization) {
  if (from_json) check_normalizer(named, normalization);
  const bool lowered = normalization.lowercase;
  read_setting({"do_lower_case", true, "lowercase"}, config, from_json, named,
               normalization.lowercase);
  // By default, or if null, accents are stripped exactly if text is lowercased.
  if (!from_json || config.contains("strip_accents") || normalization.lowercase != lowered)
    normalization.strip_accents = normalization.lowercase;
  read_setting({"strip_accents", normalization.lowercase, "strip_accents"}, config, from_json,
               named, normalization.strip_accents);
  read_setting({"tokenize_chinese_chars", true, "handle_chinese_chars"}, config, from_json, named,
               normalization.split_cjk);
}

// A model's class uses only the vocabulary and added tokens of tokenizer.json, and its own defaults for the rest.
void take_class_settings(std::string_view tokenizer_class, TokenizerDraft& draft) {
  auto* const words = std::get_if<WordPieceModel>(&draft.definition.model);
  if (words != nullptr ? is_bert_class(tokenizer_class) : is_roberta_class(tokenizer_class))
    draft.framing.reset();
  if (words != nullptr && is_bert_class(tokenizer_class)) words->pieces = {};
}

// Determines whether the model takes token types.
void read_token_types(const Members& config, std::string_view tokenizer_class,
                      TokenizerDraft& draft) {
  const Members& inputs = member(config, "model_input_names");
  draft.types_pairs = inputs.is_array()
                          ? std::ranges::find(inputs, "token_type_ids") != inputs.end()
                          : !tokenizer_class.starts_with("DistilBert");
}

void read_config(const Members& config, bool from_json, std::string_view tokenizer_class,
                 TokenizerDraft& draft) {
  std::string named;
  read_member(config, "tokenizer_class", named);
  read_special_tokens(config, draft);
  read_added_tokens(config, tokenizer_class, draft);
  draft.definition.truncation = configured_truncation(config).value_or(draft.definition.truncation);
  read_token_types(config, tokenizer_class, draft);
  // The generic classes take everything else from tokenizer.json; model classes read it here.
  if (is_generic_class(tokenizer_class)) return;
  take_class_settings(tokenizer_class, draft);
  if (draft.is_byte_pair()) {
    read_setting({"add_prefix_space", false, "add_prefix_space"}, config, from_json, named,
                 std::get<BytePairModel>(draft.definition.model).prefix_space);
  } else {
    read_normalization(config, from_json, named,
                       std::get<WordPieceModel>(draft.definition.model).normalization);
  }
}

// Reads added_tokens.json, tokens and their ids. Tokens that are not special are matched in normalized text.
// Descriptions in tokenizer.json take precedence.
void read_added_file(std::string_view text, TokenizerDraft& draft) {
  const SpecialTokens& special = draft.definition.special;
  std::vector<std::string> named = {special.pad, special.unknown, special.mask, draft.cls,
                                    draft.sep};
  for (const auto* tokens : {&draft.special, &draft.extra_special})
    for (const auto& token : *tokens) named.push_back(token.token.text);
  const Members file = parse_members(text);
  for (const auto& [token, id] : file.items()) {
    const bool is_special = std::ranges::find(named, token) != named.end();
    auto described = described_token(token, is_special);
    described.numbered = numbered_token(id, token);
    draft.describe_if_new(std::move(described));
  }
}

// Without do_lower_case in tokenizer_config.json, checks that the vocabulary agrees with the assumed case. A mismatch
// would silently produce ids that the model was not trained on.
void check_case(const TokenizerDefinition& definition, std::string_view remedy) {
  const auto* model = std::get_if<WordPieceModel>(&definition.model);
  if (model == nullptr) return;  // bytes keep their case
  constexpr std::int64_t kMin = 100;
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
      !lowercase || capital < kMin || capital * 20 < std::ssize(definition.tokens),
      "text is lowercased here, yet {} of the {} tokens have capital letters and could never "
      "be found; {}",
      capital, definition.tokens.size(), remedy);
  user_check(lowercase || capital > 0 || small < 10 * kMin,
             "capital letters are kept here, yet none of the {} tokens has one; {}",
             definition.tokens.size(), remedy);
}

// Reads the vocabulary, and the normalization if it is in tokenizer.json.
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

// Rejects the wrong type of vocabulary, which would silently produce wrong ids.
void check_kind(const TokenizerTexts& texts, std::string_view tokenizer_class) {
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  user_check(!texts.vocabulary || !is_roberta_class(tokenizer_class),
             "{}: is a vocabulary of word pieces, but the tokenizer of this model is {}, which "
             "reads byte pairs: {} and {}, or {}; fetch these, or, if the model was trained with "
             "word pieces, set \"tokenizer_class\": \"BertTokenizer\" in {}",
             path("vocab.txt"), shown_name(tokenizer_class), path("vocab.json"), path("merges.txt"),
             path("tokenizer.json"), path("tokenizer_config.json"));
}

VocabularySource source_of(const TokenizerTexts& texts) {
  return texts.json              ? VocabularySource::tokenizer_json
         : texts.vocabulary      ? VocabularySource::vocab_txt
         : texts.byte_vocabulary ? VocabularySource::vocab_json
                                 : VocabularySource::none;
}

void check_files(const TokenizerTexts& texts) {
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  if (texts.json || texts.vocabulary) return;
  user_check(texts.byte_vocabulary.has_value() || texts.merges.has_value(),
             "{}: no tokenizer; expected {}, or {}, or {} and {}", texts.folder.string(),
             path("tokenizer.json"), path("vocab.txt"), path("vocab.json"), path("merges.txt"));
  user_check(texts.byte_vocabulary.has_value() && texts.merges.has_value(),
             "{}: contains {} but not {}; a BPE tokenizer needs both, or tokenizer.json",
             texts.folder.string(), texts.merges ? "merges.txt" : "vocab.json",
             texts.merges ? "vocab.json" : "merges.txt");
}

}  // namespace

std::optional<Truncation> configured_truncation(const Members& config) {
  std::string name, side;
  read_member(config, kTruncationKey, name);
  if (!name.empty()) return with_context(kTruncationKey, [&] { return parse_truncation(name); });
  if (member(config, "truncation_side").is_null()) return std::nullopt;
  read_member(config, "truncation_side", side);
  user_check(side == "left" || side == "right", "truncation_side: expected left or right, got '{}'",
             shown_name(side));
  return side == "left" ? Truncation::tail : Truncation::head;
}

Tokenizer parse_tokenizer(const TokenizerTexts& texts) {
  const auto path = [&](const char* name) { return (texts.folder / name).string(); };
  const bool from_json = texts.json.has_value();
  TokenizerDraft draft;
  std::string tokenizer_class = texts.default_class;
  const Members config = with_context(path("tokenizer_config.json"), [&] {
    Members members = texts.config ? parse_members(*texts.config) : Members::object();
    read_member(members, "tokenizer_class", tokenizer_class);
    return members;
  });
  check_kind(texts, tokenizer_class);
  with_context(path("tokenizer_config.json"),
               [&] { check_tokenizer_class(tokenizer_class, config, source_of(texts)); });
  check_files(texts);
  read_model_files(texts, draft);
  const std::string unknown = draft.definition.special.unknown;
  with_context(path("tokenizer_config.json"), [&] {
    read_config(config, from_json, tokenizer_class, draft);
    if (from_json) check_unknown(draft, unknown);
  });
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
    if (!sets_lowercase(config))
      check_case(definition, from_json ? "set \"lowercase\" of its normalizer right, or set "
                                         "do_lower_case in tokenizer_config.json too"
                                       : "set \"do_lower_case\": true or false in "
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
