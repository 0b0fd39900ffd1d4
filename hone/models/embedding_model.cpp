#include "hone/models/embedding_model.h"

#include "hone/base/printable.h"

namespace hone {
EmbeddingModel open_embedding_model(const std::string& name, Context& context, std::uint64_t seed) {
  check_reads_texts(facts_of_model(name), name, "an embedding");
  if (is_new_model(name))
    return {open_model(name, context, seed), {.encoder = {.is_listed = false}}};
  SentenceModules modules = read_sentence_modules(find_model(name));
  TextModel source = open_model(name, context, seed, {}, HeadFit::unused);
  if (source.trained_on) source.trained_on->untrained_head = false;  // the head is unused
  source.prompt = modules.prompt;
  return {std::move(source), std::move(modules)};
}

TextLimit text_limit(const TextCut& cut, const EmbeddingModel& model) {
  return text_limit(cut, model.source, /*usual=*/model.source.model.facts.limits.tokens);
}

std::vector<std::string> embedding_notes(const EmbeddingModel& model) {
  const SentenceModules& modules = model.modules;
  std::vector<std::string> notes = {fmt::format(
      "embeddings: hidden states of the tokens pooled by {}{}{}", to_string(modules.pooling),
      modules.normalize ? ", then normalized to length 1" : "",
      modules.encoder.is_listed ? "" : ", the default without a modules.json")};
  if (modules.kept_width)
    notes.push_back(fmt::format("only the first {} numbers of each are kept (truncate_dim of {})",
                                *modules.kept_width, kPromptsFile));
  if (!modules.prompt.empty())
    notes.push_back(fmt::format("every text is preceded by '{}', the default prompt of the model",
                                one_line(modules.prompt, 100)));
  return notes;
}

}  // namespace hone
