#include "hone/frontends/huggingface/electra.h"

#include <gtest/gtest.h>

#include "hone/runtime/library.h"

namespace hone {
namespace {

EncoderConfig config(const Json& keys) {
  Json json = {{"model_type", "electra"}};
  json.update(keys);
  return read_config(electra().keys, json, "config.json");
}

TEST(Electra, DefaultsAreThoseOfHuggingFace) {
  const EncoderConfig defaults = config(Json::object());
  EXPECT_EQ(defaults.embedding_size, 128);
  EXPECT_EQ(defaults.hidden_size, 256);
  EXPECT_EQ(defaults.num_hidden_layers, 12);
  EXPECT_EQ(defaults.num_attention_heads, 4);
  EXPECT_EQ(defaults.intermediate_size, 1024);
}

TEST(Electra, ProjectsEmbeddingsOfAnotherSizeAlone) {
  const auto has_projection = [](const Json& keys) {
    const Graph graph = build_graph(builtin_library().ops, electra(), config(keys), {});
    return graph.find("electra.embeddings_project.weight") != nullptr;
  };
  EXPECT_TRUE(has_projection(Json::object()));
  EXPECT_FALSE(has_projection({{"embedding_size", 256}}));
}

}  // namespace
}  // namespace hone
