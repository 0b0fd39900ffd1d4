#include "hone/cli/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "hone/base/cpu.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/base/terminal.h"
#include "hone/base/text.h"
#include "hone/base/thread_pool.h"
#include "hone/cli/remarks.h"
#include "hone/cli/screen.h"
#include "hone/compiler/compiled.h"
#include "hone/compiler/machine_code.h"
#include "hone/cuda/captured.h"
#include "hone/cuda/device.h"
#include "hone/cuda/kernels.h"
#include "hone/formats/range_rule_names.h"
#include "hone/frontends/huggingface/config.h"
#include "hone/metrics/metric.h"
#include "hone/text/text_encoding.h"
#include "hone/train/optimizer.h"

namespace hone {
namespace {

// The number that all of the text spells.
template <typename Number>
std::optional<Number> parse_whole(const std::string& text) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <typename Number>
CLI::Validator number_like(const char* what) {
  const auto check = [what](const std::string& text) -> std::string {
    if (parse_whole<Number>(text)) return "";
    return fmt::format("expected {}, got {}", what, text.empty() ? "nothing" : text);
  };
  return CLI::Validator(check, "");
}

// A name of some task's metric; that it is one of the model's is seen when that is read.
CLI::Validator metric_name() {
  const auto check = [](const std::string& text) -> std::string {
    const std::vector<std::string> known = metric_names();
    const std::string plain = text.starts_with("eval_") ? text.substr(5) : text;
    if (std::ranges::find(known, plain) != known.end()) return "";
    return fmt::format("expected {}, got '{}'{}", fmt::join(known, ", "), text,
                       did_you_mean(plain, known));
  };
  return CLI::Validator(check, "");
}

// 0, or room for the special tokens of a text.
CLI::Validator text_length() {
  const auto check = [](const std::string& text) -> std::string {
    const std::optional<double> value = parse_whole<double>(text);
    if (value && (*value == 0 || *value >= 2)) return "";
    return fmt::format("expected 0, or at least 2 for the special tokens, got {}", text);
  };
  return CLI::Validator(check, "");
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  // Help and completion take the words from the description, see `choices`.
  const std::string description = fmt::format("{}", fmt::join(words, "|"));
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    const std::string others = fmt::format("{}", fmt::join(words.begin(), words.end() - 1, ", "));
    return fmt::format("expected {}{}{}, got '{}'{}", others, others.empty() ? "" : " or ",
                       words.back(), text, did_you_mean(text, words));
  };
  return {check, description};
}

CLI::Validator above_zero(double most) {
  const auto check = [most](const std::string& text) -> std::string {
    const std::optional<double> value = parse_whole<double>(text);
    if (value && *value > 0 && *value <= most) return "";
    const std::string bound = std::isfinite(most) ? fmt::format(" and at most {:g}", most) : "";
    return fmt::format("expected a number above 0{}, got {}", bound, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_to(double least, double most) {
  const auto check = [=](const std::string& text) -> std::string {
    const std::optional<double> value = parse_whole<double>(text);
    if (value && least <= *value && *value <= most) return "";
    return fmt::format("expected a number from {:g} to {:g}, got {}", least, most, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator number_from(double least, double below) {
  const auto check = [=](const std::string& text) -> std::string {
    const std::optional<double> value = parse_whole<double>(text);
    if (value && least <= *value && *value < below) return "";
    const std::string limit = std::isfinite(below) ? fmt::format(" and below {}", below) : "";
    return fmt::format("expected a number of at least {}{}, got {}", least, limit, text);
  };
  return CLI::Validator(check, "");
}

void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    const std::string type = option->get_type_name();
    if (type == "FLOAT") option->check(number_like<double>("a number"));
    if (type == "INT") option->check(number_like<std::int64_t>("a whole number"));
    if (type == "UINT") option->check(number_like<std::uint64_t>("a whole number of at least 0"));
  }
}

namespace {

void declare_threads(CLI::App& app, RunArguments& a) {
  app.add_option("--threads", a.threads, "number of threads")->check(number_from(1, 1025));
}

void declare_shown(CLI::App& app, RunArguments& a) {
  app.add_flag("--json", a.json, "print the result as JSON");
  app.add_flag("--quiet", a.quiet, "do not show progress");
  app.add_option("--color", a.colour, "when to use color")
      ->check(one_of({"auto", "always", "never"}));
}

}  // namespace

void declare_screen(CLI::App& app, RunArguments& a) {
  declare_threads(app, a);
  declare_shown(app, a);
}

void declare(CLI::App& app, RunArguments& a) {
  declare_threads(app, a);
  app.add_option("--seed", a.seed, "random seed (weights, splits, order, dropout)");
  declare_shown(app, a);
  app.add_option("--plugin", a.plugins,
                 "load formats, operations, kernels or passes from a shared library")
      ->allow_extra_args(false);
  declare(app, a.passes);
}

namespace {

const std::vector<std::string>& precisions() {
  static const std::vector<std::string> names = {"fp32", "tf32", "bf16", "fp16"};
  return names;
}

// Of "cuda", the first card, and "cuda:1".
std::optional<int> card_number(const std::string& device) {
  constexpr std::string_view kCards = "cuda:";
  if (device == "cuda") return 0;
  if (!device.starts_with(kCards)) return std::nullopt;
  const std::optional<unsigned> number = parse_whole<unsigned>(device.substr(kCards.size()));
  return number && *number < 1024 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::string check_device(const std::string& text) {
  return text == "cpu" || card_number(text)
             ? ""
             : fmt::format("expected cpu, cuda or cuda:N, got {}", text);
}

void choose_executor(const RunArguments& a, Context& context) {
  if (a.executor == "interpreter") return;
  const std::string missing = compiler::code_generation_missing();
  if (missing.empty()) {
    context.executor = compiler::compiled;
  } else {
    tell_warnings(context, {fmt::format("--executor compiled fuses nothing and runs as interpreter "
                                        "does: {}",
                                        missing)});
  }
}

// Of graphs on the processor.
void choose_precision(const RunArguments& a, Context& context) {
  if (a.precision == "fp32") return;
  if (a.precision != "bf16")
    throw UsageError(fmt::format(
        "--precision {} is of graphs on a GPU (--device cuda); the processor's are fp32 "
        "and bf16",
        a.precision));
  context.values = DType::bf16;
  if (!instruction_sets().avx512_bf16)
    tell_warnings(context, {"this processor has no products of bf16 (AVX512_BF16), so --precision "
                            "bf16 makes nothing faster here; its results are the same"});
}

void warn_of_waiting_threads(const RunArguments& a, Context& context) {
  if (const int processors = available_processors(); a.threads > processors)
    tell_warnings(
        context,
        {fmt::format("--threads {}: {} here, so threads wait for each other", a.threads,
                     processors == 1 ? std::string("one processor runs them")
                                     : fmt::format("{} processors run them", processors))});
}

void choose_device(const RunArguments& a, Context& context) {
  if (a.device == "cpu") {
    choose_precision(a, context);
    return choose_executor(a, context);
  }
  if (a.executor != "interpreter")
    throw UsageError("--executor is of the processor; a GPU has its own");
  cuda::CudaDevice& card = cuda::device(card_number(a.device).value());
  card.set_arithmetic(a.precision == "tf32" ? cuda::Arithmetic::tf32 : cuda::Arithmetic::fp32);
  context.values = a.precision == "bf16"   ? DType::bf16
                   : a.precision == "fp16" ? DType::f16
                                           : DType::f32;
  const KernelTable kernels = cuda::kernels();
  context.library.kernels.insert(context.library.kernels.end(), kernels.begin(), kernels.end());
  context.device = &card;
  context.executor = cuda::captured;
  context.token_steps = cuda::kCapturedTokenSteps;
}

}  // namespace

void declare_device(CLI::App& app, RunArguments& a) {
  app.add_option("--device", a.device, "cpu, cuda or cuda:N")
      ->check(CLI::Validator([](std::string& text) { return check_device(text); }, ""));
  app.add_option("--precision", a.precision,
                 "precision of values; sums are always fp32 (tf32, fp16: GPU only)")
      ->check(one_of(precisions()));
}

void declare_precision_of_processor(CLI::App& app, RunArguments& a) {
  app.add_option("--precision", a.precision, "precision of values; sums are always fp32")
      ->check(one_of({"fp32", "bf16"}));
}

void declare_executor(CLI::App& app, RunArguments& a) {
  app.add_option("--executor", a.executor, "run operations one by one, or compile and fuse them")
      ->check(one_of({"interpreter", "compiled"}));
}

void declare_device_and_executor(CLI::App& app, RunArguments& a) {
  declare_device(app, a);
  declare_executor(app, a);
}

Context make_context(const RunArguments& a) {
  return Context(
      a.threads, a.quiet, a.plugins,
      [&](const PassTable& passes) { return make_watch(a.passes, passes); }, print_remark,
      [&](Context& context) {
        warn_of_waiting_threads(a, context);
        choose_device(a, context);
      });
}

void declare_label_map(CLI::App& app, DataOptions& options) {
  app.add_option("--label_map", options.label_map,
                 "rename labels: neg=NEGATIVE,... (ids: class numbers)");
}

void declare_texts(CLI::App& app, DataOptions& options, TextCut& cut) {
  app.add_option("--text_column", options.text_column, "column with the text; by default detected");
  app.add_option("--text_pair_column", options.text_pair_column,
                 "column with the second text of a pair");
  app.add_option("--label_column", options.label_column,
                 "column with the label; by default detected");
  app.add_flag("--no_header", options.form.no_header,
               "the CSV or TSV file has no header row; columns are 0, 1, ...");
  app.add_option("--quoting", options.form.quoting,
                 "whether quotes enclose CSV and TSV fields; by default detected")
      ->check(one_of({"none", "minimal"}));
  app.add_option("--encoding", options.form.encoding,
                 "encoding of text files, such as latin-1; by default utf-8")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return is_text_encoding(name) ? std::string()
                                          : fmt::format(
                                                "expected a name such as utf-8, utf-16, latin-1 or "
                                                "windows-1252, got '{}'",
                                                name);
          },
          ""));
  app.add_option("--json_field", options.form.json_field,
                 "key of the list of rows in a JSON object");
  app.add_flag("--strict_utf8", options.strict, "reject text that is not valid UTF-8");
  app.add_option("--max_seq_length", cut.max_seq_length,
                 "maximum tokens per example (0: the model's limit, at most 512)")
      ->check(text_length());
  app.add_option_function<std::string>(
         "--truncation",
         [&cut](const std::string& name) { cut.truncation = parse_truncation(name); },
         "which tokens of a long text to keep; by default the tokenizer's")
      ->check(one_of({"head", "tail", "head_tail"}));
}

CLI::Option* declare_split(CLI::App& app, std::string& split, const std::string& help) {
  const CLI::Validator any = one_of({"train", "validation", "test", "all"});
  // Files of a folder may give their splits other names, which are known when it is read.
  const auto check = [&app, any](std::string& text) -> std::string {
    const CLI::Option* data = app.get_option_no_throw("--data");
    const bool folder = data != nullptr && data->count() > 0 && is_folder(data->results().back());
    return folder ? "" : any(text);
  };
  return app.add_option("--split", split, help)
      ->check(CLI::Validator(check, any.get_description()));
}

void declare(CLI::App& app, JobData& a, bool required) {
  auto* data = app.add_option("--data", a.options.source, kDataSources);
  if (required) data->required();
  declare_texts(app, a.options, a.cut);
  declare_label_map(app, a.options);
  app.add_option("--validation_split", a.validation_split, "fraction set aside for validation")
      ->check(number_from(0, 1));
  app.add_option("--max_eval_samples", a.max_eval_samples,
                 "evaluate on a random sample of each split (0: all)")
      ->check(number_from(0));
  app.add_option("--protocol", a.protocol,
                 "honest: choose on validation; original: train on all, choose on test")
      ->check(one_of({"honest", "original"}));
}

void declare(CLI::App& app, AnswerTexts& a) {
  declare(app, a.data, /*required=*/false);
  declare_split(app, a.split, "split to compare predictions on; by default test");
  app.add_option("--per_device_eval_batch_size,--batch_size", a.batch_size,
                 "examples per evaluation batch")
      ->check(number_from(1));
}

void declare_train_samples(CLI::App& app, JobData& a) {
  app.add_option("--max_train_samples", a.max_train_samples, "train on a random sample (0: all)")
      ->check(number_from(0));
}

void declare_figure(CLI::App& app, std::string& figure, const std::string& description) {
  app.add_option("--figure", figure, description)->transform([](const std::string& given) {
    fs::path file(given);
    if (file.extension() == ".svg" || file.extension() == ".png") file.replace_extension();
    return file.string();
  });
}

void declare_adapter(CLI::App& app, std::string& adapter, bool required) {
  CLI::Option* option =
      app.add_option("--adapter", adapter, "LoRA adapter folder to apply (hone's or PEFT's)");
  if (required) option->required();
}

void declare_row_hashes(CLI::App& app, bool& row_hashes) {
  app.add_flag("!--no_row_hashes", row_hashes, "store no fingerprints of the training examples");
}

void declare_run_size(CLI::App& app, std::int64_t& batch, std::int64_t& tokens) {
  app.add_option("--batch_size", batch, "batch size")->check(number_from(1));
  app.add_option("--tokens", tokens, "tokens per example; by default 128 at most")
      ->check(number_from(1));
}

void declare_freeze(CLI::App& app, std::vector<std::string>& globs) {
  app.add_option("--freeze", globs, "parameters to leave unchanged, such as 'bert.embeddings.*'")
      ->check(accepted_by([](const std::string& glob) {
        user_check(!glob.empty(), "expected a glob of parameters, got nothing");
      }))
      ->allow_extra_args(false)
      ->delimiter(',');
}

void declare(CLI::App& app, FineTuneOptions& a) {
  TrainingOptions& t = a.training;
  AdamWOptions& o = t.optimizer;
  app.add_option("--num_train_epochs,--epochs", t.epochs, "passes over the training data")
      ->check(number_from(0, kMostEpochs));
  app.add_option("--max_steps", t.max_steps, "optimizer steps, instead of epochs (0: use epochs)")
      ->check(number_from(0));
  app.add_option("--per_device_train_batch_size,--batch_size", t.batch_size,
                 "examples per training batch")
      ->check(number_from(1));
  app.add_option("--per_device_eval_batch_size", a.eval_batch_size, "examples per evaluation batch")
      ->check(number_from(1));
  app.add_option("--gradient_accumulation_steps", t.gradient_accumulation_steps,
                 "batches per optimizer step")
      ->check(number_from(1));
  app.add_option("--learning_rate,--lr", o.learning_rate, "peak learning rate")
      ->check(number_from(0));
  app.add_option("--lr_scheduler_type", t.lr_scheduler_type,
                 "how the learning rate changes over the run")
      ->check(one_of(schedule_names()));
  app.add_option("--layerwise_lr_decay", a.layerwise_lr_decay,
                 "learning-rate factor from each layer to the one below it")
      ->check(above_zero(1));
  app.add_option("--warmup_steps", t.warmup_steps, "steps over which the learning rate rises")
      ->check(number_from(0));
  app.add_option("--warmup_ratio", t.warmup_ratio,
                 "the same as a fraction of all steps; --warmup_steps overrides it")
      ->check(number_from(0, 1));
  app.add_option("--weight_decay", o.weight_decay,
                 "AdamW weight decay (not for biases and layer norms)")
      ->check(number_from(0));
  app.add_option("--adam_beta1", o.beta1, "AdamW beta 1")->check(number_from(0, 1));
  app.add_option("--adam_beta2", o.beta2, "AdamW beta 2")->check(number_from(0, 1));
  app.add_option("--adam_epsilon", o.epsilon, "AdamW epsilon")->check(number_from(0));
  app.add_option("--max_grad_norm", o.max_grad_norm, "clip gradients to this norm (0: never)")
      ->check(number_from(0));
  app.add_option("--logging_steps", t.logging_steps, "steps between log lines")
      ->check(number_from(1));
  app.add_option("--eval_steps", t.eval_steps, "steps between evaluations (0: after every epoch)")
      ->check(number_from(0));
  app.add_flag("--load_best_model_at_end", a.load_best_model_at_end,
               "keep the weights of the best evaluation, not the last");
  app.add_option("--metric_for_best_model", a.metric_for_best_model,
                 "metric that selects the best evaluation; by default the task's")
      ->check(metric_name());
  app.add_option("--early_stopping_patience", a.early_stopping_patience,
                 "stop after this many evaluations without improvement (0: never)")
      ->check(number_from(0));
  app.add_option("--class_weights", a.class_weights,
                 "loss weight of each class: balanced, or one number per class");
  app.add_option("--label_smoothing_factor", t.label_smoothing_factor,
                 "label smoothing of the training loss")
      ->check(number_from(0, 1));
  declare_freeze(app, a.freeze);
  app.add_flag("--group_by_length", t.group_by_length,
               "batch examples of similar length: less padding, faster");
  app.add_flag("!--no_shuffle", t.shuffle, "train in the order of the data");
}

void declare(CLI::App& app, DistillJob& a) {
  CLI::Option* const parent =
      app.add_option("--distill", a.parent, "teacher model folder to distil from");
  app.add_option("--distill_temperature", a.options.temperature, "distillation temperature")
      ->check(above_zero())
      ->needs(parent);
  app.add_option("--distill_alpha", a.options.alpha,
                 "weight of the label loss (0: the teacher's predictions only)")
      ->check(number_from(0, 1))
      ->needs(parent);
}

void declare_problem_type(CLI::App& app, std::string& problem_type) {
  app.add_option("--problem_type", problem_type,
                 "task: single_label_classification, regression, ...; by default detected")
      ->check(one_of(task_names()));
}

void declare_report_to(CLI::App& app, std::string& report_to) {
  app.add_option("--report_to", report_to,
                 "also write TensorBoard logs to runs/ in the output folder")
      ->check(one_of({"none", "tensorboard"}));
}

void declare(CLI::App& app, JobResume& a) {
  app.add_flag("--resume", a.resume, "continue an interrupted run to the same bits");
  app.add_option("--save_steps", a.save_steps, "extra checkpoints every this many steps (0: none)")
      ->check(number_from(0));
  app.add_option("--save_total_limit", a.save_total_limit,
                 "newest checkpoints to keep, beside the best one")
      ->check(number_from(1));
  app.add_flag("--save_optimizer_state", a.save_optimizer_state,
               "keep the optimizer state in checkpoints of a finished run");
}

void declare(CLI::App& app, VocabularyRules& rules) {
  app.add_option("--vocab_size", rules.vocab_size,
                 "vocabulary size learned for new models (0: 30,522)")
      ->check(number_from(0));
  app.add_option("--lowercase", rules.lowercase, "lower-case text when learning a vocabulary")
      ->check(one_of({"true", "false"}));
  app.add_option("--strip_accents", rules.strip_accents,
                 "remove accents when learning a vocabulary; by default detected")
      ->check(one_of({"true", "false"}));
}

void declare_seeds(CLI::App& app, std::int64_t& seeds) {
  app.add_option("--seeds", seeds, "repeat with this many seeds; report mean and spread")
      ->check(number_from(1));
}

CalibrationRun CalibrationArguments::parsed(std::uint64_t seed) const {
  CalibrationRun parsed = run;
  parsed.seed = seed;
  parsed.options.rule = parse_range_rule(rule);
  return parsed;
}

void declare(CLI::App& app, CalibrationArguments& a) {
  app.add_option("--calibration_batches", a.run.batch_count,
                 "training batches used for calibration")
      ->check(number_from(1));
  app.add_option("--calibration", a.rule, "how calibration chooses the range of a format")
      ->check(one_of(range_rule_names()));
  app.add_option("--percentile", a.run.options.percentile,
                 "fraction of values inside the range, in %, for percentile")
      ->check(above_zero(100));
  app.add_flag("!--force", a.run.heed_objections,
               "quantize even if a format cannot hold the values");
}

void declare(CLI::App& app, FormatArguments& a) {
  app.add_option("--format", a.format, "format of inputs, weights and biases");
  app.add_option("--recipe", a.recipe, "TOML file with the format of each layer");
  app.add_option("--input_format", a.input_format, "format of the inputs of linears (none: fp32)");
  app.add_option("--weight_format", a.weight_format,
                 "format of the weights of linears (none: fp32)");
  app.add_option("--bias_format", a.bias_format, "format of the biases of linears (none: fp32)");
  app.add_option("--output_format", a.output_format,
                 "format of the outputs of linears (none: fp32)");
  app.add_option("--rule", a.rules, "add a rule: 'name = \"*.layer.0.*\", weight = \"none\"'")
      ->allow_extra_args(false);
}

bool given(const FormatArguments& a) {
  const std::string* const texts[] = {&a.recipe,        &a.format,      &a.input_format,
                                      &a.weight_format, &a.bias_format, &a.output_format};
  return !a.rules.empty() ||
         std::ranges::any_of(texts, [](const std::string* text) { return !text->empty(); });
}

Recipe recipe_from(const FormatArguments& a, const FormatTable& formats) {
  Recipe recipe;
  if (!a.recipe.empty()) recipe = read_recipe(a.recipe, formats);
  const auto set = [&](Operand operand, std::string_view flag, const std::string& text) {
    if (!text.empty())
      recipe.defaults[operand] =
          value_of_flag(flag, [&] { return parse_optional_format(text, formats); });
  };
  for (const Operand operand : {Operand::input, Operand::weight, Operand::bias})
    set(operand, "--format", a.format);
  set(Operand::input, "--input_format", a.input_format);
  set(Operand::weight, "--weight_format", a.weight_format);
  set(Operand::bias, "--bias_format", a.bias_format);
  set(Operand::output, "--output_format", a.output_format);
  for (const std::string& rule : a.rules) {
    Recipe one = parse_recipe(fmt::format("rule = [{{ {} }}]", rule), "--rule", formats);
    recipe.rules.insert(recipe.rules.end(), one.rules.begin(), one.rules.end());
  }
  if (recipe.defaults.empty() && recipe.rules.empty())
    throw UsageError("give --format FORMAT, or a --recipe");
  return recipe;
}

void declare(CLI::App& app, JobOutput& a, bool required) {
  app.add_option("-o,--output_dir", a.folder, required ? "output folder" : "folder for a report")
      ->required(required);
  app.add_flag("--overwrite_output_dir,--overwrite", a.overwrite,
               "replace hone's own files in the folder");
}

void print_finished(const JobOutput& output, const Json& results, bool json) {
  const std::string message =
      fmt::format("{}: this run is finished already; there is nothing left to do", output.folder);
  if (json) {
    print_message(message);
    if (!results.is_null()) fmt::print("{}\n", to_line(results));
  } else {
    fmt::print("{}\n", fitted(printable(message), terminal_columns(stdout)));
  }
  const Json& gate = value_at(results, "gate");
  if (gate.is_object() && !gate.value("passed", true))
    throw GateFailure(gate.value("summary", gate.value("verdict", "the gate was not passed")));
}

}  // namespace hone
