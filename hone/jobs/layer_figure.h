#pragma once

#include "hone/jobs/diagnosis.h"
#include "hone/jobs/job_result.h"

/// A bar for each layer: how much of what it reads is left of its formats.
namespace hone {

/// How many decibels an operand of a layer keeps, alone.
struct LayerBar {
  std::string layer;
  Operand operand;
  double snr_db = 0;
};

/// Of the diagnosis, all operands but biases, which are few and add little; in the order of the graph.
std::vector<LayerBar> layer_bars(const Diagnosis& diagnosis, const Graph& graph);

/// Of the weights alone: what rounding made of them. `before` and `after` are the model around `round_weights`. Costs one
/// look at the weights.
std::vector<LayerBar> layer_bars(const Model& before, const Model& after,
                                 const QuantizationPlan& plan, const Graph& graph);

/// The bars, one row for each layer and a colour for each operand; of many layers those that keep least. Drawn as
/// `stem`.svg and .png too. No blocks where fewer than two layers have a ratio; a figure that could not be drawn is a
/// line of `notes`.
std::vector<Block> layer_figure(std::vector<LayerBar> bars, const std::string& title,
                                const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
