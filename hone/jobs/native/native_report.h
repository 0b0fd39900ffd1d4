#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/native/native_model.h"
#include "hone/jobs/native/native_times.h"
#include "hone/jobs/native/widening.h"
#include "hone/jobs/job_result.h"
#include "hone/models/model_size.h"
#include "hone/study/comparison_table.h"

/// What `quantize_native_job` says of the model that it made.
namespace hone {

/// What became of a layer that could have been native.
struct NativeLayer {
  std::string name;
  LayerFormats formats;  ///< none: it stays in fp32
  /// What it leaves of the outputs alone, in the format that was asked for (jobs/native/widening.h); none: not measured.
  std::optional<double> snr_db = {};
  bool widened = false;     ///< for that
  std::string reason = {};  ///< why its formats are not those that were asked for; empty: they are
};

struct NativeFindings {
  std::string_view arithmetic = kNative;  ///< as `arithmetic_of_run` says
  std::vector<ProductTimes> products = {};
  std::vector<NativeLayer> layers = {};
  NativeMethods methods = {};
  std::vector<SmoothScales> smooth = {};  ///< of all groups that could have scales
  std::optional<Widening> widening = {};  ///< where a gate asks for it
  std::vector<ModelTimes> times = {};
  int threads = 1;  ///< that all of it was timed with
  ModelSize size_before = {}, size = {};
};

/// The format that was asked for, and how many layers have a wider one: "int(bits=4,per=row,scale=static), 3 of 17 wider".
std::string format_text(const NativeFindings& findings, const Format& asked);

/// `comparison_table` of fp32 and native, in this order, with bytes in memory and on disk and the median time of a text.
Table native_table(const std::vector<ComparedModel>& models, const NativeFindings& findings);

/// A row for each kind of product: its times, and of how many layers.
Table products_table(const NativeFindings& findings);

/// Sentences: how fast it is, what it takes, what stays in fp32 and why.
std::vector<std::string> lines_of(const NativeFindings& findings);
/// That the model, or a layer that is native all the same, is slower than in fp32, where it is, and that there were too few texts to choose by.
std::vector<std::string> native_concerns(const NativeFindings& findings);

/// Sections of a page beside that of the result: speed, layers.
std::vector<Section> sections_of(const NativeFindings& findings);
/// fp32 beside native: accuracy, memory, time. Drawn as `stem`.svg, .png; a figure that cannot be drawn adds to `notes`.
Block native_figure(const NativeFindings& findings, const BeforeAndAfter& both,
                    const std::string& label, const fs::path& stem,
                    std::vector<std::string>& notes);

/// `products`, `layers`, `smooth_scales`, `bias_correction`, `widening`, `times`, `threads`.
Json to_json(const NativeFindings& findings);

}  // namespace hone
