#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/apply_pass.h"
#include "hone/jobs/native/quantize_native.h"
#include "hone/jobs/pack.h"
#include "hone/jobs/prune/prune_result.h"
#include "hone/jobs/prune/trim.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/size_and_time.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/jobs/widths.h"

// What makes models smaller.
namespace hone {
std::vector<SchemaDocument> documents_of_compression() {
  return {
      document_of<PackFields>(),
      document_of<UnpackFields>(),
      {"quantize",
       "A quantized model beside its baseline.",
       {form_of<QuantizeFields>(kOneSeed), form_of<QuantizeNativeFields>("with --native"),
        form_of<QuantizeSeedsFields>(kManySeeds)}},
      {"prune",
       "A pruned model beside its baseline.",
       {form_of<PruneFields>("of single weights"),
        form_of<PruneShapesFields>("with --structure heads, neurons or layers"),
        form_of<PruneSeedsFields>(kManySeeds)}},
      document_of<TrimFields>(),
      {"pass",
       "A pass over a model.",
       {form_of<PassFields>("of one that changes it"),
        form_of<PassFindings>("of one that only inspects it")}},
      document_of<WidthsFields>(),
  };
}

std::vector<Fragment> fragments_of_compression() {
  return {
      fragment_of<QuantizedResult>(),
      fragment_of<TransformersEvaluation>(),
      fragment_of<ChangeRunResult>(),
      fragment_of<ChangeSeedsResult>(),
      fragment_of<ProductTimes>(),
      fragment_of<NativeLayerResult>(),
      fragment_of<SmoothGroupResult>(),
      fragment_of<Widening>(),
      fragment_of<TriedWidening>(),
      fragment_of<PruningResult>(),
      fragment_of<PrunedModelResult>(),
      fragment_of<InputZeros>(),
      fragment_of<PrunedZerosResult>(),
      fragment_of<Zeros>(),
      fragment_of<NamedZerosResult>(),
      fragment_of<PrunedGroup>(),
      fragment_of<SizeAndTimeResult>(),
      fragment_of<LoadingResult>(),
      fragment_of<EncoderShapes>(),
      fragment_of<ModelTimes>(),
      fragment_of<TrimmedVocabularyResult>(),
      fragment_of<RespelledResult>(),
      fragment_of<ChangeTimes>(),
      fragment_of<RoundTimes>(),
      fragment_of<TimesInTurn>(),
      fragment_of<MemoryAccountResult>(),
      fragment_of<SavingStep>(),
      fragment_of<AccountRowResult>(),
  };
}

}  // namespace hone
