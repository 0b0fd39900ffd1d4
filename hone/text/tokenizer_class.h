#pragma once

#include <string>
#include <string_view>

#include "hone/text/json_members.h"

/// What the class of transformers that a folder names ("tokenizer_class") makes of its files.
namespace hone {

/// Where the vocabulary of a folder is read from.
enum class VocabularySource {
  tokenizer_json,
  vocab_txt,   ///< word pieces
  vocab_json,  ///< byte pairs, with merges.txt
  none
};

/// Whether the class takes everything from tokenizer.json: "PreTrainedTokenizerFast".
bool is_generic_class(std::string_view name);
/// Whether the class is that of BERT, or reads files exactly like it; "" is not.
bool is_bert_class(std::string_view name);
/// Whether the class is that of RoBERTa.
bool is_roberta_class(std::string_view name);

/// Throws `UserError`, by name, for a class, or for keys of `config`, tokenizer_config.json, that ask
/// for other software or custom code, and for a class that does not read files of this kind. `name`:
/// empty where no file names a class.
void check_tokenizer_class(std::string_view name, const Members& config, VocabularySource source);

}  // namespace hone
