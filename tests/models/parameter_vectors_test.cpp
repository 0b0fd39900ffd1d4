#include <gtest/gtest.h>

#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/ir/parse.h"
#include "hone/models/model_source.h"
#include "hone/models/transform.h"
#include "hone/passes/freeze.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_jobs.h"

// Known counts of parameters and bits from other projects, including their errors.
namespace hone::testing {
namespace {

Json vector_called(std::string_view pass) {
  for (const Json& row : read_json(test_data() / "vectors/passes.json"))
    if (row["pass"] == pass) return row;
  return {};
}

TEST(ParameterVectors, OfBertTinyCountEveryElementOnce) {
  const Json expected = vector_called("bert_tiny_param_counts");
  Model model = new_model(new_model_facts("tiny"), builtin().ops, /*seed=*/1);
  EXPECT_EQ(total_parameters(model.graph).all(), expected["total"].get<std::int64_t>());
  std::int64_t embeddings = 0;
  for (const ModuleParameters& module : parameters_by_module(model.graph))
    if (module.module.starts_with("bert.embeddings")) embeddings += module.trainable;
  EXPECT_EQ(embeddings, expected["embeddings"].get<std::int64_t>());
  freeze(model.graph, {"bert.embeddings.*"});
  EXPECT_EQ(total_parameters(model.graph).trainable,
            expected["trainable_after_freezing_embeddings"].get<std::int64_t>());
  // Masks do not count as parameters.
  transform(model, "prune", quiet_context().session());
  EXPECT_EQ(total_parameters(model.graph).all(), expected["total"].get<std::int64_t>());
}

// The other project adds the fraction to the width: it counts 12 bits for 8.4, which takes 8.
TEST(ParameterVectors, OfBitsCountTheWidthAlone) {
  const Json expected = vector_called("calculate_avg_bits_mg");
  const Graph graph = parse_graph(R"(%x = input : f32[B, 128]
%w = parameter weight trainable : f32[128, 128]
%v = parameter weight trainable : f32[512, 128]
%a = linear(%x, %w) : f32[B, 128]
%b = linear(%a, %v) : f32[B, 512]
output y = %b
)",
                                  builtin().ops, builtin().formats);
  const PlannedSize size =
      planned_size(graph, {{"a", {.weight = format_called("integer(width=8,frac=4)")}}});
  EXPECT_DOUBLE_EQ(size.bits / static_cast<double>(size.parameters), 27.2);
  EXPECT_DOUBLE_EQ((size.bits + 4 * 128 * 128) / static_cast<double>(size.parameters),
                   expected["w_avg_bit"].get<double>());
}

}  // namespace
}  // namespace hone::testing
