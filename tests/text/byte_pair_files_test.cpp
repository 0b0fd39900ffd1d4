#include <gtest/gtest.h>

#include "hone/text/tokenizer_files.h"
#include "tests/support/expect.h"
#include "tests/text/byte_pair_golden.h"

// Reading the files of byte-level BPE, and errors in them.
namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

Ids ids_in(const TemporaryFolder& folder, std::string_view text) {
  return load_tokenizer(folder.path()).encode(text, 64);
}

TEST(LoadBytePairTokenizer, TakesTheSpaceInFrontFromTheConfig) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const Ids spaced = ids_in(folder, " film");
  EXPECT_NE(ids_in(folder, "film"), spaced);
  folder.file("tokenizer_config.json",
              R"({"add_prefix_space": true, "tokenizer_class": "RobertaTokenizer"})");
  EXPECT_EQ(ids_in(folder, "film"), spaced);
}

TEST(LoadBytePairTokenizer, TakesRulesAndNamesOfSpecialTokensFromTheSmallFiles) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const auto tokens = [&] { return ids_in(folder, "a <mask>.").size(); };
  EXPECT_EQ(tokens(), 6u);  // the space is a token
  folder.file("special_tokens_map.json",
              R"({"mask_token": {"content": "<mask>", "lstrip": true}, "pad_token": "<unk>"})");
  EXPECT_EQ(tokens(), 5u);
  EXPECT_EQ(load_tokenizer(folder.path()).pad_id(), 3);
  // added_tokens_decoder takes precedence over the older files.
  folder.file("tokenizer_config.json",
              R"({"added_tokens_decoder": {"4": {"content": "<mask>", "rstrip": true}}})");
  EXPECT_EQ(tokens(), 6u);
  EXPECT_EQ(load_tokenizer(folder.path()).pad_id(), 1);
}

TEST(LoadBytePairTokenizer, FindsAdditionalSpecialTokensInTheText) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const std::size_t pieces = ids_in(folder, "Ġthe.").size();
  folder.file("special_tokens_map.json",
              R"({"additional_special_tokens": ["Ġthe", {"content": "<none>"}]})");
  EXPECT_LT(ids_in(folder, "Ġthe.").size(), pieces);
  EXPECT_EQ(load_tokenizer(folder.path()).token(ids_in(folder, "Ġthe.").at(1)), "Ġthe");
}

TEST(LoadBytePairTokenizer, AddsTheTokensOfTheirFile) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const std::int32_t next = load_tokenizer(folder.path()).vocabulary_size();
  folder.file("added_tokens.json", fmt::format(R"({{"<url>": {}}})", next));
  EXPECT_EQ(ids_in(folder, "<url>"), (Ids{0, next, 2}));
}

TEST(LoadBytePairTokenizer, CopiesAllItsFilesAlong) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  folder.file("added_tokens.json", "{}");
  folder.file("special_tokens_map.json", "{}");
  std::vector<std::string> names;
  for (const fs::path& file : tokenizer_files(folder.path())) names.push_back(file.filename());
  EXPECT_EQ(names, (std::vector<std::string>{"vocab.json", "merges.txt", "added_tokens.json",
                                             "special_tokens_map.json"}));
  expect_user_error("this tokenizer cannot be written as vocab.txt; copy the tokenizer's files",
                    [&] { save_tokenizer(load_tokenizer(folder.path()), folder.path(), 64); });
}

TEST(LoadBytePairTokenizer, GoesBeforeWordPiecesForAClassThatReadsBytePairs) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  folder.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n");
  EXPECT_EQ(load_tokenizer(folder.path()).vocabulary_size(), 5);
  EXPECT_EQ(load_tokenizer(folder.path(), "RobertaTokenizer").vocabulary_size(), 634);
}

TEST(LoadBytePairTokenizer, NamesTheFileThatIsMissing) {
  TemporaryFolder folder;
  folder.file("vocab.json", "{}");
  expect_user_error("contains vocab.json but not merges.txt; a BPE tokenizer needs both",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadBytePairTokenizer, RefusesFilesThatAreDamaged) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const auto refuses = [&](const char* name, const std::string& text, const std::string& message) {
    const std::string before = read_file(folder.path() / name);
    folder.file(name, text);
    expect_user_error(message, [&] { load_tokenizer(folder.path()); });
    folder.file(name, before);
  };
  refuses("merges.txt", "#version: 0.2\nĠ t\nabc\n",
          "merges.txt: line 3: expected two tokens with a space between them, got 'abc'");
  refuses("merges.txt", "a b c\n", "merges.txt: line 1: expected two tokens");
  refuses("merges.txt", "caf\xe9 x\n", "merges.txt: line 1: the token 'caf\ufffd x' is not UTF-8");
  refuses("merges.txt", "#version: 0.2\nq q\n",
          "merges.txt: line 2: merge 1, 'q q': 'qq' is not among the 634 tokens");
  const std::string merges = read_file(folder.path() / "merges.txt");
  const std::size_t first = merges.find('\n') + 1;
  const std::string again = merges.substr(first, merges.find('\n', first) + 1 - first);
  refuses("merges.txt", "#version: 0.2\n" + again + again,
          "merges.txt: line 3: the merge '" + again.substr(0, again.size() - 1) +
              "' is listed twice, as numbers 1 and 2");
  refuses("merges.txt", "#version: 0.2\n", "merges.txt: the merges make only 0 of the ");
  refuses("vocab.json", "[]", "vocab.json: expected an object, got array");
  refuses("vocab.json", R"({"a": "b"})", "vocab.json: token 'a': expected an id from 0, got \"b\"");
  refuses("vocab.json", R"({"<pad>": 0, "<s>": 1, "</s>": 2})",
          "vocab.json: vocabulary: there is no token for the byte 0x00, written 'Ā'; expected one "
          "for each of the 256 bytes");
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  expect_user_error(
      "tokenizer_config.json: tokenizer_class GPT2Tokenizer is not supported without a "
      "tokenizer.json: vocab.json and merges.txt are read as RobertaTokenizer reads them",
      [&] { load_tokenizer(folder.path()); });
}

TEST(LoadBytePairTokenizer, RefusesWhatByteLevelBpeDoesNotDo) {
  const auto refuses = [](const char* pointer, const Json& value, const std::string& message) {
    expect_user_error(message, [&] { changed_tokenizer({{pointer, value}}); });
  };
  refuses("/model/dropout", 0.1, "\"dropout\": 0.1 is not supported; expected 0 or null");
  refuses("/model/byte_fallback", true, "\"byte_fallback\": true is not supported");
  refuses("/model/ignore_merges", true, "\"ignore_merges\": true is not supported");
  refuses("/model/end_of_word_suffix", "</w>", "\"end_of_word_suffix\": \"</w>\" is not supported");
  refuses("/model/continuing_subword_prefix", "##", "\"continuing_subword_prefix\": \"##\" is not");
  refuses("/model/merges", nullptr, "model.merges: expected a list, got null");
  refuses("/model/merges/0", Json::array({"a"}),
          "model.merges: expected \"left right\" or [\"left\", \"right\"], got [\"a\"]");
  refuses("/normalizer", {{"type", "NFC"}},
          "normalizer 'NFC' is not supported with BPE; expected none");
  refuses("/pre_tokenizer", {{"type", "Whitespace"}},
          "pre_tokenizer 'Whitespace' is not supported with BPE; expected ByteLevel");
  refuses("/pre_tokenizer", nullptr, "pre_tokenizer '' is not supported with BPE");
  refuses("/post_processor/type", "ByteLevel", "post_processor 'ByteLevel' is not supported");
  refuses("/post_processor/sep", Json::array({"</s>", 7}), "id 7 belongs to two tokens");
  refuses("/post_processor/sep", "</s>", "\"sep\": expected a token and its id, got \"</s>\"");
}

TEST(LoadBytePairTokenizer, RefusesTemplatesOfOtherKinds) {
  const Json changes = byte_golden().at("settings").at("template");
  const auto refuses = [&](const char* pointer, const Json& value, const std::string& message) {
    Json processor = changes.at("/post_processor");
    processor[Json::json_pointer(pointer)] = value;
    expect_user_error(message, [&] { changed_tokenizer({{"/post_processor", processor}}); });
  };
  const std::string shape = "post_processor: expected the template of pairs to be that of single";
  refuses("/pair/4/SpecialToken/type_id", 0, shape);
  refuses("/pair/1/Sequence/type_id", 1, shape);
  refuses("/single/0/SpecialToken/id", "</s>", shape);
  refuses("/pair/3/Sequence/id", "A", shape);
  refuses("/single", Json::array(), shape);
  refuses("/special_tokens", Json::object(), "special token '<s>': expected one id, got null");
}

// As in transformers: tokenizers of a model's class take this setting from the config.
TEST(LoadBytePairTokenizer, TheConfigGoesBeforeTokenizerJsonAboutTheSpaceInFront) {
  const auto puts_space = [](const char* config) {
    const Tokenizer tokenizer = parse_tokenizer(
        {.json = read_file(byte_golden_folder() / "tokenizer.json"), .config = config});
    return std::get<BytePairModel>(tokenizer.definition().model).prefix_space;
  };
  EXPECT_TRUE(puts_space(R"({"add_prefix_space": true})"));
  EXPECT_FALSE(puts_space(R"({"add_prefix_space": false})"));
  EXPECT_FALSE(
      puts_space(R"({"add_prefix_space": true, "tokenizer_class": "PreTrainedTokenizerFast"})"));
}

TEST(LoadBytePairTokenizer, ReadsOlderFormsOfTheSame) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  const Json file = read_json(byte_golden_folder() / "tokenizer.json");
  Json merges = Json::array();
  for (const Json& merge : file["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  const Json sequence = {
      {"type", "Sequence"},
      {"processors", Json::array({{{"type", "ByteLevel"}}, file["post_processor"]})}};
  const Tokenizer older =
      changed_tokenizer({{"/model/merges", merges}, {"/post_processor", sequence}});
  const char* text = "The film was not what I had hoped for.";
  EXPECT_EQ(older.encode(text, 64), tokenizer.encode(text, 64));
}

}  // namespace
}  // namespace hone
