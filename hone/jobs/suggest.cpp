#include "hone/jobs/suggest.h"

#include "hone/base/text.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/format_search.h"
#include "hone/study/result.h"

namespace hone {
namespace {

Table suggestion_table(const std::vector<Suggestion>& suggestions) {
  Table table({{"layer", "Layer"},
               {"operand", "Operand"},
               {"before", "Given"},
               {"before_snr_db", "SNR given (dB)"},
               {"after", "Suggested"},
               {"after_snr_db", "SNR suggested (dB)"}});
  for (const Suggestion& s : suggestions)
    table.add_row({s.layer, to_string(s.operand), to_string(s.before),
                   real(s.noise_before.snr_db(), 1), to_string(s.after),
                   real(s.noise_after.snr_db(), 1)});
  return table;
}

std::vector<SuggestionResult> suggestion_results(const std::vector<Suggestion>& suggestions) {
  std::vector<SuggestionResult> rows;
  for (const Suggestion& s : suggestions)
    rows.push_back({.layer = s.layer,
                    .operand = s.operand,
                    .before = to_string(s.before),
                    .before_snr_db = s.noise_before.snr_db(),
                    .after = to_string(s.after),
                    .after_snr_db = s.noise_after.snr_db(),
                    .clipped = s.noise_before.clipped_share(),
                    .flushed = s.noise_before.flushed_share(),
                    .smallest_step = s.noise_before.smallest_step,
                    .standard_deviation = s.noise_before.standard_deviation()});
  return rows;
}

}  // namespace

const Fields& fields_of(const SuggestionResult*) {
  using S = SuggestionResult;
  static const Fields fields = describe<S>(
      "suggestion", "Better parameters for one operand of a layer.",
      field<&S::layer>("layer", "Name of the layer."),
      field<&S::operand>("operand", "Of the layer."),
      field<&S::before>("before", "The given format."),
      field<&S::before_snr_db>("before_snr_db", Unit::decibels,
                               "Its signal-to-noise ratio; null: nothing is lost, or all is zero.")
          .or_null(),
      field<&S::after>("after", "The suggested format."),
      field<&S::after_snr_db>("after_snr_db", Unit::decibels, "Its signal-to-noise ratio.")
          .or_null(),
      field<&S::clipped>("clipped", Unit::share,
                         "Values beyond the range of the given format; null: no values.")
          .or_null(),
      field<&S::flushed>("flushed", Unit::share,
                         "Values that become zero in the given format; null: no values.")
          .or_null(),
      field<&S::smallest_step>("smallest_step",
                               "Smallest magnitude above zero; 0: all values are zero."),
      field<&S::standard_deviation>("standard_deviation", "Of the values; null: no values.")
          .or_null());
  return fields;
}

const Fields& fields_of(const SuggestFields*) {
  using S = SuggestFields;
  static const Fields fields = describe<S>(
      "suggest", "Better parameters of a number format, layer by layer.", inlined<&S::subject>(),
      field<&S::suggestions>("suggestions", "Every operand."),
      field<&S::models>("models", "The baseline, with the given format, with the suggestions."),
      inlined<&S::choice>(), field<&S::recipe>("recipe", "The suggestions as a recipe (TOML)."));
  return fields;
}

SuggestResult suggest_formats(const SuggestJob& job, Context& context) {
  if (!job.recipe.empty()) check_output_file(job.recipe, job.overwrite);
  SuggestResult result;
  Document& document = result.document;
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::candidates, context, document.notes);
  const Model& model = source.model;
  const std::vector<std::string>& labels = model.facts.labels;
  const CompressOptions options{.plan = plan_with_format(model, job.format),
                                .calibration = job.calibration};
  const std::vector<Suggestion> suggestions =
      suggest(model, options.plan, data.train, options.calibration, job.bits, context);
  result.trial = try_suggestions(model, data, options, suggestions, context);
  const std::vector<std::string> doubts = concerns(result.trial.models(), labels);
  print_warnings(context, doubts);
  document.notes.insert(document.notes.end(), doubts.begin(), doubts.end());
  result.recipe = to_recipe(with_suggestions(options.plan, suggestions), unquantized_graph(model));
  if (!job.recipe.empty()) write_file(job.recipe, result.recipe);
  const Table table = suggestion_table(suggestions);
  const Choice& choice = result.trial.choice;
  result.fields = to_json(SuggestFields{
      .subject = subject_result(job.model, data.identity, data.measured_choice()),
      .suggestions = suggestion_results(suggestions),
      .models = measured_models(result.trial.models(), labels),
      .choice = choice_result(choice, labels, summary_of(result.trial), reported_findings(choice)),
      .recipe = result.recipe});
  fill_document(result.trial, document);
  document.title = fmt::format("{}: better parameters of {}", job.model, to_string(job.format));
  document.sections.push_back(details_section(chosen_evaluations(result.trial), labels));
  document.sections.push_back(
      {"Suggestions",
       {PageTable{table,
                  "Each layer's parameters minimize the error of its weights and of a sample of "
                  "its inputs on training examples. Nothing was trained."}}});
  if (!job.recipe.empty()) {
    document.sections.back().blocks.push_back(
        Paragraph{fmt::format("Recipe written to {}.", job.recipe)});
    document.next = {
        {"Quantize with the recipe",
         fmt::format("hone quantize {} --recipe {} --data {} -o quantized", shell_word(job.model),
                     shell_word(job.recipe), shell_word(job.data.options.source))}};
  }
  return result;
}

}  // namespace hone
