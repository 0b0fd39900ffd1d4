#include "hone/jobs/prune/sparsities.h"

#include "hone/jobs/candidate_curve.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/unrounded_weights.h"
#include "hone/study/result.h"

namespace hone {

const Fields& fields_of(const SparsitiesFields*) {
  using S = SparsitiesFields;
  static const Fields fields = describe<S>(
      "sparsities", "A model pruned to several sparsities.", inlined<&S::subject>(),
      field<&S::models>("models",
                        "The baseline, then the candidates of each method from the lowest sparsity "
                        "to the highest."),
      field<&S::max_sparsity>("max_sparsity", Unit::share,
                              "By method, the highest sparsity that is within the limit, as all "
                              "lower ones are; null: none."),
      field<&S::structure>("structure", "weights, or the blocks that were removed, such as 1x4."),
      field<&S::trained>("trained", "Whether candidates were trained after pruning."),
      inlined<&S::choice>());
  return fields;
}

JobResult study_sparsities(const SparsitiesJob& job, Context& context) {
  JobResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  load_unrounded(source.model, source.folder);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::candidates, context, document.notes);
  if (!begin_run(job.invocation, source.model.parameters, data, output))
    return finished<JobResult>(output, job.output);
  SparsityStudyOptions options = job.study;
  SparsifyOptions& how = options.how;
  how.pruning.rule.seed = how.calibration.seed = how.fine_tune.training.seed = job.seed;
  how.fine_tune.training.save_steps = job.resume.save_steps;
  options.checkpoints_of = checkpoints_by_name(job.resume, source, output);
  const std::vector<std::string>& labels = source.model.facts.labels;
  const SparsityStudy study = study_sparsities(source.model, data, options, context);
  const PruneStructure& structure = how.pruning.rule.structure;
  document.title =
      fmt::format("{} pruned to {} sparsities{}", job.model, options.sparsities.size(),
                  structure.block.is_single() ? "" : " in blocks of " + structure_text(structure));
  document.output = job.output.folder;
  result.basis =
      basis_of(job.data.options.source, data,
               source.model.quantization ? "simulated " + summary(source.model.quantization->plan)
                                         : std::string(kFloat));
  std::vector<std::string> figure_notes;
  fill_document(study, output.path() / "sparsity", document, figure_notes);
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  if (!chosen.empty()) document.sections.push_back(details_section(chosen, labels));
  const std::vector<ComparedModel> models = compared_models(study);
  SparsitiesFields fields{
      .subject = subject_result(job.model, data.identity, data.measured_choice()),
      .structure = structure_text(structure),
      .trained = study.trained,
      .choice =
          choice_result(study.choice, labels, sparsity_verdict(study), sparsity_findings(study))};
  for (const ComparedModel& model : models) fields.models.push_back(measured_model(model, labels));
  for (const SparsityCurve& curve : study.curves)
    fields.max_sparsity.emplace_back(
        to_string(curve.method),
        curve.kept ? std::optional(curve.results[*curve.kept].sparsity) : std::nullopt);
  finish_study(study.choice, sparsity_table(study), models, to_json(fields), labels, figure_notes,
               result, job.invocation, output, context);
  return result;
}

}  // namespace hone
