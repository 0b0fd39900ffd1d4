#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/convert.h"
#include "hone/jobs/evaluate.h"
#include "hone/jobs/export.h"
#include "hone/jobs/merge_adapter.h"
#include "hone/jobs/tokenize.h"
#include "hone/jobs/train.h"

// Trainings, measurements, and what models say.
namespace hone {
namespace {

constexpr Field kParent = {"baseline", "text", "model A as it was named"};
constexpr Field kParentAdapter = {"parent_adapter", "text", "put on A, as it was named",
                                  "with --adapter_a"};
constexpr Field kDataOfText = {"data", "named_data", "the data it is of", "with --data"};
constexpr Field kPartOfText = {"split", "train|validation|test|all",
                               "the part of it; all: data without parts, or all of them",
                               "with --data"};
constexpr const char* kWithHalves = "with --precision bf16 or fp16";
constexpr Field kEmbedding = {"embedding", "number?[]",
                              "the vector of the text, with as many digits as give back the fp32 "
                              "numbers; null: no number"};

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
       "One text. The command prints such an object on a line for each, and no line before them "
       "that readers of rows would have to pass over; `id` says which row of its part a text is.",
       {{"with neither --embed nor --fields",
         {kResult, kModel, kDataOfText, kPartOfText, {"", "prediction"}}},
        {"with --embed",
         {kResult,
          kModel,
          kDataOfText,
          kPartOfText,
          {"pooling", "text",
           "what becomes of the hidden states of a text's tokens: cls, max, mean, "
           "mean_sqrt_len_tokens, or several, whose vectors are joined: cls+mean"},
          {"normalized", "boolean", "whether vectors are given the length 1"},
          {"", "read_text"},
          kEmbedding}},
        {"with --fields",
         {{"", "prediction", "", "where it is asked for"},
          where(kEmbedding, "where it is asked for")}}}},
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
      {"read_text",
       "A text as a model read it.",
       {{"id", "any",
         "the number of its line in the file (a header is line 1) or of its row, from 1, or what "
         "the data "
         "calls it"},
        {"file", "text", "where that line or row stands", "of several files"},
        {"text", "text", "the text"},
        {"text_pair", "text", "the second text", "of pairs"},
        {"gold", "any",
         "the label somebody gave it, in the form of the prediction: a text, a number or an object "
         "of "
         "several, or a list of labels; a text as it is written where it is none of these; null: "
         "none",
         "of data with labels"},
        {"cut", "boolean", "whether it was longer than `input_ids`"},
        {"input_ids", "integer[]", "its tokens"}}},
      {"prediction",
       "A text and what a model says of it.",
       {{"", "read_text"},
        {"label", "text?", "the class with the largest logit; null: a logit is no number",
         "of one class of several"},
        {"score", "share?", "the probability of that class; null: a logit is no number",
         "of one class of several"},
        {"value", "any", "the number; of several an object of them by name; null: no number",
         "of numbers"},
        {"predicted_labels", "text[]?",
         "those whose probability is a half at least; null: a logit is no number",
         "of several labels"},
        {"labels", "text[]",
         "the classes, labels or numbers, in the order of the lists that follow"},
        {"probabilities", "number?[]",
         "of every class, by softmax, or of every label, by the logistic function; of a "
         "cross-encoder that of each by its activation; null: no number",
         "of classes and labels"},
        {"logits", "number?[]", "of every class, label or number; null: no number"}}},
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
