#include "hone/jobs/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

std::vector<Json> kernels_of(const Json& rows, const std::string& operation) {
  std::vector<Json> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](const Json& row) { return row["operation"] == operation; });
  return found;
}

void do_nothing(Call&) {}
std::string_view takes_anything(const CallSite&) { return ""; }
std::string_view takes_nothing(const CallSite&) { return "it is of no use"; }

TEST(Kernels, AreListedInTheOrderInWhichTheyAreAsked) {
  const Json rows = to_json(kernel_rows(testing::builtin(), "cpu"));
  const std::vector<Json> linear = kernels_of(rows, "linear");
  ASSERT_EQ(linear.size(), 3u) << Json(linear);
  EXPECT_EQ(linear[0]["kernel"], "gemm_bf16");
  EXPECT_EQ(linear[0]["values"], "bf16");
  EXPECT_EQ(linear[0]["arithmetic"], "bf16");
  EXPECT_EQ(linear[1]["kernel"], "gemm");
  EXPECT_EQ(linear[1]["values"], "f32");
  EXPECT_EQ(linear[1]["prepares"], true);
  EXPECT_EQ(linear[1]["arithmetic"], "fp32");
  EXPECT_EQ(linear[2]["kernel"], "reference");
  EXPECT_EQ(linear[2]["arithmetic"], "fp64");
  const auto is_native = [](const Json& row) { return row["arithmetic"] == "int8"; };
  EXPECT_TRUE(std::ranges::any_of(rows, is_native));
  for (const auto& [name, op] : testing::builtin().ops)
    EXPECT_FALSE(kernels_of(rows, name).empty()) << name;
}

TEST(Kernels, OfGpusAreListedWithoutAGpu) {
  const Json rows = to_json(kernel_rows(testing::builtin(), "cuda"));
  const std::vector<Json> attention = kernels_of(rows, "attention");
  ASSERT_FALSE(attention.empty());
  EXPECT_EQ(attention[0]["device"], "cuda");
  const auto takes_halves = [](const Json& row) { return row["values"] == "f32, bf16, f16"; };
  EXPECT_TRUE(std::ranges::any_of(attention, takes_halves));
  const auto is_of_host = [](const Json& row) { return row["device"] == "cpu"; };
  EXPECT_FALSE(std::ranges::any_of(rows, is_of_host));
}

TEST(Kernels, OfPluginsAreToldApart) {
  Library library = testing::builtin();
  EXPECT_TRUE(plugin_kernels(library).empty());
  library.kernels.insert(library.kernels.begin(), {.op = "gelu",
                                                   .device = "cpu",
                                                   .name = "mine",
                                                   .accepts = takes_anything,
                                                   .run = do_nothing});
  ASSERT_EQ(plugin_kernels(library).size(), 1u);
  EXPECT_EQ(plugin_kernels(library)[0]->name, "mine");
  const std::vector<Json> gelu = kernels_of(to_json(kernel_rows(library, "cpu")), "gelu");
  EXPECT_EQ(gelu[0]["origin"], "plugin");
  EXPECT_EQ(gelu[1]["origin"], "hone");
}

TEST(Kernels, OfAModelSayWhoRefused) {
  Context context(/*threads=*/1, /*quiet=*/true);
  context.library.kernels.insert(context.library.kernels.begin(), {.op = "attention",
                                                                   .device = "cpu",
                                                                   .name = "mine",
                                                                   .accepts = takes_nothing,
                                                                   .run = do_nothing});
  const JobResult result = kernels_of_model({.model = "tiny"}, context);
  const std::vector<Json> attention = kernels_of(result.fields["nodes"], "attention");
  ASSERT_EQ(attention.size(), 2u);
  EXPECT_NE(attention[0]["kernel"], "mine");
  EXPECT_EQ(attention[0]["refused"], Json::parse(R"([{"kernel":"mine","reason":"it is of no use"},
                            {"kernel":"fused_bf16","reason":"values are not bf16"}])"));
  EXPECT_NE(to_text(result.document).find("mine: it is of no use"), std::string::npos);
  EXPECT_FALSE(
      kernels_of(kernels_of_model({.model = "tiny", .train = true}, context).fields["nodes"],
                 "adamw")
          .empty());
}

}  // namespace
}  // namespace hone
