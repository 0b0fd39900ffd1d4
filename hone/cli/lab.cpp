#include "hone/labs/lab.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct LabArguments {
  LabJob job;
  std::string name, fidelity = "quick";
  bool list = false;
  RunArguments run;
};

void list_labs(const RunArguments& run) {
  if (run.json) {
    Json rows = Json::array();
    for (const Lab& lab : labs())
      rows.push_back({{"lab", lab.name}, {"title", lab.title}, {"costs", lab.costs}});
    return print_result("lab", {{"labs", rows}});
  }
  Table table({{"lab", "Lab", false},
               {"title", "What it finds out", false},
               {"costs", "What it takes", false}});
  for (const Lab& lab : labs()) table.add_row({lab.name, lab.title, lab.costs});
  print_text(run, "{}\nhone lab NAME -o OUT runs one\n", to_text(table, text_style(run)));
}

void lab(LabArguments& a, const CLI::App& app) {
  if (a.list || a.name.empty()) return list_labs(a.run);
  const Lab& lab = find_lab(a.name);
  if (a.job.output.folder.empty())
    throw UsageError(
        fmt::format("hone lab {}: -o FOLDER is missing: what it finds is written there", lab.name));
  a.job.fidelity = parse_fidelity(a.fidelity);
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const LabResult result = run_lab(lab, a.job, context);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  if (a.run.json) return print_result("lab", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command lab_command() {
  return {
      "lab", "run an experiment by its name, and report it", "hone lab 4.3 -o mxint8",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<LabArguments>();
        app.add_option("NAME", a->name, "the lab; without one they are listed");
        app.add_flag("--list", a->list, "list the labs and what they take");
        app.add_option("--fidelity", a->fidelity,
                       "quick: a first look; paper: what reports of it have run; full: more "
                       "training and texts")
            ->check(one_of({"quick", "paper", "full"}));
        app.add_option("--model", a->job.model,
                       "model folder, not quantized; without one a model of bert-tiny's shape is "
                       "trained on the data");
        declare(app, a->job.data, /*required=*/false);
        app.get_option("--max_eval_samples")
            ->description(
                "most texts of each part that is measured, drawn by --seed; 0: 2 000 for quick, "
                "10 000 for paper, all for full");
        declare_train_samples(app, a->job.data);
        app.add_flag("--resume", a->job.resume.resume,
                     "go on behind the last stage that an interrupted run of the same command "
                     "had finished; begin where there is none");
        declare(app, a->job.output, /*required=*/false);
        declare(app, a->run);
        return [a, &app] { lab(*a, app); };
      },
      /*measures_time=*/true};
}

}  // namespace hone
