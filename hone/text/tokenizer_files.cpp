#include "hone/text/tokenizer_files.h"

#include <algorithm>
#include <array>

#include "hone/base/error.h"
#include "hone/base/git_lfs.h"
#include "hone/base/json.h"
#include "hone/text/tokenizer_parse.h"

namespace hone {
namespace {

constexpr std::array kFileNames = {"vocab.txt",
                                   "vocab.json",
                                   "merges.txt",
                                   "tokenizer.json",
                                   "added_tokens.json",
                                   "tokenizer_config.json",
                                   "special_tokens_map.json"};
constexpr std::ptrdiff_t kVocabularies = 4;  // the first ones of these

std::optional<std::string> read_if_there(const fs::path& path) {
  if (!path_exists(path)) return std::nullopt;
  std::string text = read_file(path);
  refuse_git_lfs_pointer(path, text, "the contents of the file");
  return text;
}

constexpr const char* kConfigFile = "tokenizer_config.json";

// For head_tail, uses the value of `truncation_side` that keeps most of the same tokens.
void set_truncation(Truncation truncation, Json& config) {
  config["truncation_side"] = truncation == Truncation::head ? "right" : "left";
  config.erase(kTruncationKey);
  if (truncation == Truncation::head_tail) config[kTruncationKey] = to_string(truncation);
}

}  // namespace

Tokenizer load_tokenizer(const fs::path& folder, std::string_view default_class) {
  const auto read = [&](const char* name) { return read_if_there(folder / name); };
  TokenizerTexts texts{.folder = folder,
                       .json = read("tokenizer.json"),
                       .config = read("tokenizer_config.json"),
                       .special = read("special_tokens_map.json"),
                       .added = read("added_tokens.json"),
                       .default_class = std::string(default_class)};
  // If both vocabularies exist, the class decides.
  const bool bytes = default_class.starts_with("Roberta") && path_exists(folder / "vocab.json") &&
                     path_exists(folder / "merges.txt");
  if (!texts.json && !bytes) texts.vocabulary = read("vocab.txt");
  if (!texts.json && !texts.vocabulary) {
    texts.byte_vocabulary = read("vocab.json");
    texts.merges = read("merges.txt");
  }
  return parse_tokenizer(texts);
}

bool has_tokenizer(const fs::path& folder) {
  return std::ranges::any_of(kFileNames.begin(), kFileNames.begin() + kVocabularies,
                             [&](const char* name) { return path_exists(folder / name); });
}

std::vector<fs::path> tokenizer_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const char* name : kFileNames) {
    if (path_exists(folder / name)) files.push_back(folder / name);
  }
  return files;
}

void save_tokenizer(const Tokenizer& tokenizer, const fs::path& folder, std::int64_t max_length) {
  const TokenizerDefinition& definition = tokenizer.definition();
  const auto* model = std::get_if<WordPieceModel>(&definition.model);
  const Framing& framing = definition.framing;
  const bool as_bert = framing.front.size() == 1 && framing.trailing.size() == 1 &&
                       framing == Framing{framing.front, framing.trailing, framing.trailing};
  user_check(model != nullptr && as_bert && definition.added.empty() &&
                 model->pieces.continuation_prefix == "##" &&
                 model->pieces.longest_word_characters == 100 && model->normalization.clean_text,
             "this tokenizer cannot be written as vocab.txt; copy the tokenizer's files of its "
             "model instead");
  std::string text;
  for (const std::string& token : definition.tokens) {
    user_check(!token.empty() && token.find_first_of("\r\n") == std::string::npos,
               "token '{}' cannot be written as a line of vocab.txt", token);
    text += token + '\n';
  }
  const Normalization& normalization = model->normalization;
  const SpecialTokens& special = definition.special;
  Json config = {{"tokenizer_class", "BertTokenizer"},
                 {"model_max_length", max_length},
                 {"do_lower_case", normalization.lowercase},
                 {"strip_accents", normalization.strip_accents},
                 {"tokenize_chinese_chars", normalization.split_cjk},
                 {"pad_token", special.pad},
                 {"unk_token", special.unknown},
                 {"cls_token", framing.front[0]},
                 {"sep_token", framing.trailing[0]},
                 {"mask_token", special.mask}};
  set_truncation(definition.truncation, config);
  write_file(folder / "vocab.txt", text);
  write_file(folder / kConfigFile, to_document(config));
}

std::optional<Truncation> read_truncation(const fs::path& folder) {
  const fs::path path = folder / kConfigFile;
  const std::optional<std::string> text = read_if_there(path);
  if (!text) return std::nullopt;
  return with_context(path.string(), [&] { return configured_truncation(parse_members(*text)); });
}

void write_truncation(Truncation truncation, const fs::path& folder) {
  if (read_truncation(folder) == truncation) return;
  const fs::path path = folder / kConfigFile;
  Json config = path_exists(path) ? read_json(path) : Json::object();
  set_truncation(truncation, config);
  write_file(path, to_document(config));
}

}  // namespace hone
