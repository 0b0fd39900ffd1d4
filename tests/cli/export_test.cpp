#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "hone/base/process.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/onnx/onnx_runtime.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

std::vector<std::string> names_in(const Json& rows, const char* key) {
  std::vector<std::string> names;
  for (const Json& row : rows) names.push_back(row[key]);
  return names;
}

TEST(Export, WritesAFolderWithConfigAndTokenizer) {
  const TemporaryFolder folder;
  const Json result =
      run_json({"export", workshop() / "model", "--to", "onnx", "-o", "exported"}, folder.path());
  EXPECT_EQ(result["opset"], 21);
  EXPECT_EQ(result["ir_version"], 10);
  EXPECT_EQ(names_in(result["inputs"], "name"),
            (std::vector<std::string>{"input_ids", "attention_mask", "token_type_ids"}));
  EXPECT_EQ(names_in(result["outputs"], "name"), std::vector<std::string>{"logits"});
  EXPECT_EQ(result["inputs"][0]["shape"], "[B, S]");
  EXPECT_EQ(result["weights"][0]["type"], "fp32");
  EXPECT_TRUE(result["notes"].empty());
  for (const char* key : {"adapter", "check", "check_reason", "layers"})
    EXPECT_EQ(result.at(key), nullptr) << key;
  const std::vector<std::string> written = entries(folder.path() / "exported");
  for (const char* name : {"model.onnx", "config.json", "vocab.txt", "record.json"})
    EXPECT_NE(std::ranges::find(written, name), written.end()) << name;
  EXPECT_EQ(fs::file_size(folder.path() / "exported/model.onnx"), result["bytes"]);
  // Existing folders are replaced only with --overwrite.
  const std::vector<std::string> again = {"export", workshop() / "model", "-o", "exported"};
  EXPECT_EQ(run_hone(again, folder.path()).code, 1);
}

// The exported copy gets a card of its own, because hone cannot load it.
TEST(Export, TheCardSaysWhoLoadsTheFolder) {
  const TemporaryFolder folder;
  run_well({"quantize", workshop() / "model", "--weight_format", "int(bits=8,per=row)", "--data",
            workshop() / "reviews.csv", "-o", "rounded"},
           folder.path());
  run_well({"pack", "rounded", "-o", "packed"}, folder.path());
  const auto has = [&](const std::string& name, const std::string& text) {
    return read_file(folder.path() / name / "README.md").find(text) != std::string::npos;
  };
  const auto expect_true_card = [&](const std::string& name, const std::string& library) {
    EXPECT_TRUE(has(name, fmt::format("library_name: {}\n", library))) << name;
    EXPECT_TRUE(has(name, fmt::format("\n# {}\n", name))) << name;
    EXPECT_TRUE(has(name, fmt::format("\n- name: \"{}\"\n", name))) << name;
    EXPECT_TRUE(has(name, "- quantized\n")) << name;
    EXPECT_FALSE(has(name, "Only hone loads it")) << name;
    EXPECT_FALSE(has(name, "weights are packed")) << name;
  };
  run_well({"export", "packed", "--to", "onnx", "-o", "graph"}, folder.path());
  expect_true_card("graph", "onnx");
  EXPECT_TRUE(has("graph", "The weights are in model.onnx: "));
  EXPECT_TRUE(has("graph", "ONNX Runtime"));
  run_well({"export", "packed", "--to", "compressed-tensors", "-o", "coded"}, folder.path());
  expect_true_card("coded", "transformers");
  EXPECT_TRUE(has("coded", "The weights are in model.safetensors: "));
  // An embedding model has no classes and gets no card.
  run_well({"export", "packed", "--embed", "-o", "embeds"}, folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "embeds/README.md"));
}

TEST(Export, WritesAFile) {
  const TemporaryFolder folder;
  const std::vector<std::string> line = {"export", workshop() / "model", "-o", "model.onnx"};
  const Ending ending = run_well(line, folder.path());
  EXPECT_NE(ending.output.find("Outputs: logits [B, 2]"), std::string::npos) << ending.output;
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"model.onnx"});
  EXPECT_EQ(run_hone(line, folder.path()).code, 1);
  std::vector<std::string> over = line;
  over.push_back("--overwrite");
  run_well(over, folder.path());
}

TEST(Export, TheNextCommandRunsThePythonThatIsNamed) {
  const TemporaryFolder folder;
  const char* const before = std::getenv("HONE_PYTHON");
  const std::string named = before == nullptr ? "" : before;
  ::setenv("HONE_PYTHON", "/opt/a b/python", 1);
  const auto next = [&](const char* output) -> std::string {
    return run_json({"export", workshop() / "model", "-o", output}, folder.path())["next"];
  };
  for (const char* output : {"model.onnx", "folder"})
    EXPECT_TRUE(next(output).starts_with("'/opt/a b/python' -c ")) << output;
  if (before == nullptr)
    ::unsetenv("HONE_PYTHON");
  else
    ::setenv("HONE_PYTHON", named.c_str(), 1);
}

TEST(Export, StoresQuantizedWeightsInFewBitsAndSaysWhatItCannot) {
  const TemporaryFolder folder;
  const auto weights = [&](const char* format, const char* output) {
    run_well(
        {"pack", workshop() / "model", "--weight_format", format, "-o", "packed", "--overwrite"},
        folder.path());
    return run_json({"export", "packed", "-o", output}, folder.path());
  };
  const auto holds = [](const Json& result, const char* type) {
    const std::vector<std::string> types = names_in(result["weights"], "type");
    return std::ranges::find(types, type) != types.end();
  };
  EXPECT_TRUE(holds(weights("mxint(bits=8)", "blocks"), "int8"));
  EXPECT_TRUE(holds(weights("int(bits=4,group=32)", "groups"), "int4"));
  EXPECT_TRUE(holds(weights("int(bits=4,group=32,asymmetric=true)", "zeros"), "uint4"));
  EXPECT_TRUE(holds(weights("mxfp(element=e2m1)", "halves"), "int8"));
  EXPECT_TRUE(holds(weights("mxfp(element=e4m3)", "fp8"), "fp8"));
  EXPECT_TRUE(holds(weights("minifloat_ieee(width=8,exponent_width=4)", "rows"), "fp8"));
  const Json values = weights("nf4", "values");
  EXPECT_FALSE(holds(values, "int8"));
  EXPECT_NE(values["notes"].dump().find("nf4"), std::string::npos) << values["notes"];
}

TEST(Export, NarrowsWeightsAndTakesAnOpset) {
  const TemporaryFolder folder;
  const fs::path model = workshop() / "model";
  const Json wide = run_json({"export", model, "-o", "wide.onnx"}, folder.path()),
             narrow = run_json(
                 {"export", model, "--dtype", "fp16", "--opset", "18", "-o", "narrow.onnx"},
                 folder.path());
  EXPECT_EQ(narrow["weights"][0]["type"], "fp16");
  EXPECT_EQ(narrow["opset"], 18);
  EXPECT_LT(narrow["bytes"].get<double>(), 0.6 * wide["bytes"].get<double>());
  EXPECT_EQ(run_hone({"export", model, "--opset", "17", "-o", "old"}, folder.path()).code, 2);
  EXPECT_EQ(run_hone({"export", model, "--to", "tflite", "-o", "other"}, folder.path()).code, 2);
}

TEST(Export, GivesEmbeddingsOfSentenceModelsAndOfOthersThatAreAskedFor) {
  const TemporaryFolder folder;
  const std::vector<std::string> outputs = {"last_hidden_state", "sentence_embedding"};
  const Json sentence = run_json(
      {"export", test_data() / "models/golden/embeddings/mean", "-o", "sentence"}, folder.path());
  EXPECT_EQ(names_in(sentence["outputs"], "name"), outputs);
  EXPECT_TRUE(fs::exists(folder.path() / "sentence/modules.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "sentence/1_Pooling/config.json"));
  const Json asked =
      run_json({"export", workshop() / "model", "--embed", "-o", "asked"}, folder.path());
  EXPECT_EQ(names_in(asked["outputs"], "name"), outputs);
}

// A tensor of a file, read without hone's reader, whose types have no fp8.
struct StoredTensor {
  std::string type;
  Sizes sizes;
  std::string bytes;

  template <typename T>
  T at(std::int64_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof value,
                sizeof value);
    return value;
  }
};

std::map<std::string, StoredTensor> stored_tensors(const fs::path& path) {
  const std::string file = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  std::map<std::string, StoredTensor> tensors;
  const Json header = parse_json(file.substr(8, length), path.string());
  for (const auto& [name, row] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = row["data_offsets"][0], end = row["data_offsets"][1];
    tensors[name] = {row["dtype"], row["shape"].get<Sizes>(),
                     file.substr(8 + length + begin, end - begin)};
  }
  return tensors;
}

// Returns the value of a code of a small float format without infinities.
double small_float(int code, int exponent_bits, int mantissa_bits) {
  const int magnitude = code & ((1 << (exponent_bits + mantissa_bits)) - 1);
  const int exponent = magnitude >> mantissa_bits, fraction = magnitude % (1 << mantissa_bits);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double value =
      exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                    : std::ldexp(fraction + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return code == magnitude ? value : -value;
}

// Returns the values of a layer's weight, as the Python package unpacks it.
std::vector<float> unpacked(const std::map<std::string, StoredTensor>& tensors,
                            const std::string& layer, const Json& group) {
  const auto part = [&](const char* name) { return tensors.at(layer + "." + name); };
  const std::string format = group["format"];
  const int bits = group["weights"]["num_bits"];
  const StoredTensor scale = part("weight_scale");
  const bool packed = tensors.contains(layer + ".weight_packed");
  const StoredTensor codes = part(packed ? "weight_packed" : "weight");
  const std::int64_t rows = codes.sizes[0], columns = format == "pack-quantized"
                                                          ? part("weight_shape").at<std::int64_t>(1)
                                                      : packed ? 2 * codes.sizes[1]
                                                               : codes.sizes[1];
  const std::int64_t stride = std::ssize(codes.bytes) / rows, groups = scale.sizes[1];
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t bit = packed ? column * bits : column * 8;
      const int byte = codes.at<std::uint8_t>(row * stride + bit / 8);
      const int code = packed && bits == 4 ? byte >> bit % 8 & 15 : byte;
      const double value = format == "pack-quantized"  ? code - (1 << (bits - 1))
                           : format == "int-quantized" ? static_cast<std::int8_t>(code)
                           : bits == 4                 ? small_float(code, 2, 1)
                                                       : small_float(code, 4, 3);
      const std::int64_t at = row * groups + column / (columns / groups);
      const double by = scale.type == "U8" ? std::ldexp(1, scale.at<std::uint8_t>(at) - 127)
                                           : static_cast<double>(scale.at<float>(at));
      values.push_back(static_cast<float>(value * by));
    }
  return values;
}

struct CodedCase {
  const char* weight;
  const char* input;  // "none": not rounded
  const char* format;
  const char* weights;
};
constexpr CodedCase kCodedCases[] = {
    {"int(bits=8,per=row,scale=dynamic)", "int(bits=8,per=token)", "int-quantized",
     "int8 per channel"},
    {"int(bits=8,scale=dynamic)", "int(bits=8,scale=dynamic)", "int-quantized", "int8 per channel"},
    {"int(bits=8,per=row,scale=dynamic)", "none", "pack-quantized", "int8 per channel"},
    {"int(bits=4,per=row,scale=dynamic)", "none", "pack-quantized", "int4 per channel"},
    {"int(bits=4,group=32)", "none", "pack-quantized", "int4 in groups of 32"},
    {"mxint(bits=8)", "none", "pack-quantized", "int8 in groups of 32"},
    {"ternary", "none", "pack-quantized", "int4 per channel"},
    {"minifloat_ieee(width=8,exponent_width=4)", "none", "float-quantized", "fp8 per channel"},
    {"mxfp(element=e4m3,block=16)", "none", "float-quantized", "fp8 in groups of 16"},
    {"mxfp(element=e4m3)", "none", "mxfp8-quantized", "fp8 in groups of 32"},
    {"mxfp(element=e2m1)", "none", "mxfp4-pack-quantized", "fp4 in groups of 32"},
};

TEST(Export, CompressedTensorsHaveTheSameWeights) {
  const TemporaryFolder folder;
  for (const CodedCase& one : kCodedCases) {
    SCOPED_TRACE(one.weight);
    run_well({"pack", workshop() / "model", "--weight_format", one.weight, "--input_format",
              one.input, "-o", "packed", "--overwrite"},
             folder.path());
    run_well({"unpack", "packed", "-o", "unpacked", "--overwrite"}, folder.path());
    const Json result = run_json(
        {"export", "packed", "--to", "compressed-tensors", "-o", "exported", "--overwrite"},
        folder.path());
    ASSERT_EQ(result["layers"].size(), 1U);
    EXPECT_EQ(result["layers"][0]["format"], one.format);
    EXPECT_EQ(result["layers"][0]["weights"], one.weights);
    EXPECT_EQ(result["layers"][0]["count"], 12);
    EXPECT_EQ(result["layers"][0]["inputs"].is_null(), one.input == std::string("none"));
    const Json config = read_json(folder.path() / "exported/config.json");
    const Json& group = config["quantization_config"]["config_groups"]["group_0"];
    EXPECT_EQ(config["quantization_config"]["format"], one.format);
    const auto stored = stored_tensors(folder.path() / "exported/model.safetensors");
    int layers = 0;
    const Checkpoint expected = load_checkpoint(folder.path() / "unpacked");
    for (const auto& [name, tensor] : expected.tensors) {
      const std::string layer = name.substr(0, name.rfind('.'));
      if (stored.contains(layer + ".weight_scale") && name.ends_with(".weight")) {
        ++layers;
        const std::span<const float> values = tensor.values<float>();
        EXPECT_TRUE(std::ranges::equal(unpacked(stored, layer, group), values)) << name;
      } else if (stored.contains(name)) {
        EXPECT_EQ(stored.at(name).type, "F32") << name;
        EXPECT_EQ(stored.at(name).sizes, tensor.sizes()) << name;
      }
    }
    EXPECT_EQ(layers, 12);
  }
}

TEST(Export, CompressedTensorsComeWithConfigAndTokenizer) {
  const TemporaryFolder folder;
  run_well({"pack", workshop() / "model", "--weight_format", "mxfp(element=e2m1)", "-o", "packed"},
           folder.path());
  run_well({"export", "packed", "--to", "compressed-tensors", "-o", "exported"}, folder.path());
  const std::vector<std::string> written = entries(folder.path() / "exported");
  for (const char* name : {"model.safetensors", "config.json", "vocab.txt", "record.json"})
    EXPECT_NE(std::ranges::find(written, name), written.end()) << name;
  const Json config = read_json(folder.path() / "exported/config.json");
  EXPECT_EQ(config["dtype"], "bfloat16");
  EXPECT_EQ(config["id2label"]["1"], "good");
}

TEST(Export, CompressedTensorsOfSentenceModelsAreTheEncoderAlone) {
  const TemporaryFolder folder;
  run_well({"pack", test_data() / "models/golden/embeddings/mean", "--weight_format",
            "int(bits=4,per=row,scale=dynamic)", "-o", "packed"},
           folder.path());
  run_well({"export", "packed", "--to", "compressed-tensors", "-o", "exported"}, folder.path());
  EXPECT_EQ(read_json(folder.path() / "exported/config.json")["architectures"],
            Json({"BertModel"}));
  EXPECT_TRUE(fs::exists(folder.path() / "exported/1_Pooling/config.json"));
  for (const auto& [name, tensor] : stored_tensors(folder.path() / "exported/model.safetensors"))
    EXPECT_EQ(name.find("classifier"), std::string::npos) << name;
}

TEST(Export, CompressedTensorsWantAQuantizedModelAndNoOptionsOfOnnx) {
  const TemporaryFolder folder;
  const auto ending = [&](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> line = {"export", model, "--to", "compressed-tensors", "-o", "out"};
    line.insert(line.end(), more.begin(), more.end());
    return run_hone(line, folder.path());
  };
  const std::string model = workshop() / "model";
  const Ending plain = ending(model, {});
  EXPECT_EQ(plain.code, kUserError);
  EXPECT_NE(plain.messages.find("hone quantize"), std::string::npos) << plain.messages;
  run_well({"pack", model, "--weight_format", "nf4", "-o", "packed"}, folder.path());
  EXPECT_EQ(ending("packed", {}).code, kUserError);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--opset", "21"}, {"--dtype", "fp16"}, {"--check", "reviews.csv"}})
    EXPECT_EQ(ending(model, more).code, kUsageError) << more[0];
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"packed"});
}

// Quantizing such a model would not make it exportable.
TEST(Export, CompressedTensorsRefuseAStructureBeforeMissingFormats) {
  const TemporaryFolder folder;
  run_well({"prune", workshop() / "model", "--structure", "heads", "--data",
            workshop() / "reviews.csv", "-o", "narrow"},
           folder.path());
  const Ending ending =
      run_hone({"export", "narrow", "--to", "compressed-tensors", "-o", "out"}, folder.path());
  EXPECT_EQ(ending.code, kUserError);
  EXPECT_NE(ending.messages.find("layer 0 has 1 head of "), std::string::npos) << ending.messages;
  EXPECT_EQ(ending.messages.find("not quantized"), std::string::npos) << ending.messages;
}

constexpr const char* kInTransformers = R"(import json, sys
import torch
from transformers import AutoModelForSequenceClassification, CompressedTensorsConfig

folder, texts, answers = sys.argv[1:4]
more = {}
if json.load(open(folder + "/config.json"))["dtype"] == "bfloat16":
    more = {"quantization_config": CompressedTensorsConfig(dequantize=True), "dtype": torch.float32}
model = AutoModelForSequenceClassification.from_pretrained(folder, **more).eval()
with torch.no_grad():
    logits = [model(input_ids=torch.tensor([ids])).logits[0].tolist() for ids in json.load(open(texts))]
json.dump(logits, open(answers, "w"))
)";

std::optional<std::string> python_with_compressed_tensors() {
  std::string python = python_program();
  try {
    run_program({python, "-c", "import torch, transformers, compressed_tensors"},
                fs::temp_directory_path(), "python3");
  } catch (const UserError&) {
    return std::nullopt;
  }
  return python;
}

TEST(Export, LongCompressedTensorsGiveTheSameLogitsInTransformers) {
  const auto python = python_with_compressed_tensors();
  if (!python)
    GTEST_SKIP() << "neither $HONE_PYTHON nor python3 imports torch, transformers and "
                    "compressed_tensors";
  const TemporaryFolder folder;
  const std::string model = trained_longer(folder);
  for (const CodedCase& one : kCodedCases) {
    SCOPED_TRACE(one.weight);
    // Exported folders do not round the inputs of the classifier.
    folder.file("recipe.toml", fmt::format("[[rule]]\nname = \"*.encoder.*\"\nweight = \"{}\"\n"
                                           "input = \"{}\"\n",
                                           one.weight, one.input));
    run_well({"pack", model, "--recipe", "recipe.toml", "-o", "packed", "--overwrite"},
             folder.path());
    run_well({"export", "packed", "--to", "compressed-tensors", "-o", "exported", "--overwrite"},
             folder.path());
    const std::vector<Json> rows =
        json_lines(run_well({"predict", "packed", "--data", workshop() / "reviews.csv", "--split",
                             "all", "--json", "--quiet"},
                            folder.path())
                       .output);
    Json texts = Json::array();
    for (const Json& row : rows) texts.push_back(row["input_ids"]);
    folder.file("texts.json", to_line(texts));
    run_program({*python, "-c", kInTransformers, "exported", "texts.json", "answers.json"},
                folder.path(), "python3");
    const Json answers = read_json(folder.path() / "answers.json");
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t k = 0; k < rows[i]["logits"].size(); ++k) {
        const double logit = rows[i]["logits"][k], other = answers[i][k];
        largest = std::max(largest, std::fabs(logit));
        apart = std::max(apart, std::fabs(logit - other));
      }
    EXPECT_GT(largest, 0);
    // The package divides the largest magnitude of inputs by 127.5, so it rounds them to slightly different values.
    const bool same_inputs = one.input == std::string("none");
    EXPECT_LE(apart, (same_inputs ? 1e-3 : 0.05) * largest);
  }
}

TEST(Export, WritesTheModelWhereTheCheckCannotRun) {
  const TemporaryFolder folder;
  const char* const before = std::getenv("HONE_PYTHON");
  const std::string named = before == nullptr ? "" : before;
  ::setenv("HONE_PYTHON", "/nowhere/python", 1);
  const Ending ending = run_hone({"export", workshop() / "model", "--check",
                                  workshop() / "reviews.csv", "-o", "exported", "--json"},
                                 folder.path());
  if (before == nullptr) {
    ::unsetenv("HONE_PYTHON");
  } else {
    ::setenv("HONE_PYTHON", named.c_str(), 1);
  }
  EXPECT_EQ(ending.code, 1) << "the check was asked for";
  EXPECT_NE(ending.messages.find("pip install onnxruntime"), std::string::npos) << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_TRUE(result["check"].is_null());
  EXPECT_TRUE(result["check_reason"].is_string());
  EXPECT_TRUE(fs::exists(folder.path() / "exported/model.onnx"));
  EXPECT_EQ(read_json(folder.path() / "exported/results.json")["check_reason"],
            result["check_reason"]);
}

TEST(Export, LongChecksTheFileInOnnxRuntime) {
  if (!python_with_onnx_runtime())
    GTEST_SKIP() << "neither $HONE_PYTHON nor python3 imports onnxruntime and numpy";
  const TemporaryFolder folder;
  const std::string model = trained_longer(folder);
  const Json check = run_json(
      {"export", model, "--check", workshop() / "reviews.csv", "--split", "all", "-o", "exported"},
      folder.path())["check"];
  EXPECT_EQ(check["examples"], kReviews);
  EXPECT_EQ(check["split_examples"], kReviews);
  const std::string report = read_file(folder.path() / "exported/report.md");
  EXPECT_NE(report.find("reviews.csv"), std::string::npos) << report;
  EXPECT_EQ(report.find("no text was read"), std::string::npos) << report;
  EXPECT_EQ(check["same_predictions"], kReviews);
  EXPECT_LE(check["largest_difference"].get<double>(), 1e-4 * check["largest_value"].get<double>());
  for (const char* format : {"mxfp(element=e4m3)", "minifloat_ieee(width=8,exponent_width=4)"}) {
    SCOPED_TRACE(format);
    run_well({"pack", model, "--weight_format", format, "-o", "packed", "--overwrite"},
             folder.path());
    const Json packed = run_json({"export", "packed", "--check", workshop() / "reviews.csv",
                                  "--split", "all", "-o", "exported", "--overwrite"},
                                 folder.path())["check"];
    EXPECT_LE(packed["largest_difference"].get<double>(),
              1e-4 * packed["largest_value"].get<double>());
  }
}

}  // namespace
}  // namespace hone::testing
