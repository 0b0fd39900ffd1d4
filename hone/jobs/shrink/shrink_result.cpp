#include "hone/jobs/shrink/shrink_result.h"

#include "hone/jobs/shrink/shrink_advice.h"

namespace hone {

const Fields& fields_of(const ShrunkModelResult*) {
  using S = ShrunkModelResult;
  static const Fields fields = describe<S>(
      "shrunk_model", "A shrunk model compared with its baseline.",
      field<&S::output>("output",
                        "Its folder in the output folder: model or unproven, with --loadable "
                        "transformers or unproven-transformers; null: nothing became smaller."),
      inlined<&S::both>(), inlined<&S::size_and_time>(),
      field<&S::arithmetic>("arithmetic", kArithmeticMeaning));
  return fields;
}

const Fields& fields_of(const ShrinkFields*) {
  using S = ShrinkFields;
  static const Fields fields = describe<S>(
      "shrink",
      "A model made as small and fast as its accuracy allows. Where nothing became smaller, the "
      "keys of the model are null.",
      inlined<&S::subject>(), field<&S::goal>("goal", "What is minimized."),
      field<&S::max_drop>("max_drop", "Allowed drop of the metric, in points."),
      field<&S::budget_seconds>(
          "budget_seconds", Unit::seconds,
          "No candidate begins that would take longer; the final measurement is not part of it."),
      field<&S::seconds>("seconds", Unit::seconds, "Duration, without interruptions."),
      field<&S::evaluations>("evaluations", "Models evaluated on the split that chooses."),
      field<&S::max_evaluations>(
          "max_evaluations",
          "Maximum number of evaluations, for which verdicts on that split are corrected."),
      field<&S::end>("end", "Why the search ended."),
      field<&S::proven>("proven", "Whether the model was shown to be within the limit there."),
      field<&S::seed>("seed", "Random seed."),
      field<&S::seeds>("seeds", Unit::seeds, "Number of seeds."),
      field<&S::chosen_on>("chosen_on", "Split on which choices are made."),
      field<&S::examples_needed>(
          "examples_needed", Unit::examples,
          "Number of its examples that would show the most promising candidate, and the baseline "
          "itself, to be within the limit (power 80%); null: it is shown, or no number is known."),
      field<&S::candidate>("candidate",
                           "Number of the chosen one; null: nothing but tokens was removed, or "
                           "nothing."),
      field<&S::trial>("trial", "Its number in study.db; null where `candidate` is."),
      field<&S::candidates>("candidates", "In the order in which they were evaluated."),
      field<&S::vocabulary>("vocabulary",
                            "The result of trimming the vocabulary; null: the training split uses "
                            "all tokens, or trimming was not requested."),
      inlined<&S::judged>(),
      field<&S::gate>("gate",
                      "Whether the gates hold on the reported split; null: nothing became "
                      "smaller."),
      field<&S::loadable>("loadable",
                          "The program that loads the judged folder; null without --loadable."),
      field<&S::packed>("packed",
                        "The same model packed; null without --loadable, and where no weight is "
                        "packed."));
  return fields;
}

ShrunkModelResult shrunk_model_result(const ShrunkModel& model) {
  return {.output = model.name,
          .both = before_and_after_result(model.both, model.model.facts.labels),
          .size_and_time = size_and_time_result(model.size_and_time),
          .arithmetic = std::string(model.arithmetic)};
}

ShrinkFields shrink_fields(const ShrinkFindings& f, const std::vector<ShrunkModel>& models) {
  ShrinkFields fields{.subject = subject_result(f.job.model, f.data.identity, f.data.measured),
                      .goal = f.job.goal,
                      .max_drop = 100 * f.margin(),
                      .budget_seconds = f.job.budget_seconds,
                      .seconds = f.seconds,
                      .evaluations = f.evaluations(),
                      .max_evaluations = f.job.max_evaluations,
                      .end = f.end,
                      .proven = f.proven,
                      .seed = f.job.seed,
                      .chosen_on = measured_split_result(f.chosen_on()),
                      .candidates = f.points,
                      .vocabulary = f.trimmed};
  if (const auto needed = examples_needed(f)) fields.examples_needed = needed->validation;
  if (f.chosen) {
    fields.candidate = f.points[*f.chosen].number;
    fields.trial = f.points[*f.chosen].trial;
  }
  if (models.empty()) return fields;
  fields.judged = shrunk_model_result(models.front());
  fields.gate = gate_result(models.front().both.gates);
  if (f.job.loadable) fields.loadable = "transformers";
  if (models.size() > 1) fields.packed = shrunk_model_result(models[1]);
  return fields;
}

}  // namespace hone
