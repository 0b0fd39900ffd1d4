#pragma once

#include <functional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_change.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which adapter is to become part of which model, and where to.
struct MergeJob {
  std::string model;    ///< as `open_model` takes it
  std::string adapter;  ///< folder, see models/adapter.h
  AnswerTexts texts = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< of what neither has
  Invocation invocation = {};  ///< for the report and the record of the job
};

struct MergeResult {
  Json fields;                                        ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text;  ///< the same for people
};

/// Writes a copy of the model whose weights are those with the adapter: W + s B A, in double and rounded once, with a report
/// of what that changed: the products of the adapter, which cost time before, are gone. Where weights are quantized, sums are rounded to their format again, which changes
/// what the adapter was trained beside; the result says so. Throws `UserError` as `open_with_adapter`, and for packed weights.
MergeResult merge_adapter(const MergeJob& job, Context& context);

}  // namespace hone
