#include "hone/text/tokenizer_json.h"

#include <algorithm>

#include "hone/base/printable.h"
#include "hone/text/vocabulary_files.h"

namespace hone {
namespace {

void read_word_piece(const Members& model, TokenizerDraft& draft) {
  WordPieceOptions& pieces = std::get<WordPieceModel>(draft.definition.model).pieces;
  read_member(model, "continuing_subword_prefix", pieces.continuation_prefix);
  const Members& longest = member(model, "max_input_chars_per_word");
  user_check(longest.is_null() || (longest.is_number_unsigned() && longest > 0),
             "\"max_input_chars_per_word\": expected a whole number from 1, got {}",
             excerpt(longest));
  read_member(model, "max_input_chars_per_word", pieces.longest_word_characters);
}

void read_byte_pair(const Members& model, TokenizerDraft& draft) {
  BytePairModel& byte_pair = draft.become_byte_pair();
  expect_member(model, "dropout", 0);
  expect_member(model, "continuing_subword_prefix", "");
  expect_member(model, "end_of_word_suffix", "");
  expect_member(model, "byte_fallback", false);
  expect_member(model, "ignore_merges", false);
  const Members& merges = member(model, "merges");
  user_check(merges.is_array(), "model.merges: expected a list, got {}", excerpt(merges));
  byte_pair.merges.reserve(merges.size());
  for (const Members& merge : merges) {
    const bool pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    user_check(pair || merge.is_string(),
               "model.merges: expected \"left right\" or [\"left\", \"right\"], got {}",
               excerpt(merge));
    byte_pair.merges.push_back(pair ? Merge{merge[0], merge[1]}
                                    : parse_merge(merge.get_ref<const std::string&>()));
  }
}

void read_model(const Members& model, TokenizerDraft& draft) {
  std::string type = "WordPiece";
  read_member(model, "type", type);
  user_check(type == "WordPiece" || type == "BPE",
             "tokenizer model '{}' is not supported; expected WordPiece, the model of the BERT "
             "family, or BPE, that of RoBERTa",
             type);
  const Members& vocabulary = object_member(model, "vocab");
  user_check(!vocabulary.empty(), "model.vocab: expected an object of tokens and ids");
  type == "BPE" ? read_byte_pair(model, draft) : read_word_piece(model, draft);
  for (const auto& [token, id] : vocabulary.items()) draft.add_token(id, token);
  user_check(type == "BPE" || member(model, "unk_token").is_string(),
             "model.unk_token: expected the token for words that cannot be split, got {}",
             excerpt(member(model, "unk_token")));
  read_member(model, "unk_token", draft.definition.special.unknown);
}

// Reads which end of texts is cut; whether they are cut is decided elsewhere.
void read_truncation(const Members& truncation, TokenizerDefinition& definition) {
  std::string direction = "Right";
  read_member(truncation, "direction", direction);
  user_check(direction == "Left" || direction == "Right",
             "truncation.direction: expected Left or Right, got '{}'", shown_name(direction));
  definition.truncation = direction == "Left" ? Truncation::tail : Truncation::head;
}

void read_normalizer(const Members& normalizer, TokenizerDraft& draft) {
  const std::string type = type_member(normalizer);
  if (draft.is_byte_pair()) {
    user_check(normalizer.is_null() || normalizer.empty(),
               "normalizer '{}' is not supported with BPE; expected none", type);
    return;
  }
  Normalization& normalization = std::get<WordPieceModel>(draft.definition.model).normalization;
  if (normalizer.is_null()) {
    normalization = {false, false, false, false};
    return;
  }
  user_check(type == "BertNormalizer",
             "normalizer '{}' is not supported; expected BertNormalizer, or null for none", type);
  read_member(normalizer, "clean_text", normalization.clean_text);
  read_member(normalizer, "handle_chinese_chars", normalization.split_cjk);
  read_member(normalizer, "lowercase", normalization.lowercase);
  normalization.strip_accents = normalization.lowercase;
  read_member(normalizer, "strip_accents", normalization.strip_accents);
}

void read_pre_tokenizer(const Members& pre_tokenizer, TokenizerDraft& draft) {
  const std::string type = type_member(pre_tokenizer);
  if (!draft.is_byte_pair()) {
    user_check(type == "BertPreTokenizer",
               "pre_tokenizer {} is not supported with WordPiece; expected BertPreTokenizer",
               pre_tokenizer.is_null() ? "null" : "'" + type + "'");
    return;
  }
  user_check(type == "ByteLevel",
             "pre_tokenizer '{}' is not supported with BPE; expected ByteLevel, that of GPT-2 and "
             "RoBERTa",
             type);
  BytePairModel& model = std::get<BytePairModel>(draft.definition.model);
  read_member(pre_tokenizer, "add_prefix_space", model.prefix_space);
  read_member(pre_tokenizer, "use_regex", model.split_words);
}

// ["</s>", 2]
std::string read_processing_token(const Members& processor, const char* key,
                                  TokenizerDraft& draft) {
  const Members& pair = member(processor, key);
  user_check(pair.is_array() && pair.size() == 2 && pair[0].is_string(),
             "post_processor: \"{}\": expected a token and its id, got {}", key, excerpt(pair));
  draft.add_token(pair[1], pair[0]);
  return pair[0];
}

/// One template of TemplateProcessing.
struct Template {
  std::string texts = {};                               ///< "A", or "AB" for a pair
  std::vector<std::vector<std::string>> tokens = {{}};  ///< before, between and after the texts
  std::vector<std::int64_t> types = {};                 ///< before the second text
  std::vector<std::int64_t> late_types = {};            ///< from the second text on
};

Template read_template(const Members& pieces) {
  Template result;
  for (const Members& piece : pieces) {
    const Members& text = object_member(piece, "Sequence");
    const Members& described = text.empty() ? object_member(piece, "SpecialToken") : text;
    std::string id;
    std::int64_t type = 0;
    read_member(described, "id", id);
    read_member(described, "type_id", type);
    if (text.empty()) {
      result.tokens.back().push_back(id);
    } else {
      result.texts += id;
      result.tokens.emplace_back();
    }
    (result.texts.size() < 2 ? result.types : result.late_types).push_back(type);
  }
  return result;
}

Framing read_templates(const Members& processor, TokenizerDraft& draft) {
  const Template single = read_template(member(processor, "single"));
  const Template pair = read_template(member(processor, "pair"));
  const auto all = [](const std::vector<std::int64_t>& types, std::int64_t type) {
    return std::all_of(types.begin(), types.end(), [&](std::int64_t t) { return t == type; });
  };
  const bool second_is_type_1 = all(pair.late_types, 1);
  user_check(single.texts == "A" && single.tokens.size() == 2 && pair.texts == "AB" &&
                 pair.tokens.size() == 3 && single.tokens[0] == pair.tokens[0] &&
                 single.tokens[1] == pair.tokens[2] && all(single.types, 0) && all(pair.types, 0) &&
                 (second_is_type_1 || all(pair.late_types, 0)),
             "post_processor: expected the template of pairs to be that of single texts with B and "
             "special tokens put in, of type 0 before B and of one type, 0 or 1, from there on; "
             "got {} and {}",
             excerpt(member(processor, "single")), excerpt(member(processor, "pair")));
  for (const auto& tokens : pair.tokens)
    for (const std::string& token : tokens) {
      const Members& known =
          object_member(object_member(processor, "special_tokens"), token.c_str());
      const Members& ids = member(known, "ids");
      user_check(ids.is_array() && ids.size() == 1,
                 "post_processor: the special token '{}': expected one id, got {}",
                 shown_name(token), excerpt(ids));
      draft.add_token(ids[0], token);
    }
  return {pair.tokens[0], pair.tokens[1], pair.tokens[2], second_is_type_1};
}

void read_post_processor(const Members& processor, TokenizerDraft& draft) {
  if (processor.is_null()) {
    draft.framing = Framing{{}, {}, {}, false};
    return;
  }
  const std::string type = type_member(processor);
  if (type == "Sequence" && member(processor, "processors").is_array()) {
    // ByteLevel only changes offsets.
    std::vector<Members> others;
    for (const Members& each : member(processor, "processors"))
      if (type_member(each) != "ByteLevel") others.push_back(each);
    if (others.size() == 1) return read_post_processor(others[0], draft);
  }
  if (type == "TemplateProcessing") {
    draft.framing = read_templates(processor, draft);
  } else {
    const bool roberta = type == "RobertaProcessing";
    user_check(roberta || type == "BertProcessing",
               "post_processor '{}' is not supported; expected TemplateProcessing, "
               "RobertaProcessing or BertProcessing, which put special tokens around texts, or "
               "null for none",
               type);
    const std::string cls = read_processing_token(processor, "cls", draft);
    const std::string sep = read_processing_token(processor, "sep", draft);
    draft.framing =
        roberta ? Framing{{cls}, {sep, sep}, {sep}, false} : Framing{{cls}, {sep}, {sep}, true};
  }
}

}  // namespace

void read_tokenizer_json(std::string_view text, TokenizerDraft& draft) {
  const Members file = parse_members(text);
  read_model(object_member(file, "model"), draft);
  if (const Members& added = member(file, "added_tokens"); added.is_array())
    for (const Members& token : added) {
      auto described = described_token(token, false);
      described.numbered = numbered_token(member(token, "id"), described.token.text);
      draft.describe(std::move(described));
    }
  read_truncation(object_member(file, "truncation"), draft.definition);
  read_normalizer(member(file, "normalizer"), draft);
  read_pre_tokenizer(member(file, "pre_tokenizer"), draft);
  read_post_processor(member(file, "post_processor"), draft);
}

}  // namespace hone
