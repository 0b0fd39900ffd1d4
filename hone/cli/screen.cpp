#include "hone/cli/screen.h"

#include "hone/base/printable.h"
#include "hone/base/terminal.h"

namespace hone {

TextStyle text_style(const RunArguments& a) {
  return {.columns = terminal_columns(stdout),
          .colour = wants_colour(stdout, parse_colour_choice(a.colour))};
}

void print_text(const RunArguments& a, std::string_view text) {
  fmt::print("{}", fitted(text, text_style(a).columns));
}

std::string shown_verdict(const Verdict& verdict, const RunArguments& a) {
  const Tone tone = verdict.conclusion == Conclusion::kept   ? Tone::good
                    : verdict.conclusion == Conclusion::lost ? Tone::bad
                                                             : Tone::unclear;
  return toned(verdict.summary, tone, text_style(a));
}

void print_message(std::string_view text) {
  fmt::print(stderr, "{}\n", fitted(printable(text), terminal_columns(stderr)));
}

}  // namespace hone
