#include "hone/jobs/bench.h"

#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <set>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/bench_flags.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/bench_attention.h"
#include "hone/jobs/bench_dequantize.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_linear.h"
#include "hone/jobs/bench_models.h"
#include "hone/jobs/bench_naive.h"

namespace hone {
namespace {

// What can be timed in place of a model, and the options of each.
constexpr const char *kAttention = "attention", *kLinear = "linear", *kDequantize = "dequantize";
constexpr const char *kModel = "MODEL", *kModels = "MODEL MODEL";
struct Subject {
  std::string name;
  std::set<std::string> flags;
};
const Subject kSubjects[] = {
    {kModel, {"batch_size", "tokens",  "train",     "qat",      "format",    "native",     "lora",
              "profile",    "adapter", "runs",      "device",   "precision", "iterations", "warmup",
              "executor",   "process", "processes", "pitfalls", "figure",    "overwrite"}},
    {kModels,
     {"batch_size", "tokens", "train", "qat", "format", "native", "lora", "runs", "device",
      "precision"}},
    {kAttention, {"shape", "dtype", "impl", "profile", "runs", "device", "precision"}},
    {kLinear,
     {"shape", "rows", "format", "impl", "sparsity", "block", "runs", "device", "precision"}},
    {kDequantize, {"elements", "group", "bits", "to", "figure", "overwrite", "runs", "device"}}};

struct BenchArguments {
  std::vector<std::string> models;
  BenchJob job;
  BenchFlags flags;
  AttentionJob attention;
  std::string shape, dtypes, ways;
  LinearJob linear;
  std::string rows, block;
  IterationsJob iterations;
  std::int64_t ignored = 0;
  std::string executors, process = "both";
  bool naive = false;
  DequantizeJob dequantize;
  std::string elements, groups;
  std::string to = "bf16";
  std::string figure;
  bool overwrite = false;
  bool profile = false;
  RunArguments run;
};

// "1024,4096"
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

// The rows of a table whose names are listed with commas between them; `name_of` returns the name of a row.
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

const Subject& subject_called(std::string_view name) {
  for (const Subject& subject : kSubjects)
    if (subject.name == name) return subject;
  return kSubjects[0];
}

const Subject& subject_of(const BenchArguments& a) {
  if (a.models.size() == 1) return subject_called(a.models.front());
  for (const std::string& name : a.models)
    if (const Subject& other = subject_called(name); other.name != kModel)
      throw CLI::ValidationError(fmt::format(
          "{} cannot be compared with models; give it as the only argument", other.name));
  return subject_called(kModels);
}

bool is_by_call(const CLI::App& app) {
  return app.count("--iterations") + app.count("--executor") + app.count("--pitfalls") > 0;
}

// Refuses options that would do nothing, while the line is parsed.
void check_use(const BenchArguments& a, const CLI::App& app) {
  const Subject& asked = subject_of(a);
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = argument_name(*option);
    if (option->count() == 0 || asked.flags.contains(name)) continue;
    std::vector<std::string> owners;
    for (const Subject& other : kSubjects)
      if (other.flags.contains(name)) owners.push_back(fmt::format("`hone bench {}`", other.name));
    if (!owners.empty())
      throw CLI::ValidationError(fmt::format("--{} is an option of {}, not of `hone bench {}`",
                                             name, fmt::join(owners, " and "), asked.name));
  }
}

void run_dequantize(BenchArguments& a, const CLI::App& app) {
  DequantizeJob& job = a.dequantize;
  if (app.count("--elements") > 0) job.elements = parse_counts("--elements", a.elements);
  if (app.count("--group") > 0) job.groups = parse_counts("--group", a.groups);
  job.to_float = a.to == "fp32";
  job.runs = a.job.options.runs;
  job.figure = a.figure;
  job.overwrite = a.overwrite;
  Context context = make_context(a.run);
  print("bench", bench_dequantize(job, context), a.run);
}

void run_attention(BenchArguments& a, const CLI::App& app) {
  AttentionJob& job = a.attention;
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
  constexpr AttentionWay kWays[] = {AttentionWay::naive, AttentionWay::fused};
  if (app.count("--impl") > 0)
    job.ways =
        parse_words("--impl", a.ways, kWays, [](AttentionWay way) { return to_string(way); });
  job.profile = a.profile;
  job.runs = a.job.options.runs;
  if (a.run.precision == "bf16" || a.run.precision == "fp16")
    throw UsageError(fmt::format("hone bench attention: --precision {} is --dtype {} here",
                                 a.run.precision, a.run.precision));
  Context context = make_context(a.run);
  print("bench", bench_attention(job, context), a.run);
}

void take_shape(BenchArguments& a, const CLI::App& app) {
  LinearJob& job = a.linear;
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

void run_linear(BenchArguments& a, const CLI::App& app) {
  LinearJob& job = a.linear;
  take_shape(a, app);
  constexpr ProductWay kWays[] = {ProductWay::fp32, ProductWay::bf16, ProductWay::packed,
                                  ProductWay::native};
  if (app.count("--impl") > 0)
    job.ways = parse_words("--impl", a.ways, kWays, [](ProductWay way) { return to_string(way); });
  if (app.count("--block") > 0) job.block = parse_structure(a.block).block;
  job.runs = a.job.options.runs;
  job.seed = a.run.seed;
  if (a.run.precision == "bf16")
    throw UsageError("hone bench linear: --precision bf16 is --impl bf16 here");
  if (a.run.precision == "fp16")
    throw UsageError("hone bench linear: --precision fp16: values are fp32, or bf16 by --impl");
  Context context = make_context(a.run);
  if (!a.flags.format.empty())
    for (const std::string& text : split_outside_brackets(a.flags.format))
      job.formats.push_back(value_of_flag(
          "--format", [&] { return parse_format(trim(text), context.library.formats); }));
  print("bench", bench_linear(job, context), a.run);
}

// Options for timing call by call, and options that do nothing then.
void check_iterations(const BenchArguments& a, const CLI::App& app) {
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

void run_iterations(BenchArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  take(a.flags, "bench", context.library.formats, a.job.options);
  a.job.seed = a.run.seed;
  if (a.naive)
    return print("bench", bench_naive({.work = a.job, .rounds = a.iterations.iterations}, context),
                 a.run);
  IterationsJob& job = a.iterations;
  job.work = a.job;
  if (app.count("--executor") > 0)
    job.ways = parse_words("--executor", a.executors, execution_way_names(), std::identity());
  if (app.count("--warmup") > 0) job.ignored = a.ignored;
  const auto process = std::ranges::find(kIterationProcesses, a.process);
  job.process = static_cast<IterationProcess>(process - std::begin(kIterationProcesses));
  static const std::set<std::string> own = {"executor",    "iterations", "process", "processes",
                                            "json",        "quiet",      "figure",  "overwrite",
                                            "show_passes", "dump_passes"};
  job.words = words_of(app, [](const std::string& name) { return !own.contains(name); });
  job.words.insert(job.words.begin(), "bench");
  job.figure = a.figure;
  job.overwrite = a.overwrite;
  print("bench", bench_iterations(job, context), a.run);
}

void run_models(BenchArguments& a) {
  Context context = make_context(a.run);
  take(a.flags, "bench", context.library.formats, a.job.options);
  print("bench",
        bench_models({.models = a.models, .options = a.job.options, .seed = a.run.seed}, context),
        a.run);
}

void run_bench(BenchArguments& a, const CLI::App& app) {
  a.job.model = a.models.front();
  if (a.models.size() > 1) return run_models(a);
  if (a.job.model == kDequantize) return run_dequantize(a, app);
  if (a.job.model == kAttention) return run_attention(a, app);
  if (a.job.model == kLinear) return run_linear(a, app);
  check_iterations(a, app);
  if (is_by_call(app)) return run_iterations(a, app);
  a.job.profile = a.profile;
  Context context = make_context(a.run);
  take(a.flags, "bench", context.library.formats, a.job.options);
  a.job.seed = a.run.seed;
  print("bench", bench(a.job, context), a.run);
}

Options options_of(const BenchArguments*) {
  using A = BenchArguments;
  Options flags = group<&A::flags>();
  flags.at("format").meaning = "format to simulate; linear: packed formats";
  return {
      argument<&A::models>("MODEL", "models, or one of attention, linear, dequantize")
          .required()
          .takes(kModelValue),
      adapter_option<&A::job, &BenchJob::adapter>(),
      group<&A::job, &BenchJob::options>(),
      flags,
      option<&A::job, &BenchJob::options, &BenchOptions::runs>(
          "runs", "number of timed runs (0: chosen by their time)")
          .from(0),
      option<&A::iterations, &IterationsJob::iterations>("iterations", "calls to time one by one")
          .from(2),
      option<&A::executors>("executor",
                            fmt::format("executors to compare, the first is the baseline: {}",
                                        fmt::join(execution_way_names(), ", ")))
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
      option<&A::profile>("profile", "show the time of each kernel"),
      option<&A::shape>("shape", "attention: batch,heads,tokens,head size; linear: inputs,outputs")
          .rare(),
      option<&A::rows>("rows", "linear: rows of the input (batch size times tokens)").rare(),
      option<&A::dtypes>("dtype", "attention: fp32, bf16, fp16; by default all").rare(),
      option<&A::ways>("impl", "attention: naive, fused; linear: fp32, bf16, packed, native")
          .rare(),
      option<&A::linear, &LinearJob::sparsities>(
          "sparsity", "linear: fractions of zeros, for sparse kernels beside dense ones")
          .separated()
          .shown("LIST")
          .from(0, 1)
          .rare(),
      option<&A::block>(
          "block", "linear: zeros come in these blocks; by default 4x1 in floats, 1x4 in codes")
          .one_of({"1x4", "4x1", "weights"})
          .needing("sparsity")
          .rare(),
      option<&A::elements>("elements", "dequantize: sizes of the arrays").shown("LIST").rare(),
      option<&A::groups>("group", "dequantize: elements per scale").shown("LIST").rare(),
      option<&A::dequantize, &DequantizeJob::bits>("bits", "dequantize: bits per element")
          .one_of({"8", "4"})
          .rare(),
      option<&A::to>("to", "dequantize: type of the result").one_of({"bf16", "fp32"}).rare(),
      figure_option<&A::figure>("draw the result of dequantize or of --iterations"),
      overwrite_option<&A::overwrite>("replace the files of --figure"),
      group<&A::run>(),
      group<&A::run>(device_options())};
}

}  // namespace

Command bench_command() {
  return {.name = "bench",
          .summary = "Measure the speed of models and kernels",
          .example = "hone bench tiny --batch_size 8 --tokens 128 --train --threads 2 --json",
          .run = runs<BenchArguments, run_bench>(),
          .check =
              [](const void* arguments, const CLI::App& app) {
                check_use(*static_cast<const BenchArguments*>(arguments), app);
              },
          .stage = {.measures_time = true}};
}

}  // namespace hone
