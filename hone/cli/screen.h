#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"
#include "hone/study/gates.h"

/// How commands print for people: within the width of the terminal, in colours where it has them. In pipes and files
/// lines have any length and no colour.
namespace hone {

/// Of the standard output, as the arguments want it.
TextStyle text_style(const RunArguments& arguments);

/// Writes text to the standard output, its lines broken at spaces to fit the terminal. Tables in it are laid out by
/// `to_text(table, text_style(arguments))` before.
void print_text(const RunArguments& arguments, std::string_view text);
template <typename First, typename... Rest>
void print_text(const RunArguments& arguments, fmt::format_string<First, Rest...> format,
                First&& first, Rest&&... rest) {
  print_text(arguments,
             fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// The same to the standard error stream: for what is not the result. Characters that would control the terminal are
/// made visible.
void print_message(std::string_view text);

/// Throws `GateFailure` unless the gates were passed. Its sentence is the summary where the standard output has none, for
/// programs; people have read it there.
void check_gate(const GateOutcome& gate, const RunArguments& arguments);

/// Prints the result of a command, for programs or for people. Throws `GateFailure` where its gates are not passed, `Interrupted`
/// where it is incomplete.
void print(std::string_view command, const JobResult& result, const RunArguments& arguments);

/// Sees to it that the standard output has taken all that was printed. Throws `UserError` with the reason when it has not:
/// a full disk must not look like success. False: whoever read it has stopped (`| head`).
bool flush_output();

}  // namespace hone
