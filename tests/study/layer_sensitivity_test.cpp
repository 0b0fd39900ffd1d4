#include "hone/study/layer_sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/jobs/compress.h"
#include "hone/passes/prune.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::format_called;
using testing::quiet_context;
using testing::tiny_model;
using testing::tiny_splits;
using testing::tiny_texts;

const CalibrationRun kLook = {.batch_size = 4, .batch_count = 2, .check_objections = false};
constexpr std::int64_t kTextsAtOnce = 6;

LayerChange in_format(const std::string& text) {
  return {.label = text, .formats = LayerFormats::reads(format_called(text))};
}

// Formats with a calibrated state, with a state per row and without state, and sparsities.
std::vector<LayerChange> usual_changes() {
  return {
      in_format("integer(width=8)"),
      {.label = "weights in int",
       .formats = LayerFormats{.weight = format_called("int(bits=4,per=row)")}},
      in_format("bf16"),
      {.label = "50%", .sparsity = {.share = 0.5}},
      {.label = "50% in blocks", .sparsity = {.share = 0.5, .structure = parse_structure("1x4")}}};
}

SensitivityStudy study_of(const Model& model, const EncodedSet& texts, double most_bytes = 1e9,
                          Context& context = quiet_context()) {
  return measure_sensitivity(model, usual_changes(), texts, tiny_splits().train, kLook,
                             {.batch_size = kTextsAtOnce, .most_bytes = most_bytes}, context);
}

std::vector<float> rows_of(const Model& model, const EncodedSet& texts) {
  Predictor predictor(forward_graph(model), model.parameters, quiet_context().session());
  return predictor.rows(text_examples(texts), kTextsAtOnce);
}

// Returns the model with one layer changed, as the jobs change it.
Model changed_apart(const std::string& layer, const LayerChange& change) {
  Model model = tiny_model();
  if (change.sparsity.share > 0) {
    prune(model.graph, model.parameters,
          {.target = {layer},
           .rule = {.sparsity = change.sparsity.share, .structure = change.sparsity.structure}});
    return model;
  }
  return compress(model, tiny_splits(), {.plan = {{layer, *change.formats}}, .calibration = kLook},
                  quiet_context());
}

TEST(LayerSensitivity, HasTheBitsOfEveryLayerChangedAndRunApart) {
  const EncodedSet texts = tiny_texts(20);
  const SensitivityStudy study = study_of(tiny_model(), texts);
  const std::vector<LayerChange> changes = usual_changes();
  ASSERT_EQ(study.layers.size() % changes.size(), 0u);
  ASSERT_GE(study.layers.size(), 8 * changes.size());
  const std::vector<float> baseline = rows_of(tiny_model(), texts);
  bool any_differs = false;
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const Model apart = changed_apart(study.layers[i].layer, changes[i % changes.size()]);
    EXPECT_EQ(study.outputs[i], rows_of(apart, texts))
        << study.layers[i].layer << " in " << study.layers[i].change;
    any_differs = any_differs || study.outputs[i] != baseline;
  }
  EXPECT_TRUE(any_differs);
}

TEST(LayerSensitivity, IsTheSameInSmallGroupsAndForAnyNumberOfThreads) {
  const EncodedSet texts = tiny_texts(20);
  const SensitivityStudy together = study_of(tiny_model(), texts);
  Context threads(3, /*quiet=*/true);
  const SensitivityStudy one_by_one = study_of(tiny_model(), texts, /*most_bytes=*/0, threads);
  EXPECT_EQ(together.cost.groups, 1);
  EXPECT_EQ(one_by_one.cost.groups, static_cast<std::int64_t>(one_by_one.layers.size()));
  EXPECT_EQ(together.outputs, one_by_one.outputs);
  EXPECT_EQ(together.cost.separate_flops, one_by_one.cost.separate_flops);
  EXPECT_LT(together.cost.flops, one_by_one.cost.flops);
  EXPECT_LT(one_by_one.cost.kept_bytes, together.cost.kept_bytes);
}

TEST(LayerSensitivity, CostsAboutHalfOfRunningEveryLayerApart) {
  const SensitivityStudy study = study_of(tiny_model(), tiny_texts(20));
  EXPECT_LT(study.cost.flops, 0.6 * study.cost.separate_flops);
}

TEST(LayerSensitivity, OfWholeAllocationsIsThatOfModelsMadeApart) {
  const EncodedSet texts = tiny_texts(20);
  std::vector<std::string> layers;
  const Graph graph = forward_graph(tiny_model());
  for (const Node* node : graph.operations(kDefaultLayer)) layers.push_back(node->name());
  const std::vector<LayerChange> changes = {
      {.label = "none"},
      {.label = "8 bits", .formats = LayerFormats::reads(format_called("integer(width=8)"))},
      {.label = "4 bits", .formats = LayerFormats{.weight = format_called("int(bits=4,per=row)")}}};
  // One format for all layers, one layer in another, a mixture, and no change.
  std::vector<std::vector<std::size_t>> allocations(4, std::vector<std::size_t>(layers.size(), 1));
  allocations[1][3] = 2;
  for (std::size_t i = 0; i < layers.size(); ++i) allocations[2][i] = i % 3;
  allocations[3].assign(layers.size(), 0);
  const std::vector<Divergence> found =
      measure_allocations(tiny_model(), layers, changes, allocations, texts, tiny_splits().train,
                          kLook, {.batch_size = kTextsAtOnce}, quiet_context());
  ASSERT_EQ(found.size(), allocations.size());
  const std::vector<float> baseline = rows_of(tiny_model(), texts);
  const auto classes = std::ssize(baseline) / texts.size();
  for (std::size_t a = 0; a < allocations.size(); ++a) {
    QuantizationPlan plan;
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (const auto& formats = changes[allocations[a][i]].formats)
        plan.emplace_back(layers[i], *formats);
    const std::vector<float> apart =
        rows_of(compress(tiny_model(), tiny_splits(), {.plan = plan, .calibration = kLook},
                         quiet_context()),
                texts);
    const Divergence truth = divergence({baseline, classes}, {apart, classes}, truth_of(texts));
    EXPECT_EQ(found[a].mean, truth.mean) << a;
    EXPECT_EQ(found[a].low, truth.low) << a;
    EXPECT_EQ(found[a].high, truth.high) << a;
  }
  EXPECT_EQ(found[3].mean, 0);
  EXPECT_NE(found[0].mean, found[1].mean);
}

TEST(LayerSensitivity, RanksTheMostSensitiveFirst) {
  const SensitivityStudy study = study_of(tiny_model(), tiny_texts(20));
  const Json rows = to_json(sensitivity_table(study));
  ASSERT_EQ(rows.size(), study.layers.size());
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_GE(rows[i - 1]["divergence"].get<double>(), rows[i]["divergence"].get<double>());
}

TEST(LayerSensitivity, NeedsTexts) {
  expect_user_error("there are no examples", [] { study_of(tiny_model(), EncodedSet{}); });
}

// torch.nn.functional.kl_div(log_softmax(q), log_softmax(p), log_target=True, reduction="none").sum(-1) for p = [[1,
// 0], [0.5, -1]], q = [[0, 0], [1, 2]] is by hand: 0.7310586 log(0.7310586 / 0.5) + 0.2689414 log(0.2689414 / 0.5), and
// 0.8175745 log(0.8175745 / 0.2689414) + 0.1824255 log(0.1824255 / 0.7310586).
TEST(Divergence, OfClassesIsThatOfTheSoftmax) {
  const std::vector<float> p = {1, 0, 0.5F, -1}, q = {0, 0, 1, 2};
  const std::vector<std::int32_t> labels = {0, 1};
  const double first = 0.7310585786 * std::log(0.7310585786 / 0.5) +
                       0.2689414214 * std::log(0.2689414214 / 0.5),
               second = 0.8175744762 * std::log(0.8175744762 / 0.2689414214) +
                        0.1824255238 * std::log(0.1824255238 / 0.7310585786);
  const Divergence d = divergence({p, 2}, {q, 2}, {.classes = labels});
  EXPECT_NEAR(d.mean, (first + second) / 2, 1e-9);
  // Student's t with one degree of freedom is 12.706. The standard error of two values is half their distance.
  EXPECT_NEAR(d.high - d.mean, 12.7062 * std::abs(first - second) / 2, 1e-3);
  EXPECT_EQ(d.low, 0);
  EXPECT_EQ(divergence({p, 2}, {p, 2}, {.classes = labels}).mean, 0);
}

TEST(Divergence, OfSeveralLabelsAddsThoseOfEachYesOrNo) {
  const std::vector<float> p = {0, 1}, q = {0, 0};
  const std::vector<float> targets = {0, 1};
  const Divergence d = divergence({p, 2}, {q, 2}, {.task = Task::multi_label, .targets = targets});
  EXPECT_NEAR(
      d.mean,
      0.7310585786 * std::log(0.7310585786 / 0.5) + 0.2689414214 * std::log(0.2689414214 / 0.5),
      1e-9);
  EXPECT_TRUE(std::isnan(d.low));  // for one text
}

TEST(Divergence, OfNumbersIsInUnitsOfTheirDeviation) {
  const std::vector<float> p = {1, 3}, q = {2, 3}, targets = {0, 0};
  const Divergence d = divergence({p, 1}, {q, 1}, {.task = Task::regression, .targets = targets});
  EXPECT_NEAR(d.mean, 0.25, 1e-12);  // (1² / (2 · 1) + 0) / 2, where the variance of 1 and 3 is 1
}

TEST(Divergence, CountsRowsOfOneTextAsOneObservation) {
  const std::vector<float> p = {1, 0, 1, 0, 0.5F, -1}, q = {0, 0, 0, 0, 1, 2};
  const std::vector<std::int32_t> labels = {0, 0, 1}, texts = {0, 0, 1};
  const Divergence apart = divergence({p, 2}, {q, 2}, {.classes = labels}),
                   together = divergence({p, 2}, {q, 2}, {.classes = labels, .texts = texts});
  EXPECT_EQ(apart.mean, together.mean);
  EXPECT_GT(together.high, apart.high);
}

TEST(Divergence, IsNoNumberWhereAnAnswerIsNone) {
  const std::vector<float> p = {1, 0, 1, 0}, q = {0, std::nanf(""), 0, 0};
  const std::vector<std::int32_t> labels = {0, 1};
  EXPECT_TRUE(std::isnan(divergence({p, 2}, {q, 2}, {.classes = labels}).mean));
}

}  // namespace
}  // namespace hone
