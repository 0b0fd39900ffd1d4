#include "hone/models/model_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "hone/jobs/compress.h"
#include "hone/passes/pack.h"
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

// Zeroes this share of the rows of all matrices, first rows first.
void set_to_zero(Model& model, double share) {
  const TensorMap given = model.parameters.tensors();
  for (const auto& [name, tensor] : given) {
    if (tensor.rank() != 2) continue;
    const Tensor pruned = tensor.contiguous_copy();
    const std::span<float> values = pruned.values<float>();
    const auto count = static_cast<std::size_t>(share * static_cast<double>(tensor.size(0)));
    std::ranges::fill(
        values.first(count * values.size() / static_cast<std::size_t>(tensor.size(0))), 0.0F);
    model.parameters.set(name, pruned);
  }
}

TEST(ModelSize, OfAnUnquantizedModelIsFourBytesAParameter) {
  const Model model = tiny_model();
  const ModelSize size = model_size(model, "");
  EXPECT_EQ(size.parameters, elements(model));
  EXPECT_EQ(size.memory_bytes, 4 * elements(model));
  EXPECT_EQ(size.stored_bytes, size.memory_bytes);
  EXPECT_EQ(size.packed_bytes, size.memory_bytes);
  // Word, token type and position embeddings.
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
  EXPECT_EQ(size.stored_bytes, size.memory_bytes);
  EXPECT_GE(*size.disk_bytes, size.stored_bytes);
  // Linears take a byte for each weight and bias, embeddings and layer norms four.
  const std::int64_t whole = elements(model, "mbeddings") + elements(model, "output.LayerNorm");
  EXPECT_EQ(size.packed_bytes, elements(model) + 3 * whole);
  const std::string text = to_text(size);
  EXPECT_NE(text.find("(simulated: not smaller yet); packed they would take "), std::string::npos)
      << text;
}

TEST(ModelSize, OfAPackedModelIsThatOfItsFileWithoutZeros) {
  ThreadPool& pool = testing::quiet_context().pool;
  Model model = quantized("mxint(bits=8)");
  const std::int64_t dense = bytes_when_packed(model, pool).stored();
  set_to_zero(model, 0.9);
  const std::int64_t whole = model_size(model, "").stored_bytes;
  const SavedBytes packed = bytes_when_packed(model, pool);
  EXPECT_GT(packed.left_out, 0);
  EXPECT_LT(packed.stored(), dense);
  EXPECT_LT(packed.all, whole) << "the model itself is in fp32";
  pack_weights(model.graph, model.parameters, pool);
  EXPECT_EQ(model_size(model, "").stored_bytes, packed.stored());
  EXPECT_EQ(bytes_when_packed(model, pool).stored(), packed.stored());
}

TEST(ModelSize, WithoutFormatsPackingLeavesOutManyZerosAlone) {
  ThreadPool& pool = testing::quiet_context().pool;
  Model model = tiny_model();
  const std::int64_t whole = model_size(model, "").stored_bytes;
  EXPECT_EQ(bytes_when_packed(model, pool).stored(), whole);
  set_to_zero(model, 0.9);
  EXPECT_EQ(model_size(model, "").stored_bytes, whole);
  EXPECT_LT(bytes_when_packed(model, pool).stored(), whole / 2);
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
