#pragma once

#include <string>
#include <vector>

#include "hone/app/comparison_table.h"
#include "hone/app/compress.h"
#include "hone/app/run_report.h"

namespace hone {

/// A fixed-point format of the study.
struct FixedPointWidth {
  std::int64_t width = 0;  ///< bits in all
  std::int64_t frac = 0;   ///< bits behind the binary point
};

struct WidthStudyOptions {
  std::vector<FixedPointWidth> widths = {{4, 2},  {6, 3},   {8, 4},  {12, 6},
                                         {16, 8}, {24, 12}, {32, 16}};
  FineTuneOptions qat;  ///< how each width is trained
  /// Where the training called so ("qat-8.4") keeps its checkpoints; empty: none does.
  std::function<CheckpointOptions(const std::string&)> checkpoints_of = {};
};

struct WidthResult {
  FixedPointWidth width;
  ComparedModel ptq, qat;
};

/// The parent quantized to every width, after training and with training, measured on `data.test`.
std::vector<WidthResult> study_widths(const Model& parent, const Measurement& parent_measurement,
                                      const EncodedSplits& data, std::int32_t pad_id,
                                      const WidthStudyOptions& options, Context& context);

/// The parent, then PTQ and QAT of every width.
std::vector<ComparedModel> compared_models(const std::vector<WidthResult>& results,
                                           const Measurement& parent);
/// The same as a table.
Table width_table(const std::vector<WidthResult>& results, const Measurement& parent);

/// The same for programs: `models`, and `seeds`. `labels` are the names of the classes.
Json widths_json(const std::vector<WidthResult>& results, const Measurement& parent,
                 const std::vector<std::string>& labels);

/// From which width on fixed point keeps the accuracy, by PTQ and by QAT, in a sentence: no wider one is worse than the
/// parent by half a point or more (see `failed`).
std::string width_verdict(const std::vector<WidthResult>& results);

/// The table, and accuracy and flips against width, one curve each for PTQ and QAT, which is also drawn as `stem`.svg
/// and .png. A figure that could not be drawn is a line of `notes`.
Section width_section(const std::vector<WidthResult>& results, const Measurement& parent,
                      const fs::path& stem, std::vector<std::string>& notes);

}  // namespace hone
