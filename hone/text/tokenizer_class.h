#pragma once

#include <string>
#include <string_view>

#include "hone/text/json_members.h"

/// Interprets the transformers class that a folder names ("tokenizer_class").
namespace hone {

/// The source of a folder's vocabulary.
enum class VocabularySource {
  tokenizer_json,
  vocab_txt,   ///< word pieces
  vocab_json,  ///< byte pairs, with merges.txt
  none
};

/// Returns whether the class takes everything from tokenizer.json: "PreTrainedTokenizerFast".
bool is_generic_class(std::string_view name);
/// Returns whether the class is that of BERT, or reads files exactly like it; false for "".
bool is_bert_class(std::string_view name);
/// Returns whether the class is that of RoBERTa.
bool is_roberta_class(std::string_view name);

/// Throws `UserError`, with the name, for unsupported classes, for keys in `config` (tokenizer_config.json) that need
/// other software or custom code, and for a class that does not read this type of files. `name`: empty if no file names
/// a class.
void check_tokenizer_class(std::string_view name, const Members& config, VocabularySource source);

}  // namespace hone
