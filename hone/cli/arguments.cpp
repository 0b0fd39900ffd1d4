#include "hone/cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "hone/base/cpu.h"
#include "hone/base/json.h"
#include "hone/base/printable.h"
#include "hone/base/terminal.h"
#include "hone/cli/job_messages.h"
#include "hone/cli/terminal_output.h"
#include "hone/compiler/compiled.h"
#include "hone/compiler/machine_code.h"
#include "hone/cuda/captured.h"
#include "hone/cuda/device.h"
#include "hone/cuda/kernels.h"
#include "hone/formats/range_rule_names.h"
#include "hone/study/result.h"

namespace hone {
namespace {

std::optional<unsigned> parse_number(std::string_view text) {
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns the index of a GPU: 0 for "cuda", 1 for "cuda:1".
std::optional<int> gpu_index(const std::string& device) {
  constexpr std::string_view kCuda = "cuda:";
  if (device == "cuda") return 0;
  if (!device.starts_with(kCuda)) return std::nullopt;
  const std::optional<unsigned> number = parse_number(device.substr(kCuda.size()));
  return number && *number < 1024 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::string problem_of_device(const std::string& text) {
  return text == "cpu" || gpu_index(text)
             ? ""
             : fmt::format("expected cpu, cuda or cuda:N, got {}", text);
}

void choose_executor(const RunArguments& a, Context& context) {
  if (a.executor == "interpreter") return;
  const std::string missing = compiler::code_generation_missing();
  if (missing.empty()) {
    context.executor = compiler::compiled;
  } else {
    print_warnings(context,
                   {fmt::format("--executor compiled fuses nothing and runs as interpreter "
                                "does: {}",
                                missing)});
  }
}

// Sets the precision of graphs on the CPU.
void choose_precision(const RunArguments& a, Context& context) {
  if (a.precision == "fp32") return;
  if (a.precision != "bf16")
    throw UsageError(fmt::format(
        "--precision {} needs --device cuda; the CPU supports fp32 and bf16", a.precision));
  context.values = DType::bf16;
  if (!instruction_sets().avx512_bf16)
    print_warnings(context, {"this CPU has no bf16 instructions (AVX512_BF16), so --precision bf16 "
                             "is not faster here; results are the same as with them"});
}

void warn_of_waiting_threads(const RunArguments& a, Context& context) {
  if (const int processors = available_processors(); a.threads > processors)
    print_warnings(
        context,
        {fmt::format(
            "--threads {} exceeds the {} here, so threads wait for each other", a.threads,
            processors == 1 ? std::string("one CPU") : fmt::format("{} CPUs", processors))});
}

void choose_device(const RunArguments& a, Context& context) {
  if (a.device == "cpu") {
    choose_precision(a, context);
    return choose_executor(a, context);
  }
  if (a.executor != "interpreter")
    throw UsageError("--executor applies to the CPU only; remove it");
  cuda::CudaDevice& gpu = cuda::device(gpu_index(a.device).value());
  gpu.set_arithmetic(a.precision == "tf32" ? cuda::Arithmetic::tf32 : cuda::Arithmetic::fp32);
  context.values = a.precision == "bf16"   ? DType::bf16
                   : a.precision == "fp16" ? DType::f16
                                           : DType::f32;
  const KernelTable kernels = cuda::kernels();
  context.library.kernels.insert(context.library.kernels.end(), kernels.begin(), kernels.end());
  context.device = &gpu;
  context.executor = cuda::captured;
  context.token_steps = cuda::kCapturedTokenSteps;
}

Options threads_option() {
  return {Heading::execution,
          {option<&RunArguments::threads>("threads", "number of threads")
               .from(1, 1025)
               .for_caller()
               .rare()}};
}

Options color_option() {
  return {Heading::output,
          {option<&RunArguments::colour>("color", "when to use color")
               .one_of({"auto", "always", "never"})
               .for_caller()
               .rare()}};
}

}  // namespace

Options json_and_quiet() {
  return {Heading::output,
          {option<&RunArguments::json>("json", "print the result as JSON").for_caller(),
           option<&RunArguments::quiet>("quiet", "do not show progress").for_caller().rare()}};
}

Options output_options() { return {threads_option(), json_and_quiet(), color_option()}; }

Options seed_option() {
  return {Heading::execution,
          {option<&RunArguments::seed>("seed", "random seed (weights, splits, order, dropout)")
               .rare()}};
}

Options plugin_option() {
  return {Heading::debugging,
          {option<&RunArguments::plugins>(
               "plugin", "load formats, operations, kernels or passes from a shared library")
               .repeated()
               .takes(kReadFileValue)
               .rare()}};
}

Options host_options() {
  return {threads_option(), seed_option(),   json_and_quiet(),
          color_option(),   plugin_option(), group<&RunArguments::passes>()};
}

Options options_of(const RunArguments*) { return {host_options(), device_options()}; }

Options device_option() {
  return {
      Heading::execution,
      {option<&RunArguments::device>("device", "cpu, cuda or cuda:N").checked(problem_of_device)}};
}

Options device_options() {
  return {device_option(),
          {Heading::execution,
           {option<&RunArguments::precision>(
                "precision", "precision of values; sums are always fp32 (tf32, fp16: GPU only)")
                .one_of({"fp32", "tf32", "bf16", "fp16"})
                .rare()}}};
}

Options cpu_precision_option() {
  return {
      Heading::execution,
      {option<&RunArguments::precision>("precision", "precision of values; sums are always fp32")
           .one_of({"fp32", "bf16"})
           .rare()}};
}

Options executor_option() {
  return {Heading::execution,
          {option<&RunArguments::executor>("executor",
                                           "run operations one by one, or compile and fuse them")
               .one_of({"interpreter", "compiled"})
               .shown("LIST")
               .rare()}};
}

Options options_of(const CalibrationArguments*) {
  return {Heading::calibration,
          {option<&CalibrationArguments::run, &CalibrationRun::batch_count>(
               "calibration_batches", "training batches used for calibration")
               .from(1)
               .rare(),
           option<&CalibrationArguments::rule>("calibration",
                                               "how calibration chooses the range of a format")
               .one_of(range_rule_names())
               .rare(),
           option<&CalibrationArguments::run, &CalibrationRun::options,
                  &CalibrationOptions::percentile>(
               "percentile", "fraction of values inside the range, in %, for percentile")
               .above_zero(100)
               .rare(),
           option<&CalibrationArguments::run, &CalibrationRun::check_objections>(
               "force", "quantize even if a format cannot hold the values")
               .inverted()
               .rare()}};
}

Options options_of(const FormatArguments*) {
  return {option<&FormatArguments::format>("format", "format of inputs, weights and biases")
              .takes(kFormatValue),
          option<&FormatArguments::recipe>("recipe", "TOML file with the format of each layer")
              .takes(kReadFileValue),
          option<&FormatArguments::input_format>("input_format",
                                                 "format of linear layer inputs (none: fp32)")
              .takes(kFormatOrNoneValue)
              .rare(),
          option<&FormatArguments::weight_format>("weight_format",
                                                  "format of linear layer weights (none: fp32)")
              .takes(kFormatOrNoneValue),
          option<&FormatArguments::bias_format>("bias_format",
                                                "format of linear layer biases (none: fp32)")
              .takes(kFormatOrNoneValue)
              .rare(),
          option<&FormatArguments::output_format>("output_format",
                                                  "format of linear layer outputs (none: fp32)")
              .takes(kFormatOrNoneValue)
              .rare(),
          option<&FormatArguments::rules>("rule",
                                          "add a rule: 'name = \"*.layer.0.*\", weight = \"none\"'")
              .repeated()
              .shown("RULE")
              .rare()};
}

std::vector<std::string> devices_of(const RunArguments& a) {
  const std::size_t gpus = a.device == "cuda" ? cuda::gpus().size() : 0;
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < gpus; ++i) devices.push_back(fmt::format("cuda:{}", i));
  // `make_context` reports why there is no GPU.
  return gpus == 0 ? std::vector{a.device} : devices;
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

CalibrationRun CalibrationArguments::parsed(std::uint64_t seed) const {
  CalibrationRun parsed = run;
  parsed.seed = seed;
  parsed.options.rule = parse_range_rule(rule);
  return parsed;
}

bool any_given(const FormatArguments& a) {
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

void print_finished(const JobOutput& output, const Json& results, bool json) {
  const std::string message =
      fmt::format("{}: this run is finished already; there is nothing left to do", output.folder);
  if (json) {
    print_message(message);
    if (!results.is_null()) fmt::print("{}\n", to_line(results));
  } else {
    fmt::print("{}\n", wrapped_text(printable(message), terminal_columns(stdout)));
  }
  const Json& gate = value_at(results, "gate");
  if (gate.is_object() && !gate.value("passed", true))
    throw GateFailure(gate.value("summary", gate.value("verdict", "the gate was not passed")));
}

}  // namespace hone
