#include "hone/text/tokenizer_files.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr const char* kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\né\ne\n";

// Returns a tokenizer.json with the vocabulary above and one more token, "z".
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

// RoBERTa's tokenizer uses byte pairs, with other ids.
TEST(LoadTokenizer, RefusesVocabTxtAloneForAClassThatReadsBytePairs) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto load = [&] { return load_tokenizer(folder.path(), "RobertaTokenizer"); };
  const std::string message = user_error_of(load);
  for (const char* part : {"vocab.txt: is a vocabulary of word pieces", "is RobertaTokenizer",
                           "vocab.json", "merges.txt", "tokenizer.json; fetch these",
                           "set \"tokenizer_class\": \"BertTokenizer\" in "})
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
  // The generic class ignores the config.
  folder.file("tokenizer_config.json",
              R"({"do_lower_case": true, "tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
}

// As in transformers: tokenizers of a model's class take these settings from the config.
TEST(LoadTokenizer, TheConfigGoesBeforeTokenizerJsonAboutCase) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  folder.file("tokenizer.json", to_document(file));
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 6, 7, 3}));
  folder.file("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 5, 7, 3}));
}

TEST(LoadTokenizer, RefusesAClassThatWouldTakeWhatTheConfigLeavesOutOtherwise) {
  TemporaryFolder folder;
  const auto refusal = [&](const char* key, bool value) {
    Json file = fast_tokenizer();
    file["normalizer"][key] = value;
    folder.file("tokenizer.json", to_document(file));
    folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
    return user_error_of([&] { load_tokenizer(folder.path()); });
  };
  EXPECT_NE(refusal("lowercase", false).find("write \"do_lower_case\": false"), std::string::npos);
  EXPECT_NE(refusal("strip_accents", false).find("write \"strip_accents\": false"),
            std::string::npos);
  EXPECT_NE(refusal("handle_chinese_chars", false).find("write \"tokenize_chinese_chars\": false"),
            std::string::npos);
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  EXPECT_EQ(encode(folder, "A é"), (Ids{2, 5, 8, 3}));
}

// Returns the special tokens, then `count` words that begin with `first`.
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
      "letters and could never be found; set \"do_lower_case\": true or false in "
      "tokenizer_config.json, as the model was trained",
      [&] { load_tokenizer(folder.path()); });
  folder.file("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(encode(folder, "Wword3"), (Ids{2, 8, 3}));
  // An explicit setting is accepted.
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
      "one; set \"lowercase\" of its normalizer right, or set do_lower_case in "
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
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(encode(folder, "aaa aaaa"), (Ids{2, 5, 10, 10, 1, 3}));
}

// As AutoTokenizer of transformers 5: these classes use only the vocabulary.
TEST(LoadTokenizer, TakesLimitsAndFramingFromTheClassOfTheModel) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["model"]["vocab"]["##a"] = 10;
  file["model"]["continuing_subword_prefix"] = "@@";
  file["model"]["max_input_chars_per_word"] = 3;
  for (const Json& processor :
       {Json(), Json{{"type", "RobertaProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}}})
    for (const char* name : {"BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer"}) {
      file["post_processor"] = processor;
      folder.file("tokenizer.json", to_document(file));
      folder.file("tokenizer_config.json", to_document({{"tokenizer_class", name}}));
      EXPECT_EQ(encode(folder, "aaa aaaa"), (Ids{2, 5, 10, 10, 5, 10, 10, 10, 3})) << name;
      EXPECT_EQ(load_tokenizer(folder.path()).encode_pair("a", "a", 64).ids, (Ids{2, 5, 3, 5, 3}))
          << name;
    }
}

TEST(LoadTokenizer, PutsNothingAroundTextsWithoutAPostProcessor) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["post_processor"] = nullptr;
  folder.file("tokenizer.json", to_document(file));
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(encode(folder, "a a"), (Ids{5, 5}));
}

TEST(LoadTokenizer, RefusesVocabTxtWithAByteOrderMark) {
  TemporaryFolder folder;
  folder.file("vocab.txt", std::string("\xef\xbb\xbf") + kVocabulary);
  expect_user_error("vocab.txt: begins with a byte order mark",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, NamesBothFilesThatAreMissing) {
  TemporaryFolder folder;
  expect_user_error((folder.path() / "tokenizer.json").string(),
                    [&] { load_tokenizer(folder.path()); });
  expect_user_error((folder.path() / "vocab.txt").string(), [&] { load_tokenizer(folder.path()); });
}

// As the library `tokenizers` does: the line number is the id, whatever the line contains.
TEST(LoadTokenizer, ReadsEmptyAndRepeatedLines) {
  TemporaryFolder folder;
  const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  folder.file("vocab.txt", special + "a\n\n\nb\n");
  EXPECT_EQ(encode(folder, "a b"), (Ids{2, 5, 8, 3}));
  EXPECT_EQ(load_tokenizer(folder.path()).vocabulary_size(), 9);
  folder.file("vocab.txt", special + "a\nb\na\nc");
  EXPECT_EQ(encode(folder, "a b c"), (Ids{2, 7, 6, 8, 3}));
  folder.file("vocab.txt", special + "a \t\u00a0\nb\r\n");
  EXPECT_EQ(encode(folder, "a b"), (Ids{2, 5, 6, 3}));
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
  refuses([](Json& file) { file["post_processor"]["type"] = "ByteLevel"; },
          "post_processor 'ByteLevel' is not supported; expected TemplateProcessing, "
          "RobertaProcessing or BertProcessing, which put special tokens around texts");
  refuses([](Json& file) { file["model"]["unk_token"] = nullptr; },
          "model.unk_token: expected the token for words that cannot be split, got null");
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
          "added token: expected a text or an object, got 7");
  refuses([](Json& file) { file["added_tokens"][4].erase("id"); },
          "token '[MASK]': expected an id from 0, got null");
  refuses(
      [](Json& file) {
        file["truncation"] = {{"direction", "Middle"}};
      },
      "truncation.direction: expected Left or Right, got 'Middle'");
  refuses([](Json& file) { file["normalizer"]["lowercase"] = "yes"; },
          "\"lowercase\" has an unexpected type: \"yes\"");
}

// The token for words that cannot be split, as in the library `tokenizers`.
TEST(LoadTokenizer, TakesTheUnknownTokenOfTheModelAndNoOther) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["model"]["unk_token"] = "z";
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "q"), (Ids{2, 9, 3}));
  const char* message =
      "unk_token is '[UNK]', but the model in tokenizer.json has 'z'; set both as";
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
      "programs, but tokenizer.json has no normalizer that does (\"clean_text\": true); write its "
      "BertNormalizer there, or set",
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

TEST(LoadTokenizer, RefusesClassesThatNeedOtherSoftware) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto refuses = [&](std::string_view config, const std::string& message,
                           const char* usual = "") {
    folder.file("tokenizer_config.json", config);
    expect_user_error(message, [&] { load_tokenizer(folder.path(), usual); });
  };
  refuses(R"({"tokenizer_class": "BertJapaneseTokenizer"})",
          "tokenizer_config.json: tokenizer_class BertJapaneseTokenizer is not supported: it "
          "splits text into words with MeCab");
  refuses("{}", "tokenizer_class BertweetTokenizer is not supported", "BertweetTokenizer");
  refuses(R"({"tokenizer_class": "PhobertTokenizer"})", "tokenizer_class PhobertTokenizer");
  refuses(R"({"tokenizer_class": "XLMRobertaTokenizerFast"})", "it reads a SentencePiece model");
  refuses(R"({"tokenizer_class": "MyTokenizer"})",
          "tokenizer_class MyTokenizer is not supported without a tokenizer.json");
  refuses(R"({"tokenizer_class": "PreTrainedTokenizerFast"})",
          "tokenizer_class PreTrainedTokenizerFast is not supported without a tokenizer.json");
  refuses(R"({"auto_map": {"AutoTokenizer": ["my.MyTokenizer", null]}})", "custom code");
  refuses(R"({"word_tokenizer_type": "mecab"})", "word_tokenizer_type: \"mecab\" is not supported");
  refuses(R"({"do_basic_tokenize": false})", "do_basic_tokenize: false is not supported");
  refuses(R"({"never_split": ["A"]})", "never_split: [\"A\"] is not supported");
  refuses(R"({"split_special_tokens": true})", "split_special_tokens: true is not supported");
  refuses(R"({"truncation_side": "middle"})", "truncation_side: expected left or right");
  refuses(R"({"hone_truncation": "middle"})",
          "hone_truncation: expected head, tail or head_tail, got 'middle'");
  folder.file("tokenizer_config.json",
              R"({"tokenizer_class": "ElectraTokenizerFast", "do_basic_tokenize": true,
                  "never_split": null, "auto_map": {"AutoModel": "my.MyModel"}})");
  EXPECT_EQ(encode(folder, "A"), (Ids{2, 5, 3}));
}

TEST(LoadTokenizer, TakesAnUnknownClassFromTokenizerJson) {
  TemporaryFolder folder;
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  folder.file("tokenizer_config.json",
              R"({"tokenizer_class": "MyTokenizer", "auto_map": {"AutoTokenizer": "my.My"}})");
  EXPECT_EQ(encode(folder, "A z"), (Ids{2, 5, 9, 3}));
  folder.file("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  expect_user_error("tokenizer_class BertJapaneseTokenizer is not supported",
                    [&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, CutsTextsWhereTheFolderSays) {
  TemporaryFolder folder;
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  const auto cut = [&] { return load_tokenizer(folder.path()).encode("a e z", 4); };
  EXPECT_EQ(cut(), (Ids{2, 5, 8, 3}));
  Json file = fast_tokenizer();
  file["truncation"] = {{"direction", "Left"}, {"max_length", 3}};
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(cut(), (Ids{2, 8, 9, 3}));
  folder.file("tokenizer_config.json", R"({"truncation_side": "right"})");
  EXPECT_EQ(cut(), (Ids{2, 5, 8, 3}));
  folder.file("tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_EQ(cut(), (Ids{2, 8, 9, 3}));
}

TEST(LoadTokenizer, GivesSpecialTokensWithoutAnIdThoseBehindTheVocabulary) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  folder.file("tokenizer_config.json",
              R"({"extra_special_tokens": ["aa", "bb"], "url_token": "A"})");
  EXPECT_EQ(encode(folder, "aab bba AA"), (Ids{2, 9, 1, 10, 5, 6, 6, 3}));
  folder.file("tokenizer_config.json", R"({"extra_special_tokens": {"user_token": "aa"}})");
  EXPECT_EQ(encode(folder, "aa a"), (Ids{2, 9, 5, 3}));
}

TEST(LoadTokenizer, DoesNotCutWordsIntoAddedTokens) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["added_tokens"].push_back(
      {{"id", 10}, {"content", "ae"}, {"normalized", false}, {"special", true}});
  folder.file("tokenizer.json", to_document(file));
  EXPECT_EQ(encode(folder, "ae AE"), (Ids{2, 10, 1, 3}));
}

// As in transformers, the config takes precedence over tokenizer.json.
TEST(LoadTokenizer, TakesAddedTokensFromTheConfigFirst) {
  TemporaryFolder folder;
  Json file = fast_tokenizer();
  file["added_tokens"].push_back({{"id", 10}, {"content", "ae"}, {"normalized", false}});
  file["added_tokens"].push_back({{"id", 11}, {"content", "ea"}, {"normalized", false}});
  folder.file("tokenizer.json", to_document(file));
  constexpr const char* kAdded =
      R"("added_tokens_decoder": {"10": {"content": "ae", "normalized": true}}})";
  folder.file("tokenizer_config.json",
              std::string(R"({"tokenizer_class": "BertTokenizer", )") + kAdded);
  EXPECT_EQ(encode(folder, "AE ea"), (Ids{2, 10, 1, 3}));
  folder.file("tokenizer_config.json",
              std::string(R"({"tokenizer_class": "PreTrainedTokenizerFast", )") + kAdded);
  EXPECT_EQ(encode(folder, "AE ea"), (Ids{2, 10, 11, 3}));
}

TEST(LoadTokenizer, GivesPairsNoTypesWhereTheModelTakesNone) {
  TemporaryFolder folder;
  folder.file("vocab.txt", kVocabulary);
  const auto types_begin = [&](std::string_view config) {
    folder.file("tokenizer_config.json", config);
    return load_tokenizer(folder.path()).encode_pair("a", "e", 16).type_1_begin;
  };
  EXPECT_EQ(types_begin("{}"), 3);
  EXPECT_EQ(types_begin(R"({"model_input_names": ["input_ids", "attention_mask"]})"), 5);
  EXPECT_EQ(types_begin(R"({"model_input_names": ["input_ids", "token_type_ids"]})"), 3);
}

// The golden file has ids of random texts with random rules; see tools/golden/added_tokens.py.
TEST(LoadTokenizer, SplitsAddedTokensOffAsHuggingFaceDoes) {
  TemporaryFolder folder;
  folder.file("vocab.txt", read_file(test_data() / "text/golden/vocab.txt"));
  for (const Json& golden : read_json(test_data() / "text/golden/added_tokens.json")) {
    folder.file("tokenizer_config.json", to_document(golden.at("config")));
    const Tokenizer tokenizer = load_tokenizer(folder.path());
    for (const Json& row : golden.at("texts"))
      EXPECT_EQ(tokenizer.encode(row[0].get<std::string>(), 12), row[1].get<Ids>())
          << row[0] << golden.at("config");
    for (const Json& row : golden.at("pairs"))
      EXPECT_EQ(tokenizer.encode_pair(row[0].get<std::string>(), row[1].get<std::string>(), 12).ids,
                row[2].get<Ids>())
          << row << golden.at("config");
  }
}

TEST(SaveTokenizer, IsReadBackTheSame) {
  TemporaryFolder folder;
  TokenizerDefinition definition;
  definition.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "<mask>", "A", "é", "中"};
  const Normalization normalization = {
      .split_cjk = false, .strip_accents = true, .lowercase = false};
  definition.model = WordPieceModel{.normalization = normalization};
  definition.special.mask = "<mask>";
  save_tokenizer(Tokenizer(definition), folder.path(), 64);
  const Tokenizer loaded = load_tokenizer(folder.path());
  EXPECT_EQ(loaded.definition().tokens, definition.tokens);
  EXPECT_EQ(normalization_of(loaded), normalization);
  EXPECT_EQ(loaded.definition().framing, Framing());
  EXPECT_EQ(loaded.definition().special.mask, "<mask>");
  EXPECT_EQ(read_json(folder.path() / "tokenizer_config.json")["model_max_length"], 64);
  EXPECT_EQ(tokenizer_files(folder.path()),
            (std::vector<fs::path>{folder.path() / "vocab.txt",
                                   folder.path() / "tokenizer_config.json"}));
}

TEST(SaveTokenizer, KeepsWhichTokensOfLongTextsAreKept) {
  TemporaryFolder folder;
  for (const Truncation truncation :
       {Truncation::head, Truncation::tail, Truncation::head_tail, Truncation::tail}) {
    save_tokenizer(Tokenizer({.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"},
                              .truncation = truncation}),
                   folder.path(), 64);
    EXPECT_EQ(load_tokenizer(folder.path()).definition().truncation, truncation);
    EXPECT_EQ(read_json(folder.path() / "tokenizer_config.json")["truncation_side"],
              truncation == Truncation::head ? "right" : "left")
        << "what transformers reads";
  }
}

TEST(WriteTruncation, ChangesNothingElseOfTheFile) {
  TemporaryFolder folder;
  folder.file("tokenizer.json", to_document(fast_tokenizer()));
  EXPECT_EQ(read_truncation(folder.path()), std::nullopt);
  const fs::path file = folder.path() / "tokenizer_config.json";
  write_truncation(Truncation::head_tail, folder.path());
  EXPECT_EQ(read_json(file), (Json{{"truncation_side", "left"}, {"hone_truncation", "head_tail"}}));
  EXPECT_EQ(load_tokenizer(folder.path()).encode("a e z", 4), (Ids{2, 8, 9, 3}));
  folder.file("tokenizer_config.json", R"({"a": 1,   "truncation_side": "left", "b": 2})");
  write_truncation(Truncation::tail, folder.path());
  EXPECT_EQ(read_file(file), R"({"a": 1,   "truncation_side": "left", "b": 2})");
  write_truncation(Truncation::head, folder.path());
  EXPECT_EQ(read_json(file), (Json{{"a", 1}, {"truncation_side", "right"}, {"b", 2}}));
}

TEST(SaveTokenizer, RefusesWhatVocabTxtCannotSay) {
  TemporaryFolder folder;
  const std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a\nb"};
  expect_user_error("cannot be written as a line",
                    [&] { save_tokenizer(Tokenizer({.tokens = tokens}), folder.path(), 64); });
  expect_user_error("copy the tokenizer's files", [&] {
    save_tokenizer(Tokenizer({.tokens = tokens, .added = {{"a\nb"}}}), folder.path(), 64);
  });
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace hone
