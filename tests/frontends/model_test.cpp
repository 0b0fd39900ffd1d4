#include "hone/frontends/huggingface/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/frontends/huggingface/bert.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/graph_file.h"
#include "hone/frontends/huggingface/missing_head.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/ir/print.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/library.h"
#include "tests/frontends/golden.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/message.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;
using testing::elements_of;

Model load(const fs::path& folder, const std::vector<std::string>& labels = {},
           std::uint64_t seed = 1) {
  return load_model(folder, builtin().ops, builtin().formats, seed, {.names = labels});
}
Model load_golden(const std::string& name) { return load(testing::kGoldenModels / name); }

EncoderConfig one_layer_config() {
  EncoderConfig config;
  config.vocab_size = 30;
  config.hidden_size = 8;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 2;
  config.intermediate_size = 12;
  config.max_position_embeddings = 6;
  return config;
}

// Writes the folder of a small model, with replaced keys in config.json.
void write_small(const TemporaryFolder& folder, const Json& keys = Json::object()) {
  save_model(new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3),
             folder.path());
  Json config = read_json(folder.path() / "config.json");
  config.update(keys);
  folder.file("config.json", to_document(config));
}

// Replaces one tensor of a saved model, or removes it if undefined.
void replace_tensor(const TemporaryFolder& folder, const std::string& name, const Tensor& tensor) {
  const Checkpoint saved = load_checkpoint(folder.path());
  TensorMap tensors;
  for (const auto& [key, value] : saved.tensors) tensors.emplace(key, value.contiguous_copy());
  tensors.erase(name);
  if (tensor.defined()) tensors.emplace(name, tensor);
  save_checkpoint(folder.path(), tensors);
}

void rename_tensors(const TemporaryFolder& folder,
                    const std::function<std::string(const std::string&)>& change) {
  TensorMap renamed;
  for (const auto& [name, tensor] : load_checkpoint(folder.path()).tensors)
    renamed.emplace(change(name), tensor.contiguous_copy());
  save_checkpoint(folder.path(), renamed);
}

// Quantizes by a plan, without history.
void put_quantizers(Model& model, const QuantizationPlan& plan) {
  quantize(model.graph, plan);
  follow_graph(model);
}

void expect_same_weights(const ParameterStore& a, const ParameterStore& b) {
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (const auto& [name, tensor] : a.tensors()) {
    ASSERT_TRUE(b.contains(name)) << name;
    EXPECT_EQ(tensor.sizes(), b.at(name).sizes()) << name;
    EXPECT_EQ(elements_of(tensor), elements_of(b.at(name))) << name;
  }
}

TEST(Model, WeightsSurviveSavingBitForBit) {
  for (const char* name : {"safetensors", "gamma_beta", "views", "bfloat16", "base_model"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const Model model = load_golden(name);
    save_model(model, folder.path());
    const Model again = load(folder.path());
    expect_same_weights(model.parameters, again.parameters);
    EXPECT_TRUE(again.warnings.empty()) << again.warnings[0];
    EXPECT_FALSE(again.quantization.has_value());
    Json config = to_json(bert().keys, config_of(model.facts));
    config["dtype"] = "float32";
    EXPECT_EQ(to_json(bert().keys, config_of(again.facts)), config);
  }
}

// So kernels that pack a weight can release its pages (Kernel::prepare of a linear).
TEST(Model, WeightsOfAFileAreReadWhereTheyLie) {
  const TemporaryFolder folder;
  write_small(folder);
  const Model model = load(folder.path());
  for (const auto& [name, tensor] : model.parameters.tensors())
    EXPECT_TRUE(tensor.storage()->mapped) << name;
}

TEST(Model, SavingKeepsConfigKeysItDoesNotKnow) {
  const TemporaryFolder folder, copy;
  write_small(folder, {{"my_key", {{"deep", {1, 2}}}}, {"_num_labels", 5}});
  save_model(load(folder.path()), copy.path());
  const Json config = read_json(copy.path() / "config.json");
  EXPECT_EQ(config["my_key"]["deep"], Json::array({1, 2}));
  EXPECT_EQ(config["_num_labels"], 5);
  EXPECT_EQ(config["architectures"], Json::array({"BertForSequenceClassification"}));
}

TEST(Model, SavedWeightsHaveTheNamesAndTypeOfTransformers) {
  const TemporaryFolder folder;
  write_small(folder);
  const Checkpoint saved = load_checkpoint(folder.path());
  EXPECT_EQ(saved.source, "model.safetensors");
  EXPECT_EQ(saved.tensors.size(), 5u + 16u + 4u);  // embeddings, one layer, pooler and classifier
  for (const auto& [name, tensor] : saved.tensors) EXPECT_EQ(tensor.dtype(), DType::f32) << name;
  EXPECT_EQ(saved.tensors.at("bert.encoder.layer.0.attention.output.LayerNorm.weight").sizes(),
            (Sizes{8}));
  EXPECT_EQ(saved.tensors.at("classifier.weight").sizes(), (Sizes{2, 8}));
}

TEST(Model, QuantizationSurvivesSaving) {
  const TemporaryFolder folder, plain;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  const Format integer = parse_format("integer(width=8)", builtin().formats);
  put_quantizers(model, {{"bert.pooler.dense", {.weight = integer}},
                         {"classifier", {.input = integer, .weight = integer}}});
  model.quantization->method = "qat";
  for (const char* state : {"bert.pooler.dense.weight.quantizer.frac",
                            "classifier.input_quantizer.frac", "classifier.weight.quantizer.frac"})
    model.parameters.set(state, Tensor::scalar(6.0f));
  save_model(model, folder.path());
  EXPECT_EQ(
      read_json(folder.path() / "config.json")["quantization_config"],
      (Json{
          {"quant_method", "hone"},
          {"training", "qat"},
          {"arithmetic", "simulated"},
          {"layers",
           {{"bert.pooler.dense", {{"weight", "integer(width=8,frac=auto)"}}},
            {"classifier",
             {{"input", "integer(width=8,frac=auto)"}, {"weight", "integer(width=8,frac=auto)"}}}}},
          {"notice", notice_for_other_programs(model.quantization->plan)}}));
  Model again = load(folder.path());
  ASSERT_TRUE(again.quantization.has_value());
  EXPECT_EQ(again.quantization->method, "qat");
  EXPECT_EQ(again.quantization->plan, model.quantization->plan);
  EXPECT_TRUE(again.warnings.empty());
  expect_same_weights(model.parameters, again.parameters);
  EXPECT_EQ(to_string(again.graph), to_string(model.graph));
  // Removing the quantizers removes the block from the config, and the graph equals the config's graph again.
  remove_quantizers(again.graph);
  follow_graph(again);
  save_model(again, plain.path());
  EXPECT_FALSE(read_json(plain.path() / "config.json").contains("quantization_config"));
  EXPECT_FALSE(path_exists(plain.path() / kGraphFile));
  EXPECT_EQ(
      to_string(load(plain.path()).graph),
      to_string(new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3).graph));
}

// Versions before graph.hone stored the plan in the config only.
TEST(Model, AFolderWithoutAGraphHasTheQuantizersOfItsConfig) {
  const TemporaryFolder folder;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  const Format integer = parse_format("integer(width=8)", builtin().formats);
  const std::string norm = "bert.encoder.layer.0.output.LayerNorm";
  put_quantizers(model, {{norm, {.weight = integer, .bias = integer}},
                         {"classifier", {.input = integer, .weight = integer}}});
  for (const char* state : {".weight.quantizer.frac", ".bias.quantizer.frac"})
    model.parameters.set(norm + state, Tensor::scalar(6.0f));
  model.parameters.set("classifier.input_quantizer.frac", Tensor::scalar(6.0f));
  model.parameters.set("classifier.weight.quantizer.frac", Tensor::scalar(9.0f));
  save_model(model, folder.path());
  fs::remove(folder.path() / kGraphFile);
  // They treated the gain of a layer norm as a bias.
  Json config = read_json(folder.path() / "config.json");
  config["quantization_config"]["layers"][norm].erase("weight");
  write_file(folder.path() / "config.json", config.dump());
  const Model again = load(folder.path());
  EXPECT_EQ(to_string(again.graph), to_string(model.graph));
  expect_same_weights(model.parameters, again.parameters);
}

TEST(Model, KeepsItsHistoryInTheConfig) {
  const TemporaryFolder folder, untouched;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  save_model(model, untouched.path());
  EXPECT_FALSE(read_json(untouched.path() / "config.json").contains("hone_history"));
  EXPECT_EQ(load(untouched.path()).facts.history, History{});
  // Loading does not repeat the history, so it may name passes of missing plugins.
  model.facts.history.passes = {"freeze(names=\"*\")", "rotate(degrees=3)"};
  save_model(model, folder.path());
  EXPECT_EQ(read_json(folder.path() / "config.json")["hone_history"],
            (Json{{"passes", model.facts.history.passes}, {"complete", true}}));
  EXPECT_EQ(load(folder.path()).facts.history, model.facts.history);
  for (const Json& odd :
       {Json("freeze"), Json{{"passes", "freeze"}, {"complete", true}},
        Json{{"passes", {1}}, {"complete", true}}, Json{{"passes", Json::array()}}}) {
    write_small(folder, {{"hone_history", odd}});
    expect_user_error("config.json: hone_history: expected \"passes\" and \"complete\"",
                      [&] { load(folder.path()); });
  }
}

// Versions before the history did not store it.
TEST(Model, OfATransformedFolderWithoutHistoryItIsNotKnown) {
  const TemporaryFolder folder, again;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  put_quantizers(model, {{"classifier", {.weight = parse_format("bf16", builtin().formats)}}});
  save_model(model, folder.path());
  const History unknown{.complete = false};
  for (const bool with_graph : {true, false}) {
    if (!with_graph) fs::remove(folder.path() / kGraphFile);
    const Model read = load(folder.path());
    EXPECT_EQ(read.facts.history, unknown);
    save_model(read, again.path());
    EXPECT_EQ(load(again.path()).facts.history, unknown);
  }
}

// Otherwise the model would be evaluated with undocumented quantizers.
TEST(Model, RefusesAGraphWhoseQuantizersTheConfigDoesNotTellOf) {
  const TemporaryFolder folder;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  put_quantizers(model, {{"classifier", {.weight = parse_format("bf16", builtin().formats)}}});
  save_model(model, folder.path());
  Json config = read_json(folder.path() / "config.json");
  config.erase("quantization_config");
  write_file(folder.path() / "config.json", config.dump());
  EXPECT_EQ(testing::message_of([&] { load(folder.path()); }),
            (folder.path() / kGraphFile).string() +
                ": there are quantizers, in contrast to the quantization_config of "
                "config.json; the two files do not match");
}

TEST(Model, RefusesAGraphThatIsNone) {
  const TemporaryFolder folder;
  save_model(new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3),
             folder.path());
  const fs::path file = folder.path() / kGraphFile;
  const auto refusal = [&](const std::string& text) {
    write_file(file, text);
    return testing::message_of([&] { load(folder.path()); });
  };
  EXPECT_TRUE(
      refusal("hone graph 2\n")
          .starts_with(
              file.string() +
              ": expected 'hone graph 1' on the first line; it was written by another version"));
  EXPECT_EQ(
      refusal("hone graph 1\n%x = input : f32[2]\n%y = rellu(%x) : f32[2]\n"),
      file.string() + ": graph text, line 3: unknown operation 'rellu'; did you mean 'relu'?");
  fs::resize_file(file, std::uintmax_t{1} << 40);  // sparse; reading it would take all memory
  EXPECT_EQ(testing::message_of([&] { load(folder.path()); }),
            file.string() + ": 1 TiB are too many for a graph");
  EXPECT_EQ(refusal("hone graph 1\n%x = input : f32[B, 3]\noutput logits = %x\n"),
            file.string() + ": the graph has no output 'loss'");
  EXPECT_EQ(refusal("hone graph 1\n%x = input : f32[B, 3]\n%l = input : f32[]\n"
                    "output logits = %x\noutput loss = %l\n"),
            file.string() +
                ": the logits are f32[B, 3], config.json lists 2 classes; the two files do not "
                "match");
  expect_user_error("1 of the 1 weights that graph.hone needs are missing: l", [&] {
    folder.file(kGraphFile,
                "hone graph 1\n%x = input : f32[B, 2]\n%l = parameter gain frozen : f32[]\n"
                "output logits = %x\noutput loss = %l\n");
    load(folder.path());
  });
}

TEST(Model, RefusesQuantizationItDidNotWrite) {
  const TemporaryFolder folder;
  write_small(folder, {{"quantization_config", nullptr}});
  EXPECT_FALSE(load(folder.path()).quantization.has_value());
  const auto refuse = [&](std::string_view fragment, const Json& block) {
    write_small(folder, {{"quantization_config", block}});
    expect_user_error(fragment, [&] { load(folder.path()); });
  };
  refuse("only models quantized by this program", {{"quant_method", "gptq"}, {"bits", 4}});
  refuse("only models quantized by this program", "int8");
  refuse("only models quantized by this program", {{"quant_method", 8}});
  refuse("expected \"layers\" and \"training\"", {{"quant_method", "hone"}});
  const auto refuse_format = [&](std::string_view fragment, const Json& format) {
    refuse(fragment, {{"quant_method", "hone"},
                      {"training", "ptq"},
                      {"layers", {{"classifier", {{"input", format}}}}}});
  };
  refuse_format("unknown format 'integr'; did you mean 'integer'?", "integr(width=8)");
  refuse_format("width=0 is outside", "integer(width=0)");
  refuse_format("expected \"layers\" and \"training\"", 8);
}

TEST(Model, SaysWhichHeadParametersItInitialised) {
  const Model model = load_golden("base_model");
  EXPECT_EQ(model.warnings, std::vector<std::string>{testing::initialised_warning(
                                "base_model", "classifier.weight, classifier.bias")});
  EXPECT_EQ(elements_of(model.parameters.at("classifier.bias")), (std::vector<float>{0, 0}));
  EXPECT_TRUE(load_golden("safetensors").warnings.empty());
}

TEST(Model, InitialisesTheHeadFromTheSeed) {
  const fs::path folder = testing::kGoldenModels / "base_model";
  const auto head = [&](std::uint64_t seed) {
    return elements_of(load(folder, {}, seed).parameters.at("classifier.weight"));
  };
  EXPECT_EQ(head(1), head(1));
  EXPECT_NE(head(1), head(2));
}

TEST(Model, InitialisesAPoolerThatIsNotThere) {
  const TemporaryFolder folder;
  write_small(folder);
  replace_tensor(folder, "bert.pooler.dense.weight", {});
  const Model model = load(folder.path());
  EXPECT_EQ(model.warnings,
            std::vector<std::string>{
                (folder.path() / kWeightsFile).string() +
                ": missing, initialized at random: bert.pooler.dense.weight; train the model "
                "before use"});
  EXPECT_EQ(model.untrained_head_parameters, std::vector<std::string>{"bert.pooler.dense.weight"});
}

TEST(Model, SaysWhatIsMissingOfItsHead) {
  const TemporaryFolder folder;
  write_small(folder);
  const std::string file = (folder.path() / kWeightsFile).string();
  replace_tensor(folder, "classifier.bias", {});
  const MissingHead half = missing_head(load(folder.path()), folder.path());
  EXPECT_TRUE(half.is_half);
  EXPECT_EQ(half.text, file + " has no classifier.bias");
  replace_tensor(folder, "classifier.weight", {});
  replace_tensor(folder, "cls.predictions.bias", Tensor::of<float>({1}, {0}));
  const MissingHead none = missing_head(load(folder.path()), folder.path());
  EXPECT_FALSE(none.is_half);
  EXPECT_EQ(none.text, file +
                           " has no classifier.weight, classifier.bias; it has the tensors "
                           "cls.predictions.bias");
}

TEST(Model, SaysWhichTensorsItDropped) {
  const std::vector<std::string> warnings = load_golden("pretraining").warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("classifier.weight"), std::string::npos) << warnings[0];
  // The buffer position_ids, 0, 1, 2, …, is dropped without a warning.
  EXPECT_EQ(warnings[1],
            "in the checkpoint but not in the model, dropped: cls.predictions.bias, "
            "cls.predictions.decoder.bias, cls.predictions.decoder.weight, "
            "cls.predictions.transform.LayerNorm.bias and 5 more");
}

TEST(Model, TakesTheClassesOfTheDataWhereTheHeadIsNew) {
  const std::vector<std::string> names = {"red", "green", "blue"};
  const Model model = load(testing::kGoldenModels / "base_model", names);
  EXPECT_EQ(model.facts.labels, names);
  EXPECT_EQ(model.parameters.at("classifier.weight").sizes(), (Sizes{3, 16}));
}

TEST(Model, NamesDefaultClassesAfterTheData) {
  const TemporaryFolder folder;
  write_small(folder);
  EXPECT_EQ(load(folder.path(), {"bad", "good"}).facts.labels,
            (std::vector<std::string>{"bad", "good"}));
  // Named classes keep their names.
  write_small(folder, {{"id2label", {{"0", "no"}, {"1", "yes"}}}, {"label2id", nullptr}});
  EXPECT_EQ(load(folder.path(), {"bad", "good"}).facts.labels,
            (std::vector<std::string>{"no", "yes"}));
}

TEST(Model, RefusesDataWithOtherClassesThanATrainedHead) {
  const TemporaryFolder folder;
  write_small(folder);
  expect_user_error(
      "the model predicts 2 classes: LABEL_0, LABEL_1; the data has 3 classes: a, b, "
      "c; use data with the model's labels",
      [&] {
        load(folder.path(), {"a", "b", "c"});
      });
}

// As transformers does with ignore_mismatched_sizes. Other names get a new head even if their number is equal.
TEST(Model, BeginsWithAFreshHeadForOtherLabelsWhereItMay) {
  const TemporaryFolder folder;
  write_small(folder, {{"id2label", {{"0", "bad"}, {"1", "good"}}},
                       {"label2id", {{"bad", 0}, {"good", 1}}}});
  const auto open = [&](const std::vector<std::string>& labels) {
    return load_model(folder.path(), builtin().ops, builtin().formats, /*seed=*/9,
                      {.names = labels}, HeadFit::may_be_new);
  };
  const Model trained = load(folder.path());
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"a", "b", "c"}, std::vector<std::string>{"ham", "spam"}}) {
    const Model model = open(labels);
    EXPECT_EQ(model.facts.labels, labels);
    const Tensor& head = model.parameters.at("classifier.weight");
    EXPECT_EQ(head.size(0), static_cast<std::int64_t>(labels.size()));
    EXPECT_NE(elements_of(head), elements_of(trained.parameters.at("classifier.weight")));
    EXPECT_EQ(elements_of(model.parameters.at("bert.pooler.dense.weight")),
              elements_of(trained.parameters.at("bert.pooler.dense.weight")));
    EXPECT_EQ(model.warnings,
              std::vector<std::string>{fmt::format(
                  "the model's labels are bad, good, the data's are {}: classifier.bias, "
                  "classifier.weight are initialized at random; train the model before use",
                  fmt::join(labels, ", "))});
  }
  const Model same = open({"bad", "good"});
  EXPECT_TRUE(same.warnings.empty());
  expect_same_weights(same.parameters, trained.parameters);
}

TEST(Model, OfAQuantizedModelTheHeadStays) {
  const TemporaryFolder folder;
  write_small(folder,
              {{"quantization_config",
                {{"quant_method", "hone"}, {"training", "ptq"}, {"layers", Json::object()}}}});
  expect_user_error("a quantized model cannot get a new head", [&] {
    load_model(folder.path(), builtin().ops, builtin().formats, 9, {.names = {"a", "b", "c"}},
               HeadFit::may_be_new);
  });
}

TEST(Model, RefusesWeightsThatAreMissing) {
  const TemporaryFolder folder;
  write_small(folder);
  replace_tensor(folder, "bert.encoder.layer.0.output.dense.bias", {});
  expect_user_error(
      "model.safetensors: 1 of the 25 weights that config.json needs are missing: "
      "bert.encoder.layer.0.output.dense.bias",
      [&] { load(folder.path()); });
  write_small(folder, {{"num_hidden_layers", 11}});
  expect_user_error("160 of the 185 weights that config.json needs are missing",
                    [&] { load(folder.path()); });
  // Naming the unexpected tensors may explain the error.
  write_small(folder);
  rename_tensors(folder, [](const std::string& name) { return "left." + name; });
  replace_tensor(folder, "right.bias", Tensor::of<float>({1}, {0}));
  expect_user_error("other tensors there: left.bert.embeddings.LayerNorm.bias",
                    [&] { load(folder.path()); });
}

// torch.nn.DataParallel, torch.compile and custom modules add such prefixes.
TEST(Model, ReadsWhatWasSavedInAWrapper) {
  const TemporaryFolder folder;
  write_small(folder);
  const Model plain = load(folder.path());
  const auto expect_same = [&](const char* removed) {
    const Model model = load(folder.path());
    expect_same_weights(model.parameters, plain.parameters);
    ASSERT_EQ(model.warnings.size(), 1u);
    EXPECT_NE(model.warnings[0].find(removed), std::string::npos) << model.warnings[0];
  };
  for (const char* front : {"module.", "_orig_mod.", "module._orig_mod.", "model."}) {
    SCOPED_TRACE(front);
    write_small(folder);
    rename_tensors(folder, [&](const std::string& name) { return front + name; });
    expect_same(std::string(front).starts_with("module.") ? "'module.'" : front);
  }
  write_small(folder);
  rename_tensors(folder, [](const std::string& name) {
    return name.starts_with("bert.") ? "bert._orig_mod." + name.substr(5) : name;
  });
  expect_same("'_orig_mod.'");
}

TEST(Model, ReadsAnImageModelThatWasSavedInAWrapper) {
  const TemporaryFolder folder;
  const Json config = {{"model_type", "resnet"},
                       {"embedding_size", 4},
                       {"hidden_sizes", {8}},
                       {"depths", {1}},
                       {"image_size", 8}};
  for (const char* front : {"module.", "net."}) {
    save_model(new_model(model_facts(config, "config"), builtin().ops, /*seed=*/3), folder.path());
    const Model plain = load(folder.path());
    rename_tensors(folder, [&](const std::string& name) { return front + name; });
    const Model model = load(folder.path());
    expect_same_weights(model.parameters, plain.parameters);
    EXPECT_EQ(model.warnings.size(), 1u);
  }
}

// Weights and a bias as saved by torch.nn.utils.prune.
TEST(Model, ReadsPrunedWeightsWithTheirMasks) {
  const std::string weight = "bert.encoder.layer.0.output.dense.weight", bias = "classifier.bias";
  const TemporaryFolder folder;
  write_small(folder);
  for (const std::string& name : {weight, bias}) {
    const Tensor original = load_checkpoint(folder.path()).tensors.at(name).contiguous_copy();
    Tensor mask = Tensor::zeros(DType::f32, original.sizes());
    mask.values<float>()[1] = 1;
    replace_tensor(folder, name, {});
    replace_tensor(folder, name + "_orig", original);
    replace_tensor(folder, name + "_mask", mask);
  }
  const Model model = load(folder.path());
  EXPECT_TRUE(model.warnings.empty());
  const std::vector<Node*> pruned = pruned_weights(model.graph);
  ASSERT_EQ(pruned.size(), 2u);
  EXPECT_EQ(pruned[0]->name(), weight);
  EXPECT_EQ(pruned[1]->name(), bias);
  const std::vector<float> left = elements_of(model.parameters.at(weight));
  EXPECT_NE(left[1], 0);
  EXPECT_EQ(std::ranges::count(left, 0.0f), std::ssize(left) - 1);
  EXPECT_EQ(model.facts.history.passes, std::vector<std::string>{"torch_prune(parameters=2)"});
  const TemporaryFolder saved;
  save_model(model, saved.path());
  const Model again = load(saved.path());
  EXPECT_EQ(to_string(again.graph), to_string(model.graph));
  EXPECT_EQ(elements_of(again.parameters.at(weight)), left);
  EXPECT_TRUE(path_exists(saved.path() / kWeightsFile));  // transformers reads its weights
}

// transformers loads weights in the type that the config names.
TEST(Model, SavedConfigsNameTheTypeOfTheWeightsThatAreWritten) {
  const TemporaryFolder folder, saved;
  for (const Json& keys :
       {Json{{"dtype", "bfloat16"}}, Json{{"torch_dtype", "float16"}},
        Json{{"dtype", "float16"}, {"torch_dtype", "bfloat16"}}, Json::object()}) {
    write_small(folder, keys);
    save_model(load(folder.path()), saved.path());
    const Json config = read_json(saved.path() / "config.json");
    EXPECT_EQ(config["dtype"], "float32");
    EXPECT_FALSE(config.contains("torch_dtype"));
  }
}

TEST(Model, RefusesWeightsOfAnotherShapeOrKind) {
  const TemporaryFolder folder;
  write_small(folder, {{"intermediate_size", 13}});
  expect_user_error(
      "model.safetensors: tensor bert.encoder.layer.0.intermediate.dense.weight has "
      "the shape [12, 8], config.json needs [13, 8]",
      [&] { load(folder.path()); });
  write_small(folder);
  replace_tensor(folder, "classifier.bias", Tensor::of<std::int64_t>({2}, {0, 0}));
  expect_user_error("tensor classifier.bias has elements of type i64, expected floating point",
                    [&] { load(folder.path()); });
}

TEST(Model, RefusesWeightsThatAreNoNumbers) {
  const TemporaryFolder folder;
  const float nan = std::nanf(""), infinity = INFINITY;
  write_small(folder);
  replace_tensor(folder, "classifier.bias", Tensor::of<float>({2}, {1, nan}));
  expect_user_error(
      "model.safetensors: tensor classifier.bias has 1 value that is not a number, "
      "the first at index 1: nan; training diverged or the file is damaged; use "
      "another checkpoint",
      [&] { load(folder.path()); });
  replace_tensor(folder, "classifier.bias",
                 Tensor::of<float>({2}, {-infinity, infinity}).cast(DType::bf16));
  expect_user_error("has 2 values that are not numbers, the first at index 0: -inf",
                    [&] { load(folder.path()); });
  // The largest and smallest finite values are accepted.
  replace_tensor(folder, "classifier.bias", Tensor::of<float>({2}, {3.4e38f, 1e-45f}));
  EXPECT_NO_THROW(load(folder.path()));
}

TEST(Model, RefusesQuantizerStatesThatAreNoNumbers) {
  const TemporaryFolder folder;
  Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  const Format integer = parse_format("integer(width=8)", builtin().formats);
  put_quantizers(model, {{"classifier", {.weight = integer}}});
  model.parameters.set("classifier.weight.quantizer.frac", Tensor::scalar(4.0f));
  save_model(model, folder.path());
  // Saving rejects NaN, so it is inserted afterwards.
  const fs::path weights = folder.path() / "model.safetensors";
  Safetensors file = read_safetensors(weights);
  file.tensors.insert_or_assign("classifier.weight.quantizer.frac", Tensor::scalar(std::nanf("")));
  write_safetensors(weights, file.tensors, {});
  expect_user_error("tensor classifier.weight.quantizer.frac has 1 value that is not a number",
                    [&] { load(folder.path()); });
}

// Sizes that would take terabytes must be rejected before any allocation.
TEST(Model, RefusesHostileConfigs) {
  const TemporaryFolder folder;
  const auto refuse = [&](std::string_view fragment, const Json& keys) {
    write_small(folder, keys);
    expect_user_error(fragment, [&] { load(folder.path()); });
  };
  refuse("word_embeddings.weight has the shape [30, 8], config.json needs [100000000, 8]",
         {{"vocab_size", 100'000'000}});
  refuse("config.json needs [30, 65536]", {{"hidden_size", 65536}});
  refuse("hidden_size: expected a whole number", {{"hidden_size", 0}});
  refuse("hidden_size: expected a multiple of num_attention_heads", {{"num_attention_heads", 3}});
  refuse("num_hidden_layers: expected a whole number", {{"num_hidden_layers", 1e9}});
  refuse("hidden_act: expected gelu, ", {{"hidden_act", "sigmoid"}});
  refuse("swish, tanh, got \"sigmoid\"", {{"hidden_act", "sigmoid"}});
  refuse("is_decoder: expected false", {{"is_decoder", true}});
  write_small(folder, {{"vocab_size", 100'000'000}});
  replace_tensor(folder, "bert.embeddings.word_embeddings.weight", {});
  expect_user_error("1 of the 25 weights that config.json needs are missing",
                    [&] { load(folder.path()); });
  // A pooler of 17 GB, which would be randomly initialized if the other weights were present.
  write_small(folder, {{"hidden_size", 65536}, {"num_attention_heads", 1}});
  save_checkpoint(folder.path(), {{"none", Tensor::scalar(0.0f)}});
  expect_user_error("21 of the 25 weights that config.json needs are missing",
                    [&] { load(folder.path()); });
}

TEST(Model, UnknownModelTypesNameTheSupportedOnes) {
  const TemporaryFolder folder;
  write_small(folder, {{"model_type", "gpt2"}});
  expect_user_error(
      "model_type 'gpt2' is not supported; supported are bert, distilbert, electra, resnet, "
      "roberta",
      [&] { load(folder.path()); });
  write_small(folder, {{"model_type", "bart"}});
  expect_user_error("model_type 'bart' is not supported; supported are bert, ",
                    [&] { load(folder.path()); });
}

TEST(Model, RefusesFoldersThatAreNone) {
  const TemporaryFolder folder;
  expect_user_error("no such model folder; give a folder with config.json and weights",
                    [&] { load(folder.path() / "nowhere"); });
  expect_user_error("config.json", [&] { load(folder.path()); });
}

TEST(NewModel, DrawsWeightsFromTheNormalDistribution) {
  EncoderConfig config = one_layer_config();
  config.vocab_size = 2000;
  config.initializer_range = 0.5;
  const Model model = new_model(facts_of(bert(), config), builtin().ops, /*seed=*/3);
  const std::vector<float> table =
      elements_of(model.parameters.at("bert.embeddings.word_embeddings.weight"));
  double sum = 0, squares = 0;
  for (const float value : table) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double count = static_cast<double>(table.size());
  // Five standard errors: 0.5 / sqrt(16,000) of the mean, 0.5 / sqrt(32,000) of the standard deviation.
  EXPECT_NEAR(sum / count, 0, 5 * 0.5 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 5 * 0.5 / std::sqrt(2 * count));
  EXPECT_EQ(std::vector<float>(table.begin(), table.begin() + 8), std::vector<float>(8, 0.0f));
  EXPECT_NE(table[8], 0.0f);
}

TEST(NewModel, StartsWithZeroBiasesAndUnitLayerNorms) {
  const Model model = new_model(facts_of(bert(), one_layer_config()), builtin().ops, /*seed=*/3);
  const auto values = [&](const char* name) { return elements_of(model.parameters.at(name)); };
  EXPECT_EQ(values("bert.pooler.dense.bias"), std::vector<float>(8, 0.0f));
  EXPECT_EQ(values("bert.embeddings.LayerNorm.weight"), std::vector<float>(8, 1.0f));
  EXPECT_EQ(values("bert.embeddings.LayerNorm.bias"), std::vector<float>(8, 0.0f));
}

TEST(NewModel, DependsOnTheSeedAlone) {
  const auto weights = [](std::uint64_t seed) {
    return elements_of(new_model(facts_of(bert(), one_layer_config()), builtin().ops, seed)
                           .parameters.at("bert.pooler.dense.weight"));
  };
  EXPECT_EQ(weights(3), weights(3));
  EXPECT_NE(weights(3), weights(4));
}

// A head belongs to its task. With equally many outputs it still does not fit another task.
TEST(Model, RefusesDataOfAnotherTaskThanATrainedHead) {
  const TemporaryFolder folder;
  write_small(folder);
  const LabelScheme sets = {Task::multi_label, {"rude", "threat"}};
  expect_user_error(
      "the model predicts 2 classes: LABEL_0, LABEL_1; the data has 2 labels, any "
      "number of them: rude, threat; use data with the model's labels, or "
      "`ignore_mismatched_sizes`",
      [&] { load_model(folder.path(), builtin().ops, builtin().formats, 1, sets); });
  const Model fresh =
      load_model(folder.path(), builtin().ops, builtin().formats, 1, sets, HeadFit::may_be_new);
  EXPECT_EQ(fresh.facts.task(), Task::multi_label);
  ASSERT_EQ(fresh.warnings.size(), 1u);
  EXPECT_NE(fresh.warnings[0].find("(multi_label_classification in place of "
                                   "single_label_classification)"),
            std::string::npos)
      << fresh.warnings[0];
  // The adopted labels and task are saved.
  const TemporaryFolder copy;
  save_model(fresh, copy.path());
  const Model again = load(copy.path());
  EXPECT_EQ(again.facts.scheme(), sets);
  EXPECT_TRUE(again.warnings.empty());
}

}  // namespace
}  // namespace hone
