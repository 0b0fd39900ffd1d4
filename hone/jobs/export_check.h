#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/base/fields.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/jobs/text_rows.h"
#include "hone/models/model_source.h"
#include "hone/models/text_limit.h"
#include "hone/onnx/onnx_model.h"
#include "hone/runtime/context.h"

/// Comparison of an exported model in ONNX Runtime with the model that it was made from.
namespace hone {

/// The examples for the comparison; no source: no comparison.
struct ExportCheck {
  DataOptions data = {};
  std::string split = {};  ///< see `read_text_rows`
  TextCut cut = {};
  std::int64_t batch_size = 32;
};

/// Outputs of ONNX Runtime compared with those of hone, on the same batches.
struct ExportCheckResult {
  std::string data, split;
  std::int64_t examples = 0, split_examples = 0;
  std::optional<std::int64_t> same_predictions = {};
  double largest_difference = 0, largest_value = 0;
  std::int64_t batch_size = 0;
  int threads = 0;
  std::string onnx_runtime = {};
  double hone_seconds = 0, onnx_runtime_seconds = 0;

  /// "the first 2,000 of 3,000 examples"
  std::string examples_text() const;
  /// Returns the result in sentences.
  std::string summary() const;
};
const Fields& fields_of(const ExportCheckResult*);

/// Why the check cannot run if no Python imports onnxruntime, and what to do.
inline constexpr std::string_view kNoOnnxRuntime =
    "no Python imports onnxruntime; install it (`pip install onnxruntime`), or name the Python "
    "that "
    "has it in HONE_PYTHON";

/// Runs both on the same batches, of at most the first 2,000 examples, with the context's threads. `graph` is the
/// forward graph of `source` in training mode; the file calls its only output `output`.
ExportCheckResult check_export(const ExportCheck& check, const TextModel& source,
                               const Graph& graph, const TextLimit& limit, const fs::path& file,
                               const OnnxModel& onnx, const std::string& output,
                               const std::string& python, Context& context);

}  // namespace hone
