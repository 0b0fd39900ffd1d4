#include "hone/text/trim_tokenizer.h"

#include <algorithm>
#include <map>
#include <optional>

#include "hone/base/json.h"
#include "hone/text/tokenizer_files.h"

namespace hone {
namespace {

/// Maps old ids of kept tokens to new ones.
using NewIds = std::map<std::int64_t, std::int64_t>;

NewIds new_ids(const std::vector<std::int32_t>& kept) {
  NewIds ids;
  for (const std::int32_t id : kept) ids.emplace(id, std::ssize(ids));
  return ids;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

// Splits a text into characters, each with its bytes.
std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char byte : text) {
    const bool continues = (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += byte;
  }
  return characters;
}

// Filters and renumbers an object of tokens and their ids.
LargeJson with_new_ids(const LargeJson& vocabulary, const NewIds& ids) {
  LargeJson kept = LargeJson::object();
  for (const auto& [token, id] : vocabulary.items())
    if (const auto found = ids.find(id.get<std::int64_t>()); found != ids.end())
      kept[token] = found->second;
  return kept;
}

// Replaces a token id by its new one; ids of removed tokens stay, because nothing reads them.
void renumber(LargeJson& id, const NewIds& ids) {
  if (!id.is_number_integer()) return;
  if (const auto found = ids.find(id.get<std::int64_t>()); found != ids.end()) id = found->second;
}

std::string trim_lines(const std::string& text, const NewIds& ids) {
  std::string kept;
  std::int64_t id = 0;
  for (std::size_t begin = 0; begin < text.size(); ++id) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (ids.contains(id)) kept.append(text, begin, end - begin);
    begin = end;
  }
  return kept;
}

// Returns whether the parts and the result of a merge exist.
bool is_whole(std::string_view left, std::string_view right, const PieceTable& tokens) {
  const auto has = [&](std::string_view token) { return tokens.find(token, hash_of(token)) >= 0; };
  return has(left) && has(right) && has(std::string(left) + std::string(right));
}

PieceTable table_of(const std::vector<std::string>& tokens) {
  PieceTable table;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].empty()) table.insert(tokens[i], static_cast<std::int32_t>(i));
  return table;
}

std::string trim_merges(const std::string& text, const PieceTable& tokens) {
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t space = line.find(' ');
    const bool is_merge = space != std::string_view::npos && !line.starts_with("#version");
    if (!is_merge || is_whole(line.substr(0, space), line.substr(space + 1), tokens))
      kept.append(text, begin, end - begin);
    begin = end;
  }
  return kept;
}

void trim_model(LargeJson& model, const NewIds& ids) {
  model["vocab"] = with_new_ids(model["vocab"], ids);
  if (!model.contains("merges")) return;
  std::vector<std::string> names;
  for (const auto& [token, id] : model["vocab"].items()) names.push_back(token);
  const PieceTable tokens = table_of(names);
  LargeJson merges = LargeJson::array();
  for (const LargeJson& merge : model["merges"]) {
    const bool pair = merge.is_array();
    const std::string text = pair ? "" : merge.get<std::string>();
    const std::size_t space = text.find(' ');
    const std::string left = pair ? merge[0].get<std::string>() : text.substr(0, space),
                      right = pair ? merge[1].get<std::string>() : text.substr(space + 1);
    if (is_whole(left, right, tokens)) merges.push_back(merge);
  }
  model["merges"] = std::move(merges);
}

// Renumbers "sep": ["</s>", 2] and "special_tokens": {"[SEP]": {"ids": [102], …}}.
void renumber_processor(LargeJson& processor, const NewIds& ids) {
  for (const char* key : {"cls", "sep"})
    if (processor.contains(key) && processor[key].is_array() && processor[key].size() == 2)
      renumber(processor[key][1], ids);
  if (!processor.contains("special_tokens")) return;
  for (auto& [name, token] : processor["special_tokens"].items())
    if (token.contains("ids"))
      for (LargeJson& id : token["ids"]) renumber(id, ids);
}

std::string trim_tokenizer_json(const std::string& text, const NewIds& ids) {
  LargeJson file = parse_large_json(text);
  trim_model(file["model"], ids);
  if (file.contains("added_tokens"))
    for (LargeJson& token : file["added_tokens"]) renumber(token["id"], ids);
  if (file.contains("post_processor") && file["post_processor"].is_object())
    renumber_processor(file["post_processor"], ids);
  if (file.contains("padding") && file["padding"].is_object())
    renumber(file["padding"]["pad_id"], ids);
  return file.dump(2) + "\n";
}

std::string trim_tokenizer_config(const std::string& text, const NewIds& ids,
                                  const std::string& where) {
  Json config = parse_json(text, where);
  constexpr const char* kAdded = "added_tokens_decoder";
  if (!config.contains(kAdded)) return text;
  Json kept = Json::object();
  for (const auto& [id, token] : config[kAdded].items())
    if (const auto found = ids.find(std::atoll(id.c_str())); found != ids.end())
      kept[std::to_string(found->second)] = token;
  config[kAdded] = std::move(kept);
  return to_document(config);
}

std::string trim_object(const std::string& text, const NewIds& ids) {
  return with_new_ids(parse_large_json(text), ids).dump(2) + "\n";
}

}  // namespace

std::vector<char> permanent_tokens(const TokenizerDefinition& definition) {
  std::vector<char> lasting(definition.tokens.size());
  std::vector<std::string> special = {definition.special.pad, definition.special.unknown,
                                      definition.special.mask};
  for (const auto* tokens :
       {&definition.framing.front, &definition.framing.between, &definition.framing.trailing})
    special.insert(special.end(), tokens->begin(), tokens->end());
  for (const AddedToken& token : definition.added) special.push_back(token.text);
  const auto* pieces = std::get_if<WordPieceModel>(&definition.model);
  for (std::size_t id = 0; id < lasting.size(); ++id) {
    std::string_view token = definition.tokens[id];
    const bool is_special = std::ranges::find(special, token) != special.end();
    if (pieces != nullptr && token.starts_with(pieces->pieces.continuation_prefix) &&
        token.size() > pieces->pieces.continuation_prefix.size())
      token.remove_prefix(pieces->pieces.continuation_prefix.size());
    lasting[id] = is_special || characters_in(token) == 1 ? 1 : 0;
  }
  return lasting;
}

TokenParts::TokenParts(const TokenizerDefinition& definition)
    : definition_(definition), ids_(table_of(definition.tokens)) {
  if (const auto* model = std::get_if<BytePairModel>(&definition.model))
    for (const Merge& merge : model->merges)
      ranks_.emplace(merge.left + " " + merge.right, ranks_.size());
}

std::vector<std::int32_t> TokenParts::of(std::int32_t id) const {
  std::vector<std::int32_t> parts;
  if (ranks_.empty()) return parts;
  std::vector<std::string> pieces = characters_of(definition_.tokens[static_cast<std::size_t>(id)]);
  while (pieces.size() > 1) {
    std::optional<std::pair<std::size_t, std::size_t>> first;  // rank and place
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
      if (const auto found = ranks_.find(pieces[i] + " " + pieces[i + 1]);
          found != ranks_.end() && (!first || found->second < first->first))
        first = {found->second, i};
    if (!first) return {};  // no merges make it: an added token
    const std::size_t at = first->second;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    if (pieces.size() > 1) parts.push_back(ids_.find(pieces[at], hash_of(pieces[at])));
  }
  return parts;
}

TokenizerDefinition trimmed(const TokenizerDefinition& definition,
                            const std::vector<std::int32_t>& kept) {
  TokenizerDefinition result = definition;
  result.tokens.clear();
  for (const std::int32_t id : kept)
    result.tokens.push_back(definition.tokens[static_cast<std::size_t>(id)]);
  if (auto* model = std::get_if<BytePairModel>(&result.model)) {
    const PieceTable tokens = table_of(result.tokens);
    std::erase_if(model->merges,
                  [&](const Merge& merge) { return !is_whole(merge.left, merge.right, tokens); });
  }
  return result;
}

void write_trimmed_tokenizer(const fs::path& from, const TokenizerDefinition& definition,
                             const std::vector<std::int32_t>& kept, const fs::path& to) {
  const NewIds ids = new_ids(kept);
  for (const fs::path& file : tokenizer_files(from)) {
    const std::string name = file.filename().string();
    std::string text = read_file(file);
    const auto trim = [&]() -> std::string {
      if (name == "vocab.txt") return trim_lines(text, ids);
      if (name == "tokenizer.json") return trim_tokenizer_json(text, ids);
      if (name == "tokenizer_config.json") return trim_tokenizer_config(text, ids, file.string());
      if (name == "vocab.json" || name == "added_tokens.json") return trim_object(text, ids);
      if (name != "merges.txt") return text;
      return trim_merges(text, table_of(trimmed(definition, kept).tokens));
    };
    write_file(to / name, with_context(file.string(), trim));
  }
}

}  // namespace hone
