#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"

/// The highest rates measured on this machine, the denominator of "share of peak". A loaded, hot or throttled CPU
/// measures less, so the highest rate of each kind is kept across runs, with its date:
///
///     $XDG_CACHE_HOME/hone/peaks.json, or ~/.cache/hone/peaks.json
namespace hone {

enum class PeakKind : std::uint8_t {
  fp32_gflops,     ///< fp32 multiply-adds, 10^9 operations per second
  copy_gbps,       ///< memory copied, 10^9 bytes per second, read plus written
  read_gbps,       ///< memory read, 10^9 bytes per second
  int8_gops,       ///< sums of int8 products, 10^9 operations per second: the faster of both forms
  bf16_gflops,     ///< sums of products of bfloat16 pairs, 10^9 operations per second
  sign_gops,       ///< sums of products of signs, 10^9 operations per second
  int8_byte_gops,  ///< int8_gops by the instruction that multiplies bytes
  int8_widened_gops  ///< int8_gops of bytes widened to 16 bits
};
std::string_view to_string(PeakKind kind);

struct Peak {
  double value = 0;         ///< the highest known, including this run
  double measured_now = 0;  ///< in this run
  std::string date;         ///< of `value`, in UTC: "2026-11-22"
  bool remembered() const { return value > measured_now; }
};

/// Returns the text after "88 GFLOP/s": ", measured now" or ", the highest known, of 2026-11-20; 61 measured now".
std::string provenance(const Peak& peak);

/// Returns the file that stores peaks; empty if the environment names neither a cache nor a home.
fs::path peaks_file();

/// Returns the higher of `measured_now` and the rate stored in `file` for this CPU, its vector instructions, `kind`,
/// and at most `threads` threads; more threads can do as much. Writes a new highest rate to the file; rates of an
/// older version of the measurement do not count. Foreign content of the file is left alone. An unreadable or
/// unwritable file is no error, but is added to `notes`, once per file. So is a rate far below the highest.
Peak keep_highest(PeakKind kind, int threads, double measured_now, const fs::path& file,
                  std::vector<std::string>& notes);

}  // namespace hone
