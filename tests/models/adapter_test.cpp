#include "hone/models/adapter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hone/autodiff/gradients.h"
#include "hone/data/synthetic_words.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/models/transform.h"
#include "hone/passes/remove_dropout.h"
#include "hone/tensor/safetensors.h"
#include "tests/frontends/golden.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::builtin;
using testing::elements_of;
using testing::quiet_context;
using testing::tiny_model;

const fs::path kAdapters = test_data() / "models" / "golden" / "adapters";

Model base_of(const std::string& name) {
  const Json expected = read_json(kAdapters / name / "expected.json");
  return load_model(testing::kGoldenModels / expected["base"].get<std::string>(), builtin().ops,
                    builtin().formats, /*seed=*/1);
}

Model adapted(const std::string& name) {
  Model model = base_of(name);
  apply_adapter(read_adapter(kAdapters / name), model, "base", quiet_context().session());
  return model;
}

// Returns as many batches of the base model as `expected` has logits.
std::vector<NamedTensors> batches_of(const Json& expected) {
  const fs::path base = testing::kGoldenModels / expected["base"].get<std::string>();
  const Json inputs = read_json(base / "expected.json")["inputs"];
  std::vector<NamedTensors> batches;
  for (std::size_t i = 0; i < expected.at("logits_f64").size(); ++i)
    batches.push_back(testing::golden_inputs(inputs[i]));
  return batches;
}

std::vector<float> logits_of(const Model& model, const NamedTensors& batch,
                             const Library& library = builtin()) {
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  return elements_of(testing::run_graph(graph, batch, model.parameters, library).at("logits"));
}

std::int64_t trained(const Model& model) {
  std::int64_t count = 0;
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) count += element_count(resolve(parameter->types()[0].shape, {}));
  return count;
}

void expect_near(const std::vector<float>& got, const Json& expected, double tolerance) {
  const std::vector<double> truth = testing::flat_numbers<double>(expected);
  ASSERT_EQ(got.size(), truth.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(static_cast<double>(got[i]), truth[i],
                tolerance * std::max(1.0, std::fabs(truth[i])))
        << i;
}

/// An adapter written to its own folder.
struct Written {
  TemporaryFolder folder;
  const fs::path& path() const { return folder.path(); }
  Json config() const { return read_json(path() / kAdapterConfig); }
};

void write(const Model& model, const LoraOptions& options, const Written& to) {
  write_adapter({model, synthetic_tokenizer(), {}},
                adapter_origin(model, options, "my-base", quiet_context().session()), to.path());
}

class AdapterGolden : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path folder() const { return kAdapters / GetParam(); }
  Json expected() const { return read_json(folder() / "expected.json"); }
};

// PEFT's float32 results lie within 3e-6 of its float64 results here. The bound also allows for another order of
// summation.
TEST_P(AdapterGolden, ComputesWhatPeftComputes) {
  const Model model = adapted(GetParam());
  EXPECT_EQ(model.warnings, std::vector<std::string>());
  EXPECT_EQ(trained(model), expected()["trainable"].get<std::int64_t>());
  const std::vector<NamedTensors> batches = batches_of(expected());
  for (const auto& [name, library] : testing::libraries())
    for (std::size_t i = 0; i < batches.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}, batch {}", name, i));
      expect_near(logits_of(model, batches[i], *library), expected()["logits_f64"][i], 1e-5);
    }
}

// Rounding matters more with the large random weights of the golden files. With trained weights the difference is 1e-6
// (tests/cli).
TEST_P(AdapterGolden, IsTheSameMerged) {
  Model model = adapted(GetParam());
  const NamedTensors batch = batches_of(expected())[1];
  const std::vector<float> before = logits_of(model, batch);
  transform(model, "fuse_lora", quiet_context().session());
  EXPECT_TRUE(adapters(model.graph).empty());
  EXPECT_EQ(to_string(model.graph), to_string(base_of(GetParam()).graph));
  const std::vector<float> after = logits_of(model, batch);
  expect_near(after, expected()["merged_f64"], 1e-5);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 5e-6);
}

// Relative to the norm of all gradients together, as in tests/frontends/architecture_test.cpp.
TEST_P(AdapterGolden, HasTheGradientsThatPeftTrainsBy) {
  const Model model = adapted(GetParam());
  const TensorMap golden = read_safetensors(folder() / "gradients.safetensors").tensors;
  Graph graph = model.graph;
  remove_dropout(graph);
  std::vector<Value> parameters;
  std::set<std::string> names = {"loss"};
  for (Node* node : graph.of_kind(NodeKind::parameter))
    if (node->trainable()) parameters.push_back({node, 0});
  const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), parameters);
  double squares = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].node->name();
    names.insert(name);
    ASSERT_TRUE(gradients[i]) << name;
    graph.set_output(name, gradients[i]);
    ASSERT_TRUE(golden.contains(name)) << name;
    for (const double value : elements_of<double>(golden.at(name))) squares += value * value;
  }
  EXPECT_EQ(names.size(), golden.size());
  verify(graph);
  const NamedTensors outputs =
      testing::run_graph(graph, batches_of(expected())[1], model.parameters, builtin());
  for (const auto& [name, tensor] : golden) {
    const std::vector<double> truth = elements_of<double>(tensor);
    const std::vector<float> got = elements_of(outputs.at(name));
    ASSERT_EQ(got.size(), truth.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(static_cast<double>(got[i]), truth[i],
                  1e-6 * std::max(std::sqrt(squares), 10.0 * std::fabs(truth[i])))
          << name;
  }
}

// Writing an adapter that PEFT wrote reproduces every tensor exactly.
TEST_P(AdapterGolden, IsWrittenAsPeftWritesIt) {
  const AdapterFolder adapter = read_adapter(folder());
  const Written written;
  write(adapted(GetParam()), adapter.options, written);
  const TensorMap ours = read_safetensors(written.path() / kAdapterWeights).tensors,
                  theirs = read_safetensors(folder() / kAdapterWeights).tensors;
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, tensor] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(elements_of(ours.at(name)), elements_of(tensor)) << name;
  }
  const Json config = written.config(), peft = read_json(folder() / kAdapterConfig);
  if (!peft["task_type"].is_null()) {
    EXPECT_EQ(config["task_type"], peft["task_type"]);
  }
  for (const char* key :
       {"peft_type", "r", "lora_alpha", "lora_dropout", "use_rslora", "bias", "inference_mode"})
    EXPECT_EQ(config[key], peft[key]) << key;
  const AdapterFolder again = read_adapter(written.path());
  EXPECT_EQ(again.options.target, adapter.options.target);
  EXPECT_EQ(again.options.modules_to_save, adapter.options.modules_to_save);
}

INSTANTIATE_TEST_SUITE_P(Peft, AdapterGolden,
                         ::testing::Values("defaults", "rank_stabilized", "without_head", "roberta",
                                           "distilbert"),
                         [](const auto& info) { return info.param; });

// PEFT matches short names against linears in every layer, and also in a head that it saves whole.
TEST(Adapter, NamesItsLinearsShortlyWherePeftTakesThemForNoOthers) {
  const auto targets = [](const std::string& name) {
    const Written written;
    write(adapted(name), read_adapter(kAdapters / name).options, written);
    return written.config()["target_modules"].get<std::vector<std::string>>();
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(targets("defaults"), (Names{"query", "value"}));
  EXPECT_EQ(targets("roberta"), (Names{"query", "key"}));
  EXPECT_EQ(targets("distilbert"), (Names{"distilbert.transformer.layer.1.attention.q_lin",
                                          "distilbert.transformer.layer.1.ffn.lin1"}));
  Model model = base_of("roberta");
  const LoraOptions options = adapter_options("target=dense", 1, model, builtin());
  transform(model, insert_lora_text(options), quiet_context().session());
  const Written written;
  write(model, options, written);
  EXPECT_EQ(written.config()["target_modules"].size(), 6u);  // not that of classifier.dense
}

// The task type determines the parts of the head that PEFT saves.
TEST(Adapter, KeepsItsHeadWholeOrNotAtAll) {
  const auto config = [](const std::string& name) {
    const Written written;
    write(adapted(name), read_adapter(kAdapters / name).options, written);
    return written.config();
  };
  EXPECT_EQ(config("roberta")["modules_to_save"], (Json{"classifier"}));
  EXPECT_EQ(config("distilbert")["modules_to_save"], (Json{"classifier", "pre_classifier"}));
  EXPECT_TRUE(config("without_head")["modules_to_save"].is_null());
  EXPECT_TRUE(config("without_head")["task_type"].is_null());
}

/// A modifiable copy of one of PEFT's folders.
struct Changed {
  TemporaryFolder folder;
  const fs::path& path() const { return folder.path(); }
  explicit Changed(const std::string& name) {
    for (const char* file : {kAdapterConfig, kAdapterWeights})
      fs::copy(kAdapters / name / file, folder.path() / file);
  }
  std::string refusal() const {
    return user_error_of([&] {
      Model model = base_of("defaults");
      apply_adapter(read_adapter(folder.path()), model, "base", quiet_context().session());
    });
  }
  void set(const char* key, const Json& value) const {
    Json config = read_json(folder.path() / kAdapterConfig);
    config[key] = value;
    folder.file(kAdapterConfig, to_document(config));
  }
  void set_tensors(const std::function<void(TensorMap&)>& change) const {
    TensorMap tensors = read_safetensors(folder.path() / kAdapterWeights).tensors;
    for (auto& [name, tensor] : tensors) tensor = tensor.contiguous_copy();
    change(tensors);
    fs::remove(folder.path() / kAdapterWeights);
    write_safetensors(folder.path() / kAdapterWeights, tensors);
  }
};

// hone reads these features but does not write them in this form: ranks of single linears, biases, and adapters of
// encoders in adapter_model.bin.
TEST(Adapter, ComputesWhatPeftComputesOfFoldersThatItDoesNotWrite) {
  for (const char* name : {"patterns", "biases", "encoder"}) {
    SCOPED_TRACE(name);
    const Json expected = read_json(kAdapters / name / "expected.json");
    Model model = adapted(name);
    EXPECT_EQ(model.warnings, std::vector<std::string>());
    const std::vector<NamedTensors> inputs = batches_of(expected);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      expect_near(logits_of(model, inputs[i]), expected["logits_f64"][i], 1e-5);
    transform(model, "fuse_lora", quiet_context().session());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      expect_near(logits_of(model, inputs[i]), expected["logits_f64"][i], 1e-5);
  }
}

TEST(Adapter, IsReadWhateverItsModelWasWrappedIn) {
  const Changed changed("defaults");
  changed.set_tensors([](TensorMap& tensors) {
    TensorMap wrapped;
    for (const auto& [name, tensor] : tensors) wrapped.emplace("module." + name, tensor);
    tensors = wrapped;
  });
  changed.set("fan_in_fan_out", true);  // PEFT treats it as false for linears
  Model model = base_of("defaults");
  apply_adapter(read_adapter(changed.path()), model, "base", quiet_context().session());
  const NamedTensors batch = batches_of(read_json(kAdapters / "defaults" / "expected.json"))[1];
  EXPECT_EQ(logits_of(model, batch), logits_of(adapted("defaults"), batch));
}

// As PEFT's get_pattern_key.
TEST(Adapter, TakesTheFirstPatternThatFits) {
  const auto alpha = [](const Json& pattern) {
    const Changed changed("defaults");
    changed.set("alpha_pattern", pattern);
    return read_adapter(changed.folder.path())
        .numbers.at("bert.encoder.layer.0.attention.self.query")
        .alpha;
  };
  EXPECT_EQ(alpha({{"query", 2}, {"self.query", 3}}), 2);
  EXPECT_EQ(alpha({{"self.query", 3}, {"query", 2}}), 3);
}

TEST(Adapter, OfAlphaZeroWarns) {
  const Changed changed("defaults");
  changed.set("lora_alpha", 0);
  Model model = base_of("defaults");
  apply_adapter(read_adapter(changed.path()), model, "base", quiet_context().session());
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_NE(model.warnings[0].find("alpha is 0"), std::string::npos) << model.warnings[0];
}

TEST(Adapter, RefusesByItsNameWhatIsNotComputed) {
  const std::pair<const char*, Json> fields[] = {{"use_dora", true},
                                                 {"use_qalora", true},
                                                 {"lora_bias", true},
                                                 {"init_lora_weights", "pissa"},
                                                 {"layer_replication", {{0, 2}}},
                                                 {"target_parameters", {"weight"}},
                                                 {"trainable_token_indices", {1}},
                                                 {"alora_invocation_tokens", {1}},
                                                 {"what_comes_next", 1}};
  for (const auto& [key, value] : fields) {
    const Changed changed("defaults");
    changed.set(key, value);
    EXPECT_EQ(changed.refusal(),
              fmt::format("{}: {} is {}, which is not supported; hone computes LoRA and rsLoRA of "
                          "linear layers",
                          (changed.folder.path() / kAdapterConfig).string(), key, to_line(value)));
  }
}

// Their configs have keys unknown to LoRA, which come first in the file.
TEST(Adapter, OfAnotherKindIsRefusedByItsKind) {
  const std::pair<const char*, const char*> kinds[] = {
      {"PREFIX_TUNING", "encoder_hidden_size"}, {"LOHA", "alpha"}, {"IA3", "feedforward_modules"}};
  for (const auto& [kind, key] : kinds) {
    const Changed changed("defaults");
    changed.set("peft_type", kind);
    changed.set(key, 8);
    const std::string start = fmt::format("{}: peft_type is \"{}\", which is not supported",
                                          (changed.folder.path() / kAdapterConfig).string(), kind);
    EXPECT_TRUE(changed.refusal().starts_with(start)) << changed.refusal();
  }
}

TEST(Adapter, SaysWhatIsWrongInItsFolder) {
  const std::string layer = "base_model.model.bert.encoder.layer.0.attention.self.query";
  const auto expect = [](const Changed& changed, const char* file, const std::string& problem) {
    EXPECT_EQ(changed.refusal(),
              (file[0] == '\0' ? changed.folder.path() : changed.folder.path() / file).string() +
                  ": " + problem);
  };
  const auto with = [&](const char* key, const Json& value, const std::string& problem) {
    const Changed changed("defaults");
    changed.set(key, value);
    expect(changed, kAdapterConfig, problem);
  };
  with("r", 2.5, "r must be a whole number, got 2.5");
  with("lora_alpha", "8", "lora_alpha must be a number, got \"8\"");
  with("use_rslora", 1, "use_rslora must be true or false, got 1");
  with("bias", "some", "bias: expected none, all or lora_only, got \"some\"");
  with("rank_pattern", {{"query", "2"}},
       "rank_pattern: expected a whole number for "
       "bert.encoder.layer.0.attention.self.query, got \"2\"");
  with(
      "rank_pattern", {{R"(.*\.query)", 2}},
      R"(rank_pattern: '.*\.query' is a regular expression, which is not supported; give the last )"
      "names of linear layers");
  with("target_modules", {"qeury", "value"},
       "target_modules lists qeury, value, but adapter_model.safetensors contains the "
       "adapter of bert.encoder.layer.0.attention.self.query; did you mean 'query'?");
  const auto without = [&](const char* file, const std::string& problem,
                           const std::function<void(TensorMap&)>& change) {
    const Changed changed("defaults");
    changed.set_tensors(change);
    expect(changed, file, problem);
  };
  without(kAdapterWeights, layer + ".lora_B.weight is missing",
          [&](TensorMap& t) { t.erase(layer + ".lora_B.weight"); });
  without(kAdapterWeights, "it contains no adapters", [](TensorMap& t) {
    std::erase_if(t, [](const auto& one) { return one.first.find("lora_") != std::string::npos; });
  });
  without(kAdapterWeights,
          layer + ".lora_A.weight must have 2 rows (r of adapter_config.json), got [1, 24]",
          [&](TensorMap& t) {
            t[layer + ".lora_A.weight"] = Tensor::zeros(DType::f32, {1, 24});
          });
  without(kAdapterWeights,
          "bert.encoder.layer.0.attention.self.query.lora_B.weight must be [24, 2] for this model, "
          "got [20, 2]",
          [&](TensorMap& t) {
            t[layer + ".lora_B.weight"] = Tensor::zeros(DType::f32, {20, 2});
          });
  without(kAdapterWeights,
          "bert.encoder.layer.0.attention.self.query.lora_A.weight has values that are "
          "NaN or infinite",
          [&](TensorMap& t) { t[layer + ".lora_A.weight"].values<float>()[3] = NAN; });
  without(kAdapterWeights, layer + ".lora_A.weight must be of floating point, got i64",
          [&](TensorMap& t) {
            t[layer + ".lora_A.weight"] = Tensor::zeros(DType::i64, {2, 24});
          });
  const std::string table = "base_model.model.bert.embeddings.word_embeddings.lora_embedding_A";
  without(kAdapterWeights, table + " belongs to a kind of adapter that hone does not support",
          [&](TensorMap& t) {
            t[table] = Tensor::zeros(DType::f32, {2, 80});
          });
  without(kAdapterWeights, "expected names that begin with base_model.model., got weight",
          [&](TensorMap& t) { t["weight"] = Tensor::zeros(DType::f32, {2}); });
  without(kAdapterWeights,
          "in the pass insert_lora: no linear layer matches "
          "'bert.encoder.layer.7.attention.self.query' of target; the model's linear layers end "
          "in classifier, dense, key, query, value; `hone plan` lists them",
          [&](TensorMap& t) {
            t["base_model.model.bert.encoder.layer.7.attention.self.query.lora_A.weight"] =
                Tensor::zeros(DType::f32, {2, 24});
          });
  const Changed bare("defaults");
  fs::remove(bare.path() / kAdapterWeights);
  expect(bare, "", "no adapter weights; expected adapter_model.safetensors, adapter_model.bin");
  const TemporaryFolder empty;
  EXPECT_EQ(user_error_of([&] { read_adapter(empty.path()); }),
            empty.path().string() +
                ": no adapter; expected a folder with adapter_config.json and "
                "adapter_model.safetensors, as `hone train --lora` and PEFT write it");
  const Changed changed("defaults");
  changed.folder.file(kAdapterBase, "{}");
  expect(changed, kAdapterBase,
         "expected the strings `fingerprint` and `problem_type`, and the list `labels`");
}

TEST(Adapter, TakesHalfPrecisionAndOtherWaysToBegin) {
  const Changed changed("defaults");
  changed.set("init_lora_weights", "gaussian");
  changed.set_tensors([](TensorMap& tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.cast(DType::bf16);
  });
  Model model = base_of("defaults");
  apply_adapter(read_adapter(changed.folder.path()), model, "base", quiet_context().session());
  // The random weights have 8 bits, which bfloat16 represents exactly.
  const NamedTensors batch = batches_of(read_json(kAdapters / "defaults" / "expected.json"))[1];
  EXPECT_EQ(logits_of(model, batch), logits_of(adapted("defaults"), batch));
}

TEST(Adapter, KnowsItsBaseByItsWeights) {
  const Session session = quiet_context().session();
  Model model = tiny_model();
  const LoraOptions options = adapter_options("r=2", 1, model, builtin());
  transform(model, insert_lora_text(options), session);
  const Written written;
  write(model, options, written);
  const AdapterFolder adapter = read_adapter(written.path());
  EXPECT_EQ(adapter.labels.names, model.facts.labels);
  const auto warnings = [&](const std::string& changed) {
    Model base = tiny_model();
    if (!changed.empty()) base.parameters.writable(changed).values<float>()[0] += 1;
    apply_adapter(adapter, base, "my-base", session);
    return base.warnings;
  };
  EXPECT_EQ(warnings(""), std::vector<std::string>());
  EXPECT_EQ(warnings("classifier.weight"), std::vector<std::string>());  // the adapter has its own
  EXPECT_EQ(warnings("bert.pooler.dense.weight"),
            std::vector<std::string>{
                written.path().string() +
                " was trained with other weights than those of my-base: their combination was "
                "never trained"});
  Model rounded = tiny_model();
  testing::put_quantizers(rounded, "int(bits=4)");
  apply_adapter(adapter, rounded, "my-base", session);
  EXPECT_EQ(rounded.warnings.size(), 0u);  // the same weights, rounded when they are read
}

TEST(Adapter, TrainsAsManyParametersAsTheFactorsHave) {
  const auto count = [](const char* text) {
    Model model = new_model(new_model_facts("tiny"), builtin().ops, /*seed=*/1);
    transform(model, insert_lora_text(adapter_options(text, 1, model, builtin())),
              quiet_context().session());
    return trained(model);
  };
  EXPECT_EQ(count("r=6,modules_to_save=\"\""), 29964);   // on all 14 linears
  EXPECT_EQ(count("r=6"), 29964 - 6 * (128 + 2) + 258);  // the classifier itself
  EXPECT_EQ(count("r=6,target=\"query,value\""), 4 * 6 * (128 + 128) + 258);
}

TEST(Adapter, DrawsItsSecondFactorBySeed) {
  const Model model = tiny_model();
  const auto seed = [&](const char* text) {
    return adapter_options(text, 7, model, builtin()).seed;
  };
  EXPECT_EQ(seed("r=2"), 7u);
  EXPECT_EQ(seed("r=2,seed=42"), 42u);
}

// Otherwise such weights would differ on every load.
TEST(Adapter, LeavesNothingOutThatWasDrawnAtRandom) {
  Model model =
      load_model(testing::kGoldenModels / "base_model", builtin().ops, builtin().formats, 1);
  ASSERT_TRUE(model.has_untrained_head());
  EXPECT_EQ(adapter_options("r=2", 1, model, builtin()).modules_to_save,
            std::vector<std::string>{"classifier"});
  EXPECT_EQ(user_error_of([&] { adapter_options("modules_to_save=\"\"", 1, model, builtin()); }),
            "classifier.weight is not in the model's files: it is initialized at random "
            "and would not be saved with the adapter; add its module to modules_to_save");
}

}  // namespace
}  // namespace hone
