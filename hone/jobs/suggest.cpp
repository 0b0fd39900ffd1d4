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

// The table, and what rounding does to each operand as it was given.
Json suggestions_json(const std::vector<Suggestion>& suggestions, const Table& table) {
  Json rows = to_json(table);
  for (std::size_t i = 0; i < suggestions.size(); ++i)
    rows[i].update({{"clipped", suggestions[i].noise_before.clipped_share()},
                    {"flushed", suggestions[i].noise_before.flushed_share()},
                    {"smallest_step", suggestions[i].noise_before.smallest_step},
                    {"standard_deviation", suggestions[i].noise_before.standard_deviation()}});
  return rows;
}

}  // namespace

SuggestResult suggest_formats(const SuggestJob& job, Context& context) {
  if (!job.recipe.empty()) check_output_file(job.recipe, job.overwrite);
  SuggestResult result;
  Document& document = result.document;
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::candidates, context, document.notes);
  const Model& model = source.model;
  const std::vector<std::string>& labels = model.facts.labels;
  const CompressOptions options{.plan = one_format(model, job.format),
                                .calibration = job.calibration};
  const std::vector<Suggestion> suggestions =
      suggest(model, options.plan, data.train, options.calibration, job.bits, context);
  result.trial = try_suggestions(model, data, options, suggestions, context);
  const std::vector<std::string> doubts = concerns(result.trial.models(), labels);
  tell_warnings(context, doubts);
  document.notes.insert(document.notes.end(), doubts.begin(), doubts.end());
  result.recipe = to_recipe(with_suggestions(options.plan, suggestions), plain_graph(model));
  if (!job.recipe.empty()) write_file(job.recipe, result.recipe);
  const Table table = suggestion_table(suggestions);
  result.fields = subject_of(job.model, data.identity, data.measured_choice());
  result.fields.update(to_json(result.trial, labels));
  result.fields["suggestions"] = suggestions_json(suggestions, table);
  result.fields["recipe"] = result.recipe;
  describe(result.trial, document);
  document.title = fmt::format("{}: better parameters of {}", job.model, to_string(job.format));
  document.sections.push_back(details_section(chosen_evaluations(result.trial), labels));
  document.sections.push_back(
      {"Suggestions",
       {PageTable{table,
                  "Each layer's parameters lose least of its weights and of a sample of its inputs "
                  "on training examples. Nothing was trained."}}});
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
