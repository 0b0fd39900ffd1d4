#include "hone/cli/output_check.h"

#include <fnmatch.h>

#include <algorithm>

#include "hone/base/output_folder.h"
#include "hone/base/protected_folders.h"
#include "hone/cli/paths_read.h"
#include "hone/cli/settings.h"
#include "hone/jobs/run_identity.h"

namespace hone {
namespace {

/// An input of a command.
struct Input {
  fs::path path;
  std::string name;  ///< "the model my-model"
};

// Returns the paths that a command reads. If they cannot be found, the command reports it later. But if an output of
// hone exists, the command would report that first, so a missing input is reported here. With `--resume` the command
// checks its output first.
std::vector<fs::path> paths_of(Access access, const std::string& value, bool output_exists) {
  try {
    return paths_read(access, value);
  } catch (const UserError&) {
    if (output_exists && !path_exists(value)) throw;
    return {value};
  }
}

std::vector<Input> inputs_of(const CommandApp& app, bool output_exists) {
  std::vector<Input> inputs;
  for (const CLI::Option* option : app.get_options()) {
    const Access access = app.kind(*option).access;
    const char* what = access == Access::reads_model     ? "the model"
                       : access == Access::reads_data    ? "the data"
                       : access == Access::reads_adapter ? "the adapter"
                       : access == Access::reads_file    ? "the file"
                       : access == Access::reads_runs    ? "the run"
                                                         : nullptr;
    if (what == nullptr) continue;
    for (const std::string& value : option->results())
      for (const fs::path& path : paths_of(access, value, output_exists))
        inputs.push_back({path, fmt::format("{} {}", what,
                                            access == Access::reads_runs ? path.string() : value)});
  }
  return inputs;
}

std::vector<fs::path> outputs_of(const CommandApp& app) {
  std::vector<fs::path> outputs;
  for (const CLI::Option* option : app.get_options()) {
    const ValueKind& kind = app.kind(*option);
    if (kind.access != Access::writes || option->count() == 0) continue;
    fs::path path = option->results().front();
    if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // "out/"
    outputs.push_back(path);
    for (const std::string_view ending : kind.extensions)
      outputs.push_back(fs::path(path).concat(ending));
    if (kind.folders && app.get_option_no_throw("--resume") != nullptr)
      outputs.push_back(partial_folder(path));
  }
  return outputs;
}

// Returns the values of data options that are globs.
std::vector<std::string> data_globs_of(const CommandApp& app) {
  std::vector<std::string> globs;
  for (const CLI::Option* option : app.get_options()) {
    if (app.kind(*option).access != Access::reads_data) continue;
    for (const std::string& value : option->results())
      if (value.find_first_of("*?[") != std::string::npos) globs.push_back(value);
  }
  return globs;
}

constexpr std::string_view kWholeModel = "model", kAdapterAlone = "adapter";

// Returns the kind of model that a folder contains, the work of hours; "" if it contains none.
std::string_view work_in(const FolderRecord& record) {
  const auto holds = [&](std::string_view name) {
    return std::ranges::any_of(
        record.files, [&](const auto& file) { return fs::path(file.first).filename() == name; });
  };
  if (holds("model.safetensors") || holds("parameters.safetensors")) return kWholeModel;
  return holds("adapter_model.safetensors") ? kAdapterAlone : "";
}

std::string_view work_of(const CommandApp& app) {
  if (!app.command().stage.writes_model) return "";
  const CLI::Option* lora = app.get_option_no_throw("--lora");
  return lora != nullptr && lora->count() > 0 ? kAdapterAlone : kWholeModel;
}

bool is_given(const CommandApp& app, const std::string& flag) {
  const CLI::Option* const option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

// Throws `UsageError` if a report, or a model of another kind, would replace a model or an adapter.
void check_keeps_work(const fs::path& output, const CommandApp& app) {
  const std::optional<FolderRecord> record = read_record(output);
  if (!record) return;
  const std::string_view there = work_in(*record), made = work_of(app);
  if (there.empty() || there == made) return;
  const std::string made_by = command_of(*record, output), command = command_name(app);
  if (made.empty() && made_by == command) return;
  throw UsageError(fmt::format(
      "{}: holds {} {}{}, and `hone {}{}` makes none that could take its place; write somewhere "
      "else, or remove that folder first if its {} is not needed any more",
      output.string(), there == kAdapterAlone ? "an" : "a", there,
      made_by.empty() ? "" : fmt::format(" made by `hone {}`", made_by), command,
      made == kAdapterAlone ? " --lora" : "", there));
}

}  // namespace

void check_outputs(const CommandApp& app) {
  const std::vector<fs::path> outputs = outputs_of(app);
  if (outputs.empty()) return;
  std::error_code error;
  for (const fs::path& output : outputs)
    if (fs::is_directory(output, error)) check_unprotected(output);
  for (const std::string& glob : data_globs_of(app))
    for (const fs::path& output : outputs)
      user_check(::fnmatch(glob.c_str(), output.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0,
                 "{} matches {}, the data that this command reads; choose another output",
                 output.string(), glob);
  const bool output_exists =
      !is_given(app, "--resume") && std::ranges::any_of(outputs, [](const fs::path& output) {
        return read_record(output).has_value();
      });
  for (const Input& input : inputs_of(app, output_exists)) {
    for (const fs::path& output : outputs) {
      const bool holds = is_inside(input.path, output), is_in = is_inside(output, input.path);
      user_check(!holds, "{} {} {}, which this command reads; choose another output",
                 output.string(), is_in ? "is" : "contains", input.name);
      user_check(!is_in, "{} is inside {}, which this command reads; choose another output",
                 output.string(), input.name);
    }
  }
  // Only `--overwrite` endangers the files of an interrupted run. Without it the job refuses the folder, after checks
  // of its own.
  const bool overwrites = is_given(app, "--overwrite");
  for (const fs::path& output : outputs)
    if (fs::is_directory(output, error) && (overwrites || output.extension() != ".partial"))
      check_keeps_work(output, app);
}

}  // namespace hone
