#include "hone/jobs/bench.h"

#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <set>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/bench_attention.h"
#include "hone/jobs/bench_dequantize.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/bench_models.h"
#include "hone/jobs/bench_naive.h"

namespace hone {
namespace {

struct ModelArguments {
  std::vector<std::string> models;
  BenchJob job;
  BenchFlags flags;
  IterationsJob iterations;
  std::int64_t ignored = 0;
  std::string executors, process = "both";
  bool naive = false;
  std::string figure;
  bool overwrite = false;
  RunArguments run;
};

struct AttentionArguments {
  AttentionJob job;
  std::string shape, dtypes, implementations;
  RunArguments run;
};

struct LinearArguments {
  LinearJob job;
  std::string shape, rows, formats, implementations, block;
  RunArguments run;
};

struct DequantizeArguments {
  DequantizeJob job;
  std::string elements, groups;
  std::string to = "bf16";
  RunArguments run;
};

// Parses "1024,4096".
std::vector<std::int64_t> parse_counts(const char* flag, const std::string& text) {
  std::vector<std::int64_t> counts;
  for (const std::string& word : split(text, ',')) {
    const std::string_view digits = trim(word);
    std::int64_t count = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || count < 1)
      throw UsageError(
          fmt::format("{}: expected whole numbers of at least 1 with commas between them, got '{}'",
                      flag, text));
    counts.push_back(count);
  }
  return counts;
}

// Returns the rows whose names the comma-separated `text` lists; `name_of` returns the name of a row.
template <typename Rows, typename NameOf>
auto parse_words(const char* flag, const std::string& text, const Rows& rows, NameOf name_of) {
  std::vector<std::decay_t<decltype(*std::begin(rows))>> named;
  for (const std::string& word : split(text, ',')) {
    const auto row = std::ranges::find(rows, trim(word), name_of);
    const bool is_new = std::ranges::find(named, trim(word), name_of) == named.end();
    if (row == std::end(rows) || !is_new) {
      std::vector<std::string_view> names;
      for (const auto& one : rows) names.push_back(std::invoke(name_of, one));
      throw UsageError(
          fmt::format("{}: expected some of {}, each once, with commas between them, got '{}'",
                      flag, fmt::join(names, ", "), text));
    }
    named.push_back(*row);
  }
  return named;
}

bool is_by_call(const CLI::App& app) {
  return app.count("--iterations") + app.count("--executor") + app.count("--pitfalls") > 0;
}

// Rejects names of subcommands in place of models, and options that several models do not support, while the line is
// parsed.
void check_models(const ModelArguments& a, const CommandApp& app) {
  for (const Command& other : app.command().subcommands)
    for (const std::string& model : a.models)
      if (other.name.ends_with(" " + model))
        throw CLI::ValidationError(
            a.models.size() == 1
                ? fmt::format("give `{0}` first: `hone {1} …`", model, other.name)
                : fmt::format("{} cannot be compared with models; to time it, begin with `hone {}`",
                              model, other.name));
  if (a.models.size() == 1) return;
  for (const char* name : {"adapter", "profile", "iterations", "warmup", "executor", "process",
                           "processes", "pitfalls", "figure", "overwrite"})
    if (app.count(fmt::format("--{}", name)) > 0)
      throw CLI::ValidationError(fmt::format(
          "--{} is an option of `hone bench MODEL`, not of `hone bench MODEL MODEL`", name));
}

void run_dequantize(DequantizeArguments& a, const CLI::App& app) {
  if (app.count("--elements") > 0) a.job.elements = parse_counts("--elements", a.elements);
  if (app.count("--group") > 0) a.job.groups = parse_counts("--group", a.groups);
  a.job.to_float = a.to == "fp32";
  Context context = make_context(a.run);
  print("bench", bench_dequantize(a.job, context), a.run);
}

void run_attention(AttentionArguments& a, const CLI::App& app) {
  AttentionJob& job = a.job;
  if (app.count("--shape") > 0) {
    const std::vector<std::int64_t> shape = parse_counts("--shape", a.shape);
    if (shape.size() != 4)
      throw UsageError(fmt::format(
          "--shape: expected texts,heads,tokens,size of a head, as 32,8,128,64, got '{}'",
          a.shape));
    job.shape = {.texts = shape[0], .heads = shape[1], .tokens = shape[2], .size = shape[3]};
  }
  if (app.count("--dtype") > 0)
    job.types = parse_words("--dtype", a.dtypes, kAttentionTypes, &AttentionType::name);
  constexpr AttentionImplementation kImplementations[] = {AttentionImplementation::naive,
                                                          AttentionImplementation::fused};
  if (app.count("--impl") > 0)
    job.implementations = parse_words(
        "--impl", a.implementations, kImplementations,
        [](AttentionImplementation implementation) { return to_string(implementation); });
  Context context = make_context(a.run);
  print("bench", bench_attention(job, context), a.run);
}

void take_shape(LinearArguments& a, const CLI::App& app) {
  LinearJob& job = a.job;
  if (app.count("--shape") > 0) {
    std::vector<std::int64_t> shape = parse_counts("--shape", a.shape);
    if (shape.size() != 2 && shape.size() != 3)
      throw UsageError(fmt::format(
          "--shape: expected rows,inputs,outputs, as 16,4096,4096, or inputs,outputs, got '{}'",
          a.shape));
    if (shape.size() == 3) job.rows = {shape[0]};
    job.inputs = shape[shape.size() - 2];
    job.outputs = shape.back();
  }
  if (app.count("--rows") > 0) job.rows = parse_counts("--rows", a.rows);
}

void run_linear(LinearArguments& a, const CLI::App& app) {
  LinearJob& job = a.job;
  take_shape(a, app);
  constexpr LinearImplementation kImplementations[] = {
      LinearImplementation::fp32, LinearImplementation::bf16, LinearImplementation::packed,
      LinearImplementation::native};
  if (app.count("--impl") > 0)
    job.implementations =
        parse_words("--impl", a.implementations, kImplementations,
                    [](LinearImplementation implementation) { return to_string(implementation); });
  if (app.count("--block") > 0) job.block = parse_structure(a.block).block;
  job.seed = a.run.seed;
  Context context = make_context(a.run);
  if (!a.formats.empty())
    for (const std::string& text : split_outside_brackets(a.formats))
      job.formats.push_back(value_of_flag(
          "--format", [&] { return parse_format(trim(text), context.library.formats); }));
  print("bench", bench_linear(job, context), a.run);
}

// Rejects options that need call-by-call timing without it, and options that have no effect with it.
void check_iterations(const ModelArguments& a, const CLI::App& app) {
  const bool by_call = is_by_call(app);
  for (const char* name : {"warmup", "process", "processes", "figure", "overwrite"})
    if (app.count(fmt::format("--{}", name)) > 0 && (!by_call || a.naive))
      throw UsageError(
          fmt::format("hone bench: --{} of a model needs --iterations, without --pitfalls", name));
  for (const char* name : {"runs", "profile"})
    if (app.count(fmt::format("--{}", name)) > 0 && by_call)
      throw UsageError(fmt::format(
          "hone bench: --{} does nothing with --iterations, --executor and --pitfalls, which "
          "report every call",
          name));
  if (a.naive && app.count("--executor") > 0)
    throw UsageError("hone bench: --pitfalls uses the interpreter; leave --executor out");
}

void run_iterations(ModelArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  apply_flags(a.flags, "bench", context.library.formats, a.job.options);
  a.job.seed = a.run.seed;
  if (a.naive)
    return print("bench", bench_naive({.work = a.job, .rounds = a.iterations.iterations}, context),
                 a.run);
  IterationsJob& job = a.iterations;
  job.work = a.job;
  if (app.count("--executor") > 0)
    job.executors = parse_words("--executor", a.executors, execution_mode_names(), std::identity());
  if (app.count("--warmup") > 0) job.ignored = a.ignored;
  const auto process = std::ranges::find(kIterationProcesses, a.process);
  job.process = static_cast<IterationProcess>(process - std::begin(kIterationProcesses));
  static const std::set<std::string> own = {"executor",    "iterations", "process", "processes",
                                            "json",        "quiet",      "figure",  "overwrite",
                                            "show_passes", "dump_passes"};
  job.arguments = given_arguments(app, [](const std::string& name) { return !own.contains(name); });
  job.arguments.insert(job.arguments.begin(), "bench");
  job.figure = a.figure;
  job.overwrite = a.overwrite;
  print("bench", bench_iterations(job, context), a.run);
}

void run_models(ModelArguments& a) {
  Context context = make_context(a.run);
  apply_flags(a.flags, "bench", context.library.formats, a.job.options);
  print("bench",
        bench_models({.models = a.models, .options = a.job.options, .seed = a.run.seed}, context),
        a.run);
}

void run_bench(ModelArguments& a, const CLI::App& app) {
  if (a.models.size() > 1) return run_models(a);
  a.job.model = a.models.front();
  check_iterations(a, app);
  if (is_by_call(app)) return run_iterations(a, app);
  Context context = make_context(a.run);
  apply_flags(a.flags, "bench", context.library.formats, a.job.options);
  a.job.seed = a.run.seed;
  print("bench", bench(a.job, context), a.run);
}

template <auto... kMembers>
OptionDef runs_option(std::string_view when_zero) {
  return option<kMembers...>("runs", fmt::format("number of timed runs (0: {})", when_zero))
      .from(0);
}

// Offers fp32 and tf32 only: these commands select other types with --dtype or --impl.
Options exact_device_options() {
  Options options = device_options();
  OptionDef& precision = options.at("precision");
  precision.meaning = "arithmetic of fp32 products (tf32: GPU only)";
  precision.choices = {"fp32", "tf32"};
  return options;
}

Options options_of(const ModelArguments*) {
  using A = ModelArguments;
  return {
      argument<&A::models>("MODEL", "model folders, tiny or base; the first is the baseline")
          .required()
          .takes(kModelValue),
      adapter_option<&A::job, &BenchJob::adapter>(),
      group<&A::job, &BenchJob::options>(),
      group<&A::flags>(),
      runs_option<&A::job, &BenchJob::options, &BenchOptions::runs>(
          "chosen by their time; several models: 9 to 13 rounds"),
      option<&A::iterations, &IterationsJob::iterations>("iterations", "calls to time one by one")
          .from(2),
      option<&A::executors>("executor",
                            fmt::format("executors to compare, the first is the baseline: {}",
                                        fmt::join(execution_mode_names(), ", ")))
          .shown("LIST")
          .under(Heading::execution)
          .rare(),
      option<&A::ignored>("warmup", "calls to leave out at the start; by default 10 at most")
          .from(0)
          .rare(),
      option<&A::process>("process", "time calls in this process, a warm one, or fresh ones too")
          .one_of({std::begin(kIterationProcesses), std::end(kIterationProcesses)})
          .rare(),
      option<&A::iterations, &IterationsJob::processes>("processes", "fresh processes per executor")
          .from(1)
          .rare(),
      option<&A::naive>("pitfalls", "show the cost of common benchmarking mistakes"),
      option<&A::job, &BenchJob::profile>("profile", "show the time of each kernel"),
      figure_option<&A::figure>("draw the result of --iterations"),
      overwrite_option<&A::overwrite>("replace the files of --figure"),
      group<&A::run>()};
}

Options options_of(const AttentionArguments*) {
  using A = AttentionArguments;
  return {option<&A::shape>("shape", "batch size,heads,tokens,head size; by default 32,8,128,64"),
          option<&A::dtypes>("dtype", "types of values: fp32, bf16, fp16; by default all")
              .shown("LIST"),
          option<&A::implementations>("impl", "implementations: naive, fused; by default both")
              .shown("LIST"),
          option<&A::job, &AttentionJob::profile>("profile", "show the time of each operation"),
          runs_option<&A::job, &AttentionJob::runs>("20"),
          group<&A::run>(output_options()),
          group<&A::run>(plugin_option()),
          group<&A::run>(exact_device_options())};
}

Options options_of(const LinearArguments*) {
  using A = LinearArguments;
  return {
      option<&A::shape>("shape", "inputs,outputs, or rows,inputs,outputs; by default 4096,4096"),
      option<&A::rows>("rows",
                       "rows of the input (batch size times tokens); by default 1,4,16,64,256")
          .shown("LIST"),
      option<&A::formats>("format", "formats of packed and native weights; by default 8 and 4 bits")
          .takes(kFormatValue),
      option<&A::implementations>("impl",
                                  "implementations: fp32, bf16, packed, native; by default all")
          .shown("LIST"),
      option<&A::job, &LinearJob::sparsities>(
          "sparsity", "fractions of zeros, to compare sparse kernels with dense ones")
          .separated()
          .shown("LIST")
          .from(0, 1),
      option<&A::block>("block", "blocks of zeros; by default 4x1 for floats, 1x4 for codes")
          .one_of({"1x4", "4x1", "weights"})
          .needing("sparsity"),
      runs_option<&A::job, &LinearJob::runs>("6 to 20, as time allows"),
      group<&A::run>(output_options()),
      group<&A::run>(seed_option()),
      group<&A::run>(plugin_option()),
      group<&A::run>(exact_device_options())};
}

Options options_of(const DequantizeArguments*) {
  using A = DequantizeArguments;
  return {option<&A::elements>("elements", "sizes of the arrays").shown("LIST"),
          option<&A::groups>("group", "elements per scale").shown("LIST"),
          option<&A::job, &DequantizeJob::bits>("bits", "bits per element").one_of({"8", "4"}),
          option<&A::to>("to", "type of the result").one_of({"bf16", "fp32"}),
          runs_option<&A::job, &DequantizeJob::runs>("chosen by their time"),
          figure_option<&A::job, &DequantizeJob::figure>("draw how threads share the first array"),
          overwrite_option<&A::job, &DequantizeJob::overwrite>("replace the files of --figure"),
          group<&A::run>(output_options()),
          group<&A::run>(device_option())};
}

Command part_of_bench(std::string_view name, std::string_view summary, std::string_view example,
                      const CommandRun& run) {
  return {.name = name,
          .summary = summary,
          .example = example,
          .run = run,
          .stage = {.measures_time = true}};
}

}  // namespace

Command bench_command() {
  return {.name = "bench",
          .summary = "Measure the speed of models and kernels",
          .example = "hone bench tiny --batch_size 8 --tokens 128 --train --threads 2 --json",
          .run = runs<ModelArguments, run_bench>(),
          .check =
              [](const void* arguments, const CLI::App& app) {
                check_models(*static_cast<const ModelArguments*>(arguments),
                             dynamic_cast<const CommandApp&>(app));
              },
          .stage = {.measures_time = true},
          .subcommands = {
              part_of_bench("bench linear", "Time one linear layer, dense, quantized and sparse",
                            "hone bench linear --shape 1024,1024 --rows 1,16 --sparsity 0.5,0.9",
                            runs<LinearArguments, run_linear>()),
              part_of_bench("bench attention", "Time attention, naive and fused",
                            "hone bench attention --shape 4,8,128,64 --dtype fp32",
                            runs<AttentionArguments, run_attention>()),
              part_of_bench("bench dequantize", "Time decoding MXINT arrays to floats",
                            "hone bench dequantize --elements 65536 --group 32,128",
                            runs<DequantizeArguments, run_dequantize>())}};
}

}  // namespace hone
