#include "hone/train/trainer.h"

#include <chrono>
#include <cmath>

#include "hone/base/random.h"
#include "hone/data/row_order.h"
#include "hone/passes/weigh_classes.h"
#include "hone/runtime/run_passes.h"
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

// What step `step`, from 0, reads beside the parameters.
NamedTensors step_inputs(NamedTensors inputs, const TrainingOptions& options, std::int64_t step,
                         double rate) {
  const std::vector<float>& weights = options.class_weights;
  if (!weights.empty())
    inputs["class_weights"] =
        Tensor::of<float>({static_cast<std::int64_t>(weights.size())}, weights);
  inputs["learning_rate"] = Tensor::scalar(static_cast<float>(rate));
  inputs["step"] = Tensor::scalar(step + 1);
  inputs["random_key"] = Tensor::scalar(random_key(options.seed, step));
  return inputs;
}

void check(const TrainingOptions& options) {
  user_check(options.epochs >= 0 && options.epochs < kMostEpochs,
             "epochs: expected a number from 0 on and below {:.0e}, got {}", kMostEpochs,
             options.epochs);
  user_check(options.batch_size >= 1, "batch_size: expected at least 1, got {}",
             options.batch_size);
  user_check(options.logging_steps >= 1, "logging_steps: expected at least 1, got {}",
             options.logging_steps);
  user_check(options.warmup_steps >= 0, "warmup_steps: expected at least 0, got {}",
             options.warmup_steps);
  user_check(options.warmup_ratio >= 0 && options.warmup_ratio <= 1,
             "warmup_ratio: expected a share from 0 to 1, got {}", options.warmup_ratio);
}

void check_finite(const ParameterStore& parameters, std::int64_t step) {
  const std::string broken = parameters.first_not_finite();
  if (!broken.empty())
    throw Diverged(step, step, fmt::format("'{}' has values that are NaN or infinite", broken));
}

/// The batches of the epoch that a step is in.
class BatchOrder {
 public:
  BatchOrder(const ExampleSource& data, const TrainingOptions& options)
      : data_(data),
        options_(options),
        steps_per_epoch_(steps_per_epoch(data.size(), options.batch_size)) {}

  std::int64_t per_epoch() const { return steps_per_epoch_; }

  /// The examples of step `step`, from 0. The span holds until the next call.
  std::span<const std::int64_t> rows(std::int64_t step) {
    const std::int64_t epoch = step / steps_per_epoch_;
    if (epoch != epoch_) {
      order_ = epoch_order(data_.size(), options_.seed, epoch, options_.shuffle);
      if (options_.group_by_length)
        group_by_length(data_.lengths, options_.batch_size, options_.seed, epoch, order_);
      batches_ = batches(order_, options_.batch_size);
      epoch_ = epoch;
    }
    return batches_[static_cast<std::size_t>(step % steps_per_epoch_)];
  }

 private:
  const ExampleSource& data_;
  const TrainingOptions& options_;
  std::int64_t steps_per_epoch_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
  std::vector<std::span<const std::int64_t>> batches_;
};

/// What is due once `step` steps are done.
struct Due {
  bool log, evaluation, checkpoint;
};

Due due(const TrainingOptions& options, std::int64_t step, std::int64_t steps,
        std::int64_t per_epoch) {
  const auto every = [&](std::int64_t period) { return step == steps || step % period == 0; };
  const bool evaluation = every(options.eval_steps > 0 ? options.eval_steps : per_epoch);
  return {every(options.logging_steps), evaluation,
          evaluation || every(per_epoch) || (options.save_steps > 0 && every(options.save_steps))};
}

/// Which share of the computed tokens was padding.
class PaddingMeter {
 public:
  void add(std::span<const std::int64_t> lengths, std::span<const std::int64_t> rows) {
    all_ += static_cast<double>(longest(lengths, rows) * std::ssize(rows));
    for (const std::int64_t row : rows)
      text_ += static_cast<double>(lengths[static_cast<std::size_t>(row)]);
  }
  double share() const { return all_ == 0 ? 0 : 1 - text_ / all_; }

 private:
  double all_ = 0, text_ = 0;
};

}  // namespace

std::int64_t total_steps(const TrainingOptions& options, std::int64_t examples) {
  if (options.max_steps > 0) return options.max_steps;
  const double steps =
      options.epochs * static_cast<double>(steps_per_epoch(examples, options.batch_size));
  return static_cast<std::int64_t>(std::ceil(steps));
}

std::int64_t warmup_steps(const TrainingOptions& options, std::int64_t steps) {
  if (options.warmup_steps > 0) return options.warmup_steps;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(steps) * options.warmup_ratio));
}

TrainingResult train(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
                     const TrainingOptions& options, const Session& session,
                     const TrainingCallbacks& callbacks, const TrainingState& from) {
  check(options);
  user_check(data.size() > 0, "there is nothing to train on: the training split is empty");
  Graph step_graph = graph;
  if (!options.class_weights.empty())
    HONE_ASSERT(run_as_pass(step_graph, session, "weigh_classes",
                            [&] { return weigh_classes(step_graph); }),
                "class weights, and a loss that is no cross entropy");
  add_training_step(step_graph, options.optimizer);
  add_optimizer_state(step_graph, parameters);
  parameters = parameters.on(session.device);
  const std::unique_ptr<Executable> executable = session.executable(step_graph);

  const auto start = std::chrono::steady_clock::now();
  const std::int64_t steps = total_steps(options, data.size()),
                     warmup = warmup_steps(options, steps);
  BatchOrder order(data, options);
  PaddingMeter padding;
  TrainingState state = from;
  TrainingEnd end = TrainingEnd::finished;
  const auto seconds = [&, before = from.seconds] {
    return before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto record_at = [&](double loss, double grad_norm, double rate) {
    return StepRecord{
        state.step, static_cast<double>(state.step) / static_cast<double>(order.per_epoch()),
        loss,       grad_norm,
        rate,       padding.share()};
  };
  // Whether to go on.
  const auto evaluate = [&](const StepRecord& record) {
    state.evaluated_step = state.step;
    return !callbacks.on_evaluate || callbacks.on_evaluate(record, parameters);
  };
  // An interruption may have come between a checkpoint and the evaluation that was due with it.
  if (state.step > 0 && due(options, state.step, steps, order.per_epoch()).evaluation &&
      state.evaluated_step < state.step && !evaluate(record_at(0, 0, 0)))
    end = TrainingEnd::early;

  while (end == TrainingEnd::finished && state.step < steps) {
    const std::span<const std::int64_t> rows = order.rows(state.step);
    padding.add(data.lengths, rows);
    const double rate = linear_schedule(options.optimizer.learning_rate, state.step, steps, warmup);
    const NamedTensors outputs =
        executable->run(step_inputs(data.batch(rows, 0), options, state.step, rate), parameters);

    ++state.step;
    const StepRecord record =
        record_at(scalar(outputs, "loss"), scalar(outputs, "grad_norm"), rate);
    if (!std::isfinite(record.loss) || !std::isfinite(record.grad_norm))
      throw Diverged(state.step, std::isfinite(record.loss) ? state.step : state.step - 1,
                     fmt::format("loss {}, gradient norm {}", std::abs(record.loss),
                                 std::abs(record.grad_norm)));  // no "-nan"
    state.loss.add(record.loss);
    state.loss_since_log.add(record.loss);
    state.examples += static_cast<std::int64_t>(rows.size());
    if (callbacks.on_step) callbacks.on_step(record);
    const Due now = due(options, state.step, steps, order.per_epoch());
    if (now.log) {
      StepRecord mean = record;
      mean.loss = state.loss_since_log.mean();
      state.loss_since_log = {};
      if (callbacks.on_log) callbacks.on_log(mean);
    }
    const bool stop = callbacks.stop_requested && callbacks.stop_requested();
    state.seconds = seconds();
    // The loss is that of the weights before the step: what the step made of them is seen before anybody keeps them.
    if (now.checkpoint || stop) check_finite(parameters, state.step);
    if (callbacks.on_checkpoint && (now.checkpoint || stop))
      callbacks.on_checkpoint(state, parameters);
    if (stop) {
      end = TrainingEnd::interrupted;
    } else if (now.evaluation && !evaluate(record)) {
      end = TrainingEnd::early;
    }
  }
  remove_optimizer_state(parameters);
  return {end, state.step, state.examples, seconds(), state.loss.mean()};
}

}  // namespace hone
