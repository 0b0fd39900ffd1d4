#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/models/model_source.h"
#include "hone/passes/layer_sparsity.h"
#include "hone/report/table.h"
#include "hone/train/calibration.h"
#include "hone/train/variants.h"

/// How the change of a single layer affects a model's predictions. (`measure_noise` of sensitivity.h measures how a
/// format affects the operands of the layer itself.)
namespace hone {

/// A change of a layer: pruning its smallest weights, and a format for all its operands.
struct LayerChange {
  std::string label;  ///< "bf16", "50%"
  std::optional<LayerFormats> formats = {};
  LayerSparsity sparsity = {};  ///< applied first

  bool changes() const { return formats || sparsity.share > 0; }
};

/// The divergence of predictions from those of the unchanged model. For one example, with p its prediction and q that
/// of the changed model:
///
///     single labels     Σ p log(p / q) over the classes of the softmax, in nats (Kullback and Leibler 1951)
///     several labels    the same for every label, yes or no, added up
///     numbers           half the squared difference in units of the standard deviation that the model's own numbers have
///                       over these examples, added up: the divergence of normal distributions of that deviation
struct Divergence {
  double mean = 0;  ///< NaN if an output is NaN
  double
      low = 0,
      high =
          0;  ///< 95%, Student's t over the texts, whose rows count as one observation; NaN for fewer than two
};

/// Returns the mean over examples. Both are (examples, outputs) in one order; `truth` has the task and the rows of each
/// text.
Divergence divergence(const Logits& model, const Logits& changed, const Truth& truth);

struct LayerSensitivity {
  std::string layer;
  std::string change;
  Divergence divergence;
  TaskComparison comparison;
};

struct SensitivityStudy {
  TaskEvaluation model;  ///< unchanged
  std::vector<LayerSensitivity>
      layers;  ///< layer by layer in the order of the graph, each with all changes
  std::vector<std::vector<float>> outputs;  ///< (examples, outputs) for each of `layers`
  VariantRows cost;                         ///< without its rows: how much work was shared
};

/// Measures each change of each linear layer alone, over all of `data`. Calibrates every format once, on the texts of
/// `training` that calibration samples, and ignores its objections. `model` is not quantized. Throws `UserError`
/// without texts.
SensitivityStudy measure_sensitivity(const Model& model, const std::vector<LayerChange>& changes,
                                     const EncodedSet& data, const EncodedSet& training,
                                     const CalibrationRun& calibration, const VariantRuns& runs,
                                     Context& context);

/// Returns the divergences of whole models from `model`, in the order of `allocations`. An allocation has the index of
/// a change for each of `layers`; a change without format and sparsity changes nothing. Calibrates like
/// `measure_sensitivity`. The first allocation is the one that the others share most with.
std::vector<Divergence> measure_allocations(
    const Model& model, const std::vector<std::string>& layers,
    const std::vector<LayerChange>& changes,
    const std::vector<std::vector<std::size_t>>& allocations, const EncodedSet& data,
    const EncodedSet& training, const CalibrationRun& calibration, const VariantRuns& runs,
    Context& context);

/// Returns the layers, the most sensitive first.
Table sensitivity_table(const SensitivityStudy& study);

/// A row of that table in results.
struct LayerSensitivityResult {
  std::string layer, change;
  double divergence = 0;
  std::optional<Interval> divergence_interval = {};
  std::optional<double> metric_change = {};
  std::optional<Interval> metric_change_interval = {};
  std::optional<double> flip_share = {};
  std::optional<Interval> flip_interval = {};
  std::optional<double> mean_shift = {};
};
const Fields& fields_of(const LayerSensitivityResult*);
std::vector<LayerSensitivityResult> layer_sensitivity_results(const SensitivityStudy& study);

}  // namespace hone
