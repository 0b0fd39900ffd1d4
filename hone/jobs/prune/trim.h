#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/metrics/verdict.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

namespace hone {

/// Which tokens of a model are to stay.
struct TrimJob {
  std::string model;       ///< as `open_model` takes it
  std::int64_t keep = 0;   ///< how many; 0: those that the training part uses
  GateOptions gates = {};  ///< what may be lost
  std::string split = {};  ///< the part to measure on, see `measured_texts`
  JobData data = {};
  std::int64_t eval_batch_size = 32;
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

struct TrimResult {
  Json fields = {};                      ///< what programs read, see `result_of`
  Verdict verdict = {};                  ///< whether accuracy was kept
  std::optional<GateOutcome> gate = {};  ///< nothing where no gates were asked for
  std::function<std::string(const TextStyle&)> text = {};  ///< the same for people
};

/// Writes a copy of a model with fewer tokens, its tokenizer and the rows of its embeddings, chosen by the training part
/// (models/vocabulary_cut.h), and measures it beside the model it was made of: answers, texts that are other tokens now,
/// parameters, bytes, time. Whoever sets `gates` looks at `gate`. Throws `UserError`, as `load_encoded` and
/// `cut_vocabulary` do, for packed weights, and where every token stays; `Interrupted`.
TrimResult trim_job(const TrimJob& job, Context& context);

}  // namespace hone
