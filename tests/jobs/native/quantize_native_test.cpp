#include "hone/jobs/native/quantize_native.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/jobs/evaluate.h"
#include "hone/jobs/inspect.h"
#include "hone/jobs/native/native_copy.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

JobData short_texts() {
  JobData data;
  data.options.source = "synth:lookup?n=300&test=60";
  data.cut.max_seq_length = 16;
  return data;
}

/// Returns a job that makes every possible layer native, whatever the timings are.
NativeQuantizeJob native_job(std::string_view format, const std::string& folder) {
  return {.model = "tiny",
          .weight = testing::format_called(format),
          .keep_slower = true,
          .data = short_texts(),
          .output = {.folder = folder}};
}

Json layer_called(const Json& fields, std::string_view name) {
  for (const Json& layer : fields["layers"])
    if (layer["layer"] == name) return layer;
  return Json();
}

TEST(QuantizeNative, MakesAModelThatMultipliesCodesAndSaysWhatItComputes) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  for (const auto& [format, input] :
       {std::pair{"int(bits=8,per=row)", "int(bits=8,per=token,scale=dynamic)"},
        std::pair{"int(bits=4,per=row)", "int(bits=8,per=token,scale=dynamic)"},
        std::pair{"bf16", "bf16"}, std::pair{"mxint(bits=8)", "mxint(bits=8,block=32,axis=-1)"},
        std::pair{"mxint(bits=4,block=16)", "mxint(bits=8,block=16,axis=-1)"}}) {
    SCOPED_TRACE(format);
    const std::string out = (folder.path() / format).string();
    const QuantizeResult made = quantize_native_job(native_job(format, out), context);
    EXPECT_EQ(made.fields["arithmetic"], "native");
    const Json dense = layer_called(made.fields, "bert.encoder.layer.1.output.dense");
    EXPECT_EQ(dense["format"], to_string(testing::format_called(format)));
    EXPECT_EQ(dense["input_format"], input);
    // Embedding tables have no inputs to round.
    for (const char* table :
         {"bert.embeddings.word_embeddings", "bert.embeddings.position_embeddings"}) {
      const Json layer = layer_called(made.fields, table);
      EXPECT_EQ(layer["format"], dense["format"]) << table;
      EXPECT_TRUE(layer["input_format"].is_null());
    }
    // The classifier is too narrow for packed panels.
    const Json head = layer_called(made.fields, "classifier");
    EXPECT_EQ(head["format"], "fp32");
    EXPECT_TRUE(head["reason"].is_string()) << head;
    // The reported metrics are those of the saved folder.
    EvaluateJob again{.model = out, .data = short_texts()};
    const EvaluateResult evaluated = evaluate_model(again, context);
    EXPECT_EQ(evaluated.fields["eval_loss"], made.fields["after"]["eval_loss"]);
    EXPECT_EQ(made.fields["size"]["disk_bytes"], *weight_file_bytes(out));
    EXPECT_LT(made.fields["size"]["memory_bytes"].get<std::int64_t>(),
              0.51 * made.fields["size_before"]["memory_bytes"].get<double>());
  }
}

TEST(QuantizeNative, TakesOneScaleForInputsFromTrainingTexts) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  NativeQuantizeJob job = native_job("int(bits=8,per=row)", (folder.path() / "out").string());
  job.input_scales = InputScales::calibrated;
  const QuantizeResult made = quantize_native_job(job, context);
  EXPECT_EQ(layer_called(made.fields, "bert.pooler.dense")["input_format"],
            "int(bits=8,per=tensor,scale=static)");
  EXPECT_EQ(made.fields["arithmetic"], "native");
  EXPECT_GT(made.fields["calibration_examples"].get<int>(), 0);
}

// Products with 128 outputs count as slow, so they stay in fp32.
TEST(QuantizeNative, LeavesLayersInFp32ThatWouldBeSlower) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::string out = (folder.path() / "out").string();
  NativeQuantizeJob job = native_job("int(bits=8,per=row)", out);
  job.keep_slower = false;
  job.is_too_slow = [](const ProductTimes& product) { return product.outputs == 128; };
  const QuantizeResult made = quantize_native_job(job, context);
  for (const Json& product : made.fields["products"]) {
    EXPECT_EQ(product["times"].is_null(), product["outputs"].get<int>() < 128) << product;
    for (const Json& name : product["layers"]) {
      const Json layer = layer_called(made.fields, name.get<std::string>());
      EXPECT_EQ(layer["format"] == "fp32", product["outputs"] != 512) << name;
    }
  }
  for (const Json& times : made.fields["times"])
    EXPECT_GT(times["before"]["median_ms"].get<double>() * times["batch_size"].get<double>(), 0);
  const Json slow = layer_called(made.fields, "bert.encoder.layer.0.attention.self.query");
  EXPECT_TRUE(slow["reason"].is_string()) << slow;
  // The key figures contain the number of converted layers and the option that converts all of them.
  const auto as_asked = std::ranges::count_if(
      made.fields["layers"], [](const Json& layer) { return layer["reason"].is_null(); });
  const auto figure = std::ranges::find(made.document.key_figures, "Layers", &Fact::name);
  ASSERT_NE(figure, made.document.key_figures.end());
  for (const std::string& part :
       {fmt::format("{} of {} in the requested format", as_asked, made.fields["layers"].size()),
        std::string("`keep_slower`")})
    EXPECT_NE(figure->value.find(part), std::string::npos) << figure->value;
  const auto says = [&](const QuantizeResult& result) {
    return std::ranges::any_of(result.document.notes, [](const std::string& note) {
      return note.find("a repeat may choose") != std::string::npos;
    });
  };
  EXPECT_TRUE(says(made));
  EXPECT_FALSE(says(quantize_native_job(
      native_job("int(bits=8,per=row)", (folder.path() / "all").string()), context)));
  // Layers are timed like the whole model, with the same batch and padding.
  const Json& times = made.fields["times"][0];
  const double texts = times["batch_size"], tokens = times["padded_tokens_before"];
  for (const Json& product : made.fields["products"]) {
    const double rows = product["rows"];
    // Pooler and classifier read one token of each text.
    EXPECT_TRUE(rows == texts || rows == texts * std::round(tokens)) << product;
  }
  // The choice of layers is stored in the model.
  const Model model = open_model(out, context, 0).model;
  for (const auto& [layer, formats] : model.quantization->plan)
    EXPECT_TRUE(!formats.input || layer.ends_with("intermediate.dense")) << layer;
}

TEST(QuantizeNative, JudgesNoLimitThatNobodyAskedFor) {
  const TemporaryFolder folder;
  const QuantizeResult made =
      quantize_native_job(native_job("int(bits=8,per=row)", (folder.path() / "out").string()),
                          testing::quiet_context());
  EXPECT_EQ(made.document.tone, Tone::plain);
  for (const std::string& text : {made.document.headline, made.document.evidence})
    for (const char* word : {"limit", "inconclusive", "allowed"})
      EXPECT_EQ(text.find(word), std::string::npos) << text;
  EXPECT_NE(made.document.headline.find("95% CI"), std::string::npos) << made.document.headline;
  EXPECT_TRUE(made.fields["comparison"]["verdict"].is_string());
}

// Scales one channel of the attentions' outputs by 256 without changing any prediction.
std::string model_with_outlier(const fs::path& folder, Context& context) {
  TextModel source = open_model("tiny", context, 1);
  constexpr std::size_t kWidth = 128, kChannel = 5;
  const auto change = [&](const std::string& name, auto&& is_meant, float factor) {
    Tensor& tensor = source.model.parameters.writable(name);
    const std::span<float> values = tensor.values<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (is_meant(i)) values[i] *= factor;
  };
  for (const char* layer : {"bert.encoder.layer.0.attention", "bert.encoder.layer.1.attention"}) {
    change(
        fmt::format("{}.self.value.weight", layer),
        [](std::size_t i) { return i / kWidth == kChannel; }, 256);
    change(
        fmt::format("{}.self.value.bias", layer), [](std::size_t i) { return i == kChannel; }, 256);
    change(
        fmt::format("{}.output.dense.weight", layer),
        [](std::size_t i) { return i % kWidth == kChannel; }, 1.0f / 256);
  }
  fs::create_directory(folder);
  write_model(source, folder);
  return folder.string();
}

TEST(QuantizeNative, WinsBackWhatAnOutlierTakesBySmoothScales) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::string model = model_with_outlier(folder.path() / "model", context);
  for (const InputScales scales : {InputScales::dynamic, InputScales::calibrated}) {
    double snr_db[2] = {};
    for (const bool smooth : {false, true}) {
      NativeQuantizeJob job = native_job(
          "int(bits=8,per=row)",
          (folder.path() / fmt::format("{} {}", static_cast<int>(scales), smooth)).string());
      job.model = model;
      job.input_scales = scales;
      job.methods.smooth_scales = smooth;
      const QuantizeResult made = quantize_native_job(job, context);
      snr_db[smooth ? 1 : 0] = made.fields["comparison"]["margin_snr_db"];
      EXPECT_EQ(made.fields["smooth_scales"].empty(), !smooth);
      for (const Json& group : made.fields["smooth_scales"]) {
        if (group["free"].get<bool>()) {
          EXPECT_TRUE(group["alpha"].is_number()) << group;
        }
      }
    }
    EXPECT_GT(snr_db[1], snr_db[0] + 3) << static_cast<int>(scales);
  }
}

// Corrects biases only of layers with rounded weights. The classifier stays in fp32.
TEST(QuantizeNative, CorrectsBiasesUnlessToldNotTo) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  for (const bool correct : {false, true}) {
    const std::string out = (folder.path() / (correct ? "corrected" : "not")).string();
    NativeQuantizeJob job = native_job("int(bits=4,per=row)", out);
    job.methods.bias_correction = correct;
    const QuantizeResult made = quantize_native_job(job, context);
    EXPECT_EQ(made.fields["bias_correction"], correct);
    const Model model = open_model(out, context, 42).model;
    for (const std::string layer : {"bert.encoder.layer.1.output.dense", "classifier"}) {
      const bool zeros = std::ranges::all_of(
          testing::floats_of(model.parameters.at(layer + ".bias")), [](float b) { return b == 0; });
      EXPECT_EQ(zeros, !correct || layer == "classifier") << layer;
    }
  }
}

TEST(QuantizeNative, SaysWhichLayersOfAPrunedModelSkipZeros) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::string given = (folder.path() / "pruned").string();
  TextModel model = open_model("tiny", context, 42);
  transform(model.model, "prune(sparsity=0.8,structure=1x4)", context.session());
  write_model(model, given);
  write_file(fs::path(given) / "results.json",
             fmt::format(R"({{"command": "prune", "model": "{}"}})", given));
  NativeQuantizeJob job = native_job("int(bits=8,per=row)", (folder.path() / "out").string());
  job.model = given;
  const QuantizeResult made = quantize_native_job(job, context);
  EXPECT_EQ(made.fields["baseline_zeros"]["structure"], "1x4");
  EXPECT_NEAR(made.fields["baseline_zeros"]["share"].get<double>(), 0.8, 0.01);
  const Json& skipping = made.fields["skipping"];
  EXPECT_EQ(skipping["linear_layers"], 14);
  EXPECT_EQ(skipping["skipping_layers"], 12);
  for (const Json& one : skipping["skipping"]) EXPECT_EQ(one["pattern"], "1x4");
  EXPECT_GT(skipping["saved_bytes"].get<std::int64_t>(), 0);
  // The classifier is too narrow for a native product and is not pruned. The pooler has one row per example and reads
  // floats.
  ASSERT_EQ(skipping["dense"].size(), 2);
  for (const Json& one : skipping["dense"]) EXPECT_EQ(one["layers"], 1);
  // The suggested command compares with the pruned model.
  EXPECT_TRUE(std::ranges::any_of(made.document.next, [&](const NextCommand& one) {
    return one.command.starts_with(fmt::format("hone bench {} ", given));
  }));
  const QuantizeResult dense = quantize_native_job(
      native_job("int(bits=8,per=row)", (folder.path() / "dense").string()), context);
  EXPECT_TRUE(dense.fields["skipping"].is_null());
  EXPECT_EQ(dense.fields["baseline_zeros"]["zeros"], 0);
}

// Only fp32 products skip zeros in blocks of 4x1.
TEST(QuantizeNative, NamesTheBlocksToPruneInWhereNothingSkipsZeros) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::string given = (folder.path() / "pruned").string();
  TextModel model = open_model("tiny", context, 42);
  transform(model.model, "prune(sparsity=0.8,structure=4x1)", context.session());
  write_model(model, given);
  NativeQuantizeJob job = native_job("int(bits=8,per=row)", (folder.path() / "out").string());
  job.model = given;
  const QuantizeResult made = quantize_native_job(job, context);
  EXPECT_EQ(made.fields["skipping"]["skipping_layers"], 0);
  EXPECT_TRUE(std::ranges::any_of(made.document.notes, [](const std::string& note) {
    return note.find("`hone prune --structure 1x4`") != std::string::npos;
  }));
}

TEST(QuantizeNative, RefusesWhatCannotBeNative) {
  const TemporaryFolder folder;
  Context& context = testing::quiet_context();
  const std::string out = (folder.path() / "out").string();
  expect_user_error("native computation does not support weights in fp16",
                    [&] { quantize_native_job(native_job("fp16", out), context); });
  NativeQuantizeJob job = native_job("mxint(bits=8)", out);
  job.input_scales = InputScales::calibrated;
  expect_user_error("compute the scales of their blocks from their own values; omit `static`",
                    [&] { quantize_native_job(job, context); });
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace hone
