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
      {"spelled_element",
       "An element of MXINT by the rule of mase-cuda, of 4 bits too. Of bfloat16 the bits of sign, "
       "exponent and "
       "fraction are set apart.",
       {{"element", "integer", "its place in the array"},
        {"code", "text", "its bits, in two's complement"},
        {"mantissa", "integer", "the number they stand for, m"},
        {"scale", "integer", "of its group, from 0 to 255"},
        {"sign", "integer", "1: m is negative"},
        {"exponent", "text", "the bits of the scale"},
        {"fraction", "text", "what of |m| lies below the unit, as the fraction of a bfloat16"},
        {"unit", "integer", "the bit of |m| for the unit, |m| & 0x40 (of 4 bits 0x4)"},
        {"out", "text", "the bfloat16 with sign, exponent and fraction"},
        {"bias", "text", "the bfloat16 with sign and exponent alone"},
        {"branch", "out|out - bias", "without the unit the bias is subtracted"},
        {"bfloat16", "text", "the result"},
        {"value", "number", "the result: m times a power of two"}}},
  };
}

}  // namespace hone
