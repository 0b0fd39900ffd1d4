#include "hone/cli/output_schema/output_fields.h"
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

constexpr Field kParent = {"baseline", "text", "model A as it was named"};
constexpr Field kParentAdapter = {"parent_adapter", "text", "put on A, as it was named",
                                  "with --adapter_a"};
}  // namespace

std::vector<SchemaDocument> documents_of_models() {
  return {
      {"train",
       "A training.",
       {form_of<TrainFields>(kOneSeed), form_of<TrainSeedsFields>(kManySeeds)}},
      document_of<MergeFields>(),
      document_of<EvaluateFields>(),
      {"compare",
       "Model B against model A on the same texts. `model` is B.",
       {{kOneSeed,
         {kResult,
          kSubject,
          kParent,
          where(kAdapter, "with --adapter_b"),
          kParentAdapter,
          kSeeds,
          {"", "two_models"},
          {"changed", "changed_text[]",
           "what B lost before what it gained, the widest swing first; --examples of them"},
          kLostClasses,
          kGate}},
        {kManySeeds,
         {kResult,
          kSubject,
          kParent,
          kSeeds,
          {"runs", "compare_run[]", "a row for every seed"},
          kSpreads,
          {"change", "seed_change", "of the accuracy, from A to B"},
          kGate}}}},
      {"choose",
       "One of several models. `model` is the one that is chosen, and its figures are of the texts "
       "it was chosen on.",
       {{"",
         {kResult,
          kSubject,
          {"chosen", "text", "the model as it was named"},
          {"best", "text", "the one with the highest figure"},
          {"rule", "text", "what is chosen"},
          kSeeds,
          {"summary", "text", "the choice in a sentence"},
          {"lost_classes", "lost_class[]",
           "classes, or labels, whose recall is significantly below that of the best model",
           "where there are any"},
          {"models", "choice_candidate[]", "in the order in which they were named"}}}}},
      {"predict",
       "The prediction for one example; the command prints one line for each.",
       {form_of<PredictFields>("with neither --embed nor --fields"),
        form_of<EmbedFields>("with --embed"),
        {"with --fields",
         {{"", "prediction", "", "where it is asked for"},
          {"embedding", "number?[]", "the vector of the text", "where it is asked for"}}}}},
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
      {"compare_run",
       "The two models of one seed.",
       {kSeed, {"", "two_models"}, kLostClasses, kGate}},
      {"changed_text",
       "A text that two models classify differently.",
       {{"example", "integer", "its place in the part that was measured, from 0"},
        {"label", "text", "its label"},
        {"a", "text", "what A predicts"},
        {"b", "text", "what B predicts"},
        {"swing", "logits", "by how much they moved from A's label to B's"},
        {"text", "text", "the text"}}},
      fragment_of<ReadTextResult>(),
      fragment_of<PredictionResult>(),
      fragment_of<EmbeddingResult>(),
      fragment_of<NamedDataResult>(),
      fragment_of<LearntVocabularyResult>(),
      fragment_of<VocabularyResult>(),
      fragment_of<TokenFacts>(),
      fragment_of<TokenView>(),
      fragment_of<ConvertedTensorResult>(),
      {"choice_candidate",
       "A model of several.",
       {{"", "measured_model"},
        {"packed_bytes", "bytes", "of its weights in their formats"},
        {"keeps_up", "boolean",
         "whether it may be chosen for its size: not shown to be worse than the best, or with "
         "gates shown to pass them"},
        kGate}},
  };
}

}  // namespace hone
