#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/before_and_after.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/size_and_time.h"
#include "hone/study/gates.h"
#include "hone/study/result.h"

namespace hone {

/// A request to remove tokens from a model's vocabulary.
struct TrimJob {
  std::string model;       ///< as `open_model` takes it
  std::int64_t keep = 0;   ///< number of tokens; 0: those that the training split uses
  GateOptions gates = {};  ///< the allowed drops
  std::string split = {};  ///< the split to measure on, see `evaluation_examples`
  JobData data = {};
  std::int64_t eval_batch_size = 32;
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

/// A text that is tokenized differently after trimming.
struct RetokenizedResult {
  std::int64_t example = 0;
  std::string before = {}, after = {};
};
const Fields& fields_of(const RetokenizedResult*);

/// The tokens that are kept.
struct TrimmedVocabularyResult {
  std::int64_t tokens_before = 0, tokens = 0, lasting = 0, used = 0, retokenized_examples = 0;
  double retokenized_share = 0;
  std::vector<RetokenizedResult> examples = {};
};
const Fields& fields_of(const TrimmedVocabularyResult*);

/// The machine-readable result.
struct TrimFields {
  SubjectResult subject;
  std::string arithmetic;
  TrimmedVocabularyResult vocabulary = {};
  BeforeAndAfterResult both = {};
  SizeAndTimeResult size_and_time = {};
  std::optional<GateResult> gate = {};
  std::string output = {};
};
const Fields& fields_of(const TrimFields*);

/// Writes a copy of a model with fewer tokens, with a smaller tokenizer and embedding table. The training split
/// decides which tokens to keep (models/vocabulary_cut.h). Measures the copy against its baseline: metric, texts that
/// are tokenized differently, parameters, bytes, latency. Callers that set `gates` must check `JobResult::gate`.
/// Throws `UserError` as `load_encoded` and `cut_vocabulary` do, for packed weights, and if every token is kept;
/// `Interrupted`.
JobResult trim_job(const TrimJob& job, Context& context);

}  // namespace hone
