#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"

/// The most that this machine was seen to do, the denominator of "share of peak". What is measured beside other work, on a
/// hot or a throttled processor, is less than that; so the highest of each kind is kept from run to run, with its day:
///
///     $XDG_CACHE_HOME/hone/peaks.json, or ~/.cache/hone/peaks.json
namespace hone {

/// What was measured, and how it is told apart from others.
enum class PeakKind : std::uint8_t {
  fp32_gflops,  ///< fp32 multiply-adds, 10^9 operations per second
  copy_gbps,    ///< memory copied, 10^9 bytes per second, read plus written
  read_gbps,    ///< memory read, 10^9 bytes per second
  int8_gops,  ///< products of bytes and their sums, 10^9 operations per second: the faster of both forms
  bf16_gflops,       ///< products of bfloat16 pairs and their sums, 10^9 operations per second
  sign_gops,         ///< products of signs and their sums, 10^9 operations per second
  int8_byte_gops,    ///< as int8_gops, by the instruction that multiplies bytes
  int8_widened_gops  ///< as int8_gops, of bytes widened to 16 bits
};
std::string_view to_string(PeakKind kind);

struct Peak {
  double value = 0;         ///< the highest known, this run's among them
  double measured_now = 0;  ///< in this run
  std::string date;         ///< of `value`, in UTC: "2026-11-22"
  bool remembered() const { return value > measured_now; }
};

/// "88 GFLOP/s" is not said here; ", measured now" or ", the highest known, of 2026-11-20; 61 measured now".
std::string provenance(const Peak& peak);

/// Where peaks are kept; empty where the environment names neither a cache nor a home.
fs::path peaks_file();

/// The higher of `measured_now` and what `file` holds for this processor, its vector instructions, `kind`, and `threads` or fewer
/// of them, which more can do too. A new highest is written into the file; rates of a file that an older version of the measurement has
/// written do not count. What stands there and is not of this kind is left alone, and a file that cannot be read or
/// written is no error: `notes` says so, once for each such file, and where arithmetic does much less than it did.
Peak keep_highest(PeakKind kind, int threads, double measured_now, const fs::path& file,
                  std::vector<std::string>& notes);

}  // namespace hone
