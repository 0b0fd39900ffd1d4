#pragma once

#include <map>
#include <optional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/bench_work.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/run_profile.h"
#include "hone/metrics/median.h"
#include "hone/runtime/peaks.h"

namespace hone {

// Descriptions shared by fields of several `bench` results.
inline constexpr std::string_view kModelMeaning = "The model as it was named.";
inline constexpr std::string_view kTimedMeaning = "What was timed.";
inline constexpr std::string_view kDeviceMeaning =
    "The device that ran it, with settings that its results depend on.";
inline constexpr std::string_view kThreadsMeaning = "Threads that were used.";
inline constexpr std::string_view kBatchMeaning = "Examples of a run.";
inline constexpr std::string_view kTokensMeaning = "Tokens of each text; an image counts as one.";
inline constexpr std::string_view kFirstRunMeaning = "The first run, with preparation.";
inline constexpr std::string_view kTimedRunsMeaning = "Counted runs.";
inline constexpr std::string_view kRoundsMeaning = "Each of these runs, in their order.";

/// Native products of one kind of codes.
struct NativeProducts {
  double gop = 0;  ///< 10^9 operations per run
  Peak peak = {};  ///< peak of this machine in such products
};

/// Times of a benchmark, in milliseconds: the first run, uncounted warm-up runs, then `runs` counted runs.
struct BenchTimes {
  std::string what;
  std::string device;  ///< "cpu:0", "cuda:0, NVIDIA H100 80GB HBM3, products in fp32"
  bool on_host = true;
  std::optional<std::string> format = {};  ///< of the quantizers in the timed graph
  std::int64_t batch = 0;                  ///< examples per run
  std::int64_t tokens = 0;                 ///< per example
  double first_ms = 0;
  double min_ms = 0;
  double median_ms = 0;
  std::optional<Interval> median_interval = {};  ///< see `median_interval`; empty with too few runs
  std::int64_t runs = 0;
  double gflop = 0;           ///< per run, by definition: see `product_flops`
  double computed_gflop = 0;  ///< all operations that run, as their kernels compute them
  bool of_images = false;     ///< otherwise of texts
  /// Peak in fp32 multiply-adds on as many threads, in GFLOP/s: the highest measured before the runs, after them, and
  /// ever. On a GPU: in large products in its arithmetic, measured before and after the runs.
  Peak peak;
  /// The part of `computed_gflop` in native products, by kind.
  std::map<PeakKind, NativeProducts> native = {};
  /// Predicted memory of a run, parameters included.
  double needed_bytes = 0;
  std::uint64_t resident_bytes = 0;  ///< peak resident memory of the process
  int threads = 0;
  std::map<std::string, KernelTime> kernels;  ///< of the counted runs
  std::vector<std::string> notes;             ///< on the peak
  std::optional<RunProfile> recorded = {};    ///< with `BenchOptions::records`
  std::string_view arithmetic = kFloat;       ///< see `arithmetic_of_run`
  double share_of_peak() const { return computed_gflop / (min_ms / 1e3) / peak.value; }
  /// Returns the share of the peak that these products reach. Other operations count only in the time.
  double share_of(const NativeProducts& some) const {
    return some.gop / (min_ms / 1e3) / some.peak.value;
  }
};

/// Times the graph on random ids without padding, or on random images. Throws `UserError` like `native_copy`, and if
/// `options.format` is given for a model that is quantized already.
BenchTimes bench(Model model, const std::string& name, const BenchOptions& options,
                 Context& context);

/// Measures the peak of the device in native products of a kind. `notes` are those of `keep_highest`.
Peak native_peak(PeakKind kind, Context& context, std::vector<std::string>& notes);

/// A model to time, and the work to time it on.
struct BenchJob {
  std::string model;         ///< see `open_model`; fresh weights use the vocabulary of their config
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none
  BenchOptions options = {};
  bool profile = false;  ///< report the time of each kernel
  std::uint64_t seed = 42;
};

/// Returns ", 2227 GOP/s of products of bytes (measured now)" for each kind of native products in the run; "" without
/// any.
std::string native_peaks_text(const BenchTimes& times);

/// Opens the model to time. Throws `UserError` like `open_model`, and for an adapter on fresh weights.
Model bench_model(const BenchJob& job, Context& context);

/// Describes the timed work: "hone interpreter inference, simulated mxint(bits=8), my-model 8x128". `how` names what
/// runs it.
std::string bench_text(const Model& model, const std::string& name, const BenchOptions& options,
                       std::string_view how, std::string_view arithmetic);
/// Returns the formats of the quantizers in the timed graph, if it has any.
std::optional<std::string> bench_format(const Model& model, const BenchOptions& options);
/// Returns the arithmetic of the run: see `arithmetic_of_run`.
std::string_view bench_arithmetic(const Model& model, const BenchOptions& options,
                                  const Session& session);

/// `BenchTimes` in results. Values that were not measured are null.
struct BenchTimesResult {
  std::string model;
  std::optional<std::string> adapter = {};
  std::string what, arithmetic, device;
  std::optional<std::string> format = {};
  std::int64_t batch = 0, tokens = 0;
  double first_ms = 0, min_ms = 0, median_ms = 0;
  std::optional<Interval> median_interval = {};
  std::int64_t timed_runs = 0;
  double gflop = 0, computed_gflop = 0;
  double peak_gflops = 0, peak_gflops_now = 0;
  std::string peak_date = {};
  std::optional<double> share_of_peak = {}, native_gop = {};
  std::optional<double> peak_int8_gops = {}, share_of_int8_peak = {};
  std::optional<double> peak_bf16_gflops = {}, share_of_bf16_peak = {};
  std::optional<double> peak_sign_gops = {}, share_of_sign_peak = {};
  std::int64_t needed_bytes = 0, resident_bytes = 0;
  int threads = 0;
};
const Fields& fields_of(const BenchTimesResult*);
BenchTimesResult bench_times_result(const BenchTimes& times, const BenchJob& job);

/// The time of a kernel in one run.
struct KernelTimeResult {
  std::string kernel;
  std::int64_t calls = 0;
  double ms = 0, share = 0;
};
const Fields& fields_of(const KernelTimeResult*);

/// The timed work, in results of calls and of prediction errors.
struct TimedWork {
  std::string model;
  std::optional<std::string> adapter = {};
  std::string what, device;
  int threads = 0;
  std::int64_t batch = 0, tokens = 0;
};
const Fields& fields_of(const TimedWork*);
/// Describes the work in results. `text`: see `bench_text`; `options`: of the timed model.
TimedWork timed_work(const BenchJob& job, const BenchOptions& options, std::string text,
                     Context& context);

/// The JSON result.
struct BenchFields {
  BenchTimesResult times = {};
  std::optional<std::vector<KernelTimeResult>> kernels = {};
};
const Fields& fields_of(const BenchFields*);

struct BenchResult : JobResult {
  BenchTimes times;
};

/// Times a model on this machine. Notes on its peak go to the context. Throws `UserError` like `open_model` and the
/// overload above, and `Interrupted`.
BenchResult bench(const BenchJob& job, Context& context);

}  // namespace hone
