#include "hone/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "hone/base/random.h"
#include "hone/base/usage_check.h"
#include "hone/data/row_order.h"
#include "hone/passes/smooth_labels.h"
#include "hone/passes/weigh_classes.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/remove_padding.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

std::int64_t batches_in_epoch(std::int64_t examples, std::int64_t batch_size) {
  return (examples + batch_size - 1) / batch_size;
}

std::int64_t steps_in_epoch(const TrainingOptions& options, std::int64_t examples) {
  return batches_in_epoch(batches_in_epoch(examples, options.batch_size),
                          options.gradient_accumulation_steps);
}

double scalar(const NamedTensors& outputs, const std::string& name) {
  return static_cast<double>(*outputs.at(name).on(cpu()).data<float>());
}

// Returns the random key of a batch, which determines its dropout.
std::int64_t random_key(std::uint64_t seed, std::int64_t batch) {
  const RandomStream keys{seed, stream_of("dropout keys")};
  const auto words = keys.block(static_cast<std::uint64_t>(batch));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(words[0]) << 32 | words[1]);
}

// Returns the inputs of batch `batch` of the run, from 0, besides the parameters.
NamedTensors batch_inputs(NamedTensors inputs, const TrainingOptions& options, std::int64_t batch) {
  const std::vector<float>& weights = options.class_weights;
  if (!weights.empty())
    inputs["class_weights"] =
        Tensor::of<float>({static_cast<std::int64_t>(weights.size())}, weights);
  inputs["random_key"] = Tensor::scalar(random_key(options.seed, batch));
  return inputs;
}

// Returns the inputs of the update of step `step`, from 0.
NamedTensors update_inputs(std::int64_t step, double rate) {
  return {{"learning_rate", Tensor::scalar(static_cast<float>(rate))},
          {"step", Tensor::scalar(step + 1)}};
}

// Returns the weight of a batch's mean loss relative to other batches: the number or weight of its labeled examples.
double weight_of(const NamedTensors& inputs, std::size_t rows, const std::vector<float>& weights) {
  const auto labels = inputs.find("labels");
  if (labels == inputs.end() || labels->second.dtype() != DType::i64)
    return static_cast<double>(rows);
  double weight = 0;
  for (const std::int64_t label : dense_on(labels->second, cpu()).values<std::int64_t>()) {
    const auto known = static_cast<std::uint64_t>(label) < weights.size();
    if (known) weight += static_cast<double>(weights[static_cast<std::size_t>(label)]);
    if (weights.empty() && label >= 0) weight += 1;
  }
  return weight;
}

void check(const TrainingOptions& options) {
  user_check(options.epochs >= 0 && options.epochs < kMaxEpochs,
             "epochs: expected a number from 0 on and below {:.0e}, got {}", kMaxEpochs,
             options.epochs);
  user_check(options.batch_size >= 1, "batch_size: expected at least 1, got {}",
             options.batch_size);
  user_check(options.logging_steps >= 1, "logging_steps: expected at least 1, got {}",
             options.logging_steps);
  user_check(options.gradient_accumulation_steps >= 1,
             "gradient_accumulation_steps: expected at least 1, got {}",
             options.gradient_accumulation_steps);
  const Schedule& schedule = find_schedule(options.lr_scheduler_type);
  usage_check(schedule.warms_up || (options.warmup_steps <= 0 && options.warmup_ratio == 0),
              "`lr_scheduler_type` {} has no warm-up; omit `warmup_steps` and "
              "`warmup_ratio`, or use {}_with_warmup",
              schedule.name, schedule.name);
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
        per_epoch_(batches_in_epoch(data.size(), options.batch_size)),
        steps_per_epoch_(steps_in_epoch(options, data.size())) {}

  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

  /// Returns the number of batches of all steps before step `step`, from 0.
  std::int64_t batches_before(std::int64_t step) const {
    const std::int64_t in_epoch = step % steps_per_epoch_ * options_.gradient_accumulation_steps;
    return step / steps_per_epoch_ * per_epoch_ + in_epoch;
  }

  /// Returns the number of epochs after `steps` steps.
  double epochs(std::int64_t steps) const {
    return static_cast<double>(batches_before(steps)) / static_cast<double>(per_epoch_);
  }

  /// Returns the examples of each batch of step `step`. The spans are valid until the next call.
  std::span<const std::span<const std::int64_t>> batches(std::int64_t step) {
    const std::int64_t epoch = step / steps_per_epoch_;
    if (epoch != epoch_) {
      order_ = epoch_order(data_.size(), options_.seed, epoch, options_.shuffle);
      if (options_.group_by_length)
        group_by_length(data_.lengths, options_.batch_size, options_.seed, epoch, order_);
      batches_ = hone::batches(order_, options_.batch_size);
      epoch_ = epoch;
    }
    const std::span<const std::span<const std::int64_t>> all(batches_);
    const auto first = static_cast<std::size_t>(batches_before(step) - epoch * per_epoch_),
               most = static_cast<std::size_t>(options_.gradient_accumulation_steps);
    return all.subspan(first, std::min(most, all.size() - first));
  }

 private:
  const ExampleSource& data_;
  const TrainingOptions& options_;
  std::int64_t per_epoch_, steps_per_epoch_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
  std::vector<std::span<const std::int64_t>> batches_;
};

/// Runs steps: with one graph for a whole step, or with one for each of its batches and another for the update.
class StepRunner {
 public:
  struct StepResult {
    double loss, grad_norm;
    std::int64_t examples;
  };

  StepRunner(Graph graph, ParameterStore& parameters, const ExampleSource& data,
             const TrainingOptions& options, const Session& session)
      : parameters_(parameters),
        data_(data),
        options_(options),
        batch_graph_(std::move(graph)),
        update_graph_(batch_graph_.ops()) {
    layout_ = prepare_for_gradients(batch_graph_, session, session.token_steps.batch);
    if (sums()) {
      add_gradient_sums(batch_graph_, options.optimizer);
      update_graph_ = update_of_sums(batch_graph_, options.optimizer);
    } else {
      add_training_step(batch_graph_, options.optimizer, session);
    }
    for (const Graph* needs : {&batch_graph_, &update_graph_})
      add_optimizer_state(*needs, parameters);
    parameters = parameters.on(session.device);
    batch_ = session.executable(batch_graph_);
    if (sums()) update_ = session.executable(update_graph_);
  }

  bool is_unpadded() const { return layout_.has_value(); }

  /// Runs step `step` of `steps`, from 0.
  StepResult step(BatchOrder& order, std::int64_t step, std::int64_t steps, double rate) {
    const auto batches = order.batches(step);
    const std::int64_t number = order.batches_before(step);
    if (next_.empty()) next_ = inputs_of(batches[0], number);
    const auto prepare_next_step = [&] {
      if (step + 1 < steps)
        next_ = inputs_of(order.batches(step + 1)[0], order.batches_before(step + 1));
    };
    return sums() ? summed(batches, number, step, rate, prepare_next_step)
                  : whole(std::ssize(batches[0]), step, rate, prepare_next_step);
  }

 private:
  bool sums() const { return options_.gradient_accumulation_steps > 1; }

  NamedTensors inputs_of(std::span<const std::int64_t> rows, std::int64_t number) const {
    NamedTensors batch = data_.batch(rows, 0);
    if (layout_) batch = without_padding(std::move(batch), *layout_);
    return batch_inputs(std::move(batch), options_, number);
  }

  // `run` returns while a GPU still computes, and reading the loss waits for it: in between, the host prepares the
  // next batch.
  StepResult whole(std::int64_t examples, std::int64_t step, double rate,
                   const std::function<void()>& prepare_next_step) {
    next_.merge(update_inputs(step, rate));
    const NamedTensors outputs = batch_->run(std::exchange(next_, {}), parameters_);
    prepare_next_step();
    return {scalar(outputs, "loss"), scalar(outputs, "grad_norm"), examples};
  }

  StepResult summed(std::span<const std::span<const std::int64_t>> batches, std::int64_t number,
                    std::int64_t step, double rate,
                    const std::function<void()>& prepare_next_step) {
    // Batches are read twice, because holding all of them would take memory in proportion to their number.
    std::vector<double> weights;
    for (const auto rows : batches)
      weights.push_back(weight_of(data_.batch(rows, 0), rows.size(), options_.class_weights));
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    StepResult done{0, 0, 0};
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const double share = weights[i] / all;
      done.examples += std::ssize(batches[i]);
      next_["share"] = Tensor::scalar(static_cast<float>(share));
      next_["first"] = Tensor::scalar<std::int64_t>(i == 0 ? 1 : 0);
      const NamedTensors outputs = batch_->run(std::exchange(next_, {}), parameters_);
      if (i + 1 < batches.size())
        next_ = inputs_of(batches[i + 1], number + static_cast<std::int64_t>(i) + 1);
      else
        prepare_next_step();
      done.loss += share * scalar(outputs, "loss");
    }
    done.grad_norm = scalar(update_->run(update_inputs(step, rate), parameters_), "grad_norm");
    return done;
  }

  ParameterStore& parameters_;
  const ExampleSource& data_;
  const TrainingOptions& options_;
  Graph batch_graph_, update_graph_;  // referenced by the executables
  std::optional<TextLayout> layout_;  // none: texts are padded
  std::unique_ptr<Executable> batch_, update_;
  NamedTensors next_;  // inputs of the next batch; none before the first step
};

// Adds the terms of the training to the model's loss.
void change_loss(Graph& graph, const TrainingOptions& options, const Session& session) {
  if (options.label_smoothing_factor != 0)
    run_as_pass(graph, session, "smooth_labels",
                [&] { return smooth_labels(graph, options.label_smoothing_factor); });
  if (options.distillation)
    run_as_pass(graph, session, "distill", [&] { return distill(graph, *options.distillation); });
  if (!options.class_weights.empty())
    HONE_ASSERT(run_as_pass(graph, session, "weigh_classes", [&] { return weigh_classes(graph); }),
                "class weights, but the loss is not a cross entropy");
}

ParameterStore without_sums(ParameterStore parameters) {
  remove_gradient_sums(parameters);
  return parameters;
}

/// Actions that are due after `step` steps.
struct DueActions {
  bool log, evaluation, checkpoint;
};

DueActions due(const TrainingOptions& options, std::int64_t step, std::int64_t steps,
               std::int64_t per_epoch) {
  const auto every = [&](std::int64_t period) { return step == steps || step % period == 0; };
  const bool evaluation = every(options.eval_steps > 0 ? options.eval_steps : per_epoch);
  return {every(options.logging_steps), evaluation,
          evaluation || every(per_epoch) || (options.save_steps > 0 && every(options.save_steps))};
}

/// Measures the share of padding among computed tokens.
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
  const double steps = options.epochs * static_cast<double>(steps_in_epoch(options, examples));
  return static_cast<std::int64_t>(std::ceil(steps));
}

std::vector<std::int64_t> rows_read_by(const TrainingOptions& options, const ExampleSource& data) {
  check(options);
  BatchOrder order(data, options);
  const std::int64_t steps = std::min(total_steps(options, data.size()), order.steps_per_epoch());
  std::vector<std::int64_t> rows;
  for (std::int64_t step = 0; step < steps; ++step)
    for (const auto batch : order.batches(step))
      rows.insert(rows.end(), batch.begin(), batch.end());
  std::ranges::sort(rows);
  return rows;
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
  Graph changed = graph;
  change_loss(changed, options, session);
  StepRunner stepper(std::move(changed), parameters, data, options, session);
  const Schedule& schedule = find_schedule(options.lr_scheduler_type);

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
    return StepRecord{state.step, order.epochs(state.step), loss, grad_norm, rate, padding.share()};
  };
  // Returns whether to continue.
  const auto evaluate = [&](const StepRecord& record) {
    state.evaluated_step = state.step;
    return !callbacks.on_evaluate || callbacks.on_evaluate(record, parameters);
  };
  // The run may have been interrupted between a checkpoint and the evaluation due with it.
  if (state.step > 0 && due(options, state.step, steps, order.steps_per_epoch()).evaluation &&
      state.evaluated_step < state.step && !evaluate(record_at(0, 0, 0)))
    end = TrainingEnd::early;

  while (end == TrainingEnd::finished && state.step < steps) {
    if (callbacks.before_step) callbacks.before_step(state.step, parameters);
    if (!stepper.is_unpadded())
      for (const auto rows : order.batches(state.step)) padding.add(data.lengths, rows);
    const double rate = schedule.rate(options.optimizer.learning_rate, state.step, steps, warmup);
    const StepRunner::StepResult done = stepper.step(order, state.step, steps, rate);

    ++state.step;
    const StepRecord record = record_at(done.loss, done.grad_norm, rate);
    if (!std::isfinite(record.loss) || !std::isfinite(record.grad_norm))
      throw Diverged(state.step, std::isfinite(record.loss) ? state.step : state.step - 1,
                     fmt::format("loss {}, gradient norm {}", std::abs(record.loss),
                                 std::abs(record.grad_norm)));  // no "-nan"
    state.loss.add(record.loss);
    state.loss_since_log.add(record.loss);
    state.examples += done.examples;
    if (callbacks.on_step) callbacks.on_step(record);
    const DueActions now = due(options, state.step, steps, order.steps_per_epoch());
    if (now.log) {
      StepRecord mean = record;
      mean.loss = state.loss_since_log.mean();
      state.loss_since_log = {};
      if (callbacks.on_log) callbacks.on_log(mean);
    }
    const bool stop = callbacks.stop_requested && callbacks.stop_requested();
    state.seconds = seconds();
    // The loss is that of the weights before the step, so check the new weights before they are saved.
    if (now.checkpoint || stop) check_finite(parameters, state.step);
    if (callbacks.on_checkpoint && (now.checkpoint || stop))
      callbacks.on_checkpoint(state, without_sums(parameters));
    if (stop) {
      end = TrainingEnd::interrupted;
    } else if (now.evaluation && !evaluate(record)) {
      end = TrainingEnd::early;
    }
  }
  remove_optimizer_state(parameters);
  return {end, state.step, state.examples, seconds(), from.seconds, state.loss.mean()};
}

}  // namespace hone
