#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/app/measure.h"
#include "hone/train/trainer.h"

namespace hone {

struct FineTuneOptions {
  TrainingOptions training;
  std::vector<std::string> freeze;  ///< globs over parameter names
  std::int64_t eval_batch_size = 32;
  std::string title = "train";  ///< of the progress line
};

/// The encoded examples of a job.
struct EncodedSplits {
  EncodedSet train, validation, test;
};

/// Receives one JSON object per logging step and per evaluation, with Hugging Face's keys.
using LogSink = std::function<void(const Json&)>;

/// Trains the model in place on `data.train`, quantized if it is, and evaluates on `data.validation` (when there is
/// any) after every epoch or `eval_steps`.
TrainingResult fine_tune(Model& model, const EncodedSplits& data, std::int32_t pad_id,
                         const FineTuneOptions& options, const LogSink& log, Context& context);

/// Tokenizes the parts of a data set; says in `warnings` what was cut or replaced.
EncodedSplits encode_splits(const TextModel& source, const std::vector<Example>& train,
                            const std::vector<Example>& validation,
                            const std::vector<Example>& test, std::int64_t max_seq_length,
                            Context& context, std::vector<std::string>& warnings);

}  // namespace hone
