#include "hone/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "hone/base/printable.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr double kTerminalPeriodSeconds = 0.1;
constexpr double kLinePeriodSeconds = 10;
// Time constant of the rate's exponential smoothing. Long enough to be steady, short enough to follow longer sequences.
// Younger work uses its age instead, so that an unusual first moment is soon forgotten.
constexpr double kRateMemorySeconds = 15;

/// A part of the line. If the line is too long, parts with the highest rank are dropped first; those with rank 0 stay.
struct LinePart {
  std::string text;
  int rank = 0;
};

std::string joined(const std::vector<LinePart>& parts) {
  std::string line;
  for (const LinePart& part : parts) {
    if (part.text.empty()) continue;
    if (!line.empty()) line += "  ";
    line += part.text;
  }
  return line;
}

std::size_t width_of(const std::vector<LinePart>& parts) { return character_count(joined(parts)); }

// Joins the non-empty parts with two spaces, as many as fit `columns`; 0: all. A line that is still too long is cut:
// the first part if enough of it remains, else the end.
std::string fitted_line(std::vector<LinePart> parts, int columns) {
  if (columns <= 0) return joined(parts);
  constexpr std::size_t kShortestTitle = 8;
  const auto most = static_cast<std::size_t>(columns);
  const auto rank = [](const LinePart& part) { return part.text.empty() ? 0 : part.rank; };
  while (width_of(parts) > most) {
    const auto least_needed = std::ranges::max_element(parts, {}, rank);
    if (rank(*least_needed) == 0) break;
    least_needed->text.clear();
  }
  std::string& title = parts.front().text;
  const std::size_t title_width = character_count(title), others = width_of(parts) - title_width;
  if (others + title_width > most && others + kShortestTitle <= most)
    title = std::string(first_characters(title, most - others - 1)) + "…";
  return std::string(first_characters(joined(parts), most));
}

// Formats rates with three significant digits without an exponent: "0.284", "28.4", "1,284".
std::string rate_text(double rate) {
  if (rate >= 1000) return grouped(std::llround(rate));
  const int decimals = rate >= 100 ? 0 : rate >= 10 ? 1 : rate >= 1 ? 2 : 3;
  return fmt::format("{:.{}f}", rate, decimals);
}

}  // namespace

ProgressOutput progress_on_stderr(bool quiet) {
  ProgressOutput output;
  output.quiet = quiet;
  output.terminal = ::isatty(STDERR_FILENO) == 1;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    output.columns = size.ws_col;
  output.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  output.now_seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return output;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const std::int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{} d {}:{:02}:{:02}", days, hours, minutes, whole % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

Progress::Progress(std::string title, std::int64_t total, ProgressOptions options)
    : title_(std::move(title)),
      total_(total),
      options_(std::move(options)),
      done_(options_.first),
      start_seconds_(options_.output.now_seconds()),
      shown_seconds_(start_seconds_),
      shown_done_(done_) {}

Progress::~Progress() { finish(); }

void Progress::update(std::int64_t done, std::string_view note, std::string_view detail) {
  if (options_.output.quiet || finished_) return;
  done_ = done;
  note_ = note;
  detail_ = detail;
  const double now = options_.output.now_seconds();
  const double period = options_.output.terminal ? kTerminalPeriodSeconds : kLinePeriodSeconds;
  if (now - shown_seconds_ >= period) show(now, /*last=*/false);
}

void Progress::print_above(std::string_view lines) {
  const ProgressOutput& output = options_.output;
  if (output.quiet) return;
  for (const std::string& line : split(std::string(lines), '\n'))
    output.write(output.terminal ? fmt::format("\r{}\x1b[K\n", line) : fmt::format("{}\n", line));
}

void Progress::finish() {
  const ProgressOutput& output = options_.output;
  if (output.quiet || finished_) return;
  finished_ = true;
  if (options_.end == ProgressEnd::stays) {
    show(output.now_seconds(), /*last=*/true);
  } else if (output.terminal) {
    output.write("\r\x1b[K");
  }
}

void Progress::show(double now, bool last) {
  const double seconds = now - shown_seconds_;
  if (seconds > 0) {
    const double recent = static_cast<double>(done_ - shown_done_) / seconds;
    const double memory = std::min(kRateMemorySeconds, now - start_seconds_);
    const double forget = rate_ == 0 ? 1 : 1 - std::exp(-seconds / memory);
    rate_ += forget * (recent - rate_);
  }
  shown_seconds_ = now;
  shown_done_ = done_;
  const std::string text = line(now, last);
  // \x1b[K clears the rest of a longer line.
  options_.output.write(
      options_.output.terminal ? fmt::format("\r{}\x1b[K{}", text, last ? "\n" : "") : text + "\n");
}

std::string Progress::line(double now, bool last) const {
  const double elapsed = now - start_seconds_;
  // Shows the recent speed while running, and the average at the end.
  const double rate = !last         ? rate_
                      : elapsed > 0 ? static_cast<double>(done_ - options_.first) / elapsed
                                    : 0;
  const std::string unit = options_.unit.empty() ? "" : " " + options_.unit;
  std::string share, left, speed;
  if (total_ > 0 && total_ >= done_) share = fmt::format("{}%", 100 * done_ / total_);
  if (rate > 0) speed = fmt::format("{}{}/s", rate_text(rate), unit);
  if (rate > 0 && !last && total_ > 0 && total_ >= done_)
    left = clock_text(static_cast<double>(total_ - done_) / rate) + " left";
  // Without a known total, only the count is shown.
  const std::string of = total_ >= done_ ? "/" + grouped(total_) : "";
  return fitted_line({{title_},
                      {share},
                      {grouped(done_) + of + unit, 3},
                      {clock_text(elapsed), 2},
                      {left, 1},
                      {speed, 4},
                      {note_},
                      {detail_, 5}},
                     options_.output.line_columns());
}

}  // namespace hone
