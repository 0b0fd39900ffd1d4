#include "hone/jobs/prune/prune_result.h"

namespace hone {

const Fields& fields_of(const InputZeros*) {
  using I = InputZeros;
  static const Fields fields = describe<I>(
      "input_zeros", "A threshold in front of a layer: smaller magnitudes become zero.",
      field<&I::name>("name", "Name of its operation.", "Threshold"),
      field<&I::least>("min_magnitude", "Smallest magnitude that is kept.",
                       "Smallest magnitude kept"),
      field<&I::share>("share", Unit::share,
                       "Share of the elements that became zero on the calibration examples.",
                       "Set to zero"));
  return fields;
}

const Fields& fields_of(const NamedZerosResult*) {
  using Z = NamedZerosResult;
  static const Fields fields = describe<Z>(
      "named_zeros", "Elements of a parameter that are 0.",
      field<&Z::name>("name", "Name of the parameter.", "Weight"), inlined<&Z::zeros>());
  return fields;
}

const Fields& fields_of(const PrunedZerosResult*) {
  using Z = PrunedZerosResult;
  static const Fields fields = describe<Z>(
      "pruned_zeros", "Zeros of a pruned model.",
      field<&Z::weights>("weights", "Zeros of each weight with a mask."),
      field<&Z::pruned_weights>("pruned_weights", "Zeros of all these weights."),
      field<&Z::masked>("masked",
                        "Of these zeros, those that are masked; others were zero before, or were "
                        "rounded to zero."),
      field<&Z::all_parameters>("all_parameters", "Zeros of all parameters of the model."),
      field<&Z::skipping>("skipping", "Linear layers whose products skip the zeros."),
      field<&Z::packed_bytes>("packed_bytes", Unit::bytes,
                              "Size of all weights after `hone pack`, with their zeros."),
      field<&Z::left_out_bytes>("left_out_bytes", Unit::bytes,
                                "Of these, what `hone pack` leaves out of the file."));
  return fields;
}

const Fields& fields_of(const PruneFields*) {
  using P = PruneFields;
  static const Fields fields = describe<P>(
      "prune", "A model with pruned weights compared with its baseline.", inlined<&P::pruned>(),
      field<&P::inputs>("inputs", "Each threshold in front of a layer; none without activations."),
      field<&P::calibration_examples>(
          "calibration_examples", Unit::examples,
          "Training examples that the method and thresholds were calibrated on."),
      field<&P::zeros>("zeros", "Counted in the weights as they are multiplied."));
  return fields;
}

const Fields& fields_of(const PruningResult*) {
  using P = PruningResult;
  static const Fields fields = describe<P>(
      "pruning", "How a model was pruned.", inlined<&P::subject>(),
      field<&P::format>("format", "Format of the layers; null: the model is not quantized."),
      field<&P::pruning>("pruning",
                         "The passes that were run, with their options; of several seeds, those of "
                         "the first."),
      field<&P::structure>("structure",
                           "weights: any of them; 2:4: 2 of every 4 are kept; otherwise what was "
                           "removed, separated by commas."),
      field<&P::sparsity>("sparsity", Unit::share,
                          "Requested share to remove; null: the structure determines it."),
      field<&P::method>(
          "method",
          "How weights or units were chosen: l1, l2, wanda, first_order, movement, sparsegpt or "
          "random; null: only layers were removed."),
      field<&P::scope>("scope",
                       "Scope of the sparsity: local or global; null: only layers were removed."),
      field<&P::schedule>("schedule",
                          "one_shot, or cubic: sparsity rose during training; null: not of single "
                          "weights."),
      field<&P::activations>("activations", Unit::share,
                             "Requested share of the layers' inputs to set to zero; null: none."),
      field<&P::distill>("distill", kDistillMeaning),
      field<&P::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&P::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&P::protocol>("protocol",
                          "honest: choices are made on the validation split; original: on the test "
                          "split."));
  return fields;
}

namespace {

constexpr std::string_view kCaveatMeaning =
    "What the change includes besides pruning; null: nothing.";

}  // namespace

const Fields& fields_of(const PrunedModelResult*) {
  using P = PrunedModelResult;
  static const Fields fields = describe<P>(
      "pruned_model", "A pruned model compared with its baseline.", inlined<&P::pruning>(),
      inlined<&P::both>(), inlined<&P::size_and_time>(),
      field<&P::seed>("seed", "Random seed of training, random choices and calibration."),
      field<&P::seeds>("seeds", Unit::seeds, "Number of seeds: 1."),
      field<&P::gate>("gate", "Whether the gates hold; null: none were given."),
      field<&P::steps>("steps", Unit::steps, "Training steps; null: it was not trained."),
      field<&P::caveat>("caveat", kCaveatMeaning));
  return fields;
}

const Fields& fields_of(const PruneShapesFields*) {
  using P = PruneShapesFields;
  static const Fields fields = describe<P>(
      "prune", "A model with fewer heads, neurons or layers compared with its baseline.",
      inlined<&P::pruned>(),
      field<&P::units>("units", "Heads, neurons or layers that are kept, by group."));
  return fields;
}

const Fields& fields_of(const PruneSeedsFields*) {
  using P = PruneSeedsFields;
  static const Fields fields =
      describe<P>("prune", "Models pruned with several seeds compared with their baseline.",
                  inlined<&P::pruning>(), inlined<&P::loading>(), inlined<&P::seeds>(),
                  field<&P::caveat>("caveat", kCaveatMeaning));
  return fields;
}

}  // namespace hone
