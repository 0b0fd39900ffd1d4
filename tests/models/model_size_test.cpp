#include "hone/models/model_size.h"

#include <gtest/gtest.h>

#include "hone/jobs/compress.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::tiny_model;

std::int64_t elements(const Model& model, std::string_view part = "") {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : model.parameters.tensors())
    if (name.find(part) != std::string::npos) count += tensor.count();
  return count;
}

Model quantized(std::string_view format) {
  Model model = tiny_model();
  testing::put_quantizers(model, format);
  return model;
}

TEST(ModelSize, OfAnUnquantizedModelIsFourBytesAParameter) {
  const Model model = tiny_model();
  const ModelSize size = model_size(model, "");
  EXPECT_EQ(size.parameters, elements(model));
  EXPECT_EQ(size.memory_bytes, 4 * elements(model));
  EXPECT_EQ(size.packed_bytes, size.memory_bytes);
  // Words, token types and positions.
  EXPECT_EQ(size.packed_embedding_bytes, 4 * elements(model, "_embeddings.weight"));
  EXPECT_FALSE(size.disk_bytes);
  EXPECT_FALSE(size.quantized);
  EXPECT_EQ(to_text(size).find("packed"), std::string::npos) << to_text(size);
  EXPECT_EQ(to_json(size)["disk_bytes"], nullptr);
}

TEST(ModelSize, OfAQuantizedModelIsNotSmallerYet) {
  const Model model = quantized("integer(width=8,frac=4)");
  const TemporaryFolder folder;
  save_model(model, folder.path());
  const ModelSize size = model_size(model, folder.path());
  EXPECT_EQ(size.memory_bytes, 4 * elements(model));
  ASSERT_TRUE(size.disk_bytes);
  EXPECT_EQ(*size.disk_bytes,
            static_cast<std::int64_t>(fs::file_size(folder.path() / "model.safetensors")));
  EXPECT_GE(*size.disk_bytes, size.memory_bytes);
  // All linears take a byte for each weight and bias, embeddings and layer norms four.
  const std::int64_t whole = elements(model, "mbeddings") + elements(model, "output.LayerNorm");
  EXPECT_EQ(size.packed_bytes, elements(model) + 3 * whole);
  const std::string text = to_text(size);
  EXPECT_NE(text.find("(simulated: not smaller yet); packed they would take "), std::string::npos)
      << text;
}

TEST(ModelSize, NamesEmbeddingsWhereTheyAreMostOfIt) {
  ModelSize size{.parameters = 100,
                 .memory_bytes = 400,
                 .disk_bytes = {},
                 .packed_bytes = 100,
                 .packed_embedding_bytes = 89,
                 .quantized = true};
  EXPECT_NE(to_text(size).find("The embeddings, not quantized, are 89% of the packed size: a rule"),
            std::string::npos)
      << to_text(size);
  size.embeddings_quantized = true;
  EXPECT_NE(to_text(size).find("The embeddings are 89% of the packed size."), std::string::npos);
  size.packed_embedding_bytes = 49;
  EXPECT_EQ(to_text(size).find("embeddings"), std::string::npos);
}

TEST(ModelSize, CountsTheFilesOfEveryLayout) {
  const TemporaryFolder folder;
  const auto on_disk = [&] { return model_size(tiny_model(), folder.path()).disk_bytes; };
  EXPECT_FALSE(on_disk());
  folder.file("pytorch_model.bin", std::string(70, 'x'));
  folder.file("training_args.bin", std::string(7, 'x'));
  EXPECT_EQ(on_disk(), 70);
  folder.file("model-00001-of-00002.safetensors", std::string(10, 'x'));
  folder.file("model-00002-of-00002.safetensors", std::string(20, 'x'));
  folder.file("model.safetensors.index.json", "{}");
  EXPECT_EQ(on_disk(), 30);
  folder.file("model.safetensors", std::string(5, 'x'));
  EXPECT_EQ(on_disk(), 5);
}

}  // namespace
}  // namespace hone
