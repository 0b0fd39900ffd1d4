#include "hone/passes/prune.h"

#include "hone/autodiff/gradients.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/lora.h"
#include "hone/passes/pack.h"
#include "hone/passes/prune_inputs.h"
#include "hone/passes/quantize.h"
#include "tests/passes/before_after.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr std::string_view kPrunable = R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%b = parameter bias trainable : f32[2]
%v = parameter weight trainable : f32[3, 2]
%layer = linear(%x, %w, %b) : f32[B, 2]
%act = relu(%layer) : f32[B, 2]
%head = linear(%act, %v) : f32[B, 3]
output y = %head
)";

ParameterStore few_weights() {
  return ParameterStore({{"w", Tensor::of<float>({2, 2}, {3, -1, 2, -4})},
                         {"b", Tensor::of<float>({2}, {1, 1})},
                         {"v", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}});
}

QuantizationPlan rounding_plan() {
  return uniform_plan(parse(kPrunable), LayerFormats::reads(parse_format("integer(width=8,frac=4)",
                                                                         references().formats)));
}

TEST(Prune, PutsMasksBesideAllWeightsButThoseOfTheOutputs) {
  ParameterStore parameters = few_weights();
  expect_after(
      kPrunable, [&](Graph& graph) { return prune(graph, parameters, {}); },
      R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%b = parameter bias trainable : f32[2]
%v = parameter weight trainable : f32[3, 2]
%w.mask = parameter mask frozen : bool[2, 2]
%w.masked = mask(%w, %w.mask) : f32[2, 2]
%layer = linear(%x, %w.masked, %b) : f32[B, 2]
%act = relu(%layer) : f32[B, 2]
%head = linear(%act, %v) : f32[B, 3]
output y = %head
)");
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, 0, 0, -4}));
  EXPECT_EQ(pruned_count(parameters.at("w.mask")), 2);
}

TEST(Prune, TakesWhatTargetsName) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  EXPECT_TRUE(prune(graph, parameters, {.target = {"he*"}}));
  ASSERT_EQ(pruned_weights(graph).size(), 1);
  EXPECT_EQ(pruned_weights(graph)[0]->name(), "v");
  EXPECT_EQ(message_of([&] {
              prune(graph, parameters, {.target = {"head", "act"}});
            }),
            "no operation with weights matches 'act' of `target`; `hone plan` lists them");
}

TEST(Prune, GoesOnFromTheMasksThatAreThere) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  EXPECT_TRUE(prune(graph, parameters, {.rule = {.sparsity = 0.25}}));
  const std::string text = to_string(graph);
  EXPECT_FALSE(prune(graph, parameters, {.rule = {.sparsity = 0.25}}));
  // Masked weights do not return, even if training changes them.
  parameters.set("w", Tensor::of<float>({2, 2}, {3, -9, 2, -4}));
  EXPECT_TRUE(prune(graph, parameters, {.rule = {.sparsity = 0.5}}));
  EXPECT_EQ(to_string(graph), text);
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, 0, 0, -4}));
}

TEST(Prune, LetsWeightsReturnThatMovementTook) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  PruneOptions options{.rule = {.sparsity = 0.5, .method = PruneMethod::movement},
                       .final_masks = {{"w", booleans({2, 2}, {1, 1, 1, 0})}}};
  options.statistics["w"] = Tensor::of<float>({2, 2}, {-1, 2, 3, 4});
  EXPECT_TRUE(prune(graph, parameters, options));
  EXPECT_EQ(elements_of<bool>(parameters.at("w.mask")), (std::vector<bool>{0, 1, 1, 0}));
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, -1, 2, -4}));
  options.statistics["w"] = Tensor::of<float>({2, 2}, {5, 2, 1, 4});
  EXPECT_TRUE(prune(graph, parameters, options));
  EXPECT_EQ(elements_of<bool>(parameters.at("w.mask")), (std::vector<bool>{1, 1, 0, 0}));
  apply_masks(graph, parameters);
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, -1, 0, 0}));
}

TEST(Prune, LeavesPrunedWeightsNoGradient) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  prune(graph, parameters, {});
  parameters.set("w", Tensor::of<float>({2, 2}, {3, 7, 8, -4}));  // masked whatever its value
  const Value loss = graph.add("mul", {graph.output("y"), graph.output("y")});
  const Value sum = graph.add("sum_to", {loss}, {{"shape", Shape{}}});
  const std::vector<Value> gradients = add_gradients(graph, sum, {{graph.find("w"), 0}});
  graph.clear_outputs();
  graph.set_output("dw", gradients[0]);
  const std::vector<float> dw = elements_of(
      run_graph(graph, {{"x", Tensor::of<float>({1, 2}, {1, -1})}}, parameters).at("dw"));
  EXPECT_NE(dw[0], 0);
  EXPECT_EQ(dw[1], 0);
  EXPECT_EQ(dw[2], 0);
  EXPECT_NE(dw[3], 0);
}

// In either order of the passes.
TEST(Prune, StandsInFrontOfQuantizers) {
  ParameterStore first = few_weights(), second = few_weights();
  Graph pruned = parse(kPrunable), quantized = parse(kPrunable);
  prune(pruned, first, {});
  quantize(pruned, rounding_plan());
  quantize(quantized, rounding_plan());
  prune(quantized, second, {});
  for (const Graph* graph : {&pruned, &quantized}) {
    const Node& quantizer = *graph->find("layer")->inputs()[1].node;
    EXPECT_TRUE(is_quantizer(quantizer));
    EXPECT_TRUE(is_mask(*quantizer.inputs()[0].node));
    EXPECT_EQ(current_plan(*graph), rounding_plan());
  }
}

TEST(Prune, RefusesPackedWeights) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  ThreadPool pool(1);
  quantize(graph, rounding_plan());
  pack_weights(graph, parameters, pool);
  EXPECT_EQ(message_of([&] { prune(graph, parameters, {.target = {"head"}}); }),
            "the weight of head is packed; `hone unpack` writes a copy with weights that can be "
            "pruned");
}

TEST(Prune, EndsWhereWeightsArePacked) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  ThreadPool pool(1);
  prune(graph, parameters, {});
  quantize(graph, rounding_plan());
  const NamedTensors x = {{"x", Tensor::of<float>({1, 2}, {1, -1})}};
  const std::vector<float> before = elements_of(run_graph(graph, x, parameters).at("y"));
  EXPECT_TRUE(pack_weights(graph, parameters, pool));
  verify(graph);
  EXPECT_TRUE(pruned_weights(graph).empty());
  EXPECT_TRUE(is_unpacked(*graph.find("layer")->inputs()[1].node));
  EXPECT_EQ(elements_of(run_graph(graph, x, parameters).at("y")), before);
}

TEST(Unprune, TakesMasksAwayAndLeavesZeros) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  EXPECT_FALSE(unprune(graph, parameters));
  prune(graph, parameters, {});
  parameters.set("w", Tensor::of<float>({2, 2}, {3, 7, 8, -4}));
  EXPECT_TRUE(unprune(graph, parameters));
  verify(graph);
  EXPECT_EQ(to_string(graph), kPrunable);
  EXPECT_EQ(elements_of(parameters.at("w")), (std::vector<float>{3, 0, 0, -4}));
}

// Weights in a mapped file are not copied.
TEST(Unprune, CopiesNoWeightThatHasItsZeros) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  prune(graph, parameters, {});
  const float* const values = parameters.at("w").data<float>();
  EXPECT_TRUE(unprune(graph, parameters));
  EXPECT_EQ(parameters.at("w").data<float>(), values);
}

TEST(Prune, IsNoPlaceToMergeAdaptersInto) {
  ParameterStore parameters = few_weights();
  Graph graph = parse(kPrunable);
  prune(graph, parameters, {});
  insert_lora(graph, parameters, {.target = {"layer"}, .rank = 1});
  EXPECT_EQ(message_of([&] { fuse_lora(graph, parameters); }),
            "the weight of layer is pruned, and its mask would apply to the merged "
            "adapter, too; keep the adapter separate, or run the pass unprune first, which "
            "removes the mask");
}

TEST(PrunePass, TakesOptionsAsTheyPrint) {
  const std::string text = prune_text({.target = {"a*", "b"},
                                       .rule = {.sparsity = 0.25,
                                                .method = PruneMethod::random,
                                                .scope = PruneScope::global,
                                                .seed = 7}});
  EXPECT_EQ(text,
            "prune(sparsity=0.25, method=\"random\", scope=\"global\", target=\"a*,b\", seed=7)");
  EXPECT_EQ(to_string(parse_pass(text, references().passes, references().formats)), text);
}

TEST(PruneInputs, PutsOneThresholdInFrontOfAllThatReadAValue) {
  expect_after(
      R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%v = parameter weight trainable : f32[2, 2]
%a = linear(%x, %w) : f32[B, 2]
%b = linear(%x, %v) : f32[B, 2]
%sum = add(%a, %b) : f32[B, 2]
%all = add(%sum, %x) : f32[B, 2]
output y = %all
)",
      [](Graph& graph) {
        EXPECT_EQ(prune_inputs(graph, {"a", "b"}), (std::vector<std::string>{"a.threshold"}));
        return true;
      },
      R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[2, 2]
%v = parameter weight trainable : f32[2, 2]
%a.threshold.least = parameter buffer frozen : f32[]
%a.threshold = threshold(%x, %a.threshold.least) : f32[B, 2]
%a = linear(%a.threshold, %w) : f32[B, 2]
%b = linear(%a.threshold, %v) : f32[B, 2]
%sum = add(%a, %b) : f32[B, 2]
%all = add(%sum, %x) : f32[B, 2]
output y = %all
)");
}

TEST(PruneInputs, StandsInFrontOfQuantizersThatItsProductsAloneRead) {
  Graph graph = parse(kPrunable);
  quantize(graph, rounding_plan());
  const std::string before = to_string(graph);
  prune_inputs(graph, {"layer"});
  const Node& quantizer = *graph.find("layer")->inputs()[0].node;
  EXPECT_TRUE(is_quantizer(quantizer));
  EXPECT_TRUE(is_threshold(*quantizer.inputs()[0].node));
  EXPECT_EQ(message_of([&] { prune_inputs(graph, {"layer"}); }),
            "the input of layer is already pruned; start from the model that was pruned");
  EXPECT_TRUE(remove_thresholds(graph));
  EXPECT_EQ(to_string(graph), before);
  EXPECT_FALSE(remove_thresholds(graph));
}

}  // namespace
}  // namespace hone::testing
