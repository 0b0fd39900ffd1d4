#include "hone/cli/command.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/file.h"
#include "hone/cli/command_line_words.h"
#include "hone/cli/help.h"
#include "hone/cli/job_messages.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

constexpr std::size_t kShownWords = 20;  // columns

// Returns "--num_train_epochs,--epochs", "-o,--output_dir" or "MODEL".
std::string spelled_names(const OptionDef& row) {
  if (row.is_positional) return row.names.front();
  std::vector<std::string> names;
  for (const std::string& name : row.names) names.push_back((name.size() == 1 ? "-" : "--") + name);
  return fmt::format("{}{}", row.is_inverted ? "!" : "", fmt::join(names, ","));
}

// Returns the placeholder of a value in the help: its words if they are short and it is no list, else its kind.
std::string shown_value(const OptionDef& row) {
  std::string words = fmt::format("{}", fmt::join(choices_of(row), "|"));
  if (!row.type->list && !words.empty() && words.size() <= kShownWords) return words;
  return std::string(row.kind.shown.empty() ? row.type->name : row.kind.shown);
}

}  // namespace

CommandApp::CommandApp(const Command& command) : command_(command) {
  if (!command.needs_subcommand()) {
    rows_ = command.run.options().rows;
    arguments_ = command.run.make();
  }
  name("hone " + std::string(command.name));
  description(std::string(command.summary));
  footer(std::string(command.example));
  formatter(std::make_shared<HelpFormatter>(help_columns()));
  set_help_flag("-h,--help", "show the common options");
  set_help_all_flag("--help_all", "show all options");
  option_defaults()->always_capture_default();
  for (const OptionDef& row : rows_) row_of_[declare(row)] = &row;
  for (const auto& [option, row] : row_of_) {
    const auto named = [&](const std::string& name) {
      return std::ranges::find_if(row_of_,
                                  [&](const auto& other) { return other.second->name() == name; })
          ->first;
    };
    CLI::Option* const own = get_option(option->get_name());
    if (!row->needs.empty()) own->needs(get_option(named(row->needs)->get_name()));
    if (!row->excludes.empty()) own->excludes(get_option(named(row->excludes)->get_name()));
  }
  unmark_values(*this);
  if (command.check != nullptr)
    parse_complete_callback([this] { command_.check(arguments_.get(), *this); });
}

CLI::Option* CommandApp::declare(const OptionDef& row) {
  void* const value = row.at(arguments_.get());
  if (row.type->flag) return add_flag(spelled_names(row), *static_cast<bool*>(value), row.meaning);
  const OptionType* const type = row.type;
  CLI::Option* const option = add_option(
      spelled_names(row),
      [type, value](const CLI::results_t& texts) {
        if (type->list) type->clear(value);
        for (const std::string& text : texts) type->parse(text, value);
        return true;
      },
      row.meaning, false,
      [&row, value] { return row.default_text ? *row.default_text : row.type->text(value); });
  option->type_size(1);
  option->expected(type->list ? CLI::detail::expected_max_vector_size : 1);
  option->type_name(shown_value(row));
  option->required(row.is_required);
  if (type->list && row.list_form != ListForm::following) option->allow_extra_args(false);
  if (type->list && row.list_form == ListForm::separated) option->delimiter(',');
  if (row.replace)
    option->transform([replace = row.replace](const std::string& text) { return replace(text); });
  option->check([this, &row](const std::string& text) {
    const CLI::Option* opener =
        row.unrestricted_by.empty() ? nullptr : get_option_no_throw("--" + row.unrestricted_by);
    if (opener == nullptr || opener->count() == 0 || !is_folder(opener->results().back()))
      return value_error(row, text);
    OptionDef open = row;
    open.choices.clear();
    return value_error(open, text);
  });
  return option;
}

const OptionDef* CommandApp::row(const CLI::Option& option) const {
  const auto found = row_of_.find(&option);
  return found == row_of_.end() ? nullptr : found->second;
}

const ValueKind& CommandApp::kind(const CLI::Option& option) const {
  static const ValueKind nothing;
  const OptionDef* found = row(option);
  return found == nullptr || found->type->flag ? nothing : found->kind;
}

std::vector<std::string> CommandApp::completion_values(const CLI::Option& option) const {
  const OptionDef* found = row(option);
  if (found == nullptr || found->type->flag) return {};
  std::vector<std::string> words = choices_of(*found);
  if (words.empty() && found->kind.choices != nullptr) words = found->kind.choices();
  return words;
}

void CommandApp::run() const {
  for (const CLI::Option* option : get_options()) {
    const OptionDef* const found = row(*option);
    if (found == nullptr || !found->warning) continue;
    for (const std::string& text : option->results())
      if (const std::string warning = found->warning(text); !warning.empty())
        print_remark(fmt::format("warning: --{} {}: {}", found->name(), text, warning));
  }
  command_.run.run(arguments_.get(), *this);
}

}  // namespace hone
