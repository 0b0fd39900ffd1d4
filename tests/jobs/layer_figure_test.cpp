#include "hone/jobs/layer_figure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::choice_splits;
using testing::format_called;
using testing::quiet_context;
using testing::tiny_model;

Graph graph_of(const Model& model) { return unquantized_graph(model); }

LayerBar bar(const std::string& layer, double snr_db, Operand operand = Operand::weight) {
  return {layer, operand, snr_db};
}

// The data and script of a figure, "" without a figure, and its caption.
struct Drawn {
  std::string data;
  std::string script;
  std::string caption;
};

Drawn drawn(const std::vector<LayerBar>& bars) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const std::vector<Block> blocks = layer_figure(bars, "Layers", folder.path() / "layers", notes);
  EXPECT_TRUE(notes.empty());
  if (blocks.empty()) return {};
  return {read_file(folder.path() / "layers.tsv"), read_file(folder.path() / "layers.gp"),
          std::get<PageFigure>(blocks.at(0)).caption};
}

TEST(LayerBars, OfWeightsAreWhatRoundingLeftOfThem) {
  const Model parent = tiny_model();
  const CompressOptions options{
      .plan = plan_with_format(parent, format_called("mxint(bits=8,block=32)")),
      .calibration = {.batch_size = 8, .batch_count = 1}};
  const Model before = compress(parent, choice_splits(), options, quiet_context());
  const Model after = round_weights(before, quiet_context());
  const std::vector<LayerBar> bars = layer_bars(before, after, options.plan, graph_of(parent));
  ASSERT_EQ(bars.size(), 14u);
  for (const LayerBar& one : bars) EXPECT_NEAR(one.snr_db, 42, 8) << one.layer;
  EXPECT_EQ(bars.front().layer, "bert.encoder.layer.0.attention.self.query");
  EXPECT_EQ(bars.back().layer, "classifier") << "in the order of the graph";
}

TEST(LayerBars, OfADiagnosisHaveAllOperandsButBiases) {
  Diagnosis diagnosis;
  for (const char* layer : {"classifier", "bert.pooler.dense"})
    for (const Operand operand : {Operand::bias, Operand::weight, Operand::input}) {
      Suggestion one{.layer = layer,
                     .operand = operand,
                     .before = {},
                     .after = {},
                     .noise_before = {},
                     .noise_after = {}};
      one.noise_before.signal = 100;
      one.noise_before.noise = 1;
      diagnosis.operands.push_back(std::move(one));
    }
  const std::vector<LayerBar> bars = layer_bars(diagnosis, graph_of(tiny_model()));
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_EQ(bars[0].layer, "bert.pooler.dense");
  EXPECT_EQ(bars[3].layer, "classifier");
  for (const LayerBar& one : bars) {
    EXPECT_NE(one.operand, Operand::bias);
    EXPECT_DOUBLE_EQ(one.snr_db, 20);
  }
}

TEST(LayerFigure, HasARowForEachLayerAndABarForEachOperand) {
  const Drawn figure = drawn({bar("bert.encoder.layer.0.output.dense", 30, Operand::input),
                              bar("bert.encoder.layer.0.output.dense", 2), bar("classifier", 5)});
  EXPECT_NE(figure.data.find("1\tinput\t30\t"), std::string::npos) << figure.data;
  EXPECT_NE(figure.data.find("1\tweight\t2\t"), std::string::npos);
  EXPECT_NE(figure.data.find("1\tweight\t5\t-1\t"), std::string::npos);
  EXPECT_NE(figure.script.find("'0.output.dense'"), std::string::npos) << "in short";
  EXPECT_EQ(figure.caption, "Layers");
}

TEST(LayerFigure, WritesNamesInFullWhereShortOnesAreAlike) {
  const Drawn figure = drawn({bar("encoder.layer.0.output", 1), bar("decoder.layer.0.output", 2)});
  EXPECT_NE(figure.script.find("'encoder.layer.0.output'"), std::string::npos) << figure.script;
  EXPECT_NE(figure.script.find("'decoder.layer.0.output'"), std::string::npos);
}

TEST(LayerFigure, OfManyLayersShowsThoseThatKeepLeast) {
  std::vector<LayerBar> bars;
  for (int i = 0; i < 60; ++i) bars.push_back(bar(fmt::format("layer.{}", i), (i * 7) % 60));
  const Drawn figure = drawn(bars);
  EXPECT_EQ(figure.caption, "Layers; the 40 of 60 layers with the lowest ratio");
  EXPECT_NE(figure.data.find("\t39\t"), std::string::npos);
  EXPECT_EQ(figure.data.find("\tweight\t40\t"), std::string::npos) << figure.data;
}

TEST(LayerFigure, OfFewerThanTwoRatiosIsNone) {
  EXPECT_EQ(drawn({bar("a", 1), bar("b", std::numeric_limits<double>::infinity())}).data, "");
  EXPECT_EQ(drawn({}).data, "");
}

}  // namespace
}  // namespace hone
