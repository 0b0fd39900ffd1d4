#include "hone/cli/output_schema/output_fields.h"
#include "hone/labs/attention_lab.h"
#include "hone/labs/kernel_lab.h"
#include "hone/labs/mxint8_lab.h"
#include "hone/labs/speed_lab.h"

namespace hone {

std::vector<Fragment> fragments_of_labs() {
  return {
      fragment_of<LabRowResult>(),          fragment_of<LabFields>(),
      fragment_of<LabStageResult>(),        fragment_of<LabCost>(),
      fragment_of<PipelineFields>(),        fragment_of<PublishedResult>(),
      fragment_of<LabDecodeResult>(),       fragment_of<DecodeException>(),
      fragment_of<LabMemoryResult>(),       fragment_of<LabPackingResult>(),
      fragment_of<Fp32Parameter>(),         fragment_of<LabProcessResult>(),
      fragment_of<LabVocabularyResult>(),   fragment_of<LabSensitivityResult>(),
      fragment_of<LabLinearResult>(),       fragment_of<LabProductsResult>(),
      fragment_of<LabProductModelResult>(), fragment_of<LabLogitsResult>(),
      fragment_of<LabExecutorResult>(),     fragment_of<LabWorkResult>(),
      fragment_of<LabAttentionResult>(),    fragment_of<LabOperatorResult>(),
      fragment_of<LabKernelResult>(),       fragment_of<LabKernelErrorResult>(),
      fragment_of<KernelError>(),           fragment_of<LabKernelTimesResult>(),
      fragment_of<OtherDevice>(),
  };
}

}  // namespace hone
