#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/runtime/machine.h"

/// The result of `hone doctor` for programs.
namespace hone {

/// The most that this machine was seen to do.
struct PeakResult {
  std::string kind;
  int threads = 0;
  double value = 0, measured_now = 0;
  std::string date;
};
const Fields& fields_of(const PeakResult*);

struct DoctorFields {
  Machine machine;
  std::vector<std::string> absent_instruction_sets = {};
  double peak_gflops_one_thread = 0, peak_gflops = 0, peak_int8_gops = 0;
  std::optional<double> peak_int8_byte_gops = {};
  double peak_int8_widened_gops = 0;
  std::optional<std::string> int8_byte_instruction = {};
  double copy_gb_per_s = 0, read_gb_per_s = 0;
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
