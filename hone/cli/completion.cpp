#include <algorithm>
#include <iterator>

#include "hone/base/text.h"
#include "hone/cli/command.h"
#include "hone/cli/help.h"
#include "hone/cli/settings.h"
#include "hone/formats/format.h"

// Shell completion scripts, generated from the declared commands.
namespace hone {
namespace {

/// One argument of a command.
struct Argument {
  std::vector<std::string> flags;  ///< "--lr"; empty: it is positional
  std::string description;
  bool takes_value = false;
  std::vector<std::string> words = {};  ///< offered for it
  bool files = false, folders = false;  ///< whether their names are offered
  bool format = false;                  ///< the words are formats, whose parameters are offered too
  std::string_view separator = {};      ///< between several formats; empty: takes one
  bool is_prefix = false;               ///< the words only begin a value
  std::string shown = {};               ///< placeholder of its value
};

struct CommandArguments {
  const Command* command = nullptr;
  std::vector<Argument> arguments = {};

  std::vector<std::string> name() const { return split(command->name, ' '); }
};

// Commands and their subcommands.
std::vector<CommandArguments> all_arguments() {
  std::vector<CommandArguments> all;
  for (const Command& command : commands()) {
    all.push_back({&command});
    for (const Command& subcommand : command.subcommands) all.push_back({&subcommand});
  }
  for (CommandArguments& row : all) {
    const CommandApp app(*row.command);
    for (const CLI::Option* option : app.get_options()) {
      Argument argument{{}, option->get_description(), !is_flag(*option)};
      argument.words = app.completion_values(*option);
      const ValueKind& kind = app.kind(*option);
      argument.files = kind.files;
      argument.folders = kind.folders;
      argument.format = kind.format;
      argument.separator = kind.separator;
      argument.is_prefix = kind.is_prefix;
      argument.shown = option->get_type_name();
      if (option->get_positional())
        std::ranges::copy(subcommand_names(*row.command), std::back_inserter(argument.words));
      for (const std::string& name : option->get_snames()) argument.flags.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) argument.flags.push_back("--" + name);
      row.arguments.push_back(argument);
    }
    if (row.command->needs_subcommand())
      row.arguments.push_back({.flags = {},
                               .description = "",
                               .takes_value = true,
                               .words = subcommand_names(*row.command),
                               .shown = kSubcommand});
  }
  return all;
}

// Returns "'bench linear' | 'bench attention'" for a shell's `case`; "" without subcommands.
std::string subcommand_cases() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    for (const Command& subcommand : command.subcommands)
      names.push_back(fmt::format("'{}'", subcommand.name));
  return fmt::format("{}", fmt::join(names, " | "));
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

// Returns what may be in the parentheses of a format: "bits=2 bits=3 … group= per=auto …". For a wide range of numbers
// it offers an empty value and the default.
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

// Returns a line of a shell's `case` for each format with parameters; `line`: "    {}\\(*) words='{}' ;;\n".
std::string format_cases(std::string_view line) {
  std::string cases;
  for (const auto& [name, def] : builtin_formats())
    if (!def.parameters.empty())
      cases += fmt::format(fmt::runtime(line), name, parameter_words(def));
  return cases;
}

// Returns the text in single quotes, for any of the three shells.
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

# Words $1 that only begin a value, and have characters that a shell must not read.
_hone_offer_beginning() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "${cur#[\'\"]}")
  compopt -o nospace -o filenames 2> /dev/null
}

# Number formats $1, several with $2 between them; inside of parentheses the parameters that a format has not yet.
_hone_offer_format() {
  local word=${cur#[\'\"]} front= words parameter
  if [[ $2 ]]; then
    # Behind the last separator outside of parentheses.
    front=$word
    [[ ${word##*\(} == *\)* ]] || front=${word%\(*}
    front=${front%"${front##*"$2"}"}
  fi
  local one=${word#"$front"}
  case $one in
)bash";

constexpr std::string_view kBashCommands = R"bash(    *)
      mapfile -t COMPREPLY < <(compgen -P "$front" -W "$1" -- "$one")
      return ;;
  esac
  local before=${word%"${word##*[(,]}"} given=,${one#*\(} left=
  for parameter in $words; do
    [[ $given == *",${parameter%%=*}="*,* ]] || left+=" $parameter"
  done
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$left" -- "${word#"$before"}")
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
      "  case \"$command ${{COMP_WORDS[2]}}\" in\n    {}) (( COMP_CWORD > 2 )) && command+=\" "
      "${{COMP_WORDS[2]}}\" ;;\n  esac\n"
      "  case $command in\n",
      command_names(), subcommand_cases());
  for (const CommandArguments& row : all_arguments()) {
    std::string values, positionals;
    std::string places;
    for (const Argument& argument : row.arguments) {
      const std::string names = argument.files ? " files" : argument.folders ? " folders" : "";
      const std::string offer =
          argument.words.empty() && names.empty()
              ? ":"
              : fmt::format(
                    "_hone_offer{} {}{}",
                    argument.format      ? "_format"
                    : argument.is_prefix ? "_beginning"
                                         : "",
                    in_quotes(listed_words(argument)),
                    argument.separator.empty() ? names : fmt::format(" {}", argument.separator));
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
        in_quotes(row.command->name), values,
        in_quotes(fmt::format("{}", fmt::join(flags_of(row), " "))), places.empty() ? ":" : places);
  }
  return script.append(kBashTail);
}

// Returns the words with a backslash before these characters, for a shell that parses them a second time.
std::string escaped_words(const Argument& argument, std::string_view characters) {
  std::string words;
  for (const char c : listed_words(argument)) {
    if (characters.find(c) != std::string_view::npos) words += '\\';
    words += c;
  }
  return words;
}

// A format's separator as an argument.
std::string_view separator_word(const Argument& argument) {
  return argument.separator.empty() ? "-" : argument.separator;
}

std::string zsh_action(const Argument& argument) {
  // A colon ends a field of the specification; _hone_words gets the words as its arguments.
  const std::string words = argument.words.empty() ? "" : " " + escaped_words(argument, ":>");
  // With the leading space the function gets only these words; without it, _arguments adds its own before them.
  if (argument.format) return fmt::format(" _hone_format {}{}", separator_word(argument), words);
  if (argument.is_prefix) return " _hone_words -g" + words;
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
      "# Offers the words; with -f also files, with -d folders; with -g a word may continue.\n"
      "_hone_words() {\n  local kind=$1 ret=1\n  local -a suffix\n  shift\n"
      "  [[ $kind == -g ]] && suffix=(-S '')\n  compadd \"${suffix[@]}\" -- \"$@\" && ret=0\n"
      "  [[ $kind == -f ]] && _files && ret=0\n  [[ $kind == -d ]] && _files -/ && ret=0\n"
      "  return ret\n}\n\n"
      "# Number formats, several with $1 between them; inside of parentheses the parameters that "
      "a\n"
      "# format has not yet.\n"
      "_hone_format() {\n  local separator=$1 words front one parameter\n  local -a left\n  shift\n"
      "  if [[ $separator != - ]]; then\n"
      "    # Behind the last separator outside of parentheses.\n"
      "    front=$PREFIX\n    [[ ${PREFIX##*\\(} == *\\)* ]] || front=${PREFIX%\\(*}\n"
      "    one=${front##*$separator}\n    compset -p $(( ${#front} - ${#one} ))\n  fi\n"
      "  case $PREFIX in\n" +
      format_cases("    {}\\(*) words='{}' ;;\n") +
      "    *) _hone_words -w \"$@\"; return ;;\n  esac\n"
      "  local given=,${PREFIX#*\\(}\n  for parameter in ${=words}; do\n"
      "    [[ $given == *,${parameter%%=*}=*,* ]] || left+=($parameter)\n  done\n"
      "  compset -P '*[(,]'\n  compadd -S '' -- $left\n}\n\n"
      "_hone() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const Command& command : commands())
    script += fmt::format("      {}\n",
                          in_quotes(fmt::format("{}:{}", command.name, zsh_text(command.summary))));
  script +=
      "    )\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n";
  script += fmt::format(
      "  case \"$command $words[2]\" in\n    {}) if (( CURRENT > 2 )); then command+=\" "
      "$words[2]\"; shift words; (( CURRENT-- )); fi ;;\n  esac\n  case $command in\n",
      subcommand_cases());
  for (const CommandArguments& row : all_arguments()) {
    script += fmt::format("    {}) _arguments", in_quotes(row.command->name));
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
      "# Number formats, several with the first argument between them; inside of parentheses the\n"
      "# parameters that a format has not yet.\n"
      "function __hone_formats\n"
      "  set -l word (commandline -ct | string trim -l -c \"'\\\"\")\n"
      "  set -l front ''\n  set -l words\n"
      "  # Behind the last separator outside of parentheses.\n"
      "  if test \"$argv[1]\" != -\n"
      "    set front (string match -r "
      "'^(?:[^()'$argv[1]']*(?:\\([^()]*\\))?'$argv[1]')*' -- \"$word\")\n  end\n"
      "  set -l one (string sub -s (math (string length -- \"$front\") + 1) -- \"$word\")\n"
      "  switch \"$one\"\n" +
      format_cases("    case '{}(*'\n      set words (string split ' ' '{}')\n") +
      "    case '*'\n      string join \\n -- \"$front\"$argv[2..-1]\n      return\n  end\n"
      "  set -l before (string match -r '.*[(,]' -- \"$word\")\n"
      "  set -l given ,(string replace -r '^[^(]*\\(' '' -- \"$one\")\n"
      "  for parameter in $words\n"
      "    set -l name (string split = -- $parameter)[1]\n"
      "    string match -q \"*,$name=*,*\" -- $given\n"
      "    or echo $before$parameter\n  end\nend\n";
  for (const Command& command : commands())
    script += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          in_quotes(command.summary));
  for (const CommandArguments& row : all_arguments()) {
    std::string condition;
    for (const std::string& word : row.name())
      condition +=
          fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
    if (const std::vector<std::string> others = subcommand_names(*row.command); !others.empty())
      condition += fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(others, " "));
    for (const Argument& argument : row.arguments) {
      std::string line = fmt::format("complete -c hone -n '{}'", condition);
      for (const std::string& flag : argument.flags)
        line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      if (!argument.flags.empty()) line += " -d " + in_quotes(argument.description);
      if (argument.takes_value && !argument.flags.empty()) line += argument.files ? " -r" : " -x";
      if (argument.files) line += " -F";
      std::string words = escaped_words(argument, ">");
      if (argument.folders) words += " (__fish_complete_directories)";
      if (argument.format)
        words = fmt::format("(__hone_formats {} {})", separator_word(argument), words);
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

struct CompletionArguments {
  std::string shell;
};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.push_back(shell.name);
  return names;
}

void print_script(CompletionArguments& a) {
  fmt::print("{}", std::ranges::find(kShells, a.shell, &Shell::name)->script());
}

Options options_of(const CompletionArguments*) {
  return {argument<&CompletionArguments::shell>("SHELL", "bash, zsh or fish")
              .required()
              .one_of(shell_names())};
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Print a completion script for your shell",
          .example = "hone completion bash > ~/.local/share/bash-completion/completions/hone",
          .run = runs<CompletionArguments, print_script>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
