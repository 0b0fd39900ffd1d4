#include "hone/text/tokenizer_files.h"

#include <array>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/text/tokenizer_parse.h"

namespace hone {
namespace {

constexpr std::array kFileNames = {"vocab.txt", "tokenizer.json", "tokenizer_config.json",
                                   "special_tokens_map.json"};

std::optional<std::string> read_if_there(const fs::path& path) {
  return path_exists(path) ? std::optional(read_file(path)) : std::nullopt;
}

}  // namespace

Tokenizer load_tokenizer(const fs::path& folder) {
  TokenizerTexts texts{folder,
                       read_if_there(folder / "tokenizer.json"),
                       {},
                       read_if_there(folder / "tokenizer_config.json")};
  if (!texts.json) texts.vocabulary = read_if_there(folder / "vocab.txt");
  return parse_tokenizer(texts);
}

std::vector<fs::path> tokenizer_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const char* name : kFileNames) {
    if (path_exists(folder / name)) files.push_back(folder / name);
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
