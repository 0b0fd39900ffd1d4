#include "hone/jobs/pack.h"

#include <gtest/gtest.h>

#include "hone/jobs/convert.h"
#include "hone/jobs/inspect.h"
#include "hone/jobs/predict.h"
#include "hone/models/memory_account.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/study/change_headline.h"
#include "hone/tensor/bitmaps.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

// Returns a recipe that rounds everything possible: linears and the embeddings of words, types and positions.
Recipe all_in(std::string_view format) {
  return parse_recipe(
      fmt::format(
          "[default]\nweight = \"{0}\"\n[[rule]]\nop = [\"embedding\", \"slice\"]\nweight = "
          "\"{0}\"\n",
          format),
      "recipe", testing::quiet_context().library.formats);
}

std::vector<float> logits(const std::string& model, Context& context) {
  const PredictResult said = predict_texts(
      {.model = model, .texts = {{.id = "1", .text = "a fine film"}, {.id = "2", .text = "dull"}}},
      context);
  std::vector<float> all;
  for (const Prediction& one : said.predictions)
    all.insert(all.end(), one.logits.begin(), one.logits.end());
  return all;
}

TEST(PackModel, KeepsTheAnswersInFewerBytes) {
  const TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return (folder.path() / name).string(); };
  Context& context = testing::quiet_context();
  struct Case {
    const char* format;
    double saving;  // of all weights, including biases and norms in fp32
  };
  for (const auto& [format, saving] :
       {Case{"mxint(bits=8)", 0.736}, Case{"mxint(bits=4)", 0.86}, Case{"mxfp(element=e2m1)", 0.86},
        Case{"int(bits=6,per=row)", 0.79}, Case{"bf16", 0.49},
        Case{"int(bits=12,per=row)", 0.61}}) {
    const std::string packed = at(fmt::format("packed {}", format)), dense = packed + " again";
    const PackResult result = pack_model(
        {.model = "tiny", .recipe = all_in(format), .output = {.folder = packed}}, context);
    EXPECT_GT(result.account.resident_saving(), saving) << format;
    const auto file =
        static_cast<std::int64_t>(fs::file_size(fs::path(packed) / "parameters.safetensors"));
    EXPECT_EQ(result.account.file_bytes, file);
    EXPECT_EQ(result.account.transient_bytes, 0) << "products and tables read codes";
    // The account matches the stored tensors to the byte.
    std::int64_t bytes = 0, parts = 0, tensors = 0;
    for (const auto& [name, tensor] :
         read_safetensors(fs::path(packed) / "parameters.safetensors").tensors) {
      bytes += static_cast<std::int64_t>(tensor.size_bytes());
      ++tensors;
    }
    for (const AccountRow& row : result.account.rows) parts += row.bytes();
    EXPECT_EQ(result.account.bytes, bytes + result.account.left_out_bytes) << format;
    EXPECT_EQ(parts, result.account.bytes);
    EXPECT_LT(file - bytes, 200 * tensors) << "names and places";
    // The steps lead from the saving of the format to that of the file.
    double left = result.account.theoretical_saving();
    for (const SavingStep& step : saving_steps(result.account)) {
      left += step.change;
      EXPECT_NEAR(left, step.saving, 1e-12) << format << ": " << step.name;
    }
    EXPECT_NEAR(left, result.account.saving(file), 1e-12) << format;
    EXPECT_TRUE(path_exists(fs::path(packed) / "memory.svg"));
    unpack_model({.model = packed, .output = {.folder = dense}}, context);
    EXPECT_TRUE(fs::exists(fs::path(dense) / "model.safetensors")) << "where other programs look";
    EXPECT_EQ(logits(packed, context), logits(dense, context)) << format;
  }
}

TEST(PackModel, RefusesWhatCannotBePacked) {
  const TemporaryFolder folder;
  const JobOutput output{.folder = (folder.path() / "out").string()};
  Context& context = testing::quiet_context();
  expect_user_error("tiny: has neither formats to pack its weights in nor enough zeros",
                    [&] { pack_model({.model = "tiny", .output = output}, context); });
  expect_user_error("tiny: none of its weights can be packed: bert.encoder", [&] {
    Recipe recipe;
    recipe.defaults[Operand::weight] =
        parse_format("minifloat_ieee(width=20,exponent_width=8)", context.library.formats);
    pack_model({.model = "tiny", .recipe = recipe, .output = output}, context);
  });
  expect_user_error("formats of the recipe need ranges from examples", [&] {
    Recipe recipe;
    recipe.defaults[Operand::input] =
        parse_format("int(bits=8,scale=static)", context.library.formats);
    recipe.defaults[Operand::weight] = parse_format("int(bits=8)", context.library.formats);
    pack_model({.model = "tiny", .recipe = recipe, .output = output}, context);
  });
  expect_user_error("is not packed",
                    [&] { unpack_model({.model = "tiny", .output = output}, context); });
  EXPECT_FALSE(fs::exists(folder.path() / "out"));
}

TEST(PackModel, IsRefusedWhereTheFileIsDamaged) {
  const TemporaryFolder folder;
  const std::string packed = (folder.path() / "packed").string();
  Context& context = testing::quiet_context();
  pack_model({.model = "tiny", .recipe = all_in("mxint(bits=8)"), .output = {.folder = packed}},
             context);
  const fs::path file = fs::path(packed) / "parameters.safetensors";
  Safetensors content = read_safetensors(file);
  restore_bitmaps(content);
  TensorMap tensors;
  for (const auto& [name, tensor] : content.tensors)
    tensors.emplace(name, tensor.contiguous_copy());
  const std::string name = "bert.encoder.layer.1.output.dense.weight";
  tensors.at(name + ".shared").data<std::uint8_t>()[32 * 3 + 7] = 255;
  write_safetensors(file, tensors, content.metadata);
  expect_user_error(name + ".codes: row 7, block 3: the scale is nan; the file is damaged",
                    [&] { logits(packed, context); });
  tensors.at(name + ".shared") = Tensor::zeros(DType::u8, {12});
  write_safetensors(file, tensors, content.metadata);
  expect_user_error(name + ".shared has the shape [12], graph.hone needs [2048]",
                    [&] { logits(packed, context); });
}

TEST(PackModel, ComparesWithTheSizeOfTheFolderItIsGivenMasksIncluded) {
  const TemporaryFolder folder;
  const std::string masked = (folder.path() / "masked").string();
  Context& context = testing::quiet_context();
  TextModel pruned = open_model("tiny", context, /*seed=*/1);
  transform(pruned.model, "prune", context.session());
  fs::create_directory(masked);
  write_model(pruned, masked);
  const ModelSize size = model_size(pruned.model, masked);
  ASSERT_GT(size.stored_bytes, size.packed_bytes) << "masks are stored, too";
  const PackResult result = pack_model({.model = masked,
                                        .recipe = all_in("mxint(bits=8)"),
                                        .output = {.folder = (folder.path() / "packed").string()}},
                                       context);
  const std::string in_memory = short_bytes(static_cast<double>(size.memory_bytes)),
                    stored = short_bytes(static_cast<double>(size.stored_bytes));
  ASSERT_FALSE(result.document.key_figures.empty());
  EXPECT_TRUE(result.document.key_figures[0].value.starts_with(in_memory))
      << result.document.key_figures[0].value;
  EXPECT_NE(result.document.headline.find(stored), std::string::npos) << result.document.headline;
}

// Other programs would initialize missing weights at random.
TEST(PackModel, IsConvertedToWhereOtherProgramsDoNotLook) {
  const TemporaryFolder folder;
  const std::string packed = (folder.path() / "packed").string(),
                    copy = (folder.path() / "copy").string();
  Context& context = testing::quiet_context();
  pack_model({.model = "tiny", .recipe = all_in("mxint(bits=8)"), .output = {.folder = packed}},
             context);
  convert_model({.model = packed, .output = {.folder = copy}}, context);
  EXPECT_FALSE(fs::exists(fs::path(copy) / "model.safetensors"));
  EXPECT_EQ(logits(copy, context), logits(packed, context));
  const InspectResult seen = inspect_model({.model = packed}, context);
  EXPECT_EQ(seen.totals.trainable, 0) << "what is packed is not trained";
}

}  // namespace
}  // namespace hone
