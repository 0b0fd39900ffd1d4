#include "hone/jobs/widths.h"

#include "hone/jobs/candidate_curve.h"
#include "hone/jobs/run_identity.h"
#include "hone/study/result.h"

namespace hone {

WidthsResult study_widths(const WidthsJob& job, Context& context) {
  WidthsResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::candidates, context, document.notes);
  if (!begin_run(job.invocation, source.model.parameters, data, output))
    return finished<WidthsResult>(output, job.output);
  WidthStudyOptions options{.qat = job.training};
  if (!job.widths.empty()) options.widths = job.widths;
  options.qat.training.seed = job.seed;
  options.qat.training.save_steps = job.resume.save_steps;
  options.checkpoints_of = checkpoints_by_name(job.resume, source, output);
  const std::vector<std::string>& labels = source.model.facts.labels;
  const WidthStudy study = study_widths(source.model, data, options, context);
  document.title = fmt::format("{} in fixed point of {} widths", job.model, study.results.size());
  document.output = job.output.folder;
  result.fields = subject_of(job.model, data.identity, data.measured_choice());
  result.basis = basis_of(job.data.options.source, data, "simulated fixed point");
  std::vector<std::string> undrawn;
  describe(study, output.path() / "fixed_point", document, undrawn);
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  if (!chosen.empty()) document.sections.push_back(details_section(chosen, labels));
  finish_study(study.choice, width_table(study), compared_models(study), to_json(study, labels),
               labels, undrawn, result, job.invocation, output, context);
  result.study = study;
  return result;
}

}  // namespace hone
