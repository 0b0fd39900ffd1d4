#include "hone/frontends/huggingface/roberta.h"

#include "hone/base/error.h"

namespace hone {
namespace {

void check_positions(const EncoderConfig& config, std::string_view where) {
  user_check(config.pad_token_id.has_value(),
             "{}: pad_token_id: expected a number, because positions start after it, got "
             "null",
             where);
  user_check(config.max_position_embeddings > *config.pad_token_id + 1,
             "{}: max_position_embeddings: expected more than {}, because positions start "
             "after pad_token_id, got {}",
             where, *config.pad_token_id + 1, config.max_position_embeddings);
}

ConfigKeys roberta_keys() {
  ConfigKeys keys = bert_keys("roberta", "RobertaForSequenceClassification");
  keys.defaults.vocab_size = 50265;
  keys.defaults.pad_token_id = 1;
  keys.check = check_positions;
  return keys;
}

}  // namespace

Architecture roberta() {
  return {
      .title = "RoBERTa",
      .keys = roberta_keys(),
      .encoder = {.name = "roberta", .single_type_implied = true, .positions_skip_padding = true},
      .head = {.name = "classifier",
               .first_dropout = "classifier.first_dropout",
               .dense = "classifier.dense",
               .activation = "tanh",
               .dropout = "classifier.dropout",
               .classes = "classifier.out_proj"},
      .fresh = {"classifier."},
      .buffers = {"roberta.embeddings.position_ids"},
      .tokenizer_class = "RobertaTokenizer"};
}

}  // namespace hone
