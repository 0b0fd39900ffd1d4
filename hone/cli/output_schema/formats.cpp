#include "hone/cli/formats.h"
#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/compare_formats.h"
#include "hone/jobs/format_verdicts.h"
#include "hone/jobs/plan.h"
#include "hone/jobs/suggest.h"

// Number formats, what they make of models and who takes which.
namespace hone {
std::vector<SchemaDocument> documents_of_formats() {
  return {
      {"formats",
       "Number formats, explained.",
       {form_of<FormatsFields>("without arguments"), form_of<FormatFields>("FORMAT"),
        form_of<SpelledNumbersFields>("FORMAT NUMBER"),
        form_of<QuantizedTensorsFields>("FORMAT --input")}},
      document_of<CompareFormatsFields>(),
      document_of<SuggestFields>(),
      document_of<PlanFields>(),
  };
}

std::vector<Fragment> fragments_of_formats() {
  return {
      {"diagnosis",
       "Where accuracy is lost.",
       {{"operands", "operand[]", "what every quantized operand loses alone, the noisiest first"},
        {"with_better_parameters", "tried_comparison?",
         "all better parameters together, by rounding alone, against the parent, where choices "
         "are made; null: none are better, or there is no such part"},
        {"with_noisiest_in_full_precision", "tried_comparison?",
         "the same of the plan that leaves the noisiest quarter of the operands in full precision; "
         "null: better parameters were tried, there is no such part, or nothing else is quantized"},
        {"recipe", "text?",
         "a recipe (TOML): the better parameters, or where there are none, the noisiest quarter of "
         "the operands in full precision; null: nothing else is quantized"},
        {"command", "text", "a command that quantizes with it",
         "where something else is quantized"}}},
      fragment_of<OperandResult>(),
      fragment_of<FormatVerdictsResult>(),
      fragment_of<LayersInFormat>(),
      fragment_of<OperandVerdictResult>(),
      fragment_of<FormatRow>(),
      fragment_of<FormatParameterRow>(),
      fragment_of<SpelledNumberRow>(),
      fragment_of<QuantizedTensorRow>(),
      fragment_of<FormatChoiceResult>(),
      fragment_of<FormatLayerResult>(),
      fragment_of<SuggestionResult>(),
      fragment_of<PlannedOperand>(),
  };
}

}  // namespace hone
