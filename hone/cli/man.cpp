#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "hone/base/text.h"
#include "hone/cli/command.h"
#include "hone/cli/help.h"
#include "hone/cli/settings.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/machine.h"

// The manual page, in roff with the macros of man(7), and the reference in Markdown. Both are generated from the
// declared commands.
namespace hone {
namespace {

// Escapes a line of text for roff.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";  // roff may typeset a plain one as a hyphen, which shells do not accept
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
takes a trained model (a Hugging Face folder or a ResNet) and a dataset. It fine\-tunes, distils, prunes and quantizes the
model, searches for the smallest and fastest version within your accuracy limit, and measures what was lost and gained.
.PP
MODEL is such a folder, or
.B tiny
or
.B base
for new weights. In the names of options \- and _ are the same. Results are printed to the standard output, progress and
warnings to the standard error.
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
A gate (\-\-max_drop, \-\-gate) did not pass.
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
  const CommandApp app(command);
  std::string positionals = command.needs_subcommand() ? fmt::format(" {}", kSubcommand) : "";
  std::string options;
  const HelpFormatter formatter;
  for (const CLI::Option* option : app.get_options()) {
    const bool positional = option->get_positional();
    const std::string name =
        formatter.make_option_name(option, positional) + formatter.make_option_opts(option);
    if (positional) positionals += fmt::format(" {}", name);
    options +=
        fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(formatter.make_option_desc(option)));
  }
  std::string text = fmt::format(".SS hone {}{} [options]\n{}.\n", command.name, roff(positionals),
                                 roff(command.summary));
  if (!command.details.empty()) text += fmt::format(".PP\n{}\n", roff(command.details));
  return text + options + fmt::format(".PP\nExample:\n.PP\n.EX\n{}\n.EE\n", roff(command.example));
}

std::string manual() {
  std::string text = fmt::format(
      ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- finds the smallest, "
      "fastest version of a model within your accuracy limit\n.SH SYNOPSIS\n"
      ".B hone\n.I COMMAND\n[arguments]\n.br\n.B hone\n.I COMMAND\n.B \\-\\-help\n",
      hone_version());
  text += kDescription;
  for (const Command& command : commands()) {
    text += command_section(command);
    for (const Command& subcommand : command.subcommands) text += command_section(subcommand);
  }
  return text.append(kEnd);
}

// Escapes text for a cell of a Markdown table as HTML: a bar would end the cell.
std::string in_cell(std::string_view text) {
  std::string result;
  for (const char c : text)
    result += c == '|'   ? "&#124;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '*' ? "&#42;"
              : c == '_' ? "&#95;"
                         : std::string(1, c);
  return result;
}

std::string markdown_row(const CLI::Option& option, const HelpFormatter& formatter) {
  const bool positional = option.get_positional();
  return fmt::format("| <code>{}</code> | {} |\n",
                     in_cell(formatter.make_option_name(&option, positional) +
                             formatter.make_option_opts(&option)),
                     in_cell(formatter.make_option_desc(&option)));
}

std::string markdown_section(const Command& command) {
  const CommandApp app(command);
  const HelpFormatter formatter;
  std::string anchor(command.name);
  std::ranges::replace(anchor, ' ', '-');
  std::string text =
      fmt::format("### {} {{ #{} }}\n\n{}.\n\n", command.name, anchor, command.summary);
  if (!command.details.empty()) text += fmt::format("{}\n\n", command.details);
  text += fmt::format("```sh\n{}\n```\n", command.example);
  const auto add = [&](std::string_view heading, const auto& takes) {
    std::string rows;
    for (const CLI::Option* option : app.get_options())
      if (!is_help(app, *option) && takes(*option)) rows += markdown_row(*option, formatter);
    if (!rows.empty()) text += fmt::format("\n| {} | Meaning |\n|---|---|\n{}", heading, rows);
  };
  add("Argument", [](const CLI::Option& option) { return option.get_positional(); });
  for (const EnumName& heading : enum_names(Heading()))
    add(heading.name, [&](const CLI::Option& option) {
      const OptionDef* row = app.row(option);
      return row != nullptr && is_listed_under(*row, heading);
    });
  return text + "\n";
}

std::string reference() {
  std::string text =
      "# Commands\n\nThis page is generated by `hone man --markdown`. In the names of options, `-` "
      "and `_` are the same.\nResults are printed to the standard output, progress and warnings to "
      "the standard error.\n\nExit codes: 0 success, 1 bad input, 2 bad usage, 3 a gate did not "
      "pass, 70 an internal error, 128 + n stopped by\nsignal n.\n\n";
  for (const CommandGroup& group : command_groups()) {
    text += fmt::format("## {}\n\n", group.name);
    for (const Command& command : group.commands) {
      text += markdown_section(command);
      for (const Command& subcommand : command.subcommands) text += markdown_section(subcommand);
    }
  }
  text.pop_back();
  return text;
}

// Replaces roff's escapes by the characters they represent.
std::string unescaped(std::string_view line) {
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"\\e", "\\"}, {"\\-", "-"}, {"\\(aq", "'"}, {"\\(ga", "`"}, {"\\&", ""}};
  std::string text;
  while (!line.empty()) {
    const auto escape = std::ranges::find_if(
        kEscapes, [&](const auto& known) { return line.starts_with(known.first); });
    if (escape != std::end(kEscapes)) {
      text += escape->second;
      line.remove_prefix(escape->first.size());
    } else {
      text += line.front();
      line.remove_prefix(1);
    }
  }
  return text;
}

// Returns the manual for a terminal without the program `man`: headings at the left, all else indented.
std::string plain_manual() {
  std::string text;
  bool headline =
      false;  // the previous line was .TP: an option or argument follows, then its meaning
  for (const std::string& line : split(manual(), '\n')) {
    const std::string macro = line.starts_with('.') ? line.substr(0, line.find(' ')) : "";
    const std::string rest = unescaped(
        std::string_view(line).substr(std::min(line.size(), macro.empty() ? 0 : macro.size() + 1)));
    if (macro == ".SH" || macro == ".SS") {
      text += fmt::format("\n{}{}\n", macro == ".SS" ? "  " : "", rest);
    } else if (macro == ".PP") {
      text += "\n";
    } else if (macro == ".TP") {
      headline = true;
    } else if (!rest.empty() && macro != ".TH") {
      text += fmt::format("{}{}\n", headline || macro == ".B" ? "    " : "        ", rest);
      headline = false;
    }
  }
  return text;
}

// Shows the manual in the program `man`, which pages it. Returns false if `man` is missing or fails.
bool page_manual() {
  std::FILE* const pager = ::popen("command -v man >/dev/null && exec man -l -", "w");
  if (pager == nullptr) return false;
  const std::string text = manual();
  std::fwrite(text.data(), 1, text.size(), pager);  // a short write means that the reader quit
  return ::pclose(pager) == 0;
}

struct ManArguments {
  bool markdown = false;
};

Options options_of(const ManArguments*) {
  return {option<&ManArguments::markdown>("markdown",
                                          "print the reference of all commands as Markdown")};
}

// Prints roff to files and pipes, and a readable page to a terminal.
void print_manual(ManArguments& a) {
  if (a.markdown) {
    fmt::print("{}", reference());
  } else if (::isatty(STDOUT_FILENO) == 0) {
    fmt::print("{}", manual());
  } else if (!page_manual()) {
    fmt::print("{}", wrapped_text(plain_manual(), help_columns()));
  }
}

}  // namespace

Command man_command() {
  return {.name = "man",
          .summary = "Print the manual page",
          .example = "hone man > hone.1",
          .run = runs<ManArguments, print_manual>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
