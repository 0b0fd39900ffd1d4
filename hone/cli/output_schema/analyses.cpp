#include "hone/cli/output_schema/output_fields.h"
#include "hone/cli/passes.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/bench_attention.h"
#include "hone/jobs/bench_dequantize.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/bench_models.h"
#include "hone/jobs/bench_naive.h"
#include "hone/jobs/compile.h"
#include "hone/jobs/diff.h"
#include "hone/jobs/draw.h"
#include "hone/jobs/inspect.h"
#include "hone/jobs/kernels.h"
#include "hone/jobs/profile.h"
#include "hone/jobs/prune/sparsities.h"
#include "hone/jobs/run_profile.h"
#include "hone/jobs/sensitivity.h"
#include "hone/jobs/statistics.h"

// What is looked at, drawn and timed.
namespace hone {
std::vector<SchemaDocument> documents_of_analyses() {
  return {
      document_of<SparsitiesFields>(),
      document_of<SensitivityFields>(),
      document_of<StatisticsFields>(),
      {"passes",
       "The passes over a model's graph.",
       {form_of<PassesFields>("without arguments"), form_of<PassRow>("PASS")}},
      document_of<InspectFields>(),
      document_of<DrawFields>(),
      document_of<DiffFields>(),
      {"bench",
       "How long a run takes on this machine.",
       {form_of<BenchFields>("MODEL"), form_of<IterationTimes>("MODEL --iterations"),
        form_of<NaiveTimes>("MODEL --pitfalls"), form_of<BenchModelsFields>("MODEL MODEL"),
        form_of<BenchAttentionFields>("attention"), form_of<BenchLinearFields>("linear"),
        form_of<BenchDequantizeFields>("dequantize")}},
      {"kernels",
       "The kernels of operations.",
       {form_of<KernelsFields>("without --model"), form_of<ModelKernelsFields>("with --model")}},
      document_of<CompileFields>(),
      document_of<ProfileFields>(),
  };
}

std::vector<Fragment> fragments_of_analyses() {
  return {
      fragment_of<TimedWork>(),
      fragment_of<IterationTimes>(),
      fragment_of<NaiveTimes>(),
      fragment_of<CallSeries>(),
      fragment_of<StageTime>(),
      fragment_of<WayTimes>(),
      fragment_of<ExecutorTimesResult>(),
      fragment_of<LoopMeanResult>(),
      fragment_of<ExecutorComparisonResult>(),
      fragment_of<NaiveMistake>(),
      fragment_of<KernelRow>(),
      fragment_of<NodeKernel>(),
      fragment_of<KernelRefusal>(),
      fragment_of<CompileStages>(),
      fragment_of<CompiledGroup>(),
      fragment_of<CompiledKernel>(),
      fragment_of<CompiledTimes>(),
      fragment_of<PassRow>(),
      fragment_of<PassOptionRow>(),
      fragment_of<LayerSensitivityResult>(),
      fragment_of<TensorStatistics>(),
      fragment_of<ModuleParametersResult>(),
      fragment_of<InputLimitsResult>(),
      fragment_of<AverageBitsResult>(),
      fragment_of<BenchTimesResult>(),
      fragment_of<OperatorTimeResult>(),
      fragment_of<ModelRounds>(),
      fragment_of<KernelTimeResult>(),
      fragment_of<AttentionTimesResult>(),
      fragment_of<LinearTimesResult>(),
      fragment_of<DecodeTimesResult>(),
      fragment_of<kernels::DequantizePartition>(),
      fragment_of<DecodeTilesResult>(),
      fragment_of<SpelledElementResult>(),
      fragment_of<Speedup>(),
      fragment_of<NodeDifferenceResult>(),
      fragment_of<ParameterDifference>(),
  };
}

}  // namespace hone
