#include "hone/labs/lab.h"

#include <set>

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/setting_arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/stage_commands.h"
#include "hone/cli/terminal_output.h"
#include "hone/labs/pipeline_cost.h"
#include "hone/labs/shipped_pipelines.h"

namespace hone {
namespace {

struct LabArguments {
  LabJob job;
  std::string name, fidelity = "quick";
  std::vector<std::string> settings;
  bool list = false, show = false, no_cache = false;
  RunArguments run;
};

constexpr const char* kAllLabs = "all";  // a pipeline of labs

std::vector<LabRowResult> all_labs() {
  std::vector<LabRowResult> rows;
  for (const ShippedPipeline& one : shipped_pipelines())
    rows.push_back({one.name, one.title, one.costs});
  for (const Lab& lab : labs()) rows.push_back({lab.name, lab.title, lab.costs});
  std::ranges::sort(rows, {}, &LabRowResult::lab);
  return rows;
}

// Returns the head of a pipeline: title, question and settings, including those of its variants.
std::string_view head_of(std::string_view pipeline) {
  std::size_t end = 0;
  while ((end = pipeline.find("\n[", end)) != std::string_view::npos) {
    const std::string_view rest = pipeline.substr(++end);
    if (!rest.starts_with("[settings]") && !rest.starts_with("[variant.")) break;
  }
  return pipeline.substr(0, end);
}

// Describes the lab that the command line names.
std::string help_on_lab(const CLI::App& app) {
  const std::vector<std::string> named = app.get_option("NAME")->results();
  if (named.empty()) return "";
  const std::string& name = named.front();
  const ShippedPipeline* const shipped = find_shipped_pipeline(name);
  const std::vector<LabRowResult> all = all_labs();
  const auto lab = std::ranges::find(all, name, &LabRowResult::lab);
  if (lab == all.end()) return "";
  return fmt::format("\nLab {}:\n  Cost: {}\n  Guide: docs/labs/{}.md\n{}", name, lab->costs,
                     name == kAllLabs ? "index" : name,
                     shipped == nullptr
                         ? fmt::format("  Question: {}\n", find_lab(name).question)
                         : fmt::format("\nIts settings, for --set (--show prints the whole "
                                       "pipeline):\n\n{}\n",
                                       trim(head_of(shipped->text))));
}

void list_labs(const RunArguments& run) {
  if (run.json) return print_result("lab", to_json(LabListFields{all_labs()}));
  Table table({{"lab", "Lab"}, {"title", "Experiment"}, {"costs", "Cost"}});
  for (const LabRowResult& row : all_labs()) table.add_row({row.lab, row.title, row.costs});
  print_text(run, "{}\nhone lab NAME -o OUT runs one\n", to_text(table, text_style(run)));
}

Options model_option() {
  return option<&LabArguments::job, &LabJob::model>(
             "model", "model folder; by default a bert-tiny is trained")
      .takes(kModelValue);
}

Options text_options() {
  using A = LabArguments;
  Options rows = {group<&A::job, &LabJob::data>(),
                  group<&A::job, &LabJob::data>(train_samples_option())};
  rows.at("max_eval_samples").meaning =
      "evaluate on a random sample of each split (0: as --fidelity says)";
  return rows;
}

// Options that a lab passes to the commands of its stages; its data is a setting of the pipeline.
Options stage_options() {
  Options rows = {text_options(), group<&LabArguments::run>(seed_option()),
                  group<&LabArguments::run>(device_options())};
  std::erase_if(rows.rows, [](const OptionDef& row) { return row.kind.access != Access::none; });
  return rows;
}

// Options that a pipeline of labs passes to each of them.
Options lab_options() {
  using A = LabArguments;
  return {model_option(), text_options(), group<&A::run>(seed_option()),
          group<&A::run>(plugin_option()), group<&A::run>(device_options())};
}

// Whether a lab supports one of `lab_options`.
bool takes(const std::string& lab, const std::string& option) {
  const ShippedPipeline* const shipped = find_shipped_pipeline(lab);
  const bool is_model = find_option(model_option(), option) != nullptr;
  if (!is_model && find_option(text_options(), option) == nullptr) return true;
  if (shipped != nullptr)
    return parse_pipeline(shipped->text, fmt::format("lab {}", lab), stage_kinds(), {}, "")
        .settings.contains(is_model ? "model" : "data");
  const LabInput input = find_lab(lab).input;
  return input == LabInput::model_and_texts || (is_model && input == LabInput::model);
}

// Passes the given options to the stages, which are labs or other commands.
void hand_to_stages(Pipeline& pipeline, bool of_labs, const CLI::App& app) {
  if (!of_labs) return forward_options(pipeline, stage_options(), app);
  forward_options(
      pipeline, lab_options(), app, [](const PipelineStage& stage, const std::string& option) {
        return takes(
            std::ranges::find(stage.options, "NAME", &StageOption::name)->values.front().prefix,
            option);
      });
}

void run_shipped(const ShippedPipeline& lab, LabArguments& a, const CLI::App& app) {
  if (a.show) return print_text(a.run, "{}", lab.text);
  const bool of_labs = lab.name == kAllLabs;
  if (of_labs && app.count("--no_cache") > 0)
    throw UsageError(
        "hone lab all: --no_cache: labs hand on to each other what they have trained by that "
        "store");
  std::map<std::string, std::string> given = given_settings(a.settings);
  if (!a.job.model.empty() && !of_labs) given["model"] = a.job.model;
  if (!a.job.data.options.source.empty() && !of_labs) given["data"] = a.job.data.options.source;
  if (a.job.output.folder.empty())
    throw UsageError(
        fmt::format("hone lab {}: -o FOLDER is missing: what it finds is written there", lab.name));
  PipelineJob job{
      .pipeline = parse_pipeline(lab.text, fmt::format("lab {}", lab.name), stage_kinds(), given,
                                 a.fidelity == "quick" ? "" : a.fidelity),
      .output = a.job.output,
      .resume = a.job.resume.resume,
      .store = {},
      .arguments = stage_arguments(a.run),
      .invocation = invocation_of(app),
      .command = "lab",
      .results = [&](const PipelineFields& found) {
        return to_json(LabPipelineFields{lab.name, parse_fidelity(a.fidelity), found});
      }};
  hand_to_stages(job.pipeline, of_labs, app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    job.store = cache / "stages";
  // Each lab of a pipeline of labs prints its own estimate.
  if (!of_labs)
    job.estimate = [&](Context& context) {
      return lab_stage_costs(job.pipeline, a.job.model, a.job.data, a.run.seed, context);
    };
  Context context = make_context(a.run);
  print("lab", run_pipeline(job, stage_commands(), context), a.run);
}

void run_coded(const Lab& lab, LabArguments& a, const CLI::App& app) {
  for (const char* option : {"--show", "--set", "--no_cache"})
    if (app.count(option) > 0)
      throw UsageError(
          fmt::format("hone lab {}: {} is for labs that are pipelines", lab.name, option));
  if (a.job.output.folder.empty())
    throw UsageError(
        fmt::format("hone lab {}: -o FOLDER is missing: what it finds is written there", lab.name));
  Context context = make_context(a.run);
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  static const std::set<std::string> of_processes = {"device", "precision", "plugin", "skip_pass"};
  a.job.words =
      given_arguments(app, [](const std::string& name) { return of_processes.contains(name); });
  a.job.words.push_back(fmt::format("--threads={}", a.run.threads));
  print("lab", run_lab(lab, a.job, context), a.run);
}

void lab(LabArguments& a, const CLI::App& app) {
  if (a.list || a.name.empty()) return list_labs(a.run);
  if (const ShippedPipeline* shipped = find_shipped_pipeline(a.name))
    return run_shipped(*shipped, a, app);
  a.job.fidelity = parse_fidelity(a.fidelity);
  run_coded(find_lab(a.name), a, app);
}

Options options_of(const LabArguments*) {
  using A = LabArguments;
  return {
      argument<&A::name>("NAME", "lab, such as 2.1; by default labs are listed")
          .one_of(lab_names())
          .shown("NAME"),
      option<&A::list>("list", "list the labs"),
      option<&A::show>("show", "print the lab's pipeline and exit"),
      option<&A::fidelity>("fidelity", "size of the experiment").one_of({"quick", "paper", "full"}),
      model_option(),
      option<&A::settings>("set", "override a setting of the lab; hone lab NAME --help lists them")
          .repeated()
          .shown("NAME=VALUE"),
      text_options(),
      resume_option<&A::job, &LabJob::resume, &JobResume::resume>(),
      no_cache_option<&A::no_cache>(),
      group<&A::job, &LabJob::output>(report_output()),
      group<&A::run>()};
}

}  // namespace

Command lab_command() {
  return {.name = "lab",
          .summary = "Run a predefined experiment and report its results",
          .example = "hone lab 4.3 -o mxint8",
          .run = runs<LabArguments, lab>(),
          .help_on = help_on_lab,
          .stage = {.measures_time = true}};
}

}  // namespace hone
