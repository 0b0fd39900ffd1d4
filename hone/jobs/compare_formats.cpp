#include "hone/jobs/compare_formats.h"

#include <optional>

#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {

CompareFormatsResult compare_formats(const CompareFormatsJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::candidates, context, report.notes);
  const std::vector<std::string>& labels = source.model.facts.labels;
  CompressOptions options{.calibration = job.calibration};
  options.fine_tune.eval_batch_size = job.calibration.batch_size;
  const std::vector<FormatChoice> choices =
      job.choices.empty() ? usual_choices(context.library.formats) : job.choices;
  CompareFormatsResult result{compare_formats(source.model, data, choices, options, context), {}};
  const FormatStudy& study = result.study;
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  const Table models = choice_table(study), layers = layer_table(study.results);
  const std::vector<std::string> doubts = concerns(compared_models(study), labels);
  tell_warnings(context, doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  result.fields = subject_of(job.model, data.identity, data.measured_choice());
  result.fields.update(to_json(study, labels));
  result.fields["layers"] = to_json(layers);
  result.text = [study, chosen, labels, layers](const TextStyle& style, bool with_layers) {
    return fmt::format("{}\n{}{}One seed.\n", to_text(study, style),
                       details_text(chosen, labels, style),
                       with_layers ? to_text(layers, style) + "\n" : "");
  };
  if (!output) return result;
  write_file(output->path() / "formats.csv", to_csv(with_part(models, study.choice)));
  write_file(output->path() / "layers.csv", to_csv(layers));
  report.results = result.fields;
  report.title = fmt::format("{} in {} number formats", job.model, study.results.size());
  report.headline = choice_verdict(study);
  report.basis = basis_of(job.data.options.source, data, "simulated");
  std::vector<std::string> undrawn;
  report.sections = {choice_section(study, output->path() / "formats", undrawn)};
  if (!chosen.empty()) report.sections.push_back(details_section(chosen, labels));
  report.sections.push_back({"Layers", {PageTable{layers}}, /*folded=*/true});
  report.notes.insert(report.notes.end(), undrawn.begin(), undrawn.end());
  tell_warnings(context, undrawn);
  write_run_report(report, output->path(), context);
  output->commit();
  return result;
}

}  // namespace hone
