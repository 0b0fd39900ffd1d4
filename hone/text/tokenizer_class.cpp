#include "hone/text/tokenizer_class.h"

#include <algorithm>

#include "hone/base/printable.h"

namespace hone {
namespace {

std::string_view without_fast(std::string_view name) {
  if (name.ends_with("Fast")) name.remove_suffix(4);
  return name;
}

template <std::size_t count>
bool is_among(const std::string_view (&names)[count], std::string_view name) {
  return std::ranges::find(names, without_fast(name)) != std::end(names);
}

constexpr std::string_view kLikeBert[] = {
    "BertTokenizer",       "ConvBertTokenizer",          "DistilBertTokenizer",
    "ElectraTokenizer",    "LayoutLMTokenizer",          "LxmertTokenizer",
    "MobileBertTokenizer", "RetriBertTokenizer",         "SqueezeBertTokenizer",
    "DPRReaderTokenizer",  "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer"};

/// A class that needs more than a vocabulary.
struct OtherClass {
  std::string_view name, does;
  bool ignores_json = false;  ///< transformers does not read a tokenizer.json for it
};
constexpr std::string_view kSentencePiece = "reads a SentencePiece model";
constexpr std::string_view kMoses = "splits text into words with Moses";
constexpr OtherClass kOtherClasses[] = {
    {"BertJapaneseTokenizer", "splits text into words with MeCab, Sudachi or Juman++", true},
    {"BertweetTokenizer", "normalizes tweets, and reads bpe.codes", true},
    {"PhobertTokenizer", "reads words cut by a Vietnamese segmenter, and bpe.codes", true},
    {"FlaubertTokenizer", kMoses, true},
    {"XLMTokenizer", kMoses, true},
    {"HerbertTokenizer", kMoses},
    {"CanineTokenizer", "reads characters", true},
    {"AlbertTokenizer", kSentencePiece},
    {"BarthezTokenizer", kSentencePiece},
    {"BertGenerationTokenizer", kSentencePiece},
    {"BigBirdTokenizer", kSentencePiece},
    {"CamembertTokenizer", kSentencePiece},
    {"DebertaV2Tokenizer", kSentencePiece},
    {"RemBertTokenizer", kSentencePiece},
    {"T5Tokenizer", kSentencePiece},
    {"XLMRobertaTokenizer", kSentencePiece},
    {"XLNetTokenizer", kSentencePiece},
};

const OtherClass* find_other_class(std::string_view name) {
  const auto* found = std::ranges::find(kOtherClasses, without_fast(name), &OtherClass::name);
  return found == std::end(kOtherClasses) ? nullptr : found;
}

constexpr std::string_view kRemedy =
    "use a model whose tokenizer is WordPiece or byte-level BPE, or, if a tokenizer.json describes "
    "this one completely, put it into the folder and set \"tokenizer_class\": "
    "\"PreTrainedTokenizerFast\" in tokenizer_config.json";

// Rejects keys that change tokens and that only other programs support.
void check_keys(const Members& config) {
  for (const char* key : {"word_tokenizer_type", "subword_tokenizer_type", "mecab_kwargs",
                          "sudachi_kwargs", "jumanpp_kwargs"}) {
    const Members& value = member(config, key);
    user_check(value.is_null(),
               "{}: {} is not supported: it splits text into words with other software; {}", key,
               excerpt(value), kRemedy);
  }
  const Members& never_split = member(config, "never_split");
  user_check(!never_split.is_array() || never_split.empty(),
             "never_split: {} is not supported, and transformers 5 does not read it; list these "
             "tokens as \"extra_special_tokens\", or remove the key",
             excerpt(never_split));
  bool basic = true, splits_special = false;
  read_member(config, "do_basic_tokenize", basic);
  read_member(config, "split_special_tokens", splits_special);
  user_check(basic,
             "do_basic_tokenize: false is not supported, and transformers 5 does not read it; "
             "remove the key if the model was trained with a fast tokenizer");
  user_check(!splits_special,
             "split_special_tokens: true is not supported: special tokens in texts are one token "
             "each; set it to false if the model was trained that way");
}

bool has_custom_code(const Members& config) {
  const Members& map = member(config, "auto_map");
  return map.is_array() || (map.is_object() && !member(map, "AutoTokenizer").is_null());
}

}  // namespace

bool is_generic_class(std::string_view name) {
  return name == "PreTrainedTokenizerFast" || name == "TokenizersBackend";
}

bool is_bert_class(std::string_view name) { return is_among(kLikeBert, name); }

bool is_roberta_class(std::string_view name) { return without_fast(name) == "RobertaTokenizer"; }

void check_tokenizer_class(std::string_view name, const Members& config, VocabularySource source) {
  const bool json = source == VocabularySource::tokenizer_json;
  if (const OtherClass* other = find_other_class(name); other && (!json || other->ignores_json))
    fail("tokenizer_class {} is not supported: it {}; {}", name, other->does, kRemedy);
  if (!json && has_custom_code(config))
    fail("auto_map: {}: the tokenizer has custom code, which hone does not run; {}",
         excerpt(member(config, "auto_map")), kRemedy);
  if (!is_generic_class(name)) check_keys(config);
  if (json || name.empty() || source == VocabularySource::none) return;
  const bool fits =
      source == VocabularySource::vocab_txt ? is_bert_class(name) : is_roberta_class(name);
  user_check(fits, "tokenizer_class {} is not supported without a tokenizer.json: {}; {}",
             shown_name(name),
             source == VocabularySource::vocab_txt
                 ? "vocab.txt is read as BertTokenizer reads it"
                 : "vocab.json and merges.txt are read as RobertaTokenizer reads them",
             kRemedy);
}

}  // namespace hone
