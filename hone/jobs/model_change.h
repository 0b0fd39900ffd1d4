#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/models/model_size.h"
#include "hone/report/text_layout.h"

/// What every job says that changes a model without training it (a pass, a merge): operations, parameters, bytes and time
/// before and after, who can load it, and, where it is given texts, what became of its answers.
namespace hone {

/// What answers are measured on; without a source they are not.
struct AnswerTexts {
  JobData data = {};
  std::string split = {};  ///< the part, see `measured_texts`
  std::int64_t batch_size = 32;
};

/// The texts encoded for the model `source`, called `name`; none where none are given. As `load_encoded`.
std::optional<EncodedSplits> load_answer_texts(TextModel& source, const std::string& name,
                                               const AnswerTexts& texts, std::uint64_t seed,
                                               Context& context, std::vector<std::string>& notes);

/// Operations of one kind, in the graph as it is trained.
struct OperationCount {
  std::string operation;
  std::int64_t before = 0, after = 0;
};

struct ModelChange {
  std::vector<OperationCount> operations;  ///< kinds of before in their order, then new ones
  ModelSize size_before, size;
  std::int64_t batch = 0, tokens = 0;  ///< of what was timed: texts drawn at random
  std::string timed = {};              ///< the same in words: `run_size_text`
  TimesInTurn times;
  double bits_before = 32, bits = 32;  ///< of quantized weights, see `average_weight_bits`
  std::string_view arithmetic_before, arithmetic;
  TransformersLoading others = {};  ///< see size_and_time.h
  std::string loading = {};         ///< who can load it
  std::string no_gradient = {};     ///< why it cannot be trained as the one before; empty: it can
  std::optional<BeforeAndAfter> answers = {};  ///< none: they were not measured
};

/// Compares `after`, written to `folder`, with `before`; answers on `data`, where there is any. What is doubtful about
/// figures is added to `notes`. Throws `Interrupted`.
ModelChange describe_change(const TextModel& before, const TextModel& after, const fs::path& folder,
                            const std::optional<EncodedSplits>& data, std::int64_t batch_size,
                            Context& context, std::vector<std::string>& notes);

/// What results say of it, `times` with these names: `operations`, `parameters`, `size`, …, and with `data` its part, `before`,
/// `after` and `comparison`.
Json to_json(const ModelChange& change, const std::string& model,
             const std::optional<EncodedSplits>& data, const std::vector<std::string>& labels,
             const std::string& before_name = "before", const std::string& after_name = "after");

/// What a job says of a change, in its report and to people.
struct ChangeSentences {
  std::string headline;
  std::vector<std::string> takes;  ///< the first of `lines`: operations, parameters, bytes and time
  /// Operations, parameters, bytes and time, answers that were not measured, training that is not possible any more, and who
  /// can load it.
  std::vector<std::string> lines;
  std::string caption;  ///< of the table of answers; empty: they were not measured
};

/// `what` was done ("fuse_attention"); `data_setting` is how texts are given ("--data").
ChangeSentences sentences_of(const ModelChange& change, const std::string& what,
                             const std::optional<EncodedSplits>& data,
                             const std::string& data_setting);

/// The part of the report, and the same for a terminal, which outlives the change.
std::vector<Section> sections_of(const ModelChange& change, const ChangeSentences& words,
                                 const std::optional<EncodedSplits>& data,
                                 const std::vector<std::string>& labels);
std::function<std::string(const TextStyle&)> text_of(const ModelChange& change,
                                                     const ChangeSentences& words,
                                                     const std::optional<EncodedSplits>& data,
                                                     const std::vector<std::string>& labels,
                                                     const std::string& folder);

/// On what the result stands.
Basis basis_of(const ModelChange& change, const std::string& source,
               const std::optional<EncodedSplits>& data);

}  // namespace hone
