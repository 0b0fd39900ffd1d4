#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

/// Output for people: fitted to the width of the terminal, in color if it supports color. In pipes and files lines have
/// any length and no color.
namespace hone {

/// Returns the style of the standard output that the arguments select.
TextStyle text_style(const RunArguments& arguments);

/// Writes text to the standard output, with lines broken at spaces to fit the terminal. `to_text(table,
/// text_style(arguments))` lays out its tables beforehand.
void print_text(const RunArguments& arguments, std::string_view text);
template <typename First, typename... Rest>
void print_text(const RunArguments& arguments, fmt::format_string<First, Rest...> format,
                First&& first, Rest&&... rest) {
  print_text(arguments,
             fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// Writes text that is not a result to the standard error stream, with control characters made visible.
void print_message(std::string_view text);

/// Throws `GateFailure` unless the gates were passed. With --json its message is the summary, which the text output
/// already contains.
void check_gate(const GateOutcome& gate, const RunArguments& arguments);

/// Prints the result of a command, as JSON or text. Throws `GateFailure` if its gates are not passed, `Interrupted` if
/// it is incomplete.
void print(std::string_view command, const JobResult& result, const RunArguments& arguments);

/// Flushes the standard output. Throws `UserError` with the reason if that fails: a full disk must not look like
/// success. Returns false if the reader has closed the pipe (`| head`).
bool flush_output();

}  // namespace hone
