#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/model_size.h"

/// Report of jobs that change a model without training it (a pass, a merge): operations, parameters, bytes and latency
/// before and after, which programs load the result and, with data, how the metric changed.
namespace hone {

/// The data on which the metric is measured; no source: it is not measured.
struct EvaluationData {
  JobData data = {};
  std::string split = {};  ///< see `evaluation_examples`
  std::int64_t batch_size = 32;
};

Options options_of(const EvaluationData*);

/// Encodes the data for the model `source`, called `name`; empty without data. Behaves like `load_encoded`.
std::optional<EncodedSplits> load_evaluation_data(TextModel& source, const std::string& name,
                                                  const EvaluationData& texts, std::uint64_t seed,
                                                  Context& context,
                                                  std::vector<std::string>& notes);

/// Operations of one kind in the training graph.
struct OperationCount {
  std::string operation;
  std::int64_t before = 0, after = 0;
};
const Fields& fields_of(const OperationCount*);

struct ModelChange {
  std::string name_before = "baseline", name = "changed";  ///< in tables
  std::vector<OperationCount> operations;  ///< kinds of the baseline in order, then new ones
  SizeAndTime size_and_time;  ///< on the measured examples, or on random ones without padding
  double bits_before = 32, bits = 32;  ///< of quantized weights, see `average_weight_bits`
  std::string_view arithmetic_before, arithmetic;
  std::string loading = {};                    ///< which programs load it
  std::string no_gradient = {};                ///< why training is no longer possible, or empty
  std::optional<BeforeAndAfter> metrics = {};  ///< empty: the metric was not measured
};

/// Compares `after`, written to `folder`, with `before`; with `data` also their metrics. Adds concerns about the
/// numbers to `notes`. Throws `Interrupted`.
ModelChange measure_change(const TextModel& before, const TextModel& after, const fs::path& folder,
                           const std::optional<EncodedSplits>& data, std::int64_t batch_size,
                           Context& context, std::vector<std::string>& notes);

/// `ModelChange` in results.
struct ModelChangeResult {
  std::string model;
  std::optional<DataResult> data = {};
  std::optional<MeasuredSplitResult> measured = {};
  std::vector<OperationCount> operations = {};
  std::int64_t parameters_before = 0, parameters = 0;
  SizeAndTimeResult size_and_time = {};
  std::string arithmetic;
  std::optional<std::string> no_gradient = {};
  std::optional<BeforeAndAfterResult> metrics = {};
};
const Fields& fields_of(const ModelChangeResult*);
ModelChangeResult model_change_result(const ModelChange& change, const std::string& model,
                                      const std::optional<EncodedSplits>& data,
                                      const std::vector<std::string>& labels);

/// Returns the facts for a model card, without `origin`.
CardFacts card_facts(const ModelChangeResult& change);

/// Returns sentences on operations, parameters, bytes and latency for a model card.
std::vector<std::string> lines_of(const ModelChange& change);

/// Sets the headline, key figures, evidence and sections of a document. `what` was done ("fuse_attention");
/// `data_setting` is the name of the data option ("--data").
void describe_change(Document& document, const std::string& what, const ModelChange& change,
                     const std::optional<EncodedSplits>& data, const std::string& data_setting,
                     const std::vector<std::string>& labels);

/// Returns how the numbers were measured.
Basis basis_of(const ModelChange& change, const std::string& source,
               const std::optional<EncodedSplits>& data);

}  // namespace hone
