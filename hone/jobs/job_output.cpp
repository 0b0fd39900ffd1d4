#include "hone/jobs/job_output.h"

#include "hone/jobs/value_kinds.h"

namespace hone {
namespace {

// The folder of intermediate trainings.
constexpr const char* kTrainings = "trainings";

}  // namespace

OutputFolderOptions JobOutput::options() const { return {.overwrite = overwrite}; }

OutputFolderOptions JobOutput::resumable(const JobResume& arguments) const {
  OutputFolderOptions resumable = options();
  resumable.resumable = true;
  resumable.resume = arguments.resume;
  // Besides checkpoints: finished seeds and studies. SQLite keeps additional files beside an open study.
  resumable.progress = {kCheckpointStates, "*seed-*/results.json", "study.db"};
  resumable.scaffolding = {kTrainings + std::string("/*"), "study.db-*"};
  if (!arguments.save_optimizer_state) resumable.scaffolding.emplace_back(kCheckpointMoments);
  return resumable;
}

std::string JobOutput::name_of(const fs::path& part, const fs::path& temporary) const {
  const std::string own = fs::weakly_canonical(folder).filename();
  return part == temporary ? own : own + "/" + part.lexically_relative(temporary).string();
}

std::string unused_name(const std::string& folder, std::string_view ending) {
  const fs::path path = fs::path(folder) / "";  // with exactly one slash at its end
  const std::string stem = fmt::format("{}{}", path.parent_path().string(), ending);
  std::string name = stem;
  std::error_code error;
  for (int number = 2; fs::exists(name, error); ++number) name = fmt::format("{}-{}", stem, number);
  return name;
}

CheckpointOptions checkpoints_in(const fs::path& folder, const JobResume& a,
                                 const TextModel& source, OutputFolder& output) {
  return {.folder = folder,
          .keep = a.save_total_limit,
          .resume = a.resume,
          .write_model =
              [&source](const Model& model, const fs::path& to) {
                save_model(model, to);
                write_other_files(source, to);
              },
          .on_diverged = [&output](const std::string& why) { output.abandon(why); }};
}

std::function<CheckpointOptions(const std::string&)> checkpoints_by_name(const JobResume& arguments,
                                                                         const TextModel& source,
                                                                         OutputFolder& output) {
  return [&arguments, &source, &output](const std::string& name) {
    return checkpoints_in(output.path() / kTrainings / name, arguments, source, output);
  };
}

TrainingLog training_log_in(const fs::path& folder, const std::string& report_to) {
  TrainingLog log(folder / "training_log.jsonl");
  if (report_to == "tensorboard") log.report_to_tensorboard(folder);
  return log;
}

Json finished_results(const OutputFolder& output) {
  const fs::path file = output.destination() / "results.json";
  return path_exists(file) ? read_json(file) : Json();
}

Options options_of(const JobResume*) {
  return {Heading::output,
          {option<&JobResume::resume>("resume", "continue an interrupted run to the same bits")
               .for_caller(),
           option<&JobResume::save_steps>("save_steps",
                                          "extra checkpoints every this many steps (0: none)")
               .from(0)
               .rare(),
           option<&JobResume::save_total_limit>("save_total_limit",
                                                "newest checkpoints to keep, besides the best one")
               .from(1)
               .rare(),
           option<&JobResume::save_optimizer_state>(
               "save_optimizer_state", "keep the optimizer state in checkpoints of a finished run")
               .rare()}};
}

Options options_of(const JobOutput*) {
  return {Heading::output,
          {option<&JobOutput::folder>("o,output_dir", "output folder")
               .required()
               .takes(kOutputFolderValue)
               .for_caller(),
           option<&JobOutput::overwrite>("overwrite_output_dir,overwrite",
                                         "replace hone's own files in the folder")
               .for_caller()}};
}

Options report_output() {
  Options rows = options<JobOutput>();
  rows.at("output_dir").is_required = false;
  rows.at("output_dir").meaning = "folder for a report";
  return rows;
}

}  // namespace hone
