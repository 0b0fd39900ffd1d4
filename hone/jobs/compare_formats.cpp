#include "hone/jobs/compare_formats.h"

#include <optional>

#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {

const Fields& fields_of(const CompareFormatsFields*) {
  using C = CompareFormatsFields;
  static const Fields fields = describe<C>(
      "compare-formats", "A model in several number formats.", inlined<&C::subject>(),
      field<&C::formats>("formats", "The baseline, then every choice."),
      field<&C::chosen>("chosen",
                        "The choice with the fewest bits of those within the limit; null: none."),
      inlined<&C::choice>(), field<&C::layers>("layers", "Every layer in every choice."));
  return fields;
}

CompareFormatsResult compare_formats(const CompareFormatsJob& job, Context& context) {
  CompareFormatsResult result;
  Document& document = result.document;
  std::optional<OutputFolder> output;
  if (!job.output.folder.empty()) output.emplace(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::candidates, context, document.notes);
  const std::vector<std::string>& labels = source.model.facts.labels;
  CompressOptions options{.calibration = job.calibration};
  options.fine_tune.eval_batch_size = job.calibration.batch_size;
  const std::vector<FormatChoice> choices =
      job.choices.empty() ? default_format_choices(context.library.formats) : job.choices;
  result.study = compare_formats(source.model, data, choices, options, context);
  const FormatStudy& study = result.study;
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(study);
  const Table layers = layer_table(study.results);
  std::vector<std::string> doubts = concerns(compared_models(study), labels);
  CompareFormatsFields fields{
      .subject = subject_result(job.model, data.identity, data.measured_choice()),
      .formats = format_choices(study, labels),
      .choice = choice_result(study.choice, labels, choice_verdict(study), choice_findings(study)),
      .layers = format_layers(study.results)};
  if (study.chosen) fields.chosen = study.results[*study.chosen].choice.label;
  result.fields = to_json(fields);
  fill_document(study, document);
  document.title = fmt::format("{} in {} number formats", job.model, study.results.size());
  document.sections.push_back(choice_section(
      study, output ? std::optional(output->path() / "formats") : std::nullopt, doubts));
  if (!chosen.empty()) document.sections.push_back(details_section(chosen, labels));
  document.sections.push_back({"Layers", {PageTable{layers}}, /*folded=*/!job.layers});
  document.sections.push_back(choice_reading(study));
  print_warnings(context, doubts);
  document.notes.insert(document.notes.end(), doubts.begin(), doubts.end());
  if (!output) return result;
  document.output = job.output.folder;
  result.basis = basis_of(job.data.options.source, data, "simulated");
  write_file(output->path() / "formats.csv",
             to_csv(with_split_columns(choice_table(study), study.choice)));
  write_file(output->path() / "layers.csv", to_csv(layers));
  write_report(result, job.invocation, output->path(), context);
  output->commit();
  return result;
}

}  // namespace hone
