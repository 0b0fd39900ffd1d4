#include <algorithm>

#include "hone/cli/command.h"

namespace hone {

Command allocate_command();
Command bench_command();
Command cache_command();
Command choose_command();
Command compare_command();
Command compare_formats_command();
Command compile_command();
Command completion_command();
Command convert_command();
Command doctor_command();
Command diff_command();
Command draw_command();
Command eval_command();
Command export_command();
Command formats_command();
Command inspect_command();
Command kernels_command();
Command lab_command();
Command lora_command();
Command man_command();
Command pack_command();
Command pass_command();
Command passes_command();
Command plan_command();
Command predict_command();
Command profile_command();
Command prune_command();
Command quantize_command();
Command run_command();
Command runs_command();
Command schema_command();
Command search_command();
Command sensitivity_command();
Command sparsities_command();
Command shrink_command();
Command statistics_command();
Command study_command();
Command suggest_command();
Command tokenize_command();
Command train_command();
Command trim_command();
Command unpack_command();
Command watch_command();
Command widths_command();

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> groups = {
      {"Train and use a model",
       {train_command(), eval_command(), predict_command(), tokenize_command()}},
      {"Make it smaller and faster",
       {shrink_command(), quantize_command(), prune_command(), trim_command(), lora_command(),
        pack_command(), unpack_command(), convert_command(), export_command()}},
      {"Search and automate",
       {search_command(), allocate_command(), run_command(), lab_command(), study_command(),
        watch_command()}},
      {"Compare results", {compare_command(), choose_command(), runs_command()}},
      {"Study formats and pruning",
       {compare_formats_command(), suggest_command(), plan_command(), sensitivity_command(),
        statistics_command(), widths_command(), sparsities_command()}},
      {"Measure speed", {bench_command(), profile_command(), compile_command(), kernels_command()}},
      {"Look inside a model",
       {inspect_command(), draw_command(), diff_command(), pass_command(), passes_command(),
        formats_command()}},
      {"Set up",
       {doctor_command(), cache_command(), schema_command(), completion_command(), man_command()}},
  };
  return groups;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> rows;
    for (const CommandGroup& group : command_groups())
      rows.insert(rows.end(), group.commands.begin(), group.commands.end());
    return rows;
  }();
  return all;
}

std::vector<std::string> subcommand_names(const Command& command) {
  std::vector<std::string> names;
  for (const Command& one : command.subcommands)
    names.emplace_back(one.name.substr(one.name.find(' ') + 1));
  return names;
}

CommandMatch match_command(std::span<const std::string> words) {
  const auto called = [](const std::vector<Command>& some, std::string_view name) {
    const auto found = std::ranges::find(some, name, &Command::name);
    return found == some.end() ? nullptr : &*found;
  };
  const Command* const command = words.empty() ? nullptr : called(commands(), words[0]);
  if (command == nullptr) return {};
  const Command* const subcommand =
      words.size() < 2 ? nullptr : called(command->subcommands, words[0] + " " + words[1]);
  return subcommand == nullptr ? CommandMatch{command, 1} : CommandMatch{subcommand, 2};
}

}  // namespace hone
