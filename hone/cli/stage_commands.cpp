#include "hone/cli/stage_commands.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "hone/base/carry_over.h"
#include "hone/base/hash.h"
#include "hone/base/text.h"
#include "hone/cli/command_line.h"
#include "hone/cli/parse_command.h"
#include "hone/cli/paths_read.h"
#include "hone/cli/settings.h"
#include "hone/cli/trainer_flags.h"
#include "hone/data/synthetic.h"
#include "hone/jobs/run_identity.h"

namespace hone {
namespace {

constexpr const char* kFolder = "output_dir";

bool is_read(Access access) { return access != Access::none && access != Access::writes; }

/// Fingerprints of the files that option values refer to, each computed once.
class InputPrints {
 public:
  std::string of(Access access, const std::string& value) {
    const auto [at, is_new] = known_.try_emplace({static_cast<int>(access), value});
    if (is_new) at->second = fresh(access, value);
    return at->second;
  }

 private:
  static std::string fresh(Access access, const std::string& value) {
    std::vector<fs::path> paths;
    if (access == Access::reads_data && path_exists(value)) {
      paths = {value};
    } else {
      paths = paths_read(access, value);
    }
    if (paths.empty()) return "made: " + value;  // fresh weights, built-in data
    Fingerprint print;
    for (const fs::path& path : paths) {
      user_check(path_exists(path), "{}: no such file or folder", path.string());
      if (!is_folder(path)) {
        add(print, path.filename(), path);
        continue;
      }
      for (const fs::path& file : files_below(path)) add(print, file, path / file);
    }
    return print.text();
  }

  static void add(Fingerprint& print, const fs::path& name, const fs::path& file) {
    if (is_folder(file)) return;  // a link to a folder
    const MappedFile mapped(file);
    print.add(fmt::format("{}\n{}\n", name.string(), mapped.bytes().size()));
    print.add(mapped.bytes());
  }

  std::map<std::pair<int, std::string>, std::string> known_;
};

// Makes a path in the current folder absolute, so that it is valid in any folder. Leaves names of generated data and of
// models in the hub's cache as they are.
std::string from_anywhere(Access access, const std::string& value) {
  const bool is_data_glob = access == Access::reads_data && !value.starts_with(kSyntheticPrefix) &&
                            value.find_first_of("*?[") != std::string::npos;
  return path_exists(value) || is_data_glob ? fs::absolute(value).lexically_normal().string()
                                            : value;
}

// Returns the names of the options that a stage may set.
std::vector<std::string> option_names(const CommandApp& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (const OptionDef* row = app.row(*option); row != nullptr && !row->is_for_caller)
      names.push_back(row->name());
  return names;
}

const CLI::Option* find_option(const CLI::App& app, std::string name) {
  std::ranges::replace(name, '-', '_');
  for (const CLI::Option* option : app.get_options()) {
    if (is_help(app, *option)) continue;
    if (argument_name(*option) == name) return option;
    const std::vector<std::string>& names = option->get_lnames();
    if (std::ranges::find(names, name) != names.end()) return option;
  }
  return nullptr;
}

/// Builds the words of a command.
class CallBuilder {
 public:
  CallBuilder(const std::vector<std::string>& command, const std::string& folder,
              InputPrints& prints)
      : folder_(folder), prints_(prints) {
    const CommandMatch match = match_command(command);
    if (match.command == nullptr) {
      const std::string& name = command.front();
      std::vector<std::string> names;
      for (const Command& one : commands())
        if (one.stage.allowed) names.emplace_back(one.name);
      throw StageError(fmt::format("hone has no command '{}'{}", name, did_you_mean(name, names)));
    }
    command_ = match.command;
    if (!command_->stage.allowed)
      throw StageError(fmt::format("`hone {}` cannot be a stage", command_->name));
    app_.emplace(*command_);
    for (const CLI::Option* option : app_->get_options({}))
      if (option->get_positional()) positionals_.push_back(option);
    for (std::size_t i = match.words; i < command.size(); ++i) {
      if (i - match.words >= positionals_.size())
        throw StageError(fmt::format("`hone {}` has no argument '{}'", command_->name, command[i]));
      values_[positionals_[i - match.words]].push_back(command[i]);
    }
  }

  void add(const CallOption& given) {
    const CLI::Option* option = find_option(*app_, given.name);
    if (option == nullptr && given.is_common) return;
    if (option == nullptr) {
      const std::vector<std::string> names = option_names(*app_);
      std::vector<std::string> flags;
      for (const std::string& one : names) flags.push_back("--" + one);
      const std::string answer = trainer_flag_advice("--" + given.name, given.name, flags);
      throw StageError(
          answer.empty()
              ? fmt::format("`hone {}` has no option '{}'; `hone {} --help` lists them{}",
                            command_->name, given.name, command_->name,
                            did_you_mean(given.name, names))
              : answer,
          given.line);
    }
    if (app_->row(*option)->is_for_caller)
      throw StageError(
          fmt::format("{}: the pipeline sets this for every stage; remove it", given.name),
          given.line);
    lines_[given.name] = given.line;
    if (given.is_common) common_.push_back(given.name);
    if (is_flag(*option) != given.flag.has_value())
      throw StageError(
          fmt::format("{}: expected {}", given.name,
                      is_flag(*option) ? "true or false" : "a value, not true or false"),
          given.line);
    if (given.flag) {
      if (*given.flag) flags_.push_back("--" + given.name);
      return;
    }
    try {
      add_values(*option, given);
    } catch (const StageError&) {
      throw;
    } catch (const UserError& error) {
      throw StageError(fmt::format("{}: {}", given.name, error.what()), given.line);
    }
  }

  StageCall call() {
    StageCall call;
    call.common = common_;
    call.writes_folder = app_->get_option_no_throw(std::string("--") + kFolder) != nullptr;
    call.resumes = app_->get_option_no_throw("--resume") != nullptr;
    call.arguments = split(command_->name, ' ');
    for (const CLI::Option* option : positionals_)
      for (const std::string& value : values_[option]) call.arguments.push_back(value);
    call.arguments.insert(call.arguments.end(), flags_.begin(), flags_.end());
    if (call.writes_folder) call.arguments.push_back(fmt::format("--{}={}", kFolder, folder_));
    const ParsedCommand parsed = parse_command(call.arguments);
    if (!parsed.problem.empty()) throw StageError(parsed.problem, line_of(parsed.problem));
    call.command_line = hone::command_line(*parsed.app, {}, parsed.spellings);
    Json settings = result_settings(settings_of(*parsed.app));
    for (const auto& [name, identity] : reads_) settings[name] = identity;
    call.identity = {{"command", command_->name}, {"settings", settings}};
    return call;
  }

 private:
  void add_values(const CLI::Option& option, const CallOption& given) {
    const std::string name = argument_name(option);
    const Access access = app_->kind(option).access;
    std::vector<std::string> texts;
    Json identities = Json::array();
    bool of_stage = false;
    for (const CallOption::Value& value : given.values) {
      std::string text = value.text;
      if (!value.identity.empty()) {
        identities.push_back("stage " + value.identity);
        of_stage = true;
      } else if (is_read(access)) {
        identities.push_back(prints_.of(access, text));
        text = from_anywhere(access, text);
      } else if (access == Access::writes) {
        const fs::path path = fs::path(text).lexically_normal();
        if (path.is_absolute() || path.empty() || *path.begin() == "..")
          throw StageError(
              fmt::format("{}: expected a name in the stage's folder, got '{}'", name, text),
              given.line);
        identities.push_back(text);
        text = (fs::path(folder_) / path).string();
      } else {
        identities.push_back(text);
      }
      texts.push_back(std::move(text));
    }
    if (is_read(access) || access == Access::writes || of_stage) reads_[name] = identities;
    const bool takes_many = option.get_items_expected_max() > 1;
    if (!takes_many && texts.size() > 1) texts = {fmt::format("{}", fmt::join(texts, ","))};
    for (const std::string& text : texts) {
      if (option.get_positional()) {
        values_[&option].push_back(text);
      } else {
        flags_.push_back(fmt::format("--{}={}", given.name, text));
      }
    }
  }

  // Returns the line of the option that a message names.
  int line_of(const std::string& message) const {
    for (const auto& [name, line] : lines_)
      if (message.find("--" + name) != std::string::npos || message.starts_with(name + ":"))
        return line;
    return 0;
  }

  const std::string& folder_;
  InputPrints& prints_;
  const Command* command_ = nullptr;
  std::optional<CommandApp> app_;
  std::vector<const CLI::Option*> positionals_;
  std::map<const CLI::Option*, std::vector<std::string>> values_;
  std::vector<std::string> flags_, common_;
  std::map<std::string, int> lines_;
  std::map<std::string, Json> reads_;
};

// Returns the value of a given option, for a stage.
StageOption given_option(const CLI::Option& option) {
  StageOption given{.name = argument_name(option)};
  if (is_flag(option)) {
    given.flag = true;
  } else {
    for (const std::string& value : option.results()) given.values.push_back({.prefix = value});
  }
  return given;
}

// A given option overrides the pipeline's common options, but not a stage's own.
void add_common(PipelineStage& stage, StageOption given) {
  given.is_common = true;
  const auto known = std::ranges::find(stage.options, given.name, &StageOption::name);
  if (known == stage.options.end()) {
    stage.options.push_back(std::move(given));
  } else if (known->is_common) {
    *known = std::move(given);
  }
}

// Removes options that the command does not have: the pipeline sets some for every stage, and `hone convert` has no
// --threads.
std::vector<std::string> known_words(std::vector<std::string> words) {
  const Command* const command = match_command(words).command;
  HONE_ASSERT(command != nullptr, "no command {}", words.front());
  const CommandApp app(*command);
  std::erase_if(words, [&](const std::string& word) {
    return word.starts_with("--") &&
           find_option(app, word.substr(2, word.find('=') - 2)) == nullptr;
  });
  return words;
}

}  // namespace

const StageKinds& stage_kinds() {
  static const StageKinds kinds = [] {
    StageKinds all;
    for (const Command& command : commands()) {
      all.emplace(command.name, command.stage);
      for (const Command& subcommand : command.subcommands)
        all.emplace(subcommand.name, subcommand.stage);
    }
    return all;
  }();
  return kinds;
}

StageCommands stage_commands() {
  const auto prints = std::make_shared<InputPrints>();
  return {
      .parse =
          [prints](const std::vector<std::string>& command, const std::vector<CallOption>& options,
                   const std::string& folder) {
            CallBuilder builder(command, folder, *prints);
            for (const CallOption& option : options) builder.add(option);
            return builder.call();
          },
      .run = [](const std::vector<std::string>& words,
                const fs::path& folder) { return run_own_command(known_words(words), folder); }};
}

void forward_options(Pipeline& pipeline, const Options& rows, const CLI::App& app,
                     const std::function<bool(const PipelineStage&, const std::string&)>& takes) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = argument_name(*option);
    if (option->count() == 0 || find_option(rows, name) == nullptr) continue;
    for (PipelineStage& stage : pipeline.stages)
      if (!takes || takes(stage, name)) add_common(stage, given_option(*option));
  }
}

std::vector<std::string> stage_arguments(const RunArguments& arguments) {
  std::vector<std::string> words = {fmt::format("--threads={}", arguments.threads),
                                    "--color=" + arguments.colour};
  if (arguments.quiet) words.emplace_back("--quiet");
  return words;
}

}  // namespace hone
