#include "hone/models/embedding_model.h"

#include <algorithm>

#include "hone/base/printable.h"

namespace hone {
namespace {

Tokenizer in_lower_case(const Tokenizer& tokenizer, const std::string& name) {
  TokenizerDefinition definition = tokenizer.definition();
  auto* const model = std::get_if<WordPieceModel>(&definition.model);
  user_check(model != nullptr,
             "{}: sentence_bert_config.json asks for small letters (do_lower_case), which is "
             "supported with WordPiece alone; this tokenizer is of another kind",
             name);
  model->normalization.lowercase = true;
  return Tokenizer(std::move(definition));
}

}  // namespace

EmbeddingModel open_embedding_model(const std::string& name, const Context& context,
                                    std::uint64_t seed) {
  if (is_fresh(name)) return {open_model(name, context, seed), {.is_given = false}};
  SentenceModules modules = read_sentence_modules(find_model(name));
  TextModel source = open_model(modules.encoder.string(), context, seed, {}, HeadFit::unused);
  if (modules.lowercase) source.tokenizer = in_lower_case(source.tokenizer, name);
  if (source.trained_on) source.trained_on->untrained_head = false;  // nobody sees what it says
  return {std::move(source), std::move(modules)};
}

std::int64_t most_tokens(const EmbeddingModel& model, std::int64_t max_seq_length) {
  const std::int64_t positions = model.source.model.facts.limits.tokens;
  return max_seq_length > 0 ? max_seq_length
                            : std::min(model.modules.max_tokens.value_or(positions), positions);
}

std::vector<std::string> embedding_notes(const EmbeddingModel& model) {
  const SentenceModules& modules = model.modules;
  std::vector<std::string> notes = {
      fmt::format("embeddings: hidden states of the tokens pooled by {}{}{}",
                  to_string(modules.pooling), modules.normalize ? ", then given the length 1" : "",
                  modules.is_given ? "" : "; the model has no modules.json that says otherwise")};
  if (!modules.prompt.empty())
    notes.push_back(
        fmt::format("'{}' stands in front of every text, the default prompt of the model",
                    one_line(modules.prompt, 100)));
  return notes;
}

}  // namespace hone
