#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/jobs/zero_skipping.h"
#include "hone/runtime/machine.h"

/// The JSON result of `hone doctor`.
namespace hone {

/// The highest rate measured on this machine.
struct PeakResult {
  std::string kind;
  int threads = 0;
  double value = 0, measured_now = 0;
  std::string date;
};
const Fields& fields_of(const PeakResult*);

/// Whether products of some formats are expected to be faster than those of fp32.
struct FormatSpeed {
  std::string formats;  ///< "native int, mxint"
  std::optional<double> peak_ratio = {};
  std::optional<double> most_rows = {};
  bool faster = false;
};
const Fields& fields_of(const FormatSpeed*);

struct DoctorFields {
  Machine machine;
  std::vector<std::string> absent_instruction_sets = {};
  double peak_gflops_one_thread = 0, peak_gflops = 0, peak_int8_gops = 0;
  std::optional<double> peak_int8_byte_gops = {};
  double peak_int8_widened_gops = 0;
  std::optional<std::string> int8_byte_instruction = {};
  std::optional<double> peak_bf16_gflops = {};
  double peak_sign_gops = 0;
  double copy_gb_per_s = 0, read_gb_per_s = 0;
  std::vector<FormatSpeed> format_speeds = {};
  std::vector<SparsityThreshold> sparsity_thresholds = {};
  std::vector<PeakResult> peaks = {};
  std::optional<fs::path> peaks_file = {};
  std::optional<std::string> llvm = {};
  int vector_lanes = 0;
  std::vector<std::string> gpus = {};
  std::optional<std::string> gpus_missing = {};
  std::map<std::string, double> gpu_peaks = {};
  std::optional<std::uintmax_t> disk_here_bytes = {}, disk_temporary_bytes = {};
  fs::path hub_cache = {};
  bool hub_cache_exists = false;
  std::vector<std::pair<std::string, std::optional<std::string>>> programs = {};
  std::vector<std::string> problems = {};
};
const Fields& fields_of(const DoctorFields*);

}  // namespace hone
