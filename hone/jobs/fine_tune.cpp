#include "hone/jobs/fine_tune.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/score_activation.h"
#include "hone/ir/quoted.h"
#include "hone/jobs/job_options.h"
#include "hone/metrics/metric.h"
#include "hone/models/layer_rates.h"
#include "hone/report/text_layout.h"
#include "hone/study/comparison_table.h"
#include "hone/train/class_weights.h"
#include "hone/train/memory_check.h"
#include "hone/train/remove_padding.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// Accepts the metrics of any task; whether it is one of the model's is checked when it is looked up.
std::string problem_of_metric(const std::string& text) {
  const std::vector<std::string> known = metric_names();
  const std::string plain = text.starts_with("eval_") ? text.substr(5) : text;
  if (std::ranges::find(known, plain) != known.end()) return "";
  return fmt::format("expected {}, got '{}'{}", fmt::join(known, ", "), text,
                     did_you_mean(plain, known));
}

EvaluationLine line_of(const Measurement& measured, const std::vector<std::string>& labels,
                       const StepRecord& record) {
  EvaluationLine line{evaluation_result(measured, labels), record.epoch, record.step};
  line.evaluation.classes.reset();
  line.evaluation.confusion.reset();
  line.evaluation.labels.reset();
  line.evaluation.outputs.reset();
  return line;
}

std::string figure_text(const Metric& metric, double value) {
  constexpr std::string_view kInTheirUnit[] = {"loss", "mse", "rmse", "mae"};
  if (std::ranges::find(kInTheirUnit, metric.name) != std::end(kInTheirUnit))
    return fmt::format("{:.4f}", value);
  return metric.name.starts_with("auc") || metric.name == "pearson" || metric.name == "spearman"
             ? fmt::format("{:.3f}", value)
             : share_text(value);
}

const Metric& metric_of(Task task, const FineTuneOptions& options) {
  if (options.metric_for_best_model.empty()) return metrics(task).front();
  return with_context("`metric_for_best_model`", [&]() -> const Metric& {
    return find_metric(task, options.metric_for_best_model);
  });
}

// Names the loss terms that evaluations leave out: "distillation and label smoothing".
std::string added_loss(const TrainingOptions& options) {
  std::vector<std::string_view> terms;
  if (options.distillation) terms.emplace_back("distillation");
  if (options.label_smoothing_factor != 0) terms.emplace_back("label smoothing");
  if (!options.class_weights.empty()) terms.emplace_back("class weights");
  return fmt::format("{}", fmt::join(terms, " and "));
}

/// One training run, with the state that its callbacks share.
class Run {
 public:
  Run(Model& model, const EncodedSplits& data, const FineTuneOptions& options, TrainingLog& log,
      Context& context)
      : model_(model),
        data_(data),
        options_(options),
        metric_(metric_of(model.facts.task(), options)),
        log_(log),
        context_(context) {}

  FineTuneResult run() {
    log_.set_added_loss(added_loss(options_.training));
    Graph graph = model_.graph;
    if (!options_.freeze.empty())
      run_passes(graph, model_.parameters, context_.session(),
                 {fmt::format("freeze(names={})",
                              hone::quoted(fmt::format("{}", fmt::join(options_.freeze, ","))))});
    check_step_memory(graph);
    if (options_.checkpoints.resume) resume();
    FineTuneResult result;
    if (checkpoint_.selection.ended) {
      result.training = {TrainingEnd::early, checkpoint_.state.step, checkpoint_.state.examples,
                         checkpoint_.state.seconds, checkpoint_.state.loss.mean()};
      remove_optimizer_state(model_.parameters);
    } else {
      result.training = train(graph);
    }
    if (result.training.end == TrainingEnd::interrupted) interrupted();
    newest_checkpoint_is_good();
    result.selection = checkpoint_.selection;
    result.class_weights = options_.training.class_weights;
    result.weights_of_step = result.training.steps;
    if (options_.selects_checkpoint() && result.selection.best_step != result.training.steps) {
      model_.parameters = best_;
      result.weights_of_step = result.selection.best_step;
    }
    result.better = better_than(result.weights_of_step);
    for (Evaluated* one : {&last_evaluated_, &best_evaluated_})
      if (one->step == result.weights_of_step) result.validation = std::move(one->measurement);
    return result;
  }

 private:
  bool saves() const { return !options_.checkpoints.folder.empty(); }

  // Empty also if the weights of this step are equally good, or were not evaluated.
  std::optional<BetterEvaluation> better_than(std::int64_t step) const {
    const Selection& selection = checkpoint_.selection;
    if (selection.best_step == 0 || selection.best_step == step || last_evaluated_.step != step)
      return std::nullopt;
    const double own = metric_.value(last_evaluated_.measurement.evaluation);
    if (!is_better(metric_, selection.best_value, own)) return std::nullopt;
    std::vector<std::int64_t> stored;
    if (saves()) stored = checkpoint_steps(options_.checkpoints.folder);
    const bool is_stored = std::ranges::find(stored, selection.best_step) != stored.end();
    return BetterEvaluation{
        selection.best_step,
        fmt::format("{} {}", metric_.name, figure_text(metric_, selection.best_value)), is_stored};
  }

  void check_step_memory(const Graph& graph) {
    const TrainingOptions& training = options_.training;
    Graph step = graph;
    const std::int64_t token_step = context_.session().token_steps.batch;
    prepare_for_gradients(step, context_.session(), token_step);
    double other_bytes = 0;
    if (training.gradient_accumulation_steps > 1) {
      add_gradient_sums(step, training.optimizer);
      other_bytes = extra_bytes(step, update_of_sums(step, training.optimizer));
    } else {
      add_training_step(step, training.optimizer, context_.session());
    }
    const std::int64_t texts = std::min(training.batch_size, data_.train.size()),
                       tokens = longest_text(data_.train);
    const std::int64_t all =
        whole_steps(largest_batch_tokens(lengths_of(data_.train), texts), token_step);
    check_memory(step, {{'B', texts}, {'S', tokens}, {'T', all}}, context_.session(),
                 model_.parameters,
                 fmt::format("a training step of {} texts of up to {} tokens", texts, tokens),
                 std::nullopt, other_bytes);
  }

  void resume() {
    const std::optional<TrainingCheckpoint> found =
        load_training(options_.checkpoints, model_.parameters);
    if (!found) return;
    checkpoint_ = *found;
    newest_is_proven_ = false;
    log_.resume(checkpoint_.log_lines, checkpoint_.steps);
    if (!options_.selects_checkpoint() || checkpoint_.selection.best_step == 0) return;
    best_ = model_.parameters;
    remove_optimizer_state(best_);
    load_weights(options_.checkpoints, checkpoint_.selection.best_step, best_);
  }

  TrainingResult train(const Graph& graph) {
    Progress progress(
        options_.title, total_steps(options_.training, data_.train.size()),
        {.unit = "steps", .first = checkpoint_.state.step, .output = context_.progress});
    progress_ = &progress;
    TrainingCallbacks callbacks;
    callbacks.before_step = options_.before_step;
    callbacks.on_step = [&](const StepRecord& record) {
      if (!newest_is_proven_) newest_checkpoint_is_good();  // its weights gave a loss
      log_.add_step(record);
      progress.update(record.step, fmt::format("loss {:.4f}", record.loss),
                      record.padding_share > 0
                          ? fmt::format("padding {:.0f}%", 100 * record.padding_share)
                          : "");
    };
    callbacks.on_log = [&](const StepRecord& record) {
      log_.write(to_json(StepLine{record.loss, record.grad_norm, record.learning_rate, record.epoch,
                                  record.step}));
    };
    callbacks.on_evaluate = [&](const StepRecord& record, const ParameterStore& parameters) {
      return evaluate(record, parameters);
    };
    if (saves())
      callbacks.on_checkpoint = [&](const TrainingState& state, const ParameterStore& parameters) {
        checkpoint_.state = state;
        checkpoint_.log_lines = log_.lines().size();
        checkpoint_.steps = log_.steps();
        save_training(options_.checkpoints, model_, parameters, checkpoint_);
        newest_is_proven_ = false;
      };
    callbacks.stop_requested = [] { return interrupt_signal() != 0; };
    try {
      return hone::train(graph, model_.parameters, examples(), options_.training,
                         context_.session(), callbacks, checkpoint_.state);
    } catch (const Diverged& diverged) {
      give_up(diverged);
    } catch (const UserError& error) {
      const std::vector<std::int64_t> steps = checkpoint_steps(options_.checkpoints.folder);
      if (!saves() || steps.empty()) throw;
      fail("{}; the last checkpoint is {}", error.what(),
           checkpoint_folder(options_.checkpoints, steps.back()).string());
    }
  }

  ExampleSource examples() const {
    ExampleSource texts = text_examples(data_.train);
    return options_.training.distillation
               ? with_column(std::move(texts), kTeacherLogits, options_.teacher_logits)
               : texts;
  }

  // Called after a computation with the newest checkpoint's weights succeeded, or if nothing is left to compute.
  void newest_checkpoint_is_good() {
    if (!saves()) return;
    remove_old_checkpoints(options_.checkpoints, checkpoint_.selection.best_step);
    newest_is_proven_ = true;
  }

  [[noreturn]] void give_up(const Diverged& diverged) const {
    std::string why = fmt::format("{}: {}; {}", options_.title, diverged.what(),
                                  diverged.unusable_step() == 0
                                      ? "the initial weights give values that are not finite"
                                      : fmt::format("try a lower `learning_rate` than {}",
                                                    options_.training.optimizer.learning_rate));
    if (!saves()) fail("{}", why);
    remove_checkpoint(options_.checkpoints, diverged.unusable_step());
    const std::vector<std::int64_t> steps = checkpoint_steps(options_.checkpoints.folder);
    if (!steps.empty())
      why += fmt::format(
          "\nThe last checkpoint, of step {}, is {}: a model that you can train further in another "
          "folder",
          steps.back(), checkpoint_folder(options_.checkpoints, steps.back()).string());
    if (options_.checkpoints.on_diverged) options_.checkpoints.on_diverged(why);
    fail("{}", why);
  }

  // Returns whether to go on.
  bool evaluate(const StepRecord& record, const ParameterStore& parameters) {
    if (data_.validation.size() == 0) return true;
    Model now = model_;
    now.parameters = parameters;
    Measurement measured = validate(now);
    check_evaluation(measured.evaluation, record.step);
    log_.write(to_json(line_of(measured, model_.facts.labels, record)));
    choose(measured.evaluation, record.step, parameters);
    progress_->print_above(evaluation_text(measured.evaluation, record));
    if (checkpoint_.selection.best_step == record.step) best_evaluated_ = {record.step, measured};
    last_evaluated_ = {record.step, std::move(measured)};
    if (saves()) {
      checkpoint_.state.evaluated_step = record.step;
      checkpoint_.log_lines = log_.lines().size();
      update_training(options_.checkpoints, checkpoint_);
      newest_checkpoint_is_good();
    }
    const bool wanted = !options_.on_evaluation ||
                        options_.on_evaluation(record.step, last_evaluated_.measurement.evaluation);
    return wanted && !checkpoint_.selection.ended;
  }

  // Finite weights can still give results that are not numbers.
  static void check_evaluation(const TaskEvaluation& evaluation, std::int64_t step) {
    if (!std::isfinite(evaluation.loss))
      throw Diverged(step, step, "the loss on the validation split is not finite");
  }

  Measurement validate(const Model& model) {
    try {
      return measure(model, data_.validation, options_.eval_batch_size, context_, "validate",
                     ProgressEnd::vanishes);
    } catch (const Interrupted&) {
      interrupted();  // resuming from this step's checkpoint evaluates it
    }
  }

  // "train  step 50  epoch 0.16  validation loss 0.5123  accuracy 81.2% (78.9 to 83.4)  best so far". If that is too
  // long for a terminal, uses abbreviations and then several lines, so that nothing is left out.
  std::string evaluation_text(const TaskEvaluation& e, const StepRecord& record) const {
    const auto columns = static_cast<std::size_t>(context_.progress.line_columns());
    std::string whole = stacked(evaluation_parts(e, record, "validation loss", e.metric.text), 0);
    if (columns == 0 || display_width(whole) <= columns) return whole;
    return stacked(
        evaluation_parts(e, record, "val loss", e.metric == kAccuracy ? "acc" : e.metric.text),
        columns);
  }

  std::vector<std::string> evaluation_parts(const TaskEvaluation& e, const StepRecord& record,
                                            const char* loss, const std::string& figure) const {
    const Selection& selection = checkpoint_.selection;
    std::vector<std::string> parts = {options_.title, fmt::format("step {}", grouped(record.step)),
                                      fmt::format("epoch {:.2f}", record.epoch),
                                      fmt::format("{} {:.4f}", loss, e.loss),
                                      fmt::format("{} {}", figure, display_text(metric_cell(e)))};
    if (metric_.name != "loss" && metric_.name != e.metric.key)
      parts.push_back(fmt::format("{} {}", metric_.name, figure_text(metric_, metric_.value(e))));
    parts.push_back(selection.best_step == 0 ? "not at full sparsity yet"
                    : selection.best_step == record.step
                        ? "best so far"
                        : fmt::format("best {} at step {}",
                                      figure_text(metric_, selection.best_value),
                                      grouped(selection.best_step)));
    const Evaluation* classes = e.classes();
    if (const auto only = classes ? only_predicted_class(*classes) : std::nullopt)
      parts.push_back(fmt::format(
          "predicts '{}' only", shown_name(model_.facts.labels[static_cast<std::size_t>(*only)])));
    return parts;
  }

  void choose(const TaskEvaluation& evaluation, std::int64_t step,
              const ParameterStore& parameters) {
    if (step < options_.select_from_step) return;
    Selection& selection = checkpoint_.selection;
    const double value = metric_.value(evaluation);
    const bool better = selection.best_step == 0 || is_better(metric_, value, selection.best_value);
    if (better) {
      selection.best_step = step;
      selection.best_value = value;
      selection.without_improvement = 0;
      if (!options_.selects_checkpoint()) return;
      best_ = parameters;
      remove_optimizer_state(best_);
      return;
    }
    ++selection.without_improvement;
    selection.ended = options_.early_stopping_patience > 0 &&
                      selection.without_improvement >= options_.early_stopping_patience;
  }

  [[noreturn]] void interrupted() const {
    if (!saves()) throw Interrupted(fmt::format("{}: interrupted", options_.title));
    const std::int64_t step = checkpoint_.state.step;
    throw Interrupted(fmt::format("{}: interrupted after step {}; saved in {}", options_.title,
                                  step, checkpoint_folder(options_.checkpoints, step).string()));
  }

  Model& model_;
  const EncodedSplits& data_;
  const FineTuneOptions& options_;
  const Metric& metric_;
  TrainingLog& log_;
  Context& context_;
  TrainingCheckpoint checkpoint_;
  bool newest_is_proven_ = true;
  ParameterStore best_;
  Progress* progress_ = nullptr;  // only during training

  /// A measurement at a step of this run.
  struct Evaluated {
    std::int64_t step = -1;
    Measurement measurement;
  };
  Evaluated last_evaluated_, best_evaluated_;
};

}  // namespace

const Fields& fields_of(const StepLine*) {
  using L = StepLine;
  static const Fields fields = describe<L>(
      "training_step", "A logging step of a training.",
      field<&L::loss>("loss", Unit::nats, "Mean since the previous line; null: not finite.")
          .or_null(),
      field<&L::grad_norm>(
          "grad_norm", "Norm of all gradients of the last step before clipping; null: not finite.")
          .or_null(),
      field<&L::learning_rate>("learning_rate", "Of the last step."),
      field<&L::epoch>("epoch", "Epochs so far."),
      field<&L::step>("step", Unit::steps, "Steps so far."));
  return fields;
}

const Fields& fields_of(const EvaluationLine*) {
  using L = EvaluationLine;
  static const Fields fields =
      describe<L>("training_evaluation",
                  "An evaluation during a training, without metrics of single classes, labels or "
                  "numbers.",
                  inlined<&L::evaluation>(), field<&L::epoch>("epoch", "Epochs so far."),
                  field<&L::step>("step", Unit::steps, "Steps so far."));
  return fields;
}

FineTuneResult fine_tune(Model& model, const EncodedSplits& data, const FineTuneOptions& options,
                         TrainingLog& log, Context& context) {
  use_raw_scores(model.facts);  // the loss is computed from these
  const Task task = model.facts.task();
  HONE_ASSERT(data.train.task == task, "texts of {} for a model of {}", to_string(data.train.task),
              to_string(task));
  if (task == Task::single_label) check_labels(data.train.labels, model.facts.class_count());
  user_check(!options.selects_checkpoint() || data.validation.size() > 0,
             "`load_best_model_at_end` and `early_stopping_patience` need a validation split, and "
             "there is none; set `validation_split` above 0");
  const Metric& metric = metric_of(task, options);
  user_check(!metric.of_two_classes || model.facts.class_count() == 2,
             "`metric_for_best_model`: {} is defined for two classes, and the model has {}; use "
             "accuracy, loss, f1_macro or f1_weighted",
             options.metric_for_best_model, model.facts.class_count());
  user_check(
      options.class_weights.empty() || task == Task::single_label,
      "`class_weights` supports single_label_classification only, and the task is {}; leave it out",
      to_string(task));
  user_check(options.training.label_smoothing_factor == 0 || task == Task::single_label,
             "`label_smoothing_factor` supports single_label_classification only, and the task is "
             "{}; leave it out",
             to_string(task));
  FineTuneOptions whole = options;
  whole.training.class_weights =
      class_weights(options.class_weights, data.train.labels, model.facts.labels);
  whole.training.optimizer.rate_factors = layer_rates(model, options.layerwise_lr_decay);
  return Run(model, data, whole, log, context).run();
}

Options options_of(const FineTuneOptions*) {
  return {
      Heading::training,
      {option<&FineTuneOptions::training, &TrainingOptions::epochs>("num_train_epochs,epochs",
                                                                    "passes over the training data")
           .from(0, kMaxEpochs),
       option<&FineTuneOptions::training, &TrainingOptions::max_steps>(
           "max_steps", "optimizer steps, instead of epochs (0: use epochs)")
           .from(0)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::batch_size>(
           "per_device_train_batch_size,batch_size", "examples per training batch")
           .from(1),
       option<&FineTuneOptions::eval_batch_size>("per_device_eval_batch_size",
                                                 "examples per evaluation batch")
           .from(1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::gradient_accumulation_steps>(
           "gradient_accumulation_steps", "batches per optimizer step")
           .from(1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer,
              &AdamWOptions::learning_rate>("learning_rate,lr", "peak learning rate")
           .from(0),
       option<&FineTuneOptions::training, &TrainingOptions::lr_scheduler_type>(
           "lr_scheduler_type", "how the learning rate changes over the run")
           .one_of(schedule_names())
           .shown("SCHEDULE")
           .rare(),
       option<&FineTuneOptions::layerwise_lr_decay>(
           "layerwise_lr_decay", "learning-rate factor from each layer to the one below it")
           .above_zero(1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::warmup_steps>(
           "warmup_steps", "steps over which the learning rate rises")
           .from(0)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::warmup_ratio>(
           "warmup_ratio", "the same as a fraction of all steps; --warmup_steps overrides it")
           .from(0, 1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer, &AdamWOptions::weight_decay>(
           "weight_decay", "AdamW weight decay (not for biases and layer norms)")
           .from(0)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer, &AdamWOptions::beta1>(
           "adam_beta1", "AdamW beta 1")
           .from(0, 1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer, &AdamWOptions::beta2>(
           "adam_beta2", "AdamW beta 2")
           .from(0, 1)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer, &AdamWOptions::epsilon>(
           "adam_epsilon", "AdamW epsilon")
           .from(0)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::optimizer,
              &AdamWOptions::max_grad_norm>("max_grad_norm",
                                            "clip gradients to this norm (0: never)")
           .from(0)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::logging_steps>(
           "logging_steps", "steps between log lines")
           .from(1)
           .under(Heading::output)
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::eval_steps>(
           "eval_steps", "steps between evaluations (0: after every epoch)")
           .from(0)
           .rare(),
       option<&FineTuneOptions::load_best_model_at_end>(
           "load_best_model_at_end", "keep the weights of the best evaluation, not the last"),
       option<&FineTuneOptions::metric_for_best_model>(
           "metric_for_best_model",
           "metric that selects the best evaluation; by default the task's")
           .takes(kMetricValue)
           .checked(problem_of_metric)
           .rare(),
       option<&FineTuneOptions::early_stopping_patience>(
           "early_stopping_patience",
           "stop after this many evaluations without improvement (0: never)")
           .from(0)
           .rare(),
       option<&FineTuneOptions::class_weights>(
           "class_weights", "loss weight of each class: balanced, or one number per class")
           .takes({.shown = "balanced|LIST",
                   .choices = [] { return std::vector<std::string>{"balanced"}; }})
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::label_smoothing_factor>(
           "label_smoothing_factor", "label smoothing of the training loss")
           .from(0, 1)
           .rare(),
       freeze_option<&FineTuneOptions::freeze>(),
       option<&FineTuneOptions::training, &TrainingOptions::group_by_length>(
           "group_by_length", "batch examples of similar length: less padding, faster")
           .rare(),
       option<&FineTuneOptions::training, &TrainingOptions::shuffle>(
           "no_shuffle", "train in the order of the data")
           .inverted()
           .rare()}};
}

}  // namespace hone
