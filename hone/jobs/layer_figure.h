#pragma once

#include "hone/jobs/diagnosis.h"
#include "hone/jobs/job_result.h"

/// Figure with a bar for each layer: the signal-to-noise ratio of its quantized operands.
namespace hone {

/// Signal-to-noise ratio of one operand of a layer, quantized alone.
struct LayerBar {
  std::string layer;
  Operand operand;
  double snr_db = 0;
};

/// Returns the bars of all diagnosed operands in graph order, without biases, which are few and add little noise.
std::vector<LayerBar> layer_bars(const Diagnosis& diagnosis, const Graph& graph);

/// Returns the bars of the weights alone, from the model before and after `round_weights`. Reads all weights once.
std::vector<LayerBar> layer_bars(const Model& before, const Model& after,
                                 const QuantizationPlan& plan, const Graph& graph);

/// Draws the bars as `stem`.svg and .png, one row for each layer and one colour for each operand; with many layers only
/// the noisiest. Returns no blocks if fewer than two layers have a finite ratio. A figure that cannot be drawn adds a
/// note to `notes`.
std::vector<Block> layer_figure(std::vector<LayerBar> bars, const std::string& title,
                                const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
