#include "hone/train/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "hone/base/carry_over.h"
#include "hone/base/written_files.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/tensor/safetensors.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr const char* kState = "trainer_state.json";
constexpr const char* kMoments = "optimizer.safetensors";

// Uses the keys of Hugging Face's trainer_state.json where they exist.
Json to_json(const TrainingCheckpoint& c) {
  const auto mean = [](const RunningMean& m) { return Json::array({m.sum, m.count}); };
  return {{"global_step", c.state.step},
          {"evaluated_step", c.state.evaluated_step},
          {"examples", c.state.examples},
          {"seconds", c.state.seconds},
          {"loss", mean(c.state.loss)},
          {"loss_since_log", mean(c.state.loss_since_log)},
          {"best_global_step", c.selection.best_step},
          {"best_metric", c.selection.best_value},
          {"evaluations_without_improvement", c.selection.without_improvement},
          {"ended_early", c.selection.ended},
          {"log_lines", c.log_lines}};
}

TrainingCheckpoint read_state(const fs::path& folder) {
  const fs::path file = folder / kState;
  const Json json = read_json(file);
  try {
    const auto mean = [&](const char* key) {
      return RunningMean{json.at(key).at(0).get<double>(), json.at(key).at(1).get<std::int64_t>()};
    };
    TrainingCheckpoint c;
    c.state = {json.at("global_step").get<std::int64_t>(),
               json.at("evaluated_step").get<std::int64_t>(),
               json.at("examples").get<std::int64_t>(),
               json.at("seconds").get<double>(),
               mean("loss"),
               mean("loss_since_log")};
    const Json& best = json.at("best_metric");  // NaN is null
    c.selection = {json.at("best_global_step").get<std::int64_t>(),
                   best.is_null() ? std::numeric_limits<double>::quiet_NaN() : best.get<double>(),
                   json.at("evaluations_without_improvement").get<std::int64_t>(),
                   json.at("ended_early").get<bool>()};
    c.log_lines = json.at("log_lines").get<std::size_t>();
    return c;
  } catch (const Json::exception& error) {
    fail("{}: not a training state written by hone: {}", file.string(), error.what());
  }
}

constexpr const char* kSteps = "steps";  // stored with the moments: f64[steps, 4]

Tensor to_tensor(const std::vector<StepRecord>& steps) {
  std::vector<double> values;
  for (const StepRecord& step : steps)
    values.insert(values.end(), {step.epoch, step.loss, step.grad_norm, step.learning_rate});
  return Tensor::of<double>({static_cast<std::int64_t>(steps.size()), 4}, values);
}

std::vector<StepRecord> steps_of(const Tensor& tensor, const TrainingState& state) {
  user_check(tensor.dtype() == DType::f64 && tensor.sizes() == Sizes{state.step, 4},
             "expected f64[{}, 4], one row per step", state.step);
  const std::span<const double> values = tensor.values<double>();
  std::vector<StepRecord> steps;
  for (std::size_t i = 0; i < values.size(); i += 4)
    steps.push_back({static_cast<std::int64_t>(i / 4 + 1), values[i], values[i + 1], values[i + 2],
                     values[i + 3]});
  return steps;
}

// Sets every tensor in `parameters`. With `replace`, a tensor of the same name, type and sizes must exist.
void take_tensors(const TensorMap& tensors, const fs::path& file, ParameterStore& parameters,
                  bool replace) {
  for (const auto& [name, tensor] : tensors) {
    const bool fits =
        !replace || (parameters.contains(name) && parameters.at(name).sizes() == tensor.sizes() &&
                     parameters.at(name).dtype() == tensor.dtype());
    user_check(fits, "{}: '{}' is not a parameter of the model being trained", file.string(), name);
    parameters.set(name, tensor);
  }
}

}  // namespace

void remove_old_checkpoints(const CheckpointOptions& options, std::int64_t best_step) {
  std::vector<std::int64_t> steps = checkpoint_steps(options.folder);
  const auto newest = static_cast<std::size_t>(std::max<std::int64_t>(options.keep, 1));
  if (steps.size() <= newest) return;
  steps.resize(steps.size() - newest);
  for (const std::int64_t step : steps)
    if (step != best_step) remove_checkpoint(options, step);
}

void remove_checkpoint(const CheckpointOptions& options, std::int64_t step) {
  const fs::path folder = checkpoint_folder(options, step);
  if (!path_exists(folder)) return;
  remove_own(folder, {[&](const fs::path& path) { return !is_foreign(folder / path); },
                      [](const fs::path&) { return true; }});
}

fs::path checkpoint_folder(const CheckpointOptions& options, std::int64_t step) {
  return options.folder / fmt::format("{}{}", kPrefix, step);
}

std::vector<std::int64_t> checkpoint_steps(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, step);
    if (parsed.ec == std::errc() && parsed.ptr == end) steps.push_back(step);
  }
  std::ranges::sort(steps);
  return steps;
}

void save_training(const CheckpointOptions& options, const Model& model,
                   const ParameterStore& parameters, const TrainingCheckpoint& checkpoint) {
  Model now = model;
  now.parameters = parameters;
  remove_optimizer_state(now.parameters);
  TensorMap moments;
  for (const auto& [name, tensor] : parameters.tensors())
    if (!now.parameters.contains(name)) moments.emplace(name, tensor.on(cpu()));
  moments.emplace(kSteps, to_tensor(checkpoint.steps));
  std::error_code error;
  fs::create_directories(options.folder, error);  // of one of several trainings of a study
  user_check(!error, "{}: cannot create a folder: {}", options.folder.string(), error.message());
  write_folder(checkpoint_folder(options, checkpoint.state.step), [&](const fs::path& folder) {
    options.write_model(now, folder);
    write_safetensors(folder / kMoments, moments);
    write_file(folder / kState, to_document(to_json(checkpoint)));
  });
}

void update_training(const CheckpointOptions& options, const TrainingCheckpoint& checkpoint) {
  write_file(checkpoint_folder(options, checkpoint.state.step) / kState,
             to_document(to_json(checkpoint)));
}

std::optional<TrainingCheckpoint> load_training(const CheckpointOptions& options,
                                                ParameterStore& parameters) {
  const std::vector<std::int64_t> steps = checkpoint_steps(options.folder);
  if (steps.empty()) return std::nullopt;
  const fs::path folder = checkpoint_folder(options, steps.back());
  load_weights(options, steps.back(), parameters);
  const fs::path moments = folder / kMoments;
  take_tensors(read_safetensors(moments).tensors, moments, parameters, /*replace=*/false);
  TrainingCheckpoint checkpoint = read_state(folder);
  with_context((folder / kMoments).string() + ": steps",
               [&] { checkpoint.steps = steps_of(parameters.at(kSteps), checkpoint.state); });
  parameters.erase(kSteps);
  return checkpoint;
}

void load_weights(const CheckpointOptions& options, std::int64_t step, ParameterStore& parameters) {
  const fs::path folder = checkpoint_folder(options, step);
  if (options.read_model) {
    take_tensors(options.read_model(folder), folder, parameters, /*replace=*/true);
    return;
  }
  const Checkpoint weights = load_checkpoint(folder);
  take_tensors(weights.tensors, folder / weights.source, parameters, /*replace=*/true);
}

}  // namespace hone
