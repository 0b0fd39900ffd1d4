#include "hone/jobs/widths.h"

#include "hone/jobs/candidate_curve.h"
#include "hone/jobs/run_identity.h"
#include "hone/study/result.h"

namespace hone {

const Fields& fields_of(const WidthsFields*) {
  using W = WidthsFields;
  static const Fields fields = describe<W>(
      "widths", "A model in fixed point of several widths.", inlined<&W::subject>(),
      field<&W::models>("models", "The baseline, then PTQ and QAT of every width."),
      field<&W::narrowest_ptq>("narrowest_ptq",
                               "The narrowest width within the limit, as all wider ones are, by "
                               "rounding alone: \"8.4\"; null: none."),
      field<&W::narrowest_qat>("narrowest_qat", "The same with training."), inlined<&W::choice>());
  return fields;
}

WidthsResult study_widths(const WidthsJob& job, Context& context) {
  WidthsResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::candidates, context, document.notes);
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
  WidthsFields fields{
      .subject = subject_result(job.model, data.identity, data.measured_choice()),
      .models = measured_models(compared_models(study), labels),
      .choice = choice_result(study.choice, labels, width_verdict(study), width_findings(study))};
  if (study.narrowest_ptq)
    fields.narrowest_ptq = to_string(study.results[*study.narrowest_ptq].width);
  if (study.narrowest_qat)
    fields.narrowest_qat = to_string(study.results[*study.narrowest_qat].width);
  result.basis = basis_of(job.data.options.source, data, "simulated fixed point");
  std::vector<std::string> figure_notes;
  fill_document(study, output.path() / "fixed_point", document, figure_notes);
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  if (!chosen.empty()) document.sections.push_back(details_section(chosen, labels));
  finish_study(study.choice, width_table(study), compared_models(study), to_json(fields), labels,
               figure_notes, result, job.invocation, output, context);
  result.study = study;
  return result;
}

}  // namespace hone
