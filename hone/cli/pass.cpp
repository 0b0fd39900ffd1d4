#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/ir/quoted.h"
#include "hone/jobs/apply_pass.h"

namespace hone {
namespace {

struct PassCommandArguments {
  PassJob job;
  std::string name;
  std::vector<std::string> options;
  RunArguments run;
};

// Returns "freeze(names="bert.*")" for the words `freeze` and `names=bert.*`: the shell has removed the quotes.
std::string pass_text(const PassDef& def, const std::vector<std::string>& words) {
  std::string options;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw UsageError(fmt::format("hone pass: expected OPTION=VALUE, got '{}'", word));
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const bool is_text = std::ranges::any_of(def.options, [&](const PassOptionDef& option) {
      return option.name == name && std::holds_alternative<std::string>(option.default_value);
    });
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", name,
                           is_text ? hone::quoted(value) : value);
  }
  return fmt::format("{}({})", def.name, options);
}

// Finds a pass. Does not suggest passes that only commands run, because `hone pass` would reject them.
const PassDef& find_applicable(const PassTable& all, const std::string& name) {
  if (all.contains(name)) return find_pass(all, name);
  PassTable passes = all;
  std::erase_if(passes, [](const auto& row) { return row.second.of_runs; });
  return find_pass(passes, name);
}

void pass(PassCommandArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  a.job.pass = pass_text(find_applicable(context.library.passes, a.name), a.options);
  print("pass", apply_pass(a.job, context), a.run);
}

Options options_of(const PassCommandArguments*) {
  using A = PassCommandArguments;
  return {
      model_argument<&A::job, &PassJob::model>("model folder"),
      argument<&A::name>("PASS", "pass to run (see `hone passes`)").required().takes(kPassValue),
      argument<&A::options>("OPTION", "options of the pass, as NAME=VALUE").shown("NAME=VALUE"),
      group<&A::job, &PassJob::texts>(),
      group<&A::job, &PassJob::output>(report_output()),
      group<&A::run>()};
}

}  // namespace

Command pass_command() {
  return {.name = "pass",
          .summary = "Rewrite a model's graph with one pass, such as fuse_attention",
          .example = "hone pass my-model fuse_attention -o my-fused-model",
          .run = runs<PassCommandArguments, pass>(),
          .stage = {.writes_model = true}};
}

}  // namespace hone
