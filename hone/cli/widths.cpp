#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/width_study.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct WidthsArguments {
  std::string model;
  std::string widths = "4.2,6.3,8.4,12.6,16.8,24.12,32.16";
  std::string split;
  JobData data;
  FineTuneOptions training;
  JobResume resume;
  JobOutput output;
  RunArguments run;
};

// Checkpoints of the trainings, until all are done.
constexpr const char* kTrainings = "trainings";

// "8.4" is 8 bits, 4 of them behind the binary point.
FixedPointWidth parse_width(const std::string& text) {
  FixedPointWidth width;
  int read = 0;
  const int found = std::sscanf(text.c_str(), "%ld.%ld%n", &width.width, &width.frac, &read);
  user_check(found == 2 && static_cast<std::size_t>(read) == text.size(),
             "--widths: expected width.fraction, e.g. 8.4, got '{}'", text);
  return width;
}

void study(WidthsArguments& a, const CLI::App& app) {
  RunReport report;
  report.invocation = invocation_of(app);
  Context context = make_context(a.run);
  WidthStudyOptions options{.widths = {}, .qat = a.training};
  options.qat.training.seed = a.run.seed;
  options.qat.training.save_steps = a.resume.save_steps;
  for (const std::string& text : split(a.widths, ','))
    options.widths.push_back(parse_width(std::string(trim(text))));
  user_check(!options.widths.empty(), "--widths: expected width.fraction, e.g. 8.4, got ''");
  OutputFolder output(a.output.folder, a.output.resumable(a.resume));
  TextModel source = open_model(a.model, context, a.run.seed);
  check_unquantized(source.model);
  const EncodedSplits data = load_encoded(source, a.model, a.data, a.split, a.run.seed,
                                          FiguresOf::candidates, context, report.notes);
  if (!begin_run(report.invocation, source.model.parameters, data, output))
    return print_finished(a.output, finished_results(output), a.run.json);
  options.checkpoints_of = [&](const std::string& name) {
    return checkpoints_in(output.path() / kTrainings / name, a.resume, source, output);
  };
  const WidthStudy result = study_widths(source.model, data, options, context);
  write_file(output.path() / "results.csv", to_csv(with_part(width_table(result), result.choice)));
  report.results = subject_of(a.model, data.identity, data.measured_choice());
  report.results.update(to_json(result, source.model.facts.labels));
  report.title = fmt::format("{} in fixed point of {} widths", a.model, result.results.size());
  report.headline = width_verdict(result);
  report.basis = basis_of(a.data.options.source, data, "simulated fixed point");
  std::vector<std::string> undrawn;
  report.sections = {width_section(result, output.path() / "fixed_point", undrawn)};
  const std::vector<NamedEvaluation> chosen = chosen_evaluations(result);
  const std::vector<std::string>& labels = source.model.facts.labels;
  if (!chosen.empty()) report.sections.push_back(details_section(chosen, labels));
  std::vector<std::string> doubts = concerns(compared_models(result), labels);
  doubts.insert(doubts.end(), undrawn.begin(), undrawn.end());
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  tell_warnings(context, doubts);
  write_run_report(report, output.path(), context);
  output.commit();
  if (a.run.json) return print_result("widths", report.results);
  print_text(a.run, "{}\n{}One seed; report.html in {}\n", to_text(result, text_style(a.run)),
             details_text(chosen, labels, text_style(a.run)), a.output.folder);
}

}  // namespace

Command widths_command() {
  return {"widths", "accuracy and flips by width of fixed point, drawn",
          "hone widths my-model --widths 6.3,8.4 --max_steps 200 --batch 64 --lr 2e-4 --data "
          "'synth:negation?seed=7&n=30000' -o widths",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<WidthsArguments>();
            app.add_option("MODEL", a->model, "model folder")->required();
            app.add_option("--widths", a->widths, "width.fraction in bits, by comma");
            app.add_option("--split", a->split,
                           "part on which what was chosen is measured once: train, validation, "
                           "test or all; choices are made on the validation part");
            declare(app, a->data, /*required=*/true);
            declare_train_samples(app, a->data);
            declare(app, a->training);
            declare(app, a->resume);
            declare(app, a->output);
            declare(app, a->run);
            return [a, &app] { study(*a, app); };
          }};
}

}  // namespace hone
