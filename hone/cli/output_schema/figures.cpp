#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/model_change.h"
#include "hone/jobs/train.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/study/gates.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

namespace hone {

std::vector<Fragment> fragments_of_figures() {
  return {
      fragment_of<SubjectResult>(),
      fragment_of<MeasuredSplitResult>(),
      fragment_of<DataResult>(),
      fragment_of<SplitResult>(),
      fragment_of<NumberFacts>(),
      fragment_of<ModelSize>(),
      fragment_of<EvaluationResult>(),
      fragment_of<ClassResult>(),
      fragment_of<LabelResult>(),
      fragment_of<OutputResult>(),
      fragment_of<ComparisonResult>(),
      fragment_of<Verdict>(),
      fragment_of<GateResult>(),
      fragment_of<GatedChangeResult>(),
      fragment_of<LostClassResult>(),
      fragment_of<SeedSpread>(),
      fragment_of<SeedChangeResult>(),
      {"result",
       "What every result begins with.",
       {{"schema_version", "integer", "of this page; 1"},
        {"command", "text", "the command: \"train\""}}},
      fragment_of<OperationCount>(),
      fragment_of<ModelChangeResult>(),
      fragment_of<DistillationResult>(),
      fragment_of<AdapterSize>(),
      fragment_of<SplitEvaluationResult>(),
      fragment_of<NamedMetrics>(),
      fragment_of<MeasuredModelResult>(),
      fragment_of<BeforeAndAfterResult>(),
      fragment_of<ChoiceResult>(),
      fragment_of<SeedSpreads>(),
  };
}

}  // namespace hone
