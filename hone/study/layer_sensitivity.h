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

/// What a change of one layer alone does to the answers of a model. (`measure_noise` of sensitivity.h says what a format does
/// to the operands of the layer itself.)
namespace hone {

/// What one layer is changed to: so many of its smallest weights gone, and a format for all that it reads.
struct LayerChange {
  std::string label;  ///< "bf16", "50%"
  std::optional<LayerFormats> formats = {};
  LayerSparsity sparsity = {};  ///< first, where there are both

  bool changes() const { return formats || sparsity.share > 0; }
};

/// How far the answers are from those of the model as it stands. Of one example, with p its answer and q that of the changed
/// model:
///
///     single labels     Σ p log(p / q) over the classes of the softmax, in nats (Kullback and Leibler 1951)
///     several labels    the same of every label, yes or no, added up
///     numbers           half the squared difference in units of the standard deviation that the model's own numbers have
///                       over these examples, added up: the divergence of normal distributions of that deviation
struct Divergence {
  double mean = 0;  ///< NaN where an output is not a number
  double
      low = 0,
      high =
          0;  ///< 95%, Student's t over the texts, whose rows count as one observation; NaN for less than two
};

/// The mean over examples. Both are (examples, outputs) in one order; `truth` says the task and which rows are of one text.
Divergence divergence(const Logits& model, const Logits& changed, const Truth& truth);

struct LayerSensitivity {
  std::string layer;
  std::string change;
  Divergence divergence;
  TaskComparison comparison;
};

struct SensitivityStudy {
  TaskEvaluation model;  ///< as it stands
  std::vector<LayerSensitivity>
      layers;  ///< layer by layer in the order of the graph, each with all changes
  std::vector<std::vector<float>> outputs;  ///< (examples, outputs) of each of them
  VariantRows cost;                         ///< without its rows: how much was shared
};

/// Changes each linear layer alone, in every way, over all of `data`. What formats want to know of their operands is taken
/// from the texts of `training` that calibration looks at, once for each format; objections are not heeded. `model` is not
/// quantized. Throws `UserError` without texts.
SensitivityStudy measure_sensitivity(const Model& model, const std::vector<LayerChange>& changes,
                                     const EncodedSet& data, const EncodedSet& training,
                                     const CalibrationRun& calibration, const VariantRuns& runs,
                                     Context& context);

/// How far the answers of whole models are from those of `model`, in the order of `allocations`: each says for every one of `layers`
/// which of the changes it takes, by its number; one without format and sparsity is none. What formats want to know of their operands
/// is taken as by `measure_sensitivity`. The first allocation is the one that the others have most in common with.
std::vector<Divergence> measure_allocations(
    const Model& model, const std::vector<std::string>& layers,
    const std::vector<LayerChange>& changes,
    const std::vector<std::vector<std::size_t>>& allocations, const EncodedSet& data,
    const EncodedSet& training, const CalibrationRun& calibration, const VariantRuns& runs,
    Context& context);

/// The layers, the most sensitive first.
Table sensitivity_table(const SensitivityStudy& study);

/// A row of the same in results.
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
