#include "hone/cli/command.h"
#include "hone/cli/help.h"
#include "hone/runtime/machine.h"

// The manual page, in roff with the macros of man(7), made from the commands as they are declared.
namespace hone {
namespace {

// Text as it stands on a line of its own: roff's own characters escaped.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";  // a plain one may be typeset as a hyphen, which no shell takes
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else if (c == '\n') {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result.starts_with(".") ? "\\&" + result : result;
}

constexpr std::string_view kDescription = R"(.SH DESCRIPTION
.B hone
takes a trained transformer (a Hugging Face folder for sequence classification) and a data set. It fine\-tunes,
quantizes and evaluates the model, and says with figures it measured itself what was lost. Quantizing is simulated at first:
weights and inputs take the values of a number format, kept in 32\-bit floats. Packing makes the weights really small, and where
the formats of weights and inputs fit each other, products are of their codes.
.PP
MODEL is such a folder, or
.B tiny
or
.B base
for fresh weights. In the names of flags \- and _ are the same. Results go to the standard output, progress and
warnings to standard error.
.SH COMMANDS
)";

constexpr std::string_view kEnd = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
The input is at fault; the message says where and what to do.
.TP
.B 2
The command line is at fault.
.TP
.B 3
A gate (\-\-max_drop) did not pass.
.TP
.B 70
A fault of hone; please report it.
.TP
.B 128 + n
Signal n asked to stop; 130 is Ctrl\-C. The message has the command that goes on.
.SH ENVIRONMENT
.TP
.B HF_HUB_CACHE, HF_HOME
Where models named as on the Hugging Face hub are looked for, by default in ~/.cache/huggingface/hub. Nothing is
downloaded.
)";

std::string command_section(const Command& command) {
  CLI::App app;
  declare_command(command, app);
  std::string positionals, options;
  const HelpFormatter formatter;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string name =
        formatter.make_option_name(option, positional) + formatter.make_option_opts(option);
    if (positional) positionals += fmt::format(" {}", name);
    options +=
        fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(formatter.make_option_desc(option)));
  }
  return fmt::format(".SS hone {}{} [options]\n{}.\n{}.PP\nExample:\n.PP\n.EX\n{}\n.EE\n",
                     command.name, roff(positionals), roff(command.summary), options,
                     roff(command.example));
}

std::string manual() {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- fine\\-tunes and "
      "quantizes transformers, and measures what that costs\n.SH SYNOPSIS\n"
      ".B hone\n.I COMMAND\n[arguments]\n.br\n.B hone\n.I COMMAND\n.B \\-\\-help\n",
      hone_version());
  text += kDescription;
  for (const Command& command : commands()) text += command_section(command);
  return text.append(kEnd);
}

}  // namespace

Command man_command() {
  return {"man", "print the manual page", "hone man > hone.1",
          [](CLI::App&) -> std::function<void()> { return [] { fmt::print("{}", manual()); }; }};
}

}  // namespace hone
