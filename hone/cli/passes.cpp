#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/command.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/ir/print.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct PassesArguments {
  std::string pass;
  RunArguments run;
};

std::string kind_of(const Attribute& value) {
  constexpr std::string_view kKinds[] = {"",     "true or false", "whole number", "number",
                                         "text", "shape",         "format"};
  return std::string(kKinds[value.index()]);
}

// As a person would type it.
std::string default_of(const PassOptionDef& option) {
  if (option.required) return "";
  const auto* text = std::get_if<std::string>(&option.default_value);
  return text != nullptr ? *text : to_string(option.default_value);
}

// What it is for: "model", "look" or "run".
std::string_view use_of(const PassDef& def) {
  return def.look != nullptr ? "look" : def.of_runs ? "run" : "model";
}

// A word that a shell takes as it stands.
std::string in_shell(const std::string& word) {
  return word.find_first_of("*?[]()$\"") == std::string::npos ? " " + word
                                                              : fmt::format(" '{}'", word);
}

// A line for the shell; empty for what `hone pass` refuses.
std::string example_of(const PassDef& def) {
  if (def.of_runs) return "";
  std::string line = fmt::format("hone pass my-model {}", def.name);
  for (const std::string& word : split(def.example, ' '))
    if (!word.empty()) line += in_shell(word);
  if (def.look == nullptr) line += " -o my-model-after";
  if (!def.plugin.empty()) line += fmt::format(" --plugin {}", def.plugin);
  return line;
}

Json to_json(const PassDef& def) {
  Json options = Json::array();
  for (const PassOptionDef& option : def.options)
    options.push_back({{"option", option.name},
                       {"kind", kind_of(option.default_value)},
                       {"required", option.required},
                       {"default", option.required ? Json() : Json(default_of(option))},
                       {"summary", option.summary}});
  const std::string example = example_of(def);
  return {{"pass", def.name},
          {"summary", def.summary},
          {"use", use_of(def)},
          {"options", options},
          {"example", example.empty() ? Json() : Json(example)},
          {"plugin", def.plugin.empty() ? Json() : Json(def.plugin)}};
}

Json rows_of(const PassTable& passes) {
  Json rows = Json::array();
  for (const auto& [name, def] : passes) rows.push_back(to_json(def));
  return rows;
}

void list_passes(const PassTable& passes, const RunArguments& run) {
  if (run.json) return print_result("passes", {{"passes", rows_of(passes)}});
  Table table(
      {{"pass", "Pass"}, {"use", "For"}, {"options", "Options"}, {"summary", "What it does"}});
  for (const auto& [name, def] : passes) {
    std::vector<std::string> options;
    for (const PassOptionDef& option : def.options) options.emplace_back(option.name);
    table.add_row(
        {name, std::string(use_of(def)), fmt::format("{}", fmt::join(options, ", ")), def.summary});
  }
  print_text(run,
             "{}\nFor model: `hone pass MODEL PASS -o OUT` runs it over a model for good. look: "
             "`hone pass MODEL PASS` tells what it finds. run: commands run it over what they run; "
             "--show_passes says when. `hone passes PASS` tells its options.\n",
             to_text(table, text_style(run)));
}

void explain_pass(const PassDef& def, const RunArguments& run) {
  if (run.json) return print_result("passes", to_json(def));
  Table table(
      {{"option", "Option"}, {"kind", "Kind"}, {"default", "Default"}, {"summary", "What it is"}});
  for (const PassOptionDef& option : def.options)
    table.add_row({option.name, kind_of(option.default_value),
                   option.required ? Cell("must be given") : Cell(default_of(option)),
                   option.summary});
  const std::string example = example_of(def);
  print_text(run, "{}: {}{}\n\n{}\n{}\n", def.name, def.summary,
             def.plugin.empty() ? "" : fmt::format(" (plugin {})", def.plugin),
             def.options.empty() ? "It has no options.\n" : to_text(table, text_style(run)),
             example.empty()
                 ? "Commands run it over the graphs that they run; `hone pass` does not."
                 : example);
}

void passes(const PassesArguments& a) {
  const Context context = make_context(a.run);
  const PassTable& table = context.library.passes;
  if (a.pass.empty()) return list_passes(table, a.run);
  explain_pass(find_pass(table, a.pass), a.run);
}

}  // namespace

Command passes_command() {
  return {"passes", "List the transformations (passes) of graphs", "hone passes quantize",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<PassesArguments>();
            app.add_option("PASS", a->pass, "pass to describe; without it, passes are listed");
            declare(app, a->run);
            return [a] { passes(*a); };
          }};
}

}  // namespace hone
