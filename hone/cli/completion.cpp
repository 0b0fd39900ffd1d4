#include <algorithm>

#include "hone/cli/arguments.h"
#include "hone/cli/command.h"
#include "hone/cli/settings.h"
#include "hone/cli/value_kind.h"
#include "hone/formats/format.h"

// Scripts by which shells complete command lines, made from the commands as they are declared.
namespace hone {
namespace {

/// One argument of a command.
struct Argument {
  std::vector<std::string> flags;  ///< "--lr"; none: it is positional
  std::string description;
  bool takes_value = false;
  std::vector<std::string> words = {};  ///< that are offered for it
  bool files = false, folders = false;  ///< names of which are offered
  bool format = false;                  ///< the words are formats, whose parameters are offered too
  std::string shown = {};               ///< what it takes
};

struct CommandArguments {
  const Command* command = nullptr;
  std::vector<Argument> arguments;
};

std::vector<CommandArguments> all_arguments() {
  std::vector<CommandArguments> all;
  for (const Command& command : commands()) {
    CLI::App app;
    declare_command(command, app);
    CommandArguments row{&command, {}};
    for (const CLI::Option* option : app.get_options()) {
      Argument argument{{}, option->get_description(), !is_flag(*option)};
      if (argument.takes_value) argument.words = offered_words(*option);
      if (const ValueKind* kind = value_kind(*option)) {
        argument.files = kind->files;
        argument.folders = kind->folders;
        argument.format = kind->format;
      }
      const std::string type = option->get_type_name();
      argument.shown = type.substr(0, type.find(':'));
      for (const std::string& name : option->get_snames()) argument.flags.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) argument.flags.push_back("--" + name);
      row.arguments.push_back(argument);
    }
    all.push_back(row);
  }
  return all;
}

std::vector<std::string> flags_of(const CommandArguments& row) {
  std::vector<std::string> flags;
  for (const Argument& argument : row.arguments)
    flags.insert(flags.end(), argument.flags.begin(), argument.flags.end());
  return flags;
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// "bits=2 bits=3 … group= per=auto …": what may be in the parentheses of a format. Of many numbers none and the default.
std::string parameter_words(const FormatDef& format) {
  constexpr std::int64_t kMostNumbers = 16;
  std::vector<std::string> words;
  for (const FormatParameterDef& p : format.parameters) {
    const auto offer = [&](const auto& value) {
      words.push_back(fmt::format("{}={}", p.name, value));
    };
    for (const std::string_view word : p.words) offer(word);
    if (!p.words.empty()) continue;
    if (p.maximum - p.minimum >= kMostNumbers) {
      offer("");
      offer(p.default_value == kAuto ? "auto" : std::to_string(p.default_value));
    } else {
      for (std::int64_t number = p.minimum; number <= p.maximum; ++number) offer(number);
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// A line of a shell's `case` for each format with parameters; `line`: "    {}\\(*) words='{}' ;;\n".
std::string format_cases(std::string_view line) {
  std::string cases;
  for (const auto& [name, def] : builtin_formats())
    if (!def.parameters.empty())
      cases += fmt::format(fmt::runtime(line), name, parameter_words(def));
  return cases;
}

// In single quotes, for any of the three shells.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result + "'";
}

std::string listed_words(const Argument& argument) {
  return fmt::format("{}", fmt::join(argument.words, " "));
}

constexpr std::string_view kBashHead =
    R"bash(# Completes the arguments of hone in bash. Made by `hone completion bash`.

# Candidates: the words $1; with $2 = files or folders, those too.
_hone_offer() {
  mapfile -t COMPREPLY < <(
    compgen -W "$1" -- "$cur"
    [[ $2 == files ]] && compgen -f -- "$cur"
    [[ $2 == folders ]] && compgen -d -- "$cur"
  )
  [[ $2 ]] && compopt -o filenames 2> /dev/null
}

# Number formats $1; inside of parentheses the parameters of one.
_hone_offer_format() {
  local word=${cur#[\'\"]} words
  case $word in
)bash";

constexpr std::string_view kBashCommands = R"bash(    *) _hone_offer "$1"; return ;;
  esac
  local before=${word%"${word##*[(,]}"}
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${word#"$before"}")
  # A single one would close the quotes.
  [[ ${#COMPREPLY[@]} == 1 ]] && COMPREPLY=("${COMPREPLY[0]}"{\,,\)})
}

_hone() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local there=  # what of the word is on the line already
  COMPREPLY=()
  # bash makes words of = and of the : of synth:NAME.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $flag == = ]]; then
    flag=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $cur == : && $flag == synth ]]; then
    cur=synth: there=synth: flag=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $flag == : && ${COMP_WORDS[COMP_CWORD-2]} == synth ]]; then
    cur=synth:$cur there=synth: flag=${COMP_WORDS[COMP_CWORD-3]}
  fi
  # - and _ are the same inside of a flag.
  [[ $cur == --* ]] && { cur=${cur:2}; cur=--${cur//-/_}; }
  [[ $flag == --* ]] && { flag=${flag:2}; flag=--${flag//-/_}; }
)bash";

constexpr std::string_view kBashTail = R"bash(  esac
  COMPREPLY=("${COMPREPLY[@]#"$there"}")
}
complete -F _hone hone
)bash";

std::string bash_script() {
  std::string script(kBashHead);
  script += format_cases("    {}\\(*) words='{}' ;;\n");
  script += kBashCommands;
  script += fmt::format(
      "  if [[ $COMP_CWORD == 1 ]]; then\n    _hone_offer '{} --help --version'\n    return\n  fi\n"
      "  case $command in\n",
      command_names());
  for (const CommandArguments& row : all_arguments()) {
    std::string values, positionals;
    std::string places;
    for (const Argument& argument : row.arguments) {
      const std::string names = argument.files ? " files" : argument.folders ? " folders" : "";
      const std::string offer =
          argument.words.empty() && names.empty()
              ? ":"
              : fmt::format("_hone_offer{} {}{}", argument.format ? "_format" : "",
                            in_quotes(listed_words(argument)), names);
      if (argument.flags.empty()) {
        if (places.empty()) places = offer;
      } else if (argument.takes_value) {
        values += fmt::format("        {}) {} ;;\n", fmt::join(argument.flags, " | "), offer);
      }
    }
    script += fmt::format(
        "    {})\n      case $flag in\n{}"
        "        *)\n          if [[ $cur == -* ]]; then\n            _hone_offer {}\n"
        "          else\n            {}\n          fi ;;\n      esac ;;\n",
        row.command->name, values, in_quotes(fmt::format("{}", fmt::join(flags_of(row), " "))),
        places.empty() ? ":" : places);
  }
  return script.append(kBashTail);
}

std::string zsh_action(const Argument& argument) {
  // A colon ends a field of the specification; _hone_words gets the words as its arguments.
  std::string words;
  for (const std::string& word : argument.words) {
    words += ' ';
    for (const char c : word) words += c == ':' ? std::string("\\:") : std::string(1, c);
  }
  // Behind the space the words are all that the function gets; else _arguments puts its own in front.
  if (argument.format) return " _hone_format" + words;
  if (argument.files) return " _hone_words -f" + words;
  if (argument.folders) return " _hone_words -d" + words;
  return words.empty() ? " " : " _hone_words -w" + words;
}

std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_script() {
  std::string script =
      "#compdef hone\n# Completes the arguments of hone in zsh. Made by `hone completion zsh`.\n\n"
      "# The words, and with -f files, with -d folders too.\n"
      "_hone_words() {\n  local kind=$1 ret=1\n  shift\n  compadd -- \"$@\" && ret=0\n"
      "  [[ $kind == -f ]] && _files && ret=0\n  [[ $kind == -d ]] && _files -/ && ret=0\n"
      "  return ret\n}\n\n"
      "# Number formats; inside of parentheses the parameters of one.\n"
      "_hone_format() {\n  local words\n  case $PREFIX in\n" +
      format_cases("    {}\\(*) words='{}' ;;\n") +
      "    *) _hone_words -w \"$@\"; return ;;\n  esac\n"
      "  compset -P '*[(,]'\n  compadd -S '' -- ${=words}\n}\n\n"
      "_hone() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : commands())
    script += fmt::format("      {}\n",
                          in_quotes(fmt::format("{}:{}", command.name, zsh_text(command.summary))));
  script +=
      "    )\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandArguments& row : all_arguments()) {
    script += fmt::format("    {}) _arguments", row.command->name);
    int place = 0;
    for (const Argument& argument : row.arguments) {
      const std::string value =
          fmt::format(":{}:{}", zsh_text(argument.shown), zsh_action(argument));
      if (argument.flags.empty())
        script += " \\\n      " + in_quotes(fmt::format("{}{}", ++place, value));
      for (const std::string& flag : argument.flags)
        script +=
            " \\\n      " + in_quotes(fmt::format("*{}[{}]{}", flag, zsh_text(argument.description),
                                                  argument.takes_value ? value : ""));
    }
    script += " ;;\n";
  }
  return script +
         "  esac\n}\n\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _hone \"$@\"; "
         "else compdef _hone hone; fi\n";
}

std::string fish_script() {
  std::string script =
      "# Completes the arguments of hone in fish. Made by `hone completion fish`.\n"
      "complete -c hone -f\n"
      "# Number formats; inside of parentheses the parameters of one.\n"
      "function __hone_formats\n"
      "  set -l word (commandline -ct | string trim -l -c \"'\\\"\")\n"
      "  set -l before (string match -r '.*[(,]' -- $word)\n  switch $word\n" +
      format_cases("    case '{}(*'\n      string join \\n -- $before(string split ' ' '{}')\n") +
      "    case '*'\n      string join \\n -- $argv\n  end\nend\n";
  for (const Command& command : commands())
    script += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          in_quotes(command.summary));
  for (const CommandArguments& row : all_arguments()) {
    for (const Argument& argument : row.arguments) {
      std::string line =
          fmt::format("complete -c hone -n '__fish_seen_subcommand_from {}'", row.command->name);
      for (const std::string& flag : argument.flags)
        line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      if (!argument.flags.empty()) line += " -d " + in_quotes(argument.description);
      if (argument.takes_value && !argument.flags.empty()) line += " -r";
      if (argument.files) line += " -F";
      std::string words = listed_words(argument);
      if (argument.folders) words += " (__fish_complete_directories)";
      if (argument.format) words = fmt::format("(__hone_formats {})", words);
      if (!words.empty()) line += " -a " + in_quotes(words);
      script += line + "\n";
    }
  }
  return script;
}

struct Shell {
  std::string name;
  std::string (*script)();
};

const Shell kShells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.push_back(shell.name);
  return names;
}

void print_script(const std::string& name) {
  fmt::print("{}", std::ranges::find(kShells, name, &Shell::name)->script());
}

}  // namespace

Command completion_command() {
  return {"completion", "Print a completion script for your shell",
          "hone completion bash > ~/.local/share/bash-completion/completions/hone",
          [](CLI::App& app) -> std::function<void()> {
            auto shell = std::make_shared<std::string>();
            app.add_option("SHELL", *shell, "bash, zsh or fish")
                ->required()
                ->check(one_of(shell_names()));
            return [shell] { print_script(*shell); };
          }};
}

}  // namespace hone
