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
      {"elsewhere",
       "What a program makes of a model that does not know the quantizers of what layers read.",
       {{"", "evaluation"}, {"comparison", "comparison", "against the model as it was"}}},
      fragment_of<BeforeAndAfterResult>(),
      {"native_copy",
       "A model in fp32 and what was made of it to be small and fast.",
       {{"format", "text", "of weights"},
        kArithmetic,
        {"", "before_and_after"},
        {"size", "size", "what the weights take"},
        {"size_before", "size", "what they took"},
        {"layers", "native_layer[]", "layers and tables that could have the format"},
        {"times", "native_times[]", "of the whole model: some texts at a time, then one"},
        {"threads", "integer", "that were used"}}},
      {"two_models",
       "Model A and model B.",
       {{"a", "named_metrics", "model A"},
        {"b", "named_metrics", "model B"},
        {"comparison", "comparison", "B against A"}}},
      {"tried_comparison",
       "A comparison with the part it was made on.",
       {{"", "comparison"},
        {"split", "train|validation|test|all", "its name"},
        {"n", "texts", "how many of it"}}},
      fragment_of<ChoiceResult>(),
      {"seed_spreads",
       "What several seeds say together.",
       {{"metric_spread", "seed_spread{}", "of the metric that is judged, by split or model"},
        {"loss_spread", "seed_spread{}", "of the loss, by part or model"}}},
  };
}

}  // namespace hone
