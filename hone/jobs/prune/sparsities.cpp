#include "hone/jobs/prune/sparsities.h"

#include "hone/jobs/candidate_curve.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/unrounded.h"
#include "hone/study/result.h"

namespace hone {

SparsitiesResult study_sparsities(const SparsitiesJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  take_unrounded(source.model, source.folder);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::candidates, context, report.notes);
  if (!begin_run(report.invocation, source.model.parameters, data, output))
    return {.was_finished = true, .fields = finished_results(output)};
  SparsityStudyOptions options = job.study;
  SparsifyOptions& how = options.how;
  how.pruning.rule.seed = how.calibration.seed = how.fine_tune.training.seed = job.seed;
  how.fine_tune.training.save_steps = job.resume.save_steps;
  options.checkpoints_of = checkpoints_by_name(job.resume, source, output);
  const std::vector<std::string>& labels = source.model.facts.labels;
  const SparsityStudy study = study_sparsities(source.model, data, options, context);
  report.title = fmt::format("{} pruned to {} sparsities", job.model, options.sparsities.size());
  report.headline = sparsity_verdict(study);
  report.results = subject_of(job.model, data.identity, data.measured_choice());
  report.basis =
      basis_of(job.data.options.source, data,
               source.model.quantization ? "simulated " + summary(source.model.quantization->plan)
                                         : std::string(kFloat));
  std::vector<std::string> undrawn;
  report.sections = {sparsity_section(study, output.path() / "sparsity", undrawn)};
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  if (!chosen.empty()) report.sections.push_back(details_section(chosen, labels));
  finish_study(study.choice, sparsity_table(study), compared_models(study), to_json(study, labels),
               labels, undrawn, report, output, context);
  SparsitiesResult result{.fields = report.results};
  result.text = [study, chosen, labels, folder = job.output.folder](const TextStyle& style) {
    return fmt::format("{}\n{}One seed; report.html in {}\n", to_text(study, style),
                       details_text(chosen, labels, style), folder);
  };
  return result;
}

}  // namespace hone
