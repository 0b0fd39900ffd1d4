#include "hone/cli/formats.h"
#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/compare_formats.h"
#include "hone/jobs/explanation.h"
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
      fragment_of<DiagnosisResult>(),    fragment_of<SplitComparisonResult>(),
      fragment_of<OperandResult>(),      fragment_of<FormatVerdictsResult>(),
      fragment_of<LayersInFormat>(),     fragment_of<OperandVerdictResult>(),
      fragment_of<FormatRow>(),          fragment_of<FormatParameterRow>(),
      fragment_of<SpelledNumberRow>(),   fragment_of<QuantizedTensorRow>(),
      fragment_of<FormatChoiceResult>(), fragment_of<FormatLayerResult>(),
      fragment_of<SuggestionResult>(),   fragment_of<PlannedOperand>(),
  };
}

}  // namespace hone
