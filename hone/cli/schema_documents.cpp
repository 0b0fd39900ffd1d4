#include "hone/base/folder_record.h"
#include "hone/cli/cache.h"
#include "hone/cli/doctor.h"
#include "hone/cli/formats.h"
#include "hone/cli/json_schema.h"
#include "hone/cli/passes.h"
#include "hone/jobs/allocation/allocation_report.h"
#include "hone/jobs/apply_pass.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/bench_attention.h"
#include "hone/jobs/bench_dequantize.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/bench_models.h"
#include "hone/jobs/bench_naive.h"
#include "hone/jobs/choose.h"
#include "hone/jobs/compare.h"
#include "hone/jobs/compare_formats.h"
#include "hone/jobs/compile.h"
#include "hone/jobs/convert.h"
#include "hone/jobs/diff.h"
#include "hone/jobs/draw.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/export.h"
#include "hone/jobs/inspect.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/kernels.h"
#include "hone/jobs/list_runs.h"
#include "hone/jobs/merge_adapter.h"
#include "hone/jobs/native/quantize_native.h"
#include "hone/jobs/pack.h"
#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/jobs/plan.h"
#include "hone/jobs/prediction.h"
#include "hone/jobs/profile.h"
#include "hone/jobs/prune/prune_result.h"
#include "hone/jobs/prune/sparsities.h"
#include "hone/jobs/prune/trim.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/run_profile.h"
#include "hone/jobs/search/search.h"
#include "hone/jobs/search/study.h"
#include "hone/jobs/search/watch_study.h"
#include "hone/jobs/sensitivity.h"
#include "hone/jobs/shrink/shrink_result.h"
#include "hone/jobs/statistics.h"
#include "hone/jobs/suggest.h"
#include "hone/jobs/tokenize.h"
#include "hone/jobs/train.h"
#include "hone/jobs/widths.h"
#include "hone/labs/attention_lab.h"
#include "hone/labs/kernel_lab.h"
#include "hone/labs/mxint8_lab.h"
#include "hone/labs/speed_lab.h"

// The --json output of commands, and the JSON files that they write.
namespace hone {
namespace {

constexpr std::string_view kOneSeed = "of one seed";
constexpr std::string_view kManySeeds = "with --seeds above 1, or of folders made so";

// The JSON result of a command.
template <Described T>
Form form_of(std::string_view when = "") {
  return {.when = when, .fields = &fields<T>()};
}
// The contents of a file.
template <Described T>
Form file_of(std::string_view when = "") {
  return {.when = when, .fields = &fields<T>(), .is_result = false};
}
// Only the keys of T that the user selects.
template <Described T>
Form chosen_of(std::string_view when) {
  return {.when = when, .fields = &fields<T>(), .is_result = false, .is_chosen = true};
}
// A command with one form, named like its struct.
template <Described T>
SchemaDocument document_of() {
  return {fields<T>().name, fields<T>().meaning, {form_of<T>()}};
}

}  // namespace

const std::vector<SchemaDocument>& documents() {
  static const std::vector<SchemaDocument> all = {
      {"train",
       "A training run.",
       {form_of<TrainFields>(kOneSeed), form_of<TrainSeedsFields>(kManySeeds)}},
      document_of<MergeFields>(),
      document_of<EvaluateFields>(),
      {"compare",
       fields<CompareFields>().meaning,
       {form_of<CompareFields>(kOneSeed), form_of<CompareSeedsFields>(kManySeeds)}},
      document_of<ChooseFields>(),
      {"predict",
       "The prediction for one example; the command prints one line for each.",
       {form_of<PredictFields>("with neither --embed nor --fields"),
        form_of<EmbedFields>("with --embed"), chosen_of<PredictionResult>("with --fields"),
        chosen_of<EmbeddingResult>("with --embed and --fields")}},
      document_of<ConvertFields>(),
      document_of<ExportFields>(),
      document_of<TokenizeFields>(),
      {"training_log.jsonl",
       "The log of a training run: one line with an object for every logging step and every "
       "evaluation, with the keys of Hugging Face's `log_history`. `settings.json` in the same "
       "folder has the version of the schema.",
       {file_of<StepLine>("of a logging step"), file_of<EvaluationLine>("of an evaluation")}},
      document_of<PackFields>(),
      document_of<UnpackFields>(),
      {"quantize",
       "A quantized model compared with its baseline.",
       {form_of<QuantizeFields>(kOneSeed), form_of<QuantizeNativeFields>("with --native"),
        form_of<QuantizeSeedsFields>(kManySeeds)}},
      {"prune",
       "A pruned model compared with its baseline.",
       {form_of<PruneFields>("of single weights"),
        form_of<PruneShapesFields>("with --structure heads, neurons or layers"),
        form_of<PruneSeedsFields>(kManySeeds)}},
      document_of<TrimFields>(),
      {"pass",
       "A pass over a model.",
       {form_of<PassFields>("of a pass that changes the model"),
        form_of<PassFindings>("of a pass that only inspects it")}},
      document_of<WidthsFields>(),
      {"formats",
       "Number formats.",
       {form_of<FormatsFields>("without arguments"), form_of<FormatFields>("FORMAT"),
        form_of<QuantizedNumbersFields>("FORMAT NUMBER"),
        form_of<QuantizedTensorsFields>("FORMAT --input")}},
      document_of<CompareFormatsFields>(),
      document_of<SuggestFields>(),
      document_of<PlanFields>(),
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
       "Latency on this machine.",
       {form_of<BenchFields>("MODEL"), form_of<IterationTimes>("MODEL --iterations"),
        form_of<NaiveTimes>("MODEL --pitfalls"), form_of<BenchModelsFields>("MODEL MODEL"),
        form_of<BenchAttentionFields>("attention"), form_of<BenchLinearFields>("linear"),
        form_of<BenchDequantizeFields>("dequantize")}},
      {"kernels",
       "The kernels of operations.",
       {form_of<KernelsFields>("without --model"), form_of<ModelKernelsFields>("with --model")}},
      document_of<CompileFields>(),
      document_of<ProfileFields>(),
      document_of<StudyFields>(),
      document_of<WatchFields>(),
      {"search",
       "A search over ways to compress a model, and its best trial.",
       {form_of<SearchFields>("without --join"),
        form_of<NoWinnerFields>("if gates exclude every trial"),
        form_of<JoinedSearchFields>("with --join")}},
      document_of<ShrinkFields>(),
      document_of<AllocateFields>(),
      {"lab",
       "An experiment.",
       {form_of<LabListFields>("without NAME"), form_of<Mxint8LabFields>("4.3"),
        form_of<SpeedLabFields>("4.1"), form_of<AttentionLabFields>("4.2"),
        form_of<KernelLabFields>("4.4"),
        form_of<LabPipelineFields>("all and 0.1 to 3.4, which are pipelines")}},
      document_of<DoctorFields>(),
      {"run",
       "A pipeline.",
       {form_of<PipelinePlanFields>("with --dry_run"), form_of<PipelineFields>("without it")}},
      document_of<CacheFields>(),
      document_of<RunsFields>(),
      document_of<SchemaFields>(),
      document_of<SettingsFields>(),
      {"machine.json",
       "The machine that a job ran on; in every output folder.",
       {form_of<Machine>()}},
      {fields<FolderRecord>().name, fields<FolderRecord>().meaning, {file_of<FolderRecord>()}},
  };
  return all;
}

}  // namespace hone
