#include "hone/train/trainer.h"

#include <chrono>
#include <cmath>

#include "hone/base/random.h"
#include "hone/train/batch_inputs.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

std::int64_t steps_per_epoch(std::int64_t examples, std::int64_t batch_size) {
  return (examples + batch_size - 1) / batch_size;
}

double scalar(const NamedTensors& outputs, const std::string& name) {
  return static_cast<double>(*outputs.at(name).on(cpu()).data<float>());
}

// Every step draws its dropout from a key of its own.
std::int64_t random_key(std::uint64_t seed, std::int64_t step) {
  const RandomStream keys{seed, stream_of("dropout keys")};
  const auto words = keys.block(static_cast<std::uint64_t>(step));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(words[0]) << 32 | words[1]);
}

void check(const TrainingOptions& options) {
  user_check(std::isfinite(options.epochs) && options.epochs >= 0,
             "epochs: expected a number from 0 on, got {}", options.epochs);
  user_check(options.batch_size >= 1, "batch_size: expected at least 1, got {}",
             options.batch_size);
  user_check(options.logging_steps >= 1, "logging_steps: expected at least 1, got {}",
             options.logging_steps);
  user_check(options.warmup_steps >= 0, "warmup_steps: expected at least 0, got {}",
             options.warmup_steps);
}

/// Adds up what is reported as a mean.
class RunningLoss {
 public:
  void add(double loss) {
    sum_ += loss;
    ++count_;
  }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

std::int64_t total_steps(const TrainingOptions& options, std::int64_t examples) {
  if (options.max_steps > 0) return options.max_steps;
  const double steps =
      options.epochs * static_cast<double>(steps_per_epoch(examples, options.batch_size));
  return static_cast<std::int64_t>(std::ceil(steps));
}

TrainingResult train(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
                     std::int32_t pad_id, const TrainingOptions& options,
                     const TrainingCallbacks& callbacks, const Library& library, ThreadPool& pool,
                     Device& device) {
  check(options);
  user_check(data.size() > 0, "there is nothing to train on: the training split is empty");
  Graph step_graph = graph.clone();
  add_training_step(step_graph, options.optimizer);
  add_optimizer_state(step_graph, parameters);
  Interpreter interpreter(step_graph, library, pool, device);

  const auto start = std::chrono::steady_clock::now();
  const std::int64_t steps = total_steps(options, data.size());
  const std::int64_t per_epoch = steps_per_epoch(data.size(), options.batch_size);
  const std::int64_t eval_steps = options.eval_steps > 0 ? options.eval_steps : per_epoch;
  TrainingResult result;
  RunningLoss all, since_log;
  std::vector<std::int64_t> order;
  std::vector<std::span<const std::int64_t>> epoch_batches;
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step % per_epoch == 0) {
      order = epoch_order(data.size(), options.seed, step / per_epoch, options.shuffle);
      if (options.group_by_length)
        group_by_length(data, options.batch_size, options.seed, step / per_epoch, order);
      epoch_batches = batches(order, options.batch_size);
    }
    const std::span<const std::int64_t> rows =
        epoch_batches[static_cast<std::size_t>(step % per_epoch)];
    NamedTensors inputs = batch_inputs(make_batch(data, rows, pad_id));
    const double rate =
        linear_schedule(options.optimizer.learning_rate, step, steps, options.warmup_steps);
    inputs["learning_rate"] = Tensor::scalar(static_cast<float>(rate));
    inputs["step"] = Tensor::scalar(step + 1);
    inputs["random_key"] = Tensor::scalar(random_key(options.seed, step));
    const NamedTensors outputs = interpreter.run(inputs, parameters);

    StepRecord record{step + 1, static_cast<double>(step + 1) / static_cast<double>(per_epoch),
                      scalar(outputs, "loss"), scalar(outputs, "grad_norm"), rate};
    user_check(std::isfinite(record.loss) && std::isfinite(record.grad_norm),
               "training diverged at step {}: loss {}, gradient norm {}; try a lower learning rate",
               step + 1, record.loss, record.grad_norm);
    all.add(record.loss);
    since_log.add(record.loss);
    result.examples += static_cast<std::int64_t>(rows.size());
    if (callbacks.on_step) callbacks.on_step(record);
    const bool last = step + 1 == steps;
    if ((step + 1) % options.logging_steps == 0 || last) {
      StepRecord mean = record;
      mean.loss = since_log.mean();
      since_log = {};
      if (callbacks.on_log) callbacks.on_log(mean);
    }
    if (callbacks.on_evaluate && ((step + 1) % eval_steps == 0 || last))
      callbacks.on_evaluate(record, parameters);
  }
  remove_optimizer_state(parameters);
  result.steps = steps;
  result.mean_loss = all.mean();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace hone
