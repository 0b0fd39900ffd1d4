#include "hone/base/job_files.h"

#include <algorithm>
#include <string_view>

#include "hone/base/text.h"

namespace hone {
namespace {

using Names = std::span<const std::string_view>;

/// Globs. TensorBoard's file is in a folder of its own.
constexpr std::string_view kEvents = "events.out.tfevents.*", kEventFolder = "runs";
constexpr std::string_view kResults[] = {"config.json",
                                         "model.safetensors",
                                         "vocab.txt",
                                         "tokenizer.json",
                                         "tokenizer_config.json",
                                         "special_tokens_map.json",
                                         "settings.json",
                                         "machine.json",
                                         "results.json",
                                         "report.html",
                                         "run.log",
                                         "training_log.jsonl",
                                         "trainer_state.json",
                                         "results.csv",
                                         "results.txt",
                                         "formats.csv",
                                         "formats.json",
                                         "layers.csv",
                                         "layers.json",
                                         "learning_curve.csv",
                                         "learning_curve.svg",
                                         "learning_curve.png",
                                         "learning_curve.tsv",
                                         "learning_curve.gp",
                                         "fixed_point.svg",
                                         "fixed_point.png",
                                         "fixed_point.tsv",
                                         "fixed_point.gp",
                                         "vocab.json",
                                         "merges.txt",
                                         "added_tokens.json",
                                         "preprocessor_config.json",
                                         "unrounded.safetensors",
                                         "graph.hone",
                                         "parameters.safetensors",
                                         "README.md",
                                         "report.md",
                                         "trained_on.safetensors",
                                         "better.toml",
                                         kEvents,
                                         "formats.svg",
                                         "formats.png",
                                         "formats.tsv",
                                         "formats.gp",
                                         "layers.svg",
                                         "layers.png",
                                         "layers.tsv",
                                         "layers.gp",
                                         "seeds.svg",
                                         "seeds.png",
                                         "seeds.tsv",
                                         "seeds.gp",
                                         "memory.svg",
                                         "memory.png",
                                         "memory.tsv",
                                         "memory.gp",
                                         "decode.csv",
                                         "decode*.svg",
                                         "decode*.png",
                                         "decode*.tsv",
                                         "decode*.gp",
                                         "tiles*.svg",
                                         "tiles*.png",
                                         "memory*.csv",
                                         "memory_*.svg",
                                         "memory_*.png",
                                         "memory_*.tsv",
                                         "memory_*.gp",
                                         "products*.csv",
                                         "products.svg",
                                         "products.png",
                                         "products.tsv",
                                         "products.gp",
                                         "fp32_parameters.csv",
                                         "modules.json",
                                         "config_sentence_transformers.json",
                                         "native.svg",
                                         "native.png",
                                         "native.tsv",
                                         "native.gp",
                                         "pytorch_model.bin",
                                         "sentence_*_config.json",
                                         "*.onnx",
                                         "*.onnx.data",
                                         "base.json",
                                         "adapter_model.safetensors",
                                         "adapter_*.json",
                                         "sparsity.svg",
                                         "sparsity.png",
                                         "sparsity.tsv",
                                         "sparsity.gp",
                                         "sensitivity.csv",
                                         "sensitivity.svg",
                                         "sensitivity.png",
                                         "sensitivity.tsv",
                                         "sensitivity.gp",
                                         "stages.csv",
                                         "pipeline.toml",
                                         "operators.csv",
                                         "overview.csv",
                                         "executors.csv",
                                         "means.csv",
                                         "comparisons.csv",
                                         "mistakes.csv",
                                         "calls_*.svg",
                                         "calls_*.png",
                                         "calls_*.tsv",
                                         "calls_*.gp",
                                         "attention.svg",
                                         "attention.png",
                                         "attention.tsv",
                                         "attention.gp",
                                         "kernels.csv",
                                         "timeline.json",
                                         "roofline.svg",
                                         "roofline.png",
                                         "roofline.tsv",
                                         "roofline.gp",
                                         "statistics.csv",
                                         "histograms.csv",
                                         "statistics.svg",
                                         "statistics.png",
                                         "statistics.tsv",
                                         "statistics.gp",
                                         "study.db",
                                         "trials.csv",
                                         "optimization_*",
                                         "pareto_front.*",
                                         "param_importances.*",
                                         "slice.*",
                                         "parallel_coordinate.*",
                                         "intermediate_values.*",
                                         "edf.*",
                                         "studies.csv",
                                         "allocation.*",
                                         "points.csv",
                                         "recipe.toml",
                                         "search.toml",
                                         "shrink.*",
                                         "summary.*",
                                         "summary-dark.svg",
                                         "candidates.csv",
                                         "space.toml"};
/// What is needed only to go on; SQLite keeps two files beside a study while it is open.
constexpr std::string_view kMoments = "optimizer.safetensors";
constexpr std::string_view kScaffolding[] = {kMoments, "resume.json", "study.db-wal",
                                             "study.db-shm"};

/// Folders that jobs make, and the beginnings of those with a number behind.
constexpr std::string_view kTrainings = "trainings";  // on the way to the result of a study
constexpr std::string_view kStages = "stages";        // what those of a lab have found
constexpr std::string_view kFolders[] = {kTrainings, "model", "native",   "fp32",
                                         "best",     "train", "train_on", "unproven"};
constexpr std::string_view kCheckpoint = "checkpoint-", kSeed = "seed-";
constexpr std::string_view kNumberedFolders[] = {kCheckpoint, kSeed, "qat-", "l1-", "random-"};

bool is_any_of(std::string_view name, Names globs) {
  return std::ranges::any_of(globs, [&](std::string_view glob) { return glob_match(glob, name); });
}

bool is_job_folder(std::string_view name) {
  if (is_any_of(name, kFolders)) return true;
  return std::ranges::any_of(kNumberedFolders, [&](std::string_view begin) {
    return name.size() > begin.size() && name.starts_with(begin) &&
           name.find_first_not_of("0123456789.", begin.size()) == std::string_view::npos;
  });
}

// "1_Pooling", of a sentence model's other modules.
bool is_module_folder(std::string_view name) {
  const std::size_t bar = name.find('_');
  return bar != std::string_view::npos && bar > 0 && bar + 1 < name.size() &&
         name.find_first_not_of("0123456789") == bar && name[bar + 1] >= 'A' &&
         name[bar + 1] <= 'Z';
}

bool is_of_a_killed_program(const fs::path& path) {
  return std::ranges::any_of(path,
                             [](const fs::path& part) { return is_temporary_name(part.string()); });
}

bool is_stage(const fs::path& path) {
  return path.parent_path() == kStages && path.extension() == ".json";
}

}  // namespace

FileRole job_file_role(const fs::path& path) {
  if (is_of_a_killed_program(path)) return FileRole::scaffolding;
  const std::string name = path.filename().string();
  const bool events = glob_match(kEvents, name);
  if (is_stage(path)) return FileRole::scaffolding;
  for (const fs::path& folder : path.parent_path())
    if (!is_job_folder(folder.string()) && !(events && folder == kEventFolder) &&
        !is_module_folder(folder.string()))
      return FileRole::foreign;
  if (is_any_of(name, kScaffolding)) return FileRole::scaffolding;
  if (!is_any_of(name, kResults)) return FileRole::foreign;
  return *path.begin() == kTrainings ? FileRole::scaffolding : FileRole::result;
}

FileRole job_file_role_with_moments(const fs::path& path) {
  const FileRole role = job_file_role(path);
  const bool on_the_way = *path.begin() == kTrainings;
  return path.filename() == kMoments && role == FileRole::scaffolding && !on_the_way
             ? FileRole::result
             : role;
}

namespace {

bool holds_any(const FolderRecord& record, std::initializer_list<std::string_view> names) {
  const auto is_one = [&](const fs::path& path) {
    return std::ranges::find(names, path.filename().native()) != names.end();
  };
  return std::ranges::any_of(record.files, [&](const auto& file) { return is_one(file.first); });
}

}  // namespace

bool holds_model(const FolderRecord& record) {
  return holds_any(record, {"model.safetensors", "parameters.safetensors"});
}

bool holds_adapter(const FolderRecord& record) {
  return holds_any(record, {"adapter_model.safetensors"});
}

bool is_job_progress(const fs::path& path) {
  if (is_of_a_killed_program(path)) return false;
  const std::string name = path.filename(), folder = path.parent_path().filename();
  return is_stage(path) || path == "study.db" ||
         (name == "trainer_state.json" && folder.starts_with(kCheckpoint)) ||
         (name == "results.json" && folder.starts_with(kSeed));
}

}  // namespace hone
