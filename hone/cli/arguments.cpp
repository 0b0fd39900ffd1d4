#include "hone/cli/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "hone/base/cpu.h"
#include "hone/base/job_files.h"
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

std::string schedules_help() {
  std::string text = "how the learning rate changes over the run:";
  for (const Schedule& row : schedules())
    text += fmt::format(" {} ({}){}", row.name, row.summary,
                        row.name == schedules().back().name ? "" : ",");
  return text;
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
  app.add_option("--threads", a.threads, "threads to compute with; results do not depend on it")
      ->check(number_from(1, 1025));
}

void declare_shown(CLI::App& app, RunArguments& a) {
  app.add_flag("--json", a.json,
               "print the result as JSON, with all names whole; a terminal shortens long ones, a "
               "pipe or a file does not");
  app.add_flag("--quiet", a.quiet, "no progress on the standard error stream");
  app.add_option("--color", a.colour,
                 "auto: on a terminal, unless NO_COLOR is set; always; or never")
      ->check(one_of({"auto", "always", "never"}));
}

}  // namespace

void declare_screen(CLI::App& app, RunArguments& a) {
  declare_threads(app, a);
  declare_shown(app, a);
}

void declare(CLI::App& app, RunArguments& a) {
  declare_threads(app, a);
  app.add_option("--seed", a.seed, "of everything random: fresh weights, splits, order, dropout");
  declare_shown(app, a);
  app.add_option("--plugin", a.plugins,
                 "shared library that adds number formats, operations, kernels or passes; may be "
                 "repeated")
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
        "--precision {} is of graphs on a graphics card (--device cuda); the processor's are fp32 "
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
    throw UsageError("--executor is of the processor; a graphics card has its own");
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
  app.add_option("--device", a.device, "cpu, cuda or cuda:N: where graphs run; see hone doctor")
      ->check(CLI::Validator([](std::string& text) { return check_device(text); }, ""));
  app.add_option("--precision", a.precision,
                 "fp32, or bf16 of values; on a graphics card tf32 (of products alone) and fp16, "
                 "too; sums are fp32 always")
      ->check(one_of(precisions()));
}

void declare_precision_of_processor(CLI::App& app, RunArguments& a) {
  app.add_option("--precision", a.precision, "fp32, or bf16 of values; sums are fp32 always")
      ->check(one_of({"fp32", "bf16"}));
}

void declare_executor(CLI::App& app, RunArguments& a) {
  app.add_option("--executor", a.executor,
                 "on the processor: interpreter, operation by operation; or compiled, with "
                 "element-wise operations fused into generated code")
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
                 "classes of labels that are called otherwise: neg=NEGATIVE,pos=POSITIVE, "
                 "a JSON object, or ids where labels are the model's class numbers");
}

void declare_texts(CLI::App& app, DataOptions& options, TextCut& cut) {
  app.add_option("--text_column", options.text_column,
                 "column or key of the text; by default that of the model's training, text, or "
                 "what it is usually called");
  app.add_option("--text_pair_column", options.text_pair_column,
                 "column or key of the second text, for pairs");
  app.add_option("--label_column", options.label_column,
                 "column or key of the label; by default that of the model's training, label, or "
                 "what it is usually called");
  app.add_flag("--no_header", options.form.no_header,
               "the first row of CSV or TSV is data; columns are called 0, 1, ...");
  app.add_option(
         "--quoting", options.form.quoting,
         "of CSV and TSV: minimal, quotes enclose fields; none, quotes are text; by default "
         "what the file shows")
      ->check(one_of({"none", "minimal"}));
  app.add_option("--encoding", options.form.encoding,
                 "of text files, e.g. latin-1; by default utf-8, or what a byte order mark says")
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
                 "key of the list of rows in a JSON file that is one object");
  app.add_flag("--strict", options.strict, "refuse texts that are not UTF-8");
  app.add_option(
         "--max_seq_length", cut.max_seq_length,
         "most tokens of a text; 0: 512, or what the model's folder says or its positions are, if "
         "fewer")
      ->check(text_length());
  app.add_option_function<std::string>(
         "--truncation",
         [&cut](const std::string& name) { cut.truncation = parse_truncation(name); },
         "which tokens of a longer text are kept: the first, the last, or a quarter from the "
         "beginning and the rest from the end; by default as the tokenizer's files say")
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
  return app.add_option("--split", split, help + "; of a folder also another split by its name")
      ->check(CLI::Validator(check, any.get_description()));
}

void declare(CLI::App& app, JobData& a, bool required) {
  auto* data = app.add_option("--data", a.options.source, kDataSources);
  if (required) data->required();
  declare_texts(app, a.options, a.cut);
  declare_label_map(app, a.options);
  app.add_option("--validation_split", a.validation_split,
                 "share of the training texts set aside to choose by, if the data has no "
                 "validation part; 0: none")
      ->check(number_from(0, 1));
  app.add_option("--max_eval_samples", a.max_eval_samples,
                 "most texts of each part that is measured, drawn by --seed, since the first ones "
                 "may be of one class; 0: all")
      ->check(number_from(0));
  app.add_option("--protocol", a.protocol,
                 "honest: choose on the validation part; original: train on all training texts "
                 "and choose on test")
      ->check(one_of({"honest", "original"}));
}

void declare(CLI::App& app, AnswerTexts& a) {
  declare(app, a.data, /*required=*/false);
  declare_split(
      app, a.split,
      "with --data: part to measure answers on, before and after: train, validation, test "
      "or all; by default test, or what was set aside when the model was trained on this "
      "data, or what --validation_split sets aside");
  app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a.batch_size,
                 "texts per batch")
      ->check(number_from(1));
}

void declare_train_samples(CLI::App& app, JobData& a) {
  app.add_option("--max_train_samples", a.max_train_samples,
                 "most texts of the training part, drawn by --seed, since the first ones may be of "
                 "one class; 0: all")
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
  CLI::Option* option = app.add_option("--adapter", adapter,
                                       "folder of a low-rank adapter, as `hone train --lora` and "
                                       "PEFT write it, to put on the model");
  if (required) option->required();
}

void declare_row_hashes(CLI::App& app, bool& row_hashes) {
  app.add_flag("!--no_row_hashes", row_hashes,
               "leave out trained_on.safetensors, which keeps fingerprints of the texts that were "
               "learnt from, so that later figures can say which texts are new; who has the file "
               "can guess short texts; columns and counts are kept all the same");
}

void declare_run_size(CLI::App& app, std::int64_t& batch, std::int64_t& tokens,
                      const std::string& purpose) {
  app.add_option("--batch", batch, "texts or images per run, for " + purpose)
      ->check(number_from(1));
  app.add_option("--tokens", tokens,
                 fmt::format("tokens per text, for {}; by default 128, or the model's positions if "
                             "fewer",
                             purpose))
      ->check(number_from(1));
}

void declare_freeze(CLI::App& app, std::vector<std::string>& globs) {
  app.add_option("--freeze", globs,
                 "globs of parameters to leave as they are, e.g. 'bert.embeddings.*'; several by "
                 "comma, or by repeating it")
      ->check(accepted_by([](const std::string& glob) {
        user_check(!glob.empty(), "expected a glob of parameters, got nothing");
      }))
      ->allow_extra_args(false)
      ->delimiter(',');
}

void declare(CLI::App& app, FineTuneOptions& a) {
  TrainingOptions& t = a.training;
  AdamWOptions& o = t.optimizer;
  app.add_option("--num_train_epochs,--epochs", t.epochs,
                 "passes over the training texts; may be a fraction")
      ->check(number_from(0, kMostEpochs));
  app.add_option("--max_steps", t.max_steps, "optimizer steps, instead of epochs; 0: by epochs")
      ->check(number_from(0));
  app.add_option("--per_device_train_batch_size,--batch_size,--batch", t.batch_size,
                 "texts per batch")
      ->check(number_from(1));
  app.add_option("--per_device_eval_batch_size", a.eval_batch_size,
                 "texts per batch of an evaluation")
      ->check(number_from(1));
  app.add_option(
         "--gradient_accumulation_steps", t.gradient_accumulation_steps,
         "batches of a step, one after the other: a step of that many times --batch texts in "
         "the memory of one batch; the last step of an epoch has what is left")
      ->check(number_from(1));
  app.add_option("--learning_rate,--lr", o.learning_rate,
                 "at the start, and then as --lr_scheduler_type says")
      ->check(number_from(0));
  app.add_option("--lr_scheduler_type", t.lr_scheduler_type, schedules_help())
      ->check(one_of(schedule_names()));
  app.add_option("--layerwise_lr_decay", a.layerwise_lr_decay,
                 "what the learning rate is multiplied by from each layer to the one below it, the "
                 "embeddings last; the head has the rate itself; 1: all have")
      ->check(above_zero(1));
  app.add_option("--warmup_steps", t.warmup_steps, "steps of linear rise at the start")
      ->check(number_from(0));
  app.add_option("--warmup_ratio", t.warmup_ratio,
                 "the same as a share of all steps; --warmup_steps goes over it")
      ->check(number_from(0, 1));
  app.add_option("--weight_decay", o.weight_decay, "of AdamW; biases and layer norms are spared")
      ->check(number_from(0));
  app.add_option("--adam_beta1", o.beta1, "of AdamW")->check(number_from(0, 1));
  app.add_option("--adam_beta2", o.beta2, "of AdamW")->check(number_from(0, 1));
  app.add_option("--adam_epsilon", o.epsilon, "of AdamW")->check(number_from(0));
  app.add_option("--max_grad_norm", o.max_grad_norm,
                 "gradients are scaled down to this norm; 0: never")
      ->check(number_from(0));
  app.add_option("--logging_steps", t.logging_steps, "steps between two lines of the log")
      ->check(number_from(1));
  app.add_option("--eval_steps", t.eval_steps,
                 "steps between two evaluations; 0: after every epoch")
      ->check(number_from(0));
  app.add_flag("--load_best_model_at_end", a.load_best_model_at_end,
               "keep the weights of the best evaluation, not the last ones");
  app.add_option(
         "--metric_for_best_model", a.metric_for_best_model,
         "what the best evaluation is told by, on the validation part; by default what the task is "
         "judged by. Of classes accuracy, loss, f1_macro, f1_weighted, ..., of two of them f1, "
         "precision, recall (of the second one) and auc; of numbers r2, loss, rmse, mae, pearson, "
         "spearman; of several labels f1_micro, loss, subset_accuracy, f1_macro, ...")
      ->check(metric_name());
  app.add_option("--early_stopping_patience", a.early_stopping_patience,
                 "end after so many evaluations without a better one, and keep the best; 0: never")
      ->check(number_from(0));
  app.add_option(
      "--class_weights", a.class_weights,
      "weight of each class in the training loss, where a text has one: balanced (texts / "
      "(classes x texts of the class)), or a number for each by commas; evaluations stay "
      "unweighted");
  app.add_option(
         "--label_smoothing_factor", t.label_smoothing_factor,
         "share of each label that goes to all classes alike in the training loss, below 1; "
         "evaluations stay as they are")
      ->check(number_from(0, 1));
  declare_freeze(app, a.freeze);
  app.add_flag("--group_by_length", t.group_by_length,
               "put texts of like length into a batch: less padding, faster");
  app.add_flag("!--no_shuffle", t.shuffle, "take the texts in the order of the data");
}

void declare(CLI::App& app, DistillJob& a) {
  CLI::Option* const parent = app.add_option(
      "--distill", a.parent,
      "learn from this model, too: a folder with the same labels, of any size, format and "
      "tokenizer; the loss is alpha times that of the labels + (1 - alpha) T^2 KL(parent, model)");
  app.add_option("--distill_temperature", a.options.temperature,
                 "T, by which the logits of both are divided first")
      ->check(above_zero())
      ->needs(parent);
  app.add_option("--distill_alpha", a.options.alpha,
                 "what the loss of the labels weighs; 0: the parent's answers alone")
      ->check(number_from(0, 1))
      ->needs(parent);
}

void declare_problem_type(CLI::App& app, std::string& problem_type) {
  app.add_option("--problem_type", problem_type,
                 "what the labels are for: single_label_classification, regression or "
                 "multi_label_classification; by default what the model's config.json says, else "
                 "what they look like")
      ->check(one_of(task_names()));
}

void declare_report_to(CLI::App& app, std::string& report_to) {
  app.add_option("--report_to", report_to,
                 "tensorboard: write the log for TensorBoard too, into runs/ of the output folder")
      ->check(one_of({"none", "tensorboard"}));
}

void declare(CLI::App& app, JobResume& a) {
  app.add_flag("--resume", a.resume,
               "go on where an interrupted run of the same command stood, to the same bits; begin "
               "where there is none, and do nothing where it is finished");
  app.add_option("--save_steps", a.save_steps,
                 "steps between two checkpoints, beside those of every epoch and evaluation; 0: "
                 "only those")
      ->check(number_from(0));
  app.add_option("--save_total_limit", a.save_total_limit,
                 "newest checkpoints to keep; the best one stays too")
      ->check(number_from(1));
  app.add_flag("--save_optimizer_state", a.save_optimizer_state,
               "keep the moments of AdamW in the checkpoints of a finished job too, where nothing "
               "is left to resume; they are twice the weights' size");
}

void declare(CLI::App& app, VocabularyRules& rules) {
  app.add_option("--vocab_size", rules.vocab_size,
                 "most tokens of the vocabulary that fresh weights learn from the "
                 "training texts; 0: "
                 "30 522, and for built-in data its own")
      ->check(number_from(0));
  app.add_option("--lowercase", rules.lowercase,
                 "make that vocabulary from lower-case text (the default), or keep capital letters")
      ->check(one_of({"true", "false"}));
  app.add_option("--strip_accents", rules.strip_accents,
                 "make that vocabulary from text without accents and other marks, or keep them; "
                 "by default they stay where more than 1% of the words have some")
      ->check(one_of({"true", "false"}));
}

void declare_seeds(CLI::App& app, std::int64_t& seeds) {
  app.add_option("--seeds", seeds,
                 "repeat the job with so many seeds, from --seed on, and report mean and spread")
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
                 "batches of training texts that calibration looks at, drawn by --seed")
      ->check(number_from(1));
  app.add_option(
         "--calibration", a.rule,
         "range a calibrated format should hold: minmax (all that was seen), percentile, or "
         "mse (least mean-squared error)")
      ->check(one_of(range_rule_names()));
  app.add_option("--percentile", a.run.options.percentile,
                 "for --calibration percentile: least share of the values inside the range, in %")
      ->check(above_zero(100));
  app.add_flag("!--anyway", a.run.heed_objections,
               "go on even where a format says it cannot hold the values");
}

void declare(CLI::App& app, FormatArguments& a) {
  app.add_option("--format", a.format,
                 "number format of every linear's input, weight and bias, e.g. "
                 "'integer(width=8,frac=4)'; see `hone formats`");
  app.add_option("--recipe", a.recipe, "TOML file that says which layer takes which format");
  app.add_option("--input_format", a.input_format, "of the inputs of linears; none: fp32");
  app.add_option("--weight_format", a.weight_format, "of the weights of linears; none: fp32");
  app.add_option("--bias_format", a.bias_format, "of the biases of linears; none: fp32");
  app.add_option("--output_format", a.output_format, "of the outputs of linears; none: fp32");
  app.add_option("--rule", a.rules,
                 "one more rule of a recipe, e.g. 'name = \"*.layer.0.*\", weight = \"none\"'; may "
                 "be repeated")
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
  app.add_option("-o,--output_dir", a.folder,
                 required ? "folder to write" : "folder to write a report to")
      ->required(required);
  app.add_flag(
      "--overwrite_output_dir,--overwrite", a.overwrite,
      "replace the folder if this program wrote it; files that others put there or changed "
      "move into the new one");
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
  if (!results.is_object() || !results.contains("gate")) return;
  const Json& gate = results["gate"];
  if (!gate.value("passed", true))
    throw GateFailure(gate.value("summary", gate.value("verdict", "the gate was not passed")));
}

}  // namespace hone
