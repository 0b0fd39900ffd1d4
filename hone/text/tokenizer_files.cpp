#include "hone/text/tokenizer_files.h"

#include <algorithm>
#include <array>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::array kFileNames = {"vocab.txt", "tokenizer.json", "tokenizer_config.json",
                                   "special_tokens_map.json"};

// What is read here has objects of 30 000 keys, which `Json`, looking for a key from the first one
// on, is no good for.
using Members = nlohmann::json;

Members read_members(const fs::path& path) {
  try {
    Members file = Members::parse(read_file(path));
    user_check(file.is_object(), "expected an object, got {}", file.type_name());
    return file;
  } catch (const Members::parse_error& error) {
    fail("malformed JSON at byte {}: {}", error.byte, error.what());
  }
}

std::string excerpt(const Members& value) {
  return value.dump(-1, ' ', false, Members::error_handler_t::replace).substr(0, 60);
}

std::vector<std::string> read_vocabulary(const fs::path& path) {
  std::vector<std::string> tokens = split(read_file(path), '\n');
  for (std::string& token : tokens) {
    if (token.ends_with('\r')) token.pop_back();
  }
  if (!tokens.empty() && tokens.back().empty()) tokens.pop_back();  // after the final newline
  return tokens;
}

// `object[key]` as a T where it is there and not null.
template <typename T>
void read_member(const Members& object, const char* key, T& value) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return;
  try {
    value = found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    fail("\"{}\" has an unexpected type: {}", key, excerpt(*found));
  }
}

const Members& object_member(const Members& object, const char* key) {
  static const Members empty = Members::object();
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return empty;
  user_check(found->is_object(), "\"{}\": expected an object, got {}", key, excerpt(*found));
  return *found;
}

void set_token(std::vector<std::string>& tokens, const Members& id, const std::string& token) {
  constexpr std::int64_t kMostTokens = 10'000'000;
  user_check(id.is_number_integer() && id >= 0 && id < kMostTokens,
             "token '{}': expected an id from 0, got {}", token, excerpt(id));
  const auto index = id.get<std::size_t>();
  if (index >= tokens.size()) tokens.resize(index + 1);
  user_check(tokens[index].empty() || tokens[index] == token,
             "id {} belongs to two tokens, '{}' and '{}'", index, tokens[index], token);
  tokens[index] = token;
}

void read_model(const Members& model, TokenizerDefinition& definition) {
  std::string type = "WordPiece";
  read_member(model, "type", type);
  user_check(
      type == "WordPiece",
      "tokenizer model '{}' is not supported; expected WordPiece, the model of the BERT family",
      type);
  const Members& vocabulary = object_member(model, "vocab");
  user_check(!vocabulary.empty(), "model.vocab: expected an object of tokens and ids");
  definition.tokens.reserve(vocabulary.size());
  for (const auto& [token, id] : vocabulary.items()) set_token(definition.tokens, id, token);
  read_member(model, "unk_token", definition.special.unknown);
  read_member(model, "continuing_subword_prefix", definition.word_piece.continuation_prefix);
  read_member(model, "max_input_chars_per_word", definition.word_piece.longest_word_characters);
}

// White space beside a token is no token, so lstrip and rstrip change nothing here.
void read_added_token(const Members& added, const Members& id, TokenizerDefinition& definition) {
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
             content);
  set_token(definition.tokens, id, content);
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

void read_tokenizer_json(const fs::path& path, TokenizerDefinition& definition) {
  const Members file = read_members(path);
  read_model(object_member(file, "model"), definition);
  if (const auto added = file.find("added_tokens"); added != file.end() && added->is_array()) {
    for (const Members& token : *added)
      read_added_token(token, token.value("id", Members()), definition);
  }
  read_normalizer(object_member(file, "normalizer"), definition.normalization);
}

// A special token is a string or an object with "content".
void read_special(const Members& config, const char* key, std::string& token) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return;
  read_member(found->is_object() ? *found : config, found->is_object() ? "content" : key, token);
}

void read_config(const fs::path& path, TokenizerDefinition& definition) {
  const Members config = read_members(path);
  SpecialTokens& special = definition.special;
  read_special(config, "pad_token", special.pad);
  read_special(config, "unk_token", special.unknown);
  read_special(config, "cls_token", special.cls);
  read_special(config, "sep_token", special.sep);
  read_special(config, "mask_token", special.mask);
  for (const auto& [id, token] : object_member(config, "added_tokens_decoder").items()) {
    const bool known = std::find(definition.added.begin(), definition.added.end(),
                                 token.value("content", "")) != definition.added.end();
    if (!known) read_added_token(token, Members::parse(id, nullptr, false), definition);
  }

  // The generic classes take everything else from tokenizer.json; BERT's own class reads it here.
  std::string tokenizer_class;
  read_member(config, "tokenizer_class", tokenizer_class);
  if (tokenizer_class == "PreTrainedTokenizerFast" || tokenizer_class == "TokenizersBackend")
    return;
  Normalization& normalization = definition.normalization;
  if (config.contains("do_lower_case") && !config["do_lower_case"].is_null()) {
    read_member(config, "do_lower_case", normalization.lowercase);
    normalization.strip_accents = normalization.lowercase;
  }
  read_member(config, "strip_accents", normalization.strip_accents);
  read_member(config, "tokenize_chinese_chars", normalization.split_cjk);
}

// What both files say together: special tokens are not listed twice, every id has a token.
void check_definition(TokenizerDefinition& definition) {
  const SpecialTokens& special = definition.special;
  std::erase_if(definition.added, [&](const std::string& token) {
    return token == special.pad || token == special.unknown || token == special.cls ||
           token == special.sep || token == special.mask;
  });
  const auto gap = std::find(definition.tokens.begin(), definition.tokens.end(), "");
  user_check(gap == definition.tokens.end(), "id {} has no token; expected every id from 0 to {}",
             gap - definition.tokens.begin(), definition.tokens.size() - 1);
}

}  // namespace

Tokenizer load_tokenizer(const fs::path& folder) {
  const fs::path json = folder / "tokenizer.json";
  const fs::path vocabulary = folder / "vocab.txt";
  const fs::path config = folder / "tokenizer_config.json";
  const bool has_json = fs::exists(json);
  user_check(has_json || fs::exists(vocabulary), "no tokenizer in {}: expected {} or {}",
             folder.string(), json.string(), vocabulary.string());
  TokenizerDefinition definition;
  const fs::path& source = has_json ? json : vocabulary;
  with_context(source.string(), [&] {
    has_json ? read_tokenizer_json(json, definition)
             : void(definition.tokens = read_vocabulary(vocabulary));
  });
  if (fs::exists(config)) with_context(config.string(), [&] { read_config(config, definition); });
  return with_context(source.string(), [&] {
    check_definition(definition);
    return Tokenizer(std::move(definition));
  });
}

std::vector<fs::path> tokenizer_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const char* name : kFileNames) {
    if (fs::exists(folder / name)) files.push_back(folder / name);
  }
  return files;
}

void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder) {
  const TokenizerDefinition& definition = tokenizer.definition();
  const WordPieceOptions& word_piece = definition.word_piece;
  user_check(definition.added.empty() && word_piece.continuation_prefix == "##" &&
                 word_piece.longest_word_characters == 100 && definition.normalization.clean_text,
             "this tokenizer cannot be written as vocab.txt; copy the tokenizer.json of its model "
             "instead");
  std::string text;
  for (const std::string& token : definition.tokens) {
    user_check(!token.empty() && token.find_first_of("\r\n") == std::string::npos,
               "token '{}' cannot stand on a line of vocab.txt", token);
    text += token + '\n';
  }
  const Normalization& normalization = definition.normalization;
  const SpecialTokens& special = definition.special;
  const Json config = {{"tokenizer_class", "BertTokenizer"},
                       {"do_lower_case", normalization.lowercase},
                       {"strip_accents", normalization.strip_accents},
                       {"tokenize_chinese_chars", normalization.split_cjk},
                       {"pad_token", special.pad},
                       {"unk_token", special.unknown},
                       {"cls_token", special.cls},
                       {"sep_token", special.sep},
                       {"mask_token", special.mask}};
  write_file(folder / "vocab.txt", text);
  write_file(folder / "tokenizer_config.json", to_document(config));
}

}  // namespace hone
