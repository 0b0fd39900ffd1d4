#include "hone/text/tokenizer_files.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\né\ne\n";

// A tokenizer.json with the vocabulary above and one more token, "z".
Json fast_tokenizer() {
  Json vocabulary = Json::object();
  const char* tokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "A", "é", "e", "z"};
  for (int i = 0; i < 10; ++i) vocabulary[tokens[i]] = i;
  Json added = Json::array();
  for (int i = 0; i < 5; ++i) {
    added.push_back(
        {{"id", i}, {"content", tokens[i]}, {"normalized", false}, {"single_word", false}});
  }
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}}},
          {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}, {"vocab", vocabulary}}}};
}

Ids encode(const TemporaryFolder& folder, std::string_view text) {
  return load_tokenizer(folder.path()).encode(text, 64);
}

Normalization normalization_of(const Tokenizer& tokenizer) {
  return std::get<WordPieceModel>(tokenizer.definition().model).normalization;
}

TEST(LoadTokenizer, ReadsVocabTxtAsUncased) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  EXPECT_EQ(encode(folder, "A é [MASK] ?"), (Ids{2, 5, 8, 4, 1, 3}));
}

// RoBERTa's own tokenizer reads byte pairs, and its ids would be others.
TEST(LoadTokenizer, RefusesVocabTxtAloneForAClassThatReadsBytePairs) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto load = [&] { return load_tokenizer(folder.path(), "RobertaTokenizer"); };
  const std::string message = user_error_of(load);
  for (const char* part : {"vocab.txt: is a vocabulary of word pieces", "is RobertaTokenizer",
                           "vocab.json", "merges.txt", "tokenizer.json; fetch these",
                           "say \"tokenizer_class\": \"BertTokenizer\" in "})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  EXPECT_EQ(load().vocabulary_size(), 9);
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizerFast"})");
  expect_user_error("is a vocabulary of word pieces",
                    [&] { load_tokenizer(folder.path(), "BertTokenizer"); });
}

TEST(LoadTokenizer, NamesFilesThatGitLeftPointersOf) {
  constexpr const char* kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
  for (const char* name : {"vocab.txt", "tokenizer.json", "vocab.json", "merges.txt"}) {
    TemporaryFolder folder;
    folder.file(name, kPointer);
    EXPECT_EQ(user_error_of([&] { load_tokenizer(folder.path()); }),
              (folder.path() / name).string() +
                  ": expected the contents of the file, got a Git LFS pointer to them; run 'git "
                  "lfs pull' in the folder");
  }
}

TEST(LoadTokenizer, ReadsLinesThatEndInCrLf) {
  TemporaryFolder folder;
  folder.file("vocab.txt", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n");
  EXPECT_EQ(encode(folder, "a"), (Ids{2, 4, 3}));
  EXPECT_EQ(load_tokenizer(folder.path()).vocabulary_size(), 5);
}

TEST(LoadTokenizer, TakesCaseAndAccentsFromTheConfig) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
  folder.file("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 8, 3}));
  folder.file("tokenizer_config.json",
              R"({"strip_accents": false, "tokenize_chinese_chars": false})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 5, 7, 3}));
  EXPECT_FALSE(normalization_of(load_tokenizer(folder.path())).split_cjk);
}

TEST(LoadTokenizer, TakesSpecialTokensFromTheConfig) {
  TemporaryFolder folder;
  folder.file("vocab.txt", "<pad>\n<unk>\n<s>\n</s>\na\n");
  folder.file(
      "tokenizer_config.json",
      R"({"pad_token": "<pad>", "unk_token": {"content": "<unk>", "lstrip": false}, "cls_token": "<s>",)"
      R"( "sep_token": "</s>"})");
  EXPECT_EQ(encode(folder, "a <s> b"), (Ids{2, 4, 2, 1, 3}));
}

TEST(LoadTokenizer, AddsTheTokensOfTheConfig) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  folder.file("tokenizer_config.json",
              R"({"added_tokens_decoder": {"0": {"content": "[PAD]", "normalized": false},)"
              R"( "9": {"content": "<url>", "normalized": false}}})");
  EXPECT_EQ(encode(folder, "a<url>"), (Ids{2, 5, 9, 3}));
}

TEST(LoadTokenizer, PrefersTokenizerJson) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  EXPECT_EQ(encode(folder, "Z A [SEP]"), (Ids{2, 9, 5, 3, 3}));
}

TEST(LoadTokenizer, TakesCaseFromTokenizerJsonWhereTheConfigIsSilent) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["normalizer"]["lowercase"] = false;
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
  // The generic class does not look at the config.
  folder.file("tokenizer_config.json",
              R"({"do_lower_case": true, "tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
}

TEST(LoadTokenizer, RefusesFilesThatContradictEachOtherAboutCase) {
  TemporaryFolder folder;
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  expect_user_error(
      "tokenizer_config.json: do_lower_case is false, but the normalizer in "
      "tokenizer.json has lowercase true; make both say how the model was trained",
      [&] { load_tokenizer(folder.path()); });
}

// The special tokens, then `count` words that begin with `first`.
std::string vocabulary_of(char first, int count) {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < count; ++i) text += fmt::format("{}word{}\n", first, i);
  return text;
}

TEST(LoadTokenizer, RefusesAVocabularyThatContradictsTheCaseAssumed) {
  TemporaryFolder folder;
  folder.file("vocab.txt", vocabulary_of('W', 1000));
  expect_user_error(
      "vocab.txt: text is lowercased here, yet 1000 of the 1005 tokens have capital "
      "letters and could never be found; say \"do_lower_case\": true or false in "
      "tokenizer_config.json, as the model was trained",
      [&] { load_tokenizer(folder.path()); });
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(folder, "Wword3"), (Ids{2, 8, 3}));
  // Who says so must be believed.
  folder.file("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(encode(folder, "Wword3"), (Ids{2, 1, 3}));
}

TEST(LoadTokenizer, RefusesALoneTokenizerJsonThatContradictsItsVocabulary) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  for (int i = 0; i < 1000; ++i) file["model"]["vocab"][fmt::format("word{}", i)] = 10 + i;
  file["model"]["vocab"].erase("A");
  file["model"]["vocab"]["b"] = 6;
  file["normalizer"]["lowercase"] = false;
  folder.file("tokenizer.json", to_document(file));
  expect_user_error(
      "tokenizer.json: capital letters are kept here, yet none of the 1010 tokens has "
      "one; set \"lowercase\" of its normalizer right, or say do_lower_case in "
      "tokenizer_config.json too",
      [&] { load_tokenizer(folder.path()); });
  file["normalizer"]["lowercase"] = true;
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "B"), (Ids{2, 6, 3}));
}

TEST(LoadTokenizer, ReadsTheModelsLimits) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["model"]["continuing_subword_prefix"] = "@@";
  file["model"]["max_input_chars_per_word"] = 3;
  file["model"]["vocab"]["@@a"] = 10;
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "aaa aaaa"), (Ids{2, 5, 10, 10, 1, 3}));
}

TEST(LoadTokenizer, NamesBothFilesThatAreMissing) {
  TemporaryFolder folder;
  expect_user_error((folder.path() / "tokenizer.json").string(),
                    [&] { load_tokenizer(folder.path()); });
  expect_user_error((folder.path() / "vocab.txt").string(), [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, NamesATokenThatStandsTwice) {
  TemporaryFolder folder;
  folder.file("vocab.txt", std::string(kVocabulary) + "a\n");
  expect_user_error("vocab.txt: vocabulary: the token 'a' stands at ids 5 and 9",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, RefusesEmptyLines) {
  TemporaryFolder folder;
  folder.file("vocab.txt", "[PAD]\n\n[UNK]\n");
  expect_user_error("vocab.txt: id 1 has no token, its line is empty",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, RefusesTokenizersItDoesNotKnow) {
  const auto refuses = [](const std::function<void(Json&)>& change, const std::string& message) {
    TemporaryFolder folder;
    Json file = fast_tokenizer();
    change(file);
    folder.file("tokenizer.json", to_document(file));
    expect_user_error(message, [&] { load_tokenizer(folder.path()); });
  };
  refuses([](Json& file) { file["model"]["type"] = "Unigram"; },
          "tokenizer model 'Unigram' is not supported; expected WordPiece, the model of the BERT "
          "family, or BPE, that of RoBERTa");
  refuses([](Json& file) { file["pre_tokenizer"]["type"] = "Whitespace"; },
          "pre_tokenizer 'Whitespace' is not supported with WordPiece; expected BertPreTokenizer");
  refuses([](Json& file) { file["pre_tokenizer"] = nullptr; },
          "pre_tokenizer null is not supported with WordPiece; expected BertPreTokenizer");
  refuses([](Json& file) { file["post_processor"] = nullptr; },
          "post_processor null is not supported; expected TemplateProcessing, RobertaProcessing or "
          "BertProcessing, which put special tokens around texts");
  refuses([](Json& file) { file["model"]["unk_token"] = nullptr; },
          "model.unk_token: expected the token of words that cannot be cut, got null");
  refuses([](Json& file) { file["model"]["unk_token"] = "<oov>"; },
          "vocabulary: the unknown token '<oov>' is not among the 10 tokens");
  refuses([](Json& file) { file["normalizer"]["type"] = "NFC"; },
          "normalizer 'NFC' is not supported");
  refuses([](Json& file) { file["model"].erase("vocab"); },
          "model.vocab: expected an object of tokens and ids");
  refuses([](Json& file) { file["model"]["vocab"]["z"] = 11; },
          "id 9 has no token; expected every id from 0 to 11");
  refuses([](Json& file) { file["model"]["vocab"]["z"] = 8; }, "id 8 belongs to two tokens");
  refuses([](Json& file) { file["model"]["vocab"]["z"] = -1; },
          "token 'z': expected an id from 0, got -1");
  refuses([](Json& file) { file["model"]["vocab"]["z"] = 2'000'000'000; },
          "id 9 has no token; expected every id from 0 to 2000000000");
  refuses([](Json& file) { file["model"]["max_input_chars_per_word"] = -1; },
          "\"max_input_chars_per_word\": expected a whole number from 1, got -1");
  refuses([](Json& file) { file["added_tokens"][4] = 7; },
          "token '': expected an id from 0, got null");
  refuses([](Json& file) { file["added_tokens"][4]["normalized"] = true; },
          "added token '[MASK]' asks for");
  refuses([](Json& file) { file["normalizer"]["lowercase"] = "yes"; },
          "\"lowercase\" has an unexpected type: \"yes\"");
}

// The tokens of words that it cannot cut, as the library `tokenizers` has them.
TEST(LoadTokenizer, TakesTheUnknownTokenOfTheModelAndNoOther) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["model"]["unk_token"] = "z";
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "q"), (Ids{2, 9, 3}));
  const char* message =
      "unk_token is '[UNK]', but the model in tokenizer.json has 'z'; make both say how";
  folder.file("special_tokens_map.json", R"({"unk_token": "[UNK]"})");
  expect_user_error(std::string("special_tokens_map.json: ") + message,
                    [&] { load_tokenizer(folder.path()); });
  folder.file("tokenizer_config.json", R"({"unk_token": "[UNK]"})");
  expect_user_error(std::string("tokenizer_config.json: ") + message,
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, NormalizesNothingWithoutANormalizer) {
  const Json golden = read_json(test_data() / "text/golden/plain_tokens.json");
  Json file = fast_tokenizer();
  Json vocabulary = Json::object();
  const std::string lines = read_file(test_data() / "text/golden/vocab.txt");
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    vocabulary[lines.substr(begin, end - begin)] = vocabulary.size();
    begin = end + 1;
  }
  file["model"]["vocab"] = vocabulary;
  file["normalizer"] = nullptr;
  TemporaryFolder folder;
  folder.file("tokenizer.json", to_document(file));
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  for (const Json& row : golden.at("chosen"))
    EXPECT_EQ(tokenizer.encode(row[0].get<std::string>(), 512), row[1].get<Ids>()) << row[0];
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  load_tokenizer(folder.path());
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
  expect_user_error(
      "tokenizer_config.json: tokenizer_class is BertTokenizer, which normalizes text in some "
      "programs, but tokenizer.json has no normalizer; write its BertNormalizer there, or say",
      [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, SaysWhereJsonIsMalformed) {
  TemporaryFolder folder;
  folder.file("tokenizer.json", "{\"model\": ");
  expect_user_error("tokenizer.json: line 1, column 11: malformed JSON: ",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, RefusesVocabulariesThatAreNotUtf8) {
  TemporaryFolder folder;
  folder.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncaf\xe9\n");
  expect_user_error("vocab.txt: line 5: the token 'caf\ufffd' is not UTF-8; ",
                    [&] { load_tokenizer(folder.path()); });
  folder.file("tokenizer.json", "{\"model\": {\"vocab\": {\"[PAD]\": 0,\n \"caf\xe9\": 1}}}");
  expect_user_error("tokenizer.json: line 2, column 7: malformed JSON: ",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(SaveTokenizer, IsReadBackTheSame) {
  TemporaryFolder folder;
  TokenizerDefinition definition;
  definition.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "<mask>", "A", "é", "中"};
  const Normalization normalization = {
      .split_cjk = false, .strip_accents = true, .lowercase = false};
  definition.model = WordPieceModel{.normalization = normalization};
  definition.special.mask = "<mask>";
  save_tokenizer(Tokenizer(definition), folder.path());
  const Tokenizer loaded = load_tokenizer(folder.path());
  EXPECT_EQ(loaded.definition().tokens, definition.tokens);
  EXPECT_EQ(normalization_of(loaded), normalization);
  EXPECT_EQ(loaded.definition().framing, Framing());
  EXPECT_EQ(loaded.definition().special.mask, "<mask>");
  EXPECT_EQ(tokenizer_files(folder.path()),
            (std::vector<fs::path>{folder.path() / "vocab.txt",
                                   folder.path() / "tokenizer_config.json"}));
}

TEST(SaveTokenizer, RefusesWhatVocabTxtCannotSay) {
  TemporaryFolder folder;
  const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a\nb"};
  expect_user_error("cannot stand on a line",
                    [&] { save_tokenizer(Tokenizer({.tokens = tokens}), folder.path()); });
  expect_user_error("copy the tokenizer's files", [&] {
    save_tokenizer(Tokenizer({.tokens = tokens, .added = {{"a\nb"}}}), folder.path());
  });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace hone
