#include "hone/jobs/train_result.h"

namespace hone {
namespace {

constexpr std::string_view kOfValidation =
                               "The validation split; null: the data has no validation split.",
                           kOfTest = "The test split; null: the data has no test split.",
                           kAdapterMeaning = "Size of the adapter; null without --lora.",
                           kVocabularyMeaning =
                               "The vocabulary that was learned; null: the model had one.",
                           kTrainedClassWeightsMeaning =
                               "Weight of each class in the loss; null without --class_weights.",
                           kTrainedDistillMeaning = "The distillation; null without --distill.",
                           kProtocolMeaning =
                               "honest: choices are made on the validation split; original: on "
                               "the test split.";

}  // namespace

const Fields& fields_of(const SplitEvaluationResult*) {
  using S = SplitEvaluationResult;
  static const Fields fields = describe<S>("split_evaluation", "A measurement of one split.",
                                           inlined<&S::evaluation>(), inlined<&S::split>());
  return fields;
}

const Fields& fields_of(const TrainFields*) {
  using T = TrainFields;
  static const Fields fields = describe<T>(
      "train", "A training of one seed.", inlined<&T::subject>(),
      field<&T::train_loss>("train_loss", Unit::nats, "Mean over all steps; null: there were none.")
          .or_null(),
      field<&T::train_runtime>("train_runtime", Unit::seconds, "Duration."),
      field<&T::train_samples_per_second>("train_samples_per_second", Unit::examples_per_second,
                                          "Throughput."),
      field<&T::train_steps_per_second>("train_steps_per_second", Unit::steps_per_second,
                                        "Throughput in steps."),
      field<&T::train_samples>("train_samples", Unit::examples, "Size of the training split."),
      field<&T::steps>("steps", Unit::steps, "Steps done."),
      field<&T::loss_fell>("loss_fell",
                           "Whether the mean loss of the last tenth of the steps, five at least, "
                           "is below that of the first; null under ten steps."),
      field<&T::ended_early>("ended_early", "Whether it stopped because no evaluation improved."),
      field<&T::weights_of_step>("weights_of_step", "The step whose weights the model has."),
      field<&T::best_step>("best_step",
                           "The step of the best evaluation, by metric_for_best_model; null: none "
                           "was made."),
      field<&T::best_value>("best_metric", "The metric of that evaluation; null where it is."),
      field<&T::protocol>("protocol", kProtocolMeaning),
      field<&T::seed>("seed", "Random seed of order, dropout and fresh weights."),
      field<&T::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&T::before>("before",
                        "The model without the adapter, on the split that judges the training; "
                        "null without --lora, and without such a split."),
      field<&T::before_fresh_head>("before_fresh_head",
                                   "Whether its head, or a part of it, was untrained; null where "
                                   "`before` is."),
      field<&T::vocabulary>("vocabulary", kVocabularyMeaning),
      field<&T::distill>("distill", kTrainedDistillMeaning),
      field<&T::class_weights>("class_weights", kTrainedClassWeightsMeaning),
      field<&T::validation>("validation", kOfValidation), field<&T::test>("test", kOfTest),
      field<&T::validation_test_gap>("validation_test_gap", Unit::difference,
                                     "Accuracy on validation minus test; null unless both exist "
                                     "and differ, and for other tasks."),
      field<&T::validation_test_gap_interval>("validation_test_gap_interval", Unit::difference,
                                              "Its 95% interval, by Newcombe's method."),
      field<&T::lora>("lora", kAdapterMeaning), field<&T::size>("size", "Size of the weights."));
  return fields;
}

const Fields& fields_of(const TrainRunResult*) {
  using R = TrainRunResult;
  static const Fields fields = describe<R>(
      "train_run", "One seed of a training.", field<&R::seed>("seed", "Random seed."),
      field<&R::validation>("validation", kOfValidation), field<&R::test>("test", kOfTest));
  return fields;
}

const Fields& fields_of(const TrainSeedsFields*) {
  using T = TrainSeedsFields;
  static const Fields fields =
      describe<T>("train_seeds", "A training of several seeds.", inlined<&T::subject>(),
                  field<&T::protocol>("protocol", kProtocolMeaning),
                  field<&T::size>("size", "Size of the weights of one seed."),
                  field<&T::lora>("lora", kAdapterMeaning),
                  field<&T::vocabulary>("vocabulary", kVocabularyMeaning),
                  field<&T::class_weights>("class_weights", kTrainedClassWeightsMeaning),
                  field<&T::distill>("distill", kTrainedDistillMeaning),
                  field<&T::seeds>("seeds", Unit::seeds, "Number of seeds."),
                  field<&T::runs>("runs", "Each seed."), inlined<&T::spreads>());
  return fields;
}

TrainSeedsFields train_seeds_fields(SubjectResult subject, const std::vector<Json>& results) {
  TrainFields first = from_json<TrainFields>(results.front());
  TrainSeedsFields fields{.subject = std::move(subject),
                          .protocol = std::move(first.protocol),
                          .size = first.size,
                          .lora = first.lora,
                          .vocabulary = std::move(first.vocabulary),
                          .class_weights = std::move(first.class_weights),
                          .distill = std::move(first.distill),
                          .seeds = std::ssize(results),
                          .spreads = seed_spreads(results, {"validation", "test"})};
  for (const Json& result : results) fields.runs.push_back(from_json<TrainRunResult>(result));
  return fields;
}

}  // namespace hone
