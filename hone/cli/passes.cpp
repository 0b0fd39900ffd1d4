#include "hone/cli/passes.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/command.h"
#include "hone/cli/print_result.h"
#include "hone/cli/terminal_output.h"
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

// Returns the default as a person would type it.
std::string default_of(const PassOptionDef& option) {
  if (option.required) return "";
  const auto* text = std::get_if<std::string>(&option.default_value);
  return text != nullptr ? *text : to_string(option.default_value);
}

PassUse use_of(const PassDef& def) {
  if (def.analyze != nullptr) return PassUse::look;
  return def.of_runs ? PassUse::run : PassUse::model;
}

// Quotes a word for a shell if necessary.
std::string in_shell(const std::string& word) {
  return word.find_first_of("*?[]()$\"") == std::string::npos ? " " + word
                                                              : fmt::format(" '{}'", word);
}

// Returns an example command; empty for passes that `hone pass` does not support.
std::string example_of(const PassDef& def) {
  if (def.of_runs) return "";
  std::string line = fmt::format("hone pass my-model {}", def.name);
  for (const std::string& word : split(def.example, ' '))
    if (!word.empty()) line += in_shell(word);
  if (def.analyze == nullptr) line += " -o my-model-after";
  if (!def.plugin.empty()) line += fmt::format(" --plugin {}", def.plugin);
  return line;
}

PassRow row_of(const PassDef& def) {
  PassRow row{
      .pass = std::string(def.name), .summary = std::string(def.summary), .use = use_of(def)};
  for (const PassOptionDef& option : def.options) {
    PassOptionRow& one =
        row.options.emplace_back(PassOptionRow{.option = std::string(option.name),
                                               .kind = kind_of(option.default_value),
                                               .required = option.required,
                                               .summary = std::string(option.summary)});
    if (!option.required) one.default_value = default_of(option);
  }
  if (const std::string example = example_of(def); !example.empty()) row.example = example;
  if (!def.plugin.empty()) row.plugin = def.plugin;
  return row;
}

PassesFields rows_of(const PassTable& passes) {
  PassesFields fields;
  for (const auto& [name, def] : passes) fields.passes.push_back(row_of(def));
  return fields;
}

void list_passes(const PassTable& passes, const RunArguments& run) {
  if (run.json) return print_result("passes", to_json(rows_of(passes)));
  Table table(
      {{"pass", "Pass"}, {"use", "For"}, {"options", "Options"}, {"summary", "What it does"}});
  for (const auto& [name, def] : passes) {
    std::vector<std::string> options;
    for (const PassOptionDef& option : def.options) options.emplace_back(option.name);
    table.add_row({name, std::string(enum_name(use_of(def))),
                   fmt::format("{}", fmt::join(options, ", ")), def.summary});
  }
  print_text(
      run,
      "{}\nmodel: `hone pass MODEL PASS -o OUT` applies the pass and stores the result. look: "
      "`hone pass MODEL PASS` prints its findings. run: commands apply the pass to the graphs they "
      "run; --show_passes shows when. `hone passes PASS` describes the options.\n",
      to_text(table, text_style(run)));
}

void explain_pass(const PassDef& def, const RunArguments& run) {
  if (run.json) return print_result("passes", to_json(row_of(def)));
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

void passes(PassesArguments& a) {
  const Context context = make_context(a.run);
  const PassTable& table = context.library.passes;
  if (a.pass.empty()) return list_passes(table, a.run);
  explain_pass(find_pass(table, a.pass), a.run);
}

}  // namespace

const Fields& fields_of(const PassOptionRow*) {
  using P = PassOptionRow;
  static const Fields fields =
      describe<P>("pass_option", "An option of a pass.", field<&P::option>("option", "Its name."),
                  field<&P::kind>("kind", "true or false, whole number, number, text or format."),
                  field<&P::required>("required", "It must be given."),
                  field<&P::default_value>("default", "As it is typed; null: it must be given."),
                  field<&P::summary>("summary", "What it is."));
  return fields;
}

std::span<const EnumName> enum_names(PassUse) {
  static constexpr EnumName kWords[] = {{static_cast<int>(PassUse::model), "model"},
                                        {static_cast<int>(PassUse::look), "look"},
                                        {static_cast<int>(PassUse::run), "run"}};
  return kWords;
}

const Fields& fields_of(const PassRow*) {
  using P = PassRow;
  static const Fields fields = describe<P>(
      "pass_row", "A pass over a model's graph.", field<&P::pass>("pass", "Its name."),
      field<&P::summary>("summary", "What it does."),
      field<&P::use>("use",
                     "model: `hone pass` changes a model with it; look: `hone pass` prints its "
                     "findings; run: commands apply it to the graphs they run."),
      field<&P::options>("options", "Its options."),
      field<&P::example>("example", "A command line; null: `hone pass` does not support the pass."),
      field<&P::plugin>("plugin", "The file of its plugin; null: it is built in."));
  return fields;
}

const Fields& fields_of(const PassesFields*) {
  static const Fields fields =
      describe<PassesFields>("passes", "The passes over a model's graph.",
                             field<&PassesFields::passes>("passes", "All passes."));
  return fields;
}

namespace {

Options options_of(const PassesArguments*) {
  using A = PassesArguments;
  return {argument<&A::pass>("PASS", "pass to describe; without it, passes are listed")
              .takes(kPassValue),
          group<&A::run>(host_options())};
}

}  // namespace

Command passes_command() {
  return {.name = "passes",
          .summary = "List the transformations (passes) of graphs",
          .example = "hone passes quantize",
          .run = runs<PassesArguments, passes>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
