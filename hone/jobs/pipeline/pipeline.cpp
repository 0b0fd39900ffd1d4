#include "hone/jobs/pipeline/pipeline.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "hone/base/carry_over.h"
#include "hone/base/hash.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/jobs/pipeline/pipeline_studies.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/run_identity.h"
#include "hone/runtime/machine.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// The subfolder with the states of stages during a run.
constexpr const char* kPipelineStates = "stages";
// Suffix of a stage's folder while the stage runs.
constexpr const char* kPartialStage = ".partial";

std::string now_text() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

[[noreturn]] void fail_at(const Pipeline& pipeline, const PipelineStage& stage,
                          const StageError& error) {
  fail("{}: stage {}: {}", pipeline.place(error.line() > 0 ? error.line() : stage.line), stage.name,
       error.what());
}

/// Returns the options of a stage; `referred` returns the values that refer to other stages.
std::vector<CallOption> call_options(
    const PipelineStage& stage,
    const std::function<CallOption::Value(const StageValue&)>& referred) {
  std::vector<CallOption> options;
  for (const StageOption& option : stage.options) {
    CallOption call{.name = option.name,
                    .line = option.line,
                    .flag = option.flag,
                    .is_common = option.is_common};
    for (const StageValue& value : option.values)
      call.values.push_back(value.stage ? referred(value) : CallOption::Value{value.prefix});
    options.push_back(std::move(call));
  }
  return options;
}

StageCall parse_stage(const Pipeline& pipeline, const PipelineStage& stage,
                      const StageCommands& commands,
                      const std::function<CallOption::Value(const StageValue&)>& referred,
                      const std::string& folder) {
  try {
    return commands.parse(stage.command, call_options(stage, referred), folder);
  } catch (const StageError& error) {
    fail_at(pipeline, stage, error);
  }
}

// Throws for options in [common] that no stage's command has.
void check_common(const Pipeline& pipeline, const std::set<std::string>& taken) {
  for (const PipelineStage& stage : pipeline.stages)
    for (const StageOption& option : stage.options)
      user_check(!option.is_common || taken.contains(option.name),
                 "{}: common: no stage's command has an option '{}'", pipeline.place(option.line),
                 option.name);
}

/// Version of the stored state of stages. States of other versions are not used.
constexpr int kStateVersion = 3;

std::string key_of(const PipelineStage& stage, const StageCall& call) {
  const Json made_from = {{"hone", hone_version()},
                          {"numerics", kNumerics},
                          {"state", kStateVersion},
                          {"fails", stage.expected_error},
                          {"call", call.identity},
                          // a choice depends on the names of its candidates
                          {"names", stage.chooses ? call.command_line : ""}};
  return fingerprint(to_line(made_from));
}

/// Runs a pipeline in its folder.
class PipelineRun {
 public:
  PipelineRun(const PipelineJob& job, const StageCommands& commands, OutputFolder& output,
              Context& context)
      : job_(job), commands_(commands), output_(output), context_(context), store_(job.store) {}

  /// Returns the results in the folder if they are those of this pipeline, finished; else null.
  Json finished() {
    Json results = finished_results(output_);
    if (!value_at(results, "stages").is_array()) return {};
    std::map<std::string, Json> rows;
    for (const Json& row : results["stages"]) rows[row.at("stage").get<std::string>()] = row;
    if (rows.size() != job_.pipeline.stages.size()) return {};
    for (const PipelineStage& stage : job_.pipeline.stages) {
      const auto row = rows.find(stage.name);
      if (row == rows.end() || row->second.at("key") != key_of(stage, call_of(stage))) return {};
      outcomes_.push_back(outcome_from(row->second, stage));
    }
    return results;
  }

  std::vector<StageOutcome> work() {
    remove_other_stages();
    print_estimate();
    outcomes_.clear();
    for (std::size_t i = 0; i < job_.pipeline.stages.size(); ++i) {
      stop_if_interrupted();
      const PipelineStage& stage = job_.pipeline.stages[i];
      const StageCall call = call_of(stage);
      const std::string key = key_of(stage, call);
      StageOutcome outcome;
      if (!reuse_finished(stage, key, outcome) && !take_stored(stage, call, key, outcome))
        outcome = compute(i, call, key);
      outcome.command_line = call.command_line;
      outcomes_.push_back(std::move(outcome));
    }
    return outcomes_;
  }

 private:
  const fs::path& root() const { return output_.path(); }

  fs::path partial_stage(const std::string& stage) const {
    return root() / (stage + kPartialStage);
  }

  fs::path state_file(const std::string& stage) const {
    std::string name = stage;
    std::ranges::replace(name, '/', '.');
    return root() / kPipelineStates / (name + ".json");
  }

  // Returns the state of a stage from an earlier run of this pipeline or any other.
  std::optional<Json> known_state(const PipelineStage& stage, const std::string& key) const {
    if (const fs::path file = state_file(stage.name); path_exists(file)) {
      Json state = read_json(file);
      if (value_at(state, "key") == key && state.contains("result")) return state;
    }
    if (job_.store.empty() || stage.kind.measures_time) return std::nullopt;
    return store_.about(key);
  }

  // Determines which stages are left, and prints their estimated cost. A stage whose inputs depend on choices that are
  // still to be made counts as left.
  void print_estimate() {
    outcomes_.clear();
    left_.clear();
    for (const PipelineStage& stage : job_.pipeline.stages) {
      const StageCall call = call_of(stage);
      const std::string key = key_of(stage, call);
      const std::optional<Json> state = known_state(stage, key);
      left_.push_back(!state);
      outcomes_.push_back(
          state ? outcome_from(*state, stage)
                : StageOutcome{.key = key, .chosen_stage = stage.name, .chosen_key = key});
    }
    const auto count = std::ranges::count(left_, true);
    if (count == 0) return;
    if (job_.estimate) costs_ = job_.estimate(context_);
    std::string text = fmt::format("{} stage{}", left_.size(), left_.size() == 1 ? "" : "s");
    if (const auto kept = std::ssize(left_) - count; kept > 0)
      text += fmt::format(", {} of them done in earlier runs", kept);
    say(text + pipeline_cost_text(job_.pipeline, left_, costs_));
  }

  void say(const std::string& line) const {
    if (context_.on_message && !context_.progress.quiet) context_.on_message(line);
  }

  StageCall call_of(const PipelineStage& stage) const { return call_of(stage, stage.name); }

  StageCall call_of(const PipelineStage& stage, const std::string& folder) const {
    return parse_stage(
        job_.pipeline, stage, commands_,
        [&](const StageValue& value) {
          const StageOutcome& needed = outcomes_[*value.stage];
          if (!value.path.empty())
            return CallOption::Value{value.with(resolved_text(needed.result, value))};
          return CallOption::Value{value.with(needed.chosen_stage), value.with(needed.chosen_key)};
        },
        folder);
  }

  // References to a stage that chooses resolve to the model that it chose.
  StageOutcome outcome_from(const Json& state, const PipelineStage& stage) const {
    const auto record = from_json<StageRecord>(state);
    StageOutcome outcome{.key = record.key,
                         .command_line = record.command_line,
                         .code = record.exit_code,
                         .failure = record.failure.value_or(""),
                         .result = record.result,
                         .seconds = record.seconds,
                         .peak_bytes = record.peak_bytes,
                         .predicted_bytes = record.predicted_bytes.value_or(0),
                         .warnings = record.warnings,
                         .computed = record.computed};
    choose_stage(stage, outcome);
    return outcome;
  }

  void choose_stage(const PipelineStage& stage, StageOutcome& outcome) const {
    outcome.chosen_stage = stage.name;
    outcome.chosen_key = outcome.key;
    if (!stage.chooses) return;
    const std::string chosen = outcome.result.at("chosen").get<std::string>();
    for (const StageOption& option : stage.options)
      for (const StageValue& value : option.values) {
        if (!value.stage || outcomes_[*value.stage].chosen_stage + value.suffix != chosen) continue;
        outcome.chosen_stage = chosen;
        outcome.chosen_key = outcomes_[*value.stage].chosen_key + value.suffix;
        return;
      }
    throw InternalError(
        fmt::format("{} chose {}, which is not one of its candidates", stage.name, chosen));
  }

  static Json state_of(const PipelineStage& stage, const StageOutcome& outcome) {
    Json state = {{"stage", stage.name}};
    state.update(to_json(stage_record(outcome)));
    return state;
  }

  // Returns whether every file in the stage's folder is unchanged.
  bool is_whole(const std::string& stage) const {
    const std::optional<FolderRecord> record = read_record(root() / stage);
    if (!record || !record->finished) return false;
    try {
      return std::ranges::all_of(record->files, [&](const auto& file) {
        return recorded(root() / stage / file.first) == file.second;
      });
    } catch (const UserError&) {
      return false;
    }
  }

  // Takes the result of a stage that an interrupted run of this pipeline finished.
  bool reuse_finished(const PipelineStage& stage, const std::string& key, StageOutcome& outcome) {
    const fs::path file = state_file(stage.name);
    if (!path_exists(file)) return false;
    const Json state = read_json(file);
    if (value_at(state, "key") != key || !state.contains("result")) return false;
    if (!is_whole(stage.name)) return false;
    outcome = outcome_from(state, stage);
    outcome.state = StageState::done_before;
    return true;
  }

  bool take_stored(const PipelineStage& stage, const StageCall& call, const std::string& key,
                   StageOutcome& outcome) {
    if (job_.store.empty() || stage.kind.measures_time) return false;
    if (call.resumes && is_interrupted(stage.name, key)) return false;
    remove_finished(stage.name);
    const std::optional<Json> state = store_.take(key, root() / stage.name);
    if (!state) return false;
    remove_partial_output(stage.name);
    outcome = outcome_from(*state, stage);
    outcome.state = StageState::stored;
    outcome.command_line = call.command_line;
    write_file(state_file(stage.name), to_document(state_of(stage, outcome)));
    return true;
  }

  StageOutcome compute(std::size_t index, const StageCall& call, const std::string& key) {
    const PipelineStage& stage = job_.pipeline.stages[index];
    const bool resuming = call.resumes && is_interrupted(stage.name, key);
    if (!resuming) {
      remove_finished(stage.name);
      remove_partial_output(stage.name);
    }
    write_file(state_file(stage.name), to_document({{"stage", stage.name}, {"key", key}}));
    say(fmt::format("{} of {}: {}{}: {}", index + 1, job_.pipeline.stages.size(), stage.name,
                    pipeline_time_left_text(job_.pipeline, index, outcomes_, left_, costs_),
                    call.command_line));
    StageOutcome outcome =
        call.writes_folder ? run_to_folder(stage, call, resuming) : run_into_folder(stage);
    outcome.key = key;
    outcome.command_line = call.command_line;
    outcome.computed = now_text();
    outcome.state = StageState::computed;
    choose_stage(stage, outcome);
    const Json state = state_of(stage, outcome);
    keep(stage, outcome, state);
    write_file(state_file(stage.name), to_document(state));
    return outcome;
  }

  // Returns whether an interrupted run left output of exactly this stage, possibly complete but not marked as done.
  bool is_interrupted(const std::string& stage, const std::string& key) const {
    const fs::path file = state_file(stage);
    return path_exists(file) && value_at(read_json(file), "key") == key &&
           (read_record(root() / stage) || read_record(partial_stage(stage)));
  }

  std::vector<std::string> arguments_of(const StageCall& call) const {
    std::vector<std::string> arguments = call.arguments;
    arguments.emplace_back("--json");
    arguments.insert(arguments.end(), job_.arguments.begin(), job_.arguments.end());
    return arguments;
  }

  // Runs a command that creates its folder itself.
  StageOutcome run_to_folder(const PipelineStage& stage, const StageCall& call, bool resuming) {
    std::vector<std::string> arguments = arguments_of(call);
    if (resuming) arguments.emplace_back("--resume");
    fs::create_directories((root() / stage.name).parent_path());
    claim_folder(root() / stage.name);
    claim_folder(partial_stage(stage.name));
    StageOutcome outcome = outcome_of(stage, commands_.run(arguments, root()));
    // A stage that was expected to fail leaves nothing.
    if (!path_exists(root() / stage.name)) {
      write_folder(root() / stage.name,
                   [&](const fs::path& folder) { seal(outcome, folder, stage.name); });
    }
    return outcome;
  }

  // Runs a command that writes files, or nothing, in a folder that appears when the command is done.
  StageOutcome run_into_folder(const PipelineStage& stage) {
    StageOutcome outcome;
    write_folder(root() / stage.name, [&](const fs::path& folder) {
      const std::string scratch = folder.lexically_relative(root()).string();
      CommandResult ending = commands_.run(arguments_of(call_of(stage, scratch)), root());
      ending.output = replaced(ending.output, scratch, stage.name);
      outcome = outcome_of(stage, ending);
      seal(outcome, folder, stage.name);
    });
    return outcome;
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  }

  // Writes the result and the record of a stage whose command writes neither.
  static void seal(const StageOutcome& outcome, const fs::path& folder, const std::string& stage) {
    write_file(folder / "results.json", to_document(outcome.result));
    FolderRecord record{.finished = true, .job = {{"stage", stage}}};
    for (const fs::path& file : files_below(folder))
      record.files[file.string()] = recorded(folder / file);
    write_record(record, folder);
  }

  StageOutcome outcome_of(const PipelineStage& stage, const CommandResult& ending) {
    if (interrupt_signal() != 0 && ending.code != 0) throw Interrupted("interrupted");
    StageOutcome outcome{.code = ending.code,
                         .failure = ending.error,
                         .seconds = ending.seconds,
                         .peak_bytes = ending.peak_bytes,
                         .predicted_bytes = ending.predicted_bytes,
                         .warnings = ending.warnings};
    const bool did = ending.code == 0 || ending.code == kGateFailed;
    if (!stage.expected_error.empty()) {
      if (did)
        fail_at(job_.pipeline, stage,
                StageError(fmt::format("was expected to fail with '{}', but succeeded",
                                       stage.expected_error)));
      if (ending.error.find(stage.expected_error) == std::string::npos)
        fail_at(job_.pipeline, stage,
                StageError(fmt::format("was expected to fail with '{}', but failed with: {}",
                                       stage.expected_error, ending_text(ending))));
      outcome.result = result_of(stage.command.front(), {{"failure", ending.error}});
      return outcome;
    }
    if (!did) fail_at(job_.pipeline, stage, StageError(ending_text(ending) + resume_hint()));
    outcome.result = printed(ending.output, fmt::format("what stage {} printed", stage.name));
    return outcome;
  }

  // Parses one object, or an array of objects from a command that prints several lines.
  static Json printed(std::string_view output, const std::string& where) {
    Json lines = Json::array();
    for (output = trim(output); !output.empty();) {
      const std::size_t end = std::min(output.find('\n'), output.size());
      lines.push_back(parse_json(output.substr(0, end), where));
      output.remove_prefix(std::min(end + 1, output.size()));
    }
    return lines.size() == 1 ? lines[0] : lines;
  }

  static std::string ending_text(const CommandResult& ending) {
    if (!ending.error.empty()) return ending.error;
    if (ending.code > 128)
      return fmt::format("its command was terminated by signal {}{}", ending.code - 128,
                         ending.code == 128 + 9 ? "; the machine may have run out of memory" : "");
    return fmt::format("its command exited with code {}", ending.code);
  }

  std::string resume_hint() const {
    return fmt::format("\nThe results so far are in {}; continue with `resume`", root().string());
  }

  // Stores the stage in the cache. A stage that is too large, or a full disk, only causes a warning.
  void keep(const PipelineStage& stage, StageOutcome& outcome, const Json& state) {
    if (job_.store.empty() || stage.kind.measures_time) return;
    try {
      const std::optional<FolderRecord> record = read_record(root() / stage.name);
      HONE_ASSERT(record.has_value(), "stage {} wrote no record", stage.name);
      std::vector<fs::path> files = {kRecordFile};
      for (const auto& [path, file] : record->files) files.emplace_back(path);
      if (!store_.put(outcome.key, root() / stage.name, files, state))
        print_warnings(context_,
                       {fmt::format("stage {} is larger than the limit of the store, {}, and is "
                                    "not cached; `hone cache --limit` sets another limit",
                                    stage.name, human_bytes(static_cast<double>(store_.limit())))});
    } catch (const UserError& error) {
      print_warnings(context_,
                     {fmt::format("stage {} is not cached: {}", stage.name, error.what())});
    }
  }

  // Removes the output of a stage that has to run again. Files of others stay.
  void remove_finished(const std::string& stage) const {
    const fs::path folder = root() / stage;
    if (const std::optional<FolderRecord> record = read_record(folder))
      remove_own(folder,
                 {[&](const fs::path& path) {
                    return path == kRecordFile || record->files.contains(path.string());
                  },
                  [](const fs::path&) { return true; }},
                 kRecordFile);
    check_gone(folder, stage);
  }

  // Removes the unfinished output of its command.
  void remove_partial_output(const std::string& stage) const {
    const fs::path partial = partial_stage(stage);
    if (!path_exists(partial)) return;
    remove_unfinished(partial);
    check_gone(partial, stage);
  }

  static void check_gone(const fs::path& folder, const std::string& stage) {
    user_check(!path_exists(folder) || fs::is_empty(folder),
               "{}: stage {} needs this path, which contains files that the stage did not write; "
               "move them",
               folder.string(), stage);
  }

  // Removes stages of an earlier run that the pipeline no longer contains.
  void remove_other_stages() const {
    if (!path_exists(root() / kPipelineStates)) return;
    std::vector<std::string> strangers;
    for (const fs::path& file : files_below(root() / kPipelineStates)) {
      if (file.extension() != ".json") continue;
      const Json name = value_at(read_json(root() / kPipelineStates / file), "stage");
      const auto is_it = [&](const PipelineStage& stage) { return stage.name == name; };
      if (name.is_string() && std::ranges::none_of(job_.pipeline.stages, is_it))
        strangers.push_back(name);
    }
    for (const std::string& name : strangers) {
      remove_finished(name);
      remove_partial_output(name);
      fs::remove(state_file(name));
      remove_empty_folders((root() / name).parent_path(), root());
    }
  }

  const PipelineJob& job_;
  const StageCommands& commands_;
  OutputFolder& output_;
  Context& context_;
  Store store_;
  std::vector<StageOutcome> outcomes_;
  std::vector<bool> left_;  // for each stage, whether it has no result yet
  StageCosts costs_;
};

OutputFolderOptions folder_options(const PipelineJob& job) {
  OutputFolderOptions options = job.output.options();
  options.resumable = true;
  options.resume = job.resume;
  options.progress = options.scaffolding = {kPipelineStates + std::string("/*")};
  for (const PipelineStage& stage : job.pipeline.stages)
    options.scaffolding.push_back(stage.name + kPartialStage + "/*");
  return options;
}

void begin(const PipelineJob& job, OutputFolder& output) {
  const Json identity = {{"command", job.command}, {"pipeline", job.pipeline.where}};
  const auto& interrupted = output.interrupted();
  if (!interrupted) return output.begin(identity);
  const std::string made_by = command_of(*interrupted, output.path());
  user_check(made_by.empty() || made_by == job.command,
             "{}: was written by `hone {}`, so `hone {}` cannot resume there\nGive another output "
             "folder, or start again with `overwrite` and without `resume`",
             output.path().string(), made_by, job.command);
  output.continue_job(identity);
}

}  // namespace

const Fields& fields_of(const PlannedStage*) {
  static const Fields fields = describe<PlannedStage>(
      "planned_stage", "A stage before it runs.",
      field<&PlannedStage::name>("stage", "Name of the stage and of its folder."),
      field<&PlannedStage::command_line>(
          "command_line",
          "Its command line, for the folder of the pipeline; a stage that is not chosen yet is "
          "named by the stage that chooses."));
  return fields;
}

const Fields& fields_of(const PipelinePlanFields*) {
  static const Fields fields = describe<PipelinePlanFields>(
      "pipeline_plan", "A pipeline before it runs.",
      field<&PipelinePlanFields::planned>("planned", "Its stages, in the order they would run."));
  return fields;
}

std::vector<PlannedStage> plan_pipeline(const Pipeline& pipeline, const StageCommands& commands) {
  std::vector<PlannedStage> planned;
  std::set<std::string> common;
  for (const PipelineStage& stage : pipeline.stages) {
    const StageCall call = parse_stage(
        pipeline, stage, commands,
        [&](const StageValue& value) {
          if (!value.path.empty()) return CallOption::Value{value.with(value.fallback)};
          const std::string& name = pipeline.stages[*value.stage].name;
          return CallOption::Value{value.with(name), name};
        },
        stage.name);
    common.insert(call.common.begin(), call.common.end());
    planned.push_back({stage.name, call.command_line});
  }
  check_common(pipeline, common);
  return planned;
}

JobResult run_pipeline(const PipelineJob& job, const StageCommands& commands, Context& context) {
  plan_pipeline(job.pipeline, commands);
  OutputFolder output(job.output.folder, folder_options(job));
  PipelineRun run(job, commands, output, context);
  if (job.resume && output.previous()) {
    if (const Json results = run.finished(); !results.is_null())
      return {.fields = results,
              .document = {.title = "", .headline = "", .output = job.output.folder},
              .was_finished = true};
    user_check(job.output.overwrite,
               "{}: contains a finished pipeline with other stages, settings or inputs\nGive "
               "another output folder, or `overwrite`; unchanged stages come from the store",
               output.destination().string());
  }
  begin(job, output);
  const std::vector<StageOutcome> outcomes = run.work();
  const StageStudies studies = read_stage_studies(job.pipeline, output.path());
  write_studies(job.pipeline, studies, output.path());
  const JobResult result = write_pipeline_report(job, outcomes, studies, output.path(), context);
  remove_stage_studies(job.pipeline, output.path());
  output.commit();
  return result;
}

}  // namespace hone
