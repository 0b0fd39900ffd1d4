#include "hone/app/model_source.h"

#include "hone/base/text.h"
#include "hone/passes/quantize.h"
#include "hone/text/synthetic_words.h"
#include "hone/text/tokenizer_files.h"

namespace hone {
namespace {

struct FreshShape {
  std::string_view name;
  std::int64_t hidden_size, layers, heads, intermediate_size;
};
constexpr FreshShape kFreshShapes[] = {{"tiny", 128, 2, 2, 512}, {"base", 768, 12, 12, 3072}};

void check_vocabulary(const TextModel& source) {
  const std::int64_t rows = source.model.config.vocab_size;
  user_check(source.tokenizer.vocabulary_size() <= rows,
             "{}: the vocabulary has {} tokens, the embedding only {} rows; vocabulary and weights "
             "do not belong together",
             source.folder.string(), source.tokenizer.vocabulary_size(), rows);
}

}  // namespace

std::vector<std::string> fresh_model_names() {
  std::vector<std::string> names;
  for (const FreshShape& shape : kFreshShapes) names.emplace_back(shape.name);
  return names;
}

BertConfig fresh_config(std::string_view name) {
  for (const FreshShape& shape : kFreshShapes) {
    if (shape.name != name) continue;
    BertConfig config;
    config.hidden_size = shape.hidden_size;
    config.num_hidden_layers = shape.layers;
    config.num_attention_heads = shape.heads;
    config.intermediate_size = shape.intermediate_size;
    return config;
  }
  fail("'{}' is no built-in shape; there are {}", name, fmt::join(fresh_model_names(), ", "));
}

TextModel open_model(const std::string& source, const Context& context, std::uint64_t seed,
                     const std::vector<std::string>& labels) {
  const std::vector<std::string> names = fresh_model_names();
  std::error_code error;
  const bool fresh =
      std::find(names.begin(), names.end(), source) != names.end() && !fs::exists(source, error);
  if (!fresh) {
    const fs::path folder = source;
    TextModel opened{load_model(folder, context.library.ops, context.library.formats, seed, labels),
                     load_tokenizer(folder), folder};
    check_vocabulary(opened);
    return opened;
  }
  TextModel made{{}, synthetic_tokenizer(), {}};
  BertConfig config = fresh_config(source);
  config.vocab_size = made.tokenizer.vocabulary_size();
  if (!labels.empty()) config.labels = labels;
  made.model = new_model(config, context.library.ops, seed);
  return made;
}

void write_model(const TextModel& source, const fs::path& folder) {
  save_model(source.model, folder);
  if (source.folder.empty()) return save_tokenizer(source.tokenizer, folder);
  for (const fs::path& file : tokenizer_files(source.folder))
    write_file(folder / file.filename(), read_file(file));
}

Graph model_graph(const Model& model, const Context& context, const GraphInputs& inputs) {
  Graph graph = build_graph(model, context.library.ops, inputs);
  if (model.quantization) quantize(graph, model.quantization->plan);
  return graph;
}

}  // namespace hone
