#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/choose.h"
#include "hone/jobs/compare.h"
#include "hone/jobs/convert.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/export.h"
#include "hone/jobs/merge_adapter.h"
#include "hone/jobs/prediction.h"
#include "hone/jobs/tokenize.h"
#include "hone/jobs/train.h"

// Trainings, measurements, and what models say.
namespace hone {
namespace {

// `hone predict --fields` prints what a struct has, but only the keys that it names.
template <Described T>
Form chosen_of(std::string_view when) {
  return {when, {}, &fields<T>(), /*chosen=*/true};
}

}  // namespace

std::vector<SchemaDocument> documents_of_models() {
  return {
      {"train",
       "A training.",
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
       "A training as it went: one object on a line for every logging step and every evaluation, "
       "with the keys of Hugging Face's `log_history`. `settings.json` beside it has the version "
       "of the schema.",
       {{"of a logging step", {}, &fields<StepLine>()},
        {"of an evaluation", {}, &fields<EvaluationLine>()}}},
  };
}

std::vector<Fragment> fragments_of_models() {
  return {
      fragment_of<ExportedFileResult>(),
      fragment_of<ExportedWeightsResult>(),
      fragment_of<ExportedLayersResult>(),
      fragment_of<ExportCheckResult>(),
      fragment_of<OnnxGraphResult>(),
      fragment_of<ExportedValueResult>(),
      fragment_of<TrainRunResult>(),
      fragment_of<TwoModelsResult>(),
      fragment_of<CompareRunResult>(),
      fragment_of<ChangedExampleResult>(),
      fragment_of<ChoiceCandidateResult>(),
      fragment_of<ReadTextResult>(),
      fragment_of<PredictionResult>(),
      fragment_of<EmbeddingResult>(),
      fragment_of<NamedDataResult>(),
      fragment_of<LearntVocabularyResult>(),
      fragment_of<VocabularyResult>(),
      fragment_of<TokenFacts>(),
      fragment_of<TokenView>(),
      fragment_of<ConvertedTensorResult>(),
  };
}

}  // namespace hone
