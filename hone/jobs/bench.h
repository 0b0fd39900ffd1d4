#pragma once

#include <map>
#include <optional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/bench_work.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/run_profile.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/metrics/median.h"
#include "hone/runtime/peaks.h"

namespace hone {

// Meanings of fields of several results of `bench`.
inline constexpr std::string_view kModelMeaning = "The model as it was named.";
inline constexpr std::string_view kTimedMeaning = "What was timed.";
inline constexpr std::string_view kDeviceMeaning =
    "The device that ran it, with settings that its results depend on.";
inline constexpr std::string_view kThreadsMeaning = "Threads that were used.";
inline constexpr std::string_view kBatchMeaning = "Examples of a run.";
inline constexpr std::string_view kTokensMeaning = "Of each text; an image counts as one.";
inline constexpr std::string_view kFirstRunMeaning = "The first run, with preparation.";
inline constexpr std::string_view kTimedRunsMeaning = "Runs that count.";
inline constexpr std::string_view kRoundsMeaning = "Each of these runs, in their order.";

/// Products of codes of one kind of arithmetic.
struct NativeProducts {
  double gop = 0;  ///< of one run, 10^9 operations
  Peak peak = {};  ///< what this machine does of them
};

/// Times of one piece of work, in milliseconds: the first run apart, one not counted, then `runs` runs.
struct BenchTimes {
  std::string what;
  std::string device;  ///< "cpu:0", "cuda:0, NVIDIA H100 80GB HBM3, products in fp32"
  bool on_host = true;
  std::optional<std::string> format = {};  ///< of the quantizers in what is timed
  std::int64_t batch = 0;                  ///< examples of a run
  std::int64_t tokens = 0;                 ///< of each example
  double first_ms = 0;
  double min_ms = 0;
  double median_ms = 0;
  std::optional<Interval> median_interval = {};  ///< as `median_interval`; none of too few runs
  std::int64_t runs = 0;
  double gflop = 0;           ///< of one run, by definition: see `product_flops`
  double computed_gflop = 0;  ///< of all operations that run, as their kernels compute them
  bool of_images = false;     ///< else of texts
  /// Of fp32 multiply-adds, in GFLOP/s, on as many threads: the highest of what was measured before the runs, after them,
  /// and ever. Of a GPU: of large products in its arithmetic, before the runs and after them.
  Peak peak;
  /// Of `computed_gflop`, what is in products of codes.
  std::map<PeakKind, NativeProducts> native = {};
  /// What the run was predicted to need in memory, its parameters included.
  double needed_bytes = 0;
  std::uint64_t resident_bytes = 0;  ///< the most that the process has held until its end
  int threads = 0;
  std::map<std::string, KernelTime> kernels;  ///< of the counted runs
  std::vector<std::string> notes;             ///< on the peak
  std::optional<RunProfile> recorded = {};    ///< where `BenchOptions::records` says so
  std::string_view arithmetic = kFloat;       ///< as `arithmetic_of` says
  double share_of_peak() const { return computed_gflop / (min_ms / 1e3) / peak.value; }
  /// What is no product of codes counts in the time alone.
  double share_of(const NativeProducts& some) const {
    return some.gop / (min_ms / 1e3) / some.peak.value;
  }
};

/// Times the interpreter on random ids without padding, or on random images. Throws `UserError` as `native_copy`, and when
/// `options.format` is given for a model that is quantized already.
BenchTimes bench(Model model, const std::string& name, const BenchOptions& options,
                 Context& context);

/// What native products of a kind reach at best on the host's threads, measured now; `notes` are those of `keep_highest`.
Peak native_peak(PeakKind kind, Context& context, std::vector<std::string>& notes);

/// Which model to time, and at what work.
struct BenchJob {
  std::string
      model;  ///< as `open_model` takes it; of fresh weights with the vocabulary of their config
  std::string adapter = {};  ///< folder, see models/adapter.h; empty: none
  BenchOptions options = {};
  bool profile = false;  ///< report the time of each kernel
  std::uint64_t seed = 42;
};

/// ", 2227 GOP/s of products of bytes (measured now)" of each kind of native products of the work; "": it has none.
std::string native_peaks_text(const BenchTimes& times);

/// The model that is to be timed. Throws `UserError` as `open_model`, and for an adapter on fresh weights.
Model bench_model(const BenchJob& job, Context& context);

/// How a piece of work is called: "hone interpreter inference, simulated mxint(bits=8), my-model 8x128". `how`: what runs it.
std::string bench_text(const Model& model, const std::string& name, const BenchOptions& options,
                       std::string_view how, std::string_view arithmetic);
/// The formats of the quantizers in what is timed, if it has any.
std::optional<std::string> bench_format(const Model& model, const BenchOptions& options);
/// How it computes, as `arithmetic_of_run` says.
std::string_view bench_arithmetic(const Model& model, const BenchOptions& options,
                                  const Session& session);

/// `BenchTimes` in results. What is not measured of this work is null.
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

/// What is timed, in results of calls and of mistakes.
struct TimedWork {
  std::string model;
  std::optional<std::string> adapter = {};
  std::string what, device;
  int threads = 0;
  std::int64_t batch = 0, tokens = 0;
};
const Fields& fields_of(const TimedWork*);
/// `text`: of the work, see `bench_text`. `options`: those of the subject.
TimedWork timed_work(const BenchJob& job, const BenchOptions& options, std::string text,
                     Context& context);

/// The result for programs.
struct BenchFields {
  BenchTimesResult times = {};
  std::optional<std::vector<KernelTimeResult>> kernels = {};
};
const Fields& fields_of(const BenchFields*);

struct BenchResult : JobResult {
  BenchTimes times;
};

/// Times a model on this machine. Notes on its peak go to the context. Throws `UserError`, as `open_model` and `bench` of a model
/// do; `Interrupted`.
BenchResult bench(const BenchJob& job, Context& context);

}  // namespace hone
