#include "hone/onnx/onnx_file.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/support/expect.h"

namespace hone::testing {
namespace {

OnnxConstant floats(const std::string& name, std::int64_t count, float value) {
  return {.name = name,
          .type = OnnxType::f32,
          .sizes = {count},
          .bytes = onnx_bytes(OnnxType::f32, count),
          .write = [count, value](const ByteSink& sink) {
            for (std::int64_t i = 0; i < count; ++i)
              sink(std::as_bytes(std::span<const float>(&value, 1)));
          }};
}

OnnxModel small_model() {
  return {.name = "small",
          .opset = 21,
          .nodes = {{"sum", "Add", {"x", "w"}, {"sum"}},
                    {"y",
                     "Any",
                     {"sum", "", "b"},
                     {"y"},
                     {{"axis", std::int64_t{-1}},
                      {"epsilon", 0.5},
                      {"approximate", std::string("tanh")},
                      {"perm", std::vector<std::int64_t>{1, 0}}}}},
          .constants = {floats("w", 1000, 0.25F), floats("b", 2, 3)},
          .inputs = {{"x", OnnxType::i64, {Dim::of_symbol('B'), Dim::of_symbol('S'), 4}}},
          .outputs = {{"y", OnnxType::f32, {Dim::of_symbol('B')}}},
          .metadata = {{"labels", "[]"}}};
}

onnx::ModelProto read(const fs::path& path) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(read_file(path)));
  return model;
}

TEST(OnnxFile, HoldsWhatTheModelSays) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model.onnx";
  const auto files = write_onnx(small_model(), path);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].second, fs::file_size(path));
  const onnx::ModelProto model = read(path);
  EXPECT_EQ(model.ir_version(), 10);
  EXPECT_EQ(model.opset_import(0).version(), 21);
  EXPECT_EQ(model.producer_name(), "hone");
  EXPECT_EQ(model.metadata_props(0).key(), "labels");
  const onnx::GraphProto& graph = model.graph();
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(0).op_type(), "Add");
  EXPECT_EQ(graph.node(1).input(1), "");
  const auto& attributes = graph.node(1).attribute();
  EXPECT_EQ(attributes[0].i(), -1);
  EXPECT_EQ(attributes[1].f(), 0.5F);
  EXPECT_EQ(attributes[2].s(), "tanh");
  EXPECT_EQ(attributes[3].ints(1), 0);
  const auto& shape = graph.input(0).type().tensor_type().shape();
  EXPECT_EQ(shape.dim(0).dim_param(), "batch");
  EXPECT_EQ(shape.dim(1).dim_param(), "sequence");
  EXPECT_EQ(shape.dim(2).dim_value(), 4);
  EXPECT_EQ(graph.input(0).type().tensor_type().elem_type(), onnx::TensorProto::INT64);
  ASSERT_EQ(graph.initializer_size(), 2);
  EXPECT_EQ(graph.initializer(0).name(), "w");
  EXPECT_EQ(graph.initializer(0).dims(0), 1000);
  EXPECT_EQ(graph.initializer(0).raw_data().size(), 4000U);
  EXPECT_EQ(graph.initializer(1).raw_data().substr(0, 4), std::string("\0\0\x40\x40", 4));
}

TEST(OnnxFile, KeepsLargeConstantsOfALargeModelInASecondFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model.onnx";
  OnnxModel model = small_model();
  model.constants.push_back(floats("v", 300, 7));
  const auto files = write_onnx(model, path, {.largest_file = 2000});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].first, folder.path() / "model.onnx.data");
  for (const auto& [file, bytes] : files) EXPECT_EQ(bytes, fs::file_size(file));
  EXPECT_LT(files[0].second, 2000U);
  const onnx::GraphProto graph = read(path).graph();
  const std::string data = read_file(files[1].first);
  ASSERT_EQ(graph.initializer_size(), 3);
  std::vector<std::size_t> offsets;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.name() == "b") {
      EXPECT_EQ(tensor.raw_data().size(), 8U);  // small tensors stay in the file
      continue;
    }
    EXPECT_EQ(tensor.data_location(), onnx::TensorProto::EXTERNAL);
    EXPECT_EQ(tensor.external_data(0).value(), "model.onnx.data");
    offsets.push_back(std::stoul(tensor.external_data(1).value()));
    const std::size_t length = std::stoul(tensor.external_data(2).value());
    EXPECT_EQ(offsets.back() % 4096, 0U);
    EXPECT_LE(offsets.back() + length, data.size());
    EXPECT_EQ(length, tensor.name() == "w" ? 4000U : 1200U);
  }
  EXPECT_EQ(data.substr(offsets[1], 4), std::string("\0\0\xe0\x40", 4));
}

TEST(OnnxFile, IrVersionFollowsTheOpset) {
  EXPECT_EQ(onnx_ir_version(18), 8);
  EXPECT_EQ(onnx_ir_version(20), 9);
  EXPECT_EQ(onnx_ir_version(22), 10);
  EXPECT_EQ(onnx_ir_version(23), 11);
}

TEST(OnnxFile, FourBitElementsLieTwoInAByte) {
  EXPECT_EQ(onnx_bytes(OnnxType::i4, 5), 3U);
  EXPECT_EQ(onnx_bytes(OnnxType::bf16, 5), 10U);
}

}  // namespace
}  // namespace hone::testing
