#include <gtest/gtest.h>

#include <cmath>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/ir/print.h"
#include "hone/jobs/compress.h"
#include "hone/models/transform.h"
#include "hone/passes/drop_layers.h"
#include "hone/passes/lora.h"
#include "hone/passes/prune_structure.h"
#include "hone/passes/trim_vocabulary.h"
#include "hone/study/unit_importance.h"
#include "tests/frontends/golden.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

// Passes that shrink the shapes of models.
namespace hone {
namespace {

using testing::builtin;
using testing::floats_of;
using testing::quiet_context;
using testing::tiny_model;

Session quiet_session() { return quiet_context().session(); }

// Returns "loss" or "logits" of a batch, without dropout.
std::vector<float> output_called(const Model& model, const NamedTensors& inputs,
                                 const std::string& output = "logits") {
  Graph graph = model.graph;
  remove_dropout(graph);
  ParameterStore parameters = model.parameters;
  return floats_of(quiet_session().executable(graph)->run(inputs, parameters).at(output));
}

const EncodedSet& some_texts() {
  static const EncodedSet set = testing::tiny_texts(12);
  return set;
}
NamedTensors some_batch() {
  return text_examples(some_texts()).batch(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, 0);
}

void expect_close(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

// Multiplies the weight columns that read a unit.
void scale_columns(Model& model, const UnitGroup& group, std::int64_t unit, float factor) {
  Tensor& weight = model.parameters.writable(group.reader->inputs()[1].node->name());
  const std::span<float> values = weight.values<float>();
  const auto columns = weight.size(1);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<std::int64_t>(i) % columns / group.width == unit) values[i] *= factor;
}

std::string graph_of_config(const Model& model) {
  return to_string(new_model(model.facts, builtin().ops, 1).graph);
}

TEST(Shrink, UnitsWithoutOutputWeightsGoAndNothingChanges) {
  for (const UnitKind kind : kUnitKinds) {
    Model model = tiny_model();
    std::vector<UnitGroup> groups = unit_groups(model.graph, kind);
    ASSERT_EQ(groups.size(), 2);
    KeptUnits kept;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      kept.emplace_back();
      for (std::int64_t unit = 0; unit < groups[g].count; ++unit) {
        const bool goes = unit % 2 == static_cast<std::int64_t>(g);
        scale_columns(model, groups[g], unit, goes ? 0 : 4);
        if (!goes) kept.back().push_back(unit);
      }
    }
    const std::vector<float> before = output_called(model, some_batch());
    // Both the weight norm and the loss-based importance rank these units lowest.
    const auto importance = unit_importance(model, groups, text_examples(some_texts()),
                                            {.batch_size = 4, .batch_count = 2}, quiet_session());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<double>& scores = importance.at(groups[g].reader->name());
      EXPECT_EQ(choose_units({scores}, 0.5, UnitScope::local)[0], kept[g]);
      for (const int power : {1, 2})
        EXPECT_EQ(choose_units({unit_magnitudes(groups[g], model.parameters, power)}, 0.5,
                               UnitScope::local)[0],
                  kept[g]);
    }
    Model pruned = model;
    transform(pruned,
              fmt::format("prune_structure(structure=\"{}\", method=\"l2\")", to_string(kind)),
              quiet_session());
    expect_close(output_called(pruned, some_batch()), before);
    for (const UnitGroup& group : unit_groups(pruned.graph, kind))
      EXPECT_EQ(group.count, groups[0].count / 2);
    // A smaller config describes fewer neurons. No config describes fewer heads of the same size.
    EXPECT_EQ(to_string(pruned.graph) == graph_of_config(pruned), kind == UnitKind::neurons);
    EXPECT_EQ(pruned.facts.config["intermediate_size"], kind == UnitKind::neurons ? 32 : 64);
    TemporaryFolder folder;
    save_model(pruned, folder.path());
    EXPECT_EQ(fs::exists(folder.path() / "model.safetensors"), kind == UnitKind::neurons);
    const Model read = load_model(folder.path(), builtin().ops, builtin().formats, 1);
    EXPECT_EQ(output_called(read, some_batch()), output_called(pruned, some_batch()));
  }
}

TEST(Shrink, TheImportanceOfAUnitIsWhatTheLossSaysOfItsGate) {
  const Model model = tiny_model();
  for (const UnitKind kind : kUnitKinds) {
    const std::vector<UnitGroup> groups = unit_groups(model.graph, kind);
    const EncodedSet some = testing::tiny_texts(6);
    const auto importance = unit_importance(model, groups, text_examples(some),
                                            {.batch_size = 6, .batch_count = 1}, quiet_session());
    const std::vector<double>& scores = importance.at(groups[1].reader->name());
    double norm = 0;
    std::vector<double> slopes;
    for (std::int64_t unit = 0; unit < groups[1].count; ++unit) {
      constexpr float kStep = 0.02F;
      std::array<double, 2> losses{};
      for (const int side : {0, 1}) {
        Model moved = model;
        scale_columns(moved, groups[1], unit, side == 0 ? 1 - kStep : 1 + kStep);
        const NamedTensors all =
            text_examples(some).batch(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, 0);
        losses[static_cast<std::size_t>(side)] = output_called(moved, all, "loss")[0];
      }
      slopes.push_back(std::abs(losses[1] - losses[0]) / (2 * kStep));
      norm += slopes.back() * slopes.back();
    }
    for (std::size_t i = 0; i < slopes.size(); ++i)
      EXPECT_NEAR(scores[i], slopes[i] / std::sqrt(norm), 0.01) << to_string(kind) << i;
  }
}

TEST(Shrink, AllTogetherLoseTheLeastButOneOfEachGroupStays) {
  EXPECT_EQ(choose_units({{1, 2, 3, 4}, {10, 20, 30, 40}}, 0.5, UnitScope::local),
            (KeptUnits{{2, 3}, {2, 3}}));
  EXPECT_EQ(choose_units({{1, 2, 3, 4}, {10, 20, 30, 40}}, 0.5, UnitScope::global),
            (KeptUnits{{3}, {1, 2, 3}}));
  EXPECT_EQ(choose_units({{5, 5, 5}}, 0.4, UnitScope::local), (KeptUnits{{1, 2}}));
  EXPECT_EQ(choose_units({{1, 2}}, 0, UnitScope::local), (KeptUnits{{0, 1}}));
  expect_user_error("sparsity: expected a share from 0 to below 1, got 1", [] {
    choose_units({{1, 2}}, 1, UnitScope::local);
  });
  Model model = tiny_model();
  std::vector<UnitGroup> neurons = unit_groups(model.graph, UnitKind::neurons);
  for (std::int64_t unit = 0; unit < 40; ++unit) scale_columns(model, neurons[0], unit, 0);
  transform(model, "prune_structure(structure=\"neurons\", sparsity=0.3, scope=\"global\")",
            quiet_session());
  neurons = unit_groups(model.graph, UnitKind::neurons);
  EXPECT_LT(neurons[0].count, neurons[1].count);
  EXPECT_EQ(neurons[0].count + neurons[1].count, 128 - 38);
  EXPECT_EQ(model.facts.config["intermediate_size"], 64);  // no config describes two sizes
}

TEST(Shrink, LayersGoAndThoseBehindThemTakeTheirNumbers) {
  Model model = tiny_model();
  const Model before = model;
  transform(model, "drop_layers(layers=\"0\")", quiet_session());
  EXPECT_EQ(to_string(model.graph),
            graph_of_config(model));  // including the random streams of dropout
  EXPECT_EQ(model.facts.config["num_hidden_layers"], 1);
  const std::string weight = "attention.self.query.weight";
  EXPECT_EQ(floats_of(model.parameters.at("bert.encoder.layer.0." + weight)),
            floats_of(before.parameters.at("bert.encoder.layer.1." + weight)));
  EXPECT_FALSE(model.parameters.contains("bert.encoder.layer.1." + weight));
  EXPECT_EQ(kept_layers(12, 6, "evenly"), (std::vector<std::int64_t>{0, 2, 4, 7, 9, 11}));
  EXPECT_EQ(kept_layers(5, 1, "evenly"), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(kept_layers(5, 2, "first"), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(kept_layers(5, 2, "last"), (std::vector<std::int64_t>{3, 4}));
  // Formats move with their layers.
  Model quantized = before;
  quantize_model(quantized, plan_with_format(before, testing::format_called("bf16")),
                 quiet_session());
  transform(quantized, "drop_layers(layers=\"0\")", quiet_session());
  EXPECT_EQ(quantized.quantization->plan, plan_with_format(model, testing::format_called("bf16")));
}

TEST(Shrink, WhatCannotGoIsSaid) {
  const auto refusal = [](Model model, const std::string& pass) {
    const std::string graph = to_string(model.graph);
    const std::string message = user_error_of([&] { transform(model, pass, quiet_session()); });
    EXPECT_EQ(to_string(model.graph), graph);
    return message;
  };
  const auto expect = [&](const std::string& fragment, const Model& model,
                          const std::string& pass) {
    const std::string message = refusal(model, pass);
    EXPECT_NE(message.find(fragment), std::string::npos) << message;
  };
  const Model model = tiny_model();
  expect("layers: expected numbers from 0 to 1, got 2", model, "drop_layers(layers=\"2\")");
  expect("layers: 1 is given twice", model, "drop_layers(layers=\"1,1\")");
  expect("layers: all 2 would be removed", model, "drop_layers(layers=\"0,1\")");
  expect("expected whole numbers separated by commas, got 'x'", model, "drop_layers(layers=\"x\")");
  expect("expected layers, the numbers of layers to remove, or keep", model, "drop_layers");
  expect("keep: expected 1 to 1 of 2 layers, got 2", model, "drop_layers(keep=2)");
  expect("which: expected evenly, first or last", model, "drop_layers(keep=1, which=\"odd\")");
  expect("structure: expected heads or neurons", model, "prune_structure(structure=\"rows\")");
  expect("structure: heads is given twice", model, "prune_structure(structure=\"heads,heads\")");
  expect("method: expected l1 or l2, got 'l3'", model, "prune_structure(method=\"l3\")");
  expect("first_order needs the loss on examples", model,
         "prune_structure(method=\"first_order\")");
  expect("scope: expected local or global", model, "prune_structure(scope=\"all\")");
  expect("rows: expected 1 to 40", model, "trim_vocabulary(rows=41)");
  Model quantized = model;
  quantize_model(quantized, plan_with_format(model, testing::format_called("bf16")),
                 quiet_session());
  expect("the model is quantized, and its formats depend on the shapes", quantized,
         "prune_structure");
  Model adapted = model;
  transform(adapted, "insert_lora(target=\"query\", r=2)", quiet_session());
  expect("has a low-rank adapter", adapted, "prune_structure");
  Model masked = model;
  transform(masked, "prune(sparsity=0.5)", quiet_session());
  expect("it reads its weight through %", masked, "prune_structure");
  transform(masked, "drop_layers(layers=\"1\")", quiet_session());  // masks move with their layers
  Model whole = model;
  transform(whole, "fuse_attention", quiet_session());  // the fused form of the same heads
  transform(whole, "prune_structure(structure=\"heads\")", quiet_session());
}

TEST(Shrink, EveryArchitectureShrinks) {
  for (const std::string name : {"safetensors", "distilbert", "roberta", "electra"}) {
    const fs::path folder = testing::kGoldenModels / name;
    const Json inputs = read_json(folder / "expected.json")["inputs"];
    const NamedTensors batch = testing::golden_inputs(inputs[0]);
    Model model = load_model(folder, builtin().ops, builtin().formats, 1);
    const std::int64_t layers = layer_stack(model.graph).count;
    for (const UnitKind kind : kUnitKinds)
      EXPECT_EQ(std::ssize(unit_groups(model.graph, kind)), layers) << name;
    transform(model, "prune_structure(structure=\"neurons\")", quiet_session());
    EXPECT_EQ(to_string(model.graph), graph_of_config(model)) << name;
    if (layers > 1) transform(model, "drop_layers(keep=1)", quiet_session());
    EXPECT_EQ(to_string(model.graph), graph_of_config(model)) << name;
    transform(model, "prune_structure(structure=\"heads\")", quiet_session());
    Graph graph = forward_graph(model);
    remove_dropout(graph);
    ParameterStore parameters = model.parameters;
    const auto logits = quiet_session().executable(graph)->run(batch, parameters).at("logits");
    EXPECT_TRUE(std::isfinite(floats_of(logits)[0])) << name;
  }
}

// `transformers_loading` gives the reason, and the file names match it.
TEST(Shrink, SaysWhyTransformersCannotLoadWhatNoConfigDescribes) {
  struct Case {
    const char* pass;
    const char* reason;  // empty: transformers loads it
  };
  for (const auto& [pass, reason] :
       {Case{"drop_layers(keep=1)", ""}, Case{"remove_dropout", ""},
        Case{"prune_structure(structure=\"neurons\", sparsity=0.25)", ""},
        Case{"prune_structure(structure=\"heads\")",
             "layer 0 has 1 head of 16 instead of 2, layer 1 has 1 head of 16 instead of 2, "
             "which the config of transformers cannot express"},
        Case{"prune_structure(structure=\"neurons\", freeze=\"*.1.intermediate.dense\")",
             "its layers have 32, 64 neurons, but the config of transformers has one number "
             "for all layers"},
        Case{"replace_by_identity(names=\"bert.pooler.dense\")",
             "its graph lacks bert.pooler.dense (linear), which its config builds"}}) {
    Model model = tiny_model();
    transform(model, pass, quiet_session());
    EXPECT_EQ(transformers_loading(model).reason, reason) << pass;
    const bool loads = std::string_view(reason).empty();
    TemporaryFolder folder;
    save_model(model, folder.path());
    EXPECT_EQ(fs::exists(folder.path() / "model.safetensors"), loads) << pass;
    // Nobody else loads packed weights. The message also says what prevents loading the unpacked copy.
    LayerFormats formats;
    formats.weight = testing::format_called("mxint(bits=8)");
    quantize_model(model, uniform_plan(unquantized_graph(model), formats), quiet_session());
    transform(model, "pack", quiet_session());
    const TransformersLoading packed = transformers_loading(model);
    EXPECT_EQ(packed.reason, std::string("its weights are packed in the codes of their formats") +
                                 (loads ? "" : "; ") + reason);
    EXPECT_EQ(packed.unpacks, loads) << pass;
    const Model plain = for_other_programs(model, quiet_session());
    EXPECT_EQ(transformers_loading(plain).reason, reason);
    EXPECT_FALSE(plain.quantization.has_value());
    if (loads) {
      EXPECT_EQ(to_string(plain.graph), graph_of_config(plain)) << "with its dropout";
    }
  }
}

}  // namespace
}  // namespace hone
