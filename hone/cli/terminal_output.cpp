#include "hone/cli/terminal_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hone/base/interrupt.h"
#include "hone/base/printable.h"
#include "hone/base/terminal.h"
#include "hone/cli/command.h"
#include "hone/cli/flags.h"
#include "hone/jobs/next_commands.h"
#include "hone/study/measure.h"

namespace hone {

TextStyle text_style(const RunArguments& a) {
  return {.columns = terminal_columns(stdout),
          .colour = wants_colour(stdout, parse_colour_choice(a.colour))};
}

void print_text(const RunArguments& a, std::string_view text) {
  fmt::print("{}", wrapped_text(text, text_style(a).columns));
}

void print_message(std::string_view text) {
  std::fflush(stdout);  // keeps the order when both streams go to one file
  // A failure to write messages does not end the command.
  std::fputs((wrapped_text(printable_message(with_spellings(text, option_spellings())),
                           terminal_columns(stderr)) +
              "\n")
                 .c_str(),
             stderr);
}

void check_gate(const GateOutcome& gate, const RunArguments& a) {
  if (!gate.passed) throw GateFailure(a.json ? gate.summary : "limit not proven");
}

void print(std::string_view command, const JobResult& result, const RunArguments& arguments) {
  if (result.was_finished)
    return print_finished({result.document.output}, result.fields, arguments.json);
  if (arguments.json) {
    print_result(command, result.fields);
  } else {
    Document document = result.document;
    document.next = on_device(document.next, arguments.device, arguments.precision);
    print_text(arguments, to_text(document, text_style(arguments)));
  }
  if (result.was_interrupted) throw Interrupted("interrupted; the result is incomplete");
  if (result.gate) check_gate(*result.gate, arguments);
}

bool flush_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0) return true;
  if (reason == EPIPE) return false;
  fail("standard output: cannot write{}{}", reason == 0 ? "" : ": ",
       reason == 0 ? "" : std::strerror(reason));
}

}  // namespace hone
