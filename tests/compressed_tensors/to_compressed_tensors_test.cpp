#include "hone/compressed_tensors/to_compressed_tensors.h"

#include <gtest/gtest.h>

#include "hone/compressed_tensors/coded_layer.h"
#include "hone/passes/pack.h"
#include "hone/passes/remove_dropout.h"
#include "tests/support/tiny_model.h"

namespace hone::testing {
namespace {

constexpr std::string_view kQuery = "bert.encoder.layer.0.attention.self.query";

class ToCompressedTensors : public ::testing::Test {
 protected:
  ToCompressedTensors()
      : parameters_(tiny_model().parameters), graph_(forward_graph(tiny_model())) {
    remove_dropout(graph_);
  }

  static LayerFormats formats(const std::string& weight, const std::string& input = "") {
    LayerFormats formats;
    formats.weight = parse_format(weight, builtin().formats);
    if (!input.empty()) formats.input = parse_format(input, builtin().formats);
    return formats;
  }
  CompressedTensorsModel convert(const QuantizationPlan& plan) {
    quantize(graph_, plan);
    pack_weights(graph_, parameters_, pool_);
    const Architecture architecture = bert();
    return to_compressed_tensors(graph_, parameters_,
                                 {architecture.encoder.name, architecture.fresh}, pool_);
  }
  CompressedTensorsModel convert(const std::string& weight, const std::string& input = "") {
    return convert(uniform_plan(graph_, formats(weight, input)));
  }

  ThreadPool pool_ = ThreadPool(1);
  ParameterStore parameters_;
  Graph graph_;
};

bool has_note(const CompressedTensorsModel& model, const std::string& part) {
  return std::ranges::any_of(
      model.notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

std::vector<std::string> parts_of(const CompressedTensorsModel& model, std::string_view module) {
  std::vector<std::string> parts;
  const std::string front = std::string(module) + ".";
  for (const auto& [name, tensor] : model.tensors)
    if (name.starts_with(front)) parts.push_back(name.substr(front.size()));
  return parts;
}

using Words = std::vector<std::string>;

TEST_F(ToCompressedTensors, LeavesTheHeadAndEverythingElseInFloats) {
  const CompressedTensorsModel model = convert("int(bits=4,group=16)");
  ASSERT_EQ(model.groups.size(), 1U);
  EXPECT_EQ(model.groups[0].names.size(), 12U);
  const Json& config = model.quantization_config;
  EXPECT_EQ(config["format"], "pack-quantized");
  EXPECT_EQ(config["config_groups"]["group_0"]["targets"], Json({"Linear"}));
  EXPECT_EQ(config["ignore"],
            Json({"re:(.*\\.)?classifier(\\..*)?$", "re:(.*\\.)?pooler(\\..*)?$"}));
  EXPECT_EQ(parts_of(model, kQuery),
            (Words{"bias", "weight_packed", "weight_scale", "weight_shape"}));
  EXPECT_EQ(parts_of(model, "classifier"), (Words{"bias", "weight"}));
  EXPECT_EQ(model.tensors.at("bert.embeddings.word_embeddings.weight").dtype(), DType::f32);
  EXPECT_TRUE(has_note(model, "of the head"));
}

TEST_F(ToCompressedTensors, GivesLayersWithDifferentFormatsDifferentGroups) {
  QuantizationPlan plan = uniform_plan(graph_, formats("int(bits=4,group=16)"));
  plan[0].second = formats("int(bits=8,per=row,scale=dynamic)", "int(bits=8,per=token)");
  plan[1].second = formats("nf4");
  const std::string first = plan[0].first, second = plan[1].first;
  const CompressedTensorsModel model = convert(plan);
  ASSERT_EQ(model.groups.size(), 2U);
  const Json& config = model.quantization_config;
  EXPECT_EQ(config["format"], "mixed-precision");
  EXPECT_EQ(model.groups[0].names, Words{first});
  EXPECT_EQ(config["config_groups"]["group_0"]["format"], "int-quantized");
  EXPECT_EQ(config["config_groups"]["group_0"]["input_activations"]["strategy"], "token");
  EXPECT_EQ(config["config_groups"]["group_1"]["targets"].size(), 10U);
  EXPECT_EQ(config["ignore"].size(), 3U);
  EXPECT_EQ(parts_of(model, second), (Words{"bias", "weight"}));
  EXPECT_TRUE(has_note(model, "nf4"));
}

TEST_F(ToCompressedTensors, HasNoGroupsWhereNothingIsExpressed) {
  for (const char* format :
       {"nf4", "int(bits=4,group=16,range=affine)", "int(bits=12,per=row,scale=dynamic)"}) {
    SCOPED_TRACE(format);
    ParameterStore parameters = parameters_;
    Graph graph = graph_;
    quantize(graph, uniform_plan(graph, formats(format)));
    pack_weights(graph, parameters, pool_);
    const CompressedTensorsModel model =
        to_compressed_tensors(graph, parameters, {"bert", {"classifier."}}, pool_);
    EXPECT_TRUE(model.groups.empty());
    EXPECT_TRUE(has_note(model, "stored as fp32 values"));
  }
}

Json inputs_in(const std::string& format, const std::vector<Tensor>& state = {}) {
  const auto inputs = coded_inputs(parse_format(format, builtin().formats), state, 32);
  return inputs ? inputs->scheme : Json();
}

TEST(CodedInputs, AreOfWholeNumbersInEightBitsOrOfFp8) {
  EXPECT_EQ(inputs_in("int(bits=8,per=token)")["strategy"], "token");
  EXPECT_EQ(inputs_in("int(bits=8,scale=dynamic)")["strategy"], "tensor");
  EXPECT_EQ(inputs_in("int(bits=8,per=token,range=affine)")["symmetric"], false);
  EXPECT_EQ(inputs_in("integer(width=8,frac=4)")["dynamic"], false);
  EXPECT_EQ(inputs_in("minifloat_ieee(width=8,exponent_width=4)")["type"], "float");
  for (const char* other : {"int(bits=4,per=token)", "mxint(bits=8)", "mxfp", "nf4", "bf16",
                            "minifloat_ieee(width=8,exponent_width=3)", "integer(width=7,frac=4)"})
    EXPECT_TRUE(inputs_in(other).is_null()) << other;
}

TEST(CodedInputs, KeepKnownScalesAndZeroPoints) {
  const Format format = parse_format("int(bits=8,range=affine)", builtin().formats);
  const auto inputs =
      coded_inputs(format, {Tensor::scalar(0.25F), Tensor::scalar(100.0F)}, /*columns=*/32);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->scheme["symmetric"], false);
  EXPECT_EQ(*inputs->tensors.at("input_scale").data<float>(), 0.25F);
  EXPECT_EQ(*inputs->tensors.at("input_zero_point").data<std::int8_t>(), -28);
}

}  // namespace
}  // namespace hone::testing
