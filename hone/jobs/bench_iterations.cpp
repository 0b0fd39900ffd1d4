#include "hone/jobs/bench_iterations.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/run_profile.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::int64_t kIgnored = 10, kManyCalls = 50, kShareOfFew = 5;

/// An executor with its work, ready to be called.
struct ExecutorRunner {
  const ExecutionMode& mode;
  BenchWork work;
  std::unique_ptr<Executable> executable = nullptr;
  CallSeries series = {};

  double call(Device& device) {
    return run_ms([&] { work.run(*executable, device); });
  }
};

// Prepares an executor up to its first call, and times that.
std::unique_ptr<ExecutorRunner> prepare_runner(const Model& model, const BenchOptions& options,
                                               const ExecutionMode& mode, const Session& session) {
  auto runner = std::make_unique<ExecutorRunner>(
      ExecutorRunner{mode, bench_work(model, model.parameters, options, mode, session)});
  const double planning =
      run_ms([&] { runner->executable = runner->work.executable(mode, session); });
  runner->series.stages = runner->work.stages;
  runner->series.stages.push_back({"planning", planning});
  return runner;
}

std::vector<OperationKind> kinds_of(const Graph& graph, const Bindings& bindings) {
  std::map<std::string_view, OperationKind> by_name;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    OperationKind& kind = by_name[node->op().name];
    ++kind.nodes;
    kind.moved_bytes += static_cast<std::int64_t>(bytes_moved(*node, bindings));
  }
  std::vector<OperationKind> kinds;
  for (auto& [name, kind] : by_name) {
    kind.operation = name;
    kinds.push_back(std::move(kind));
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), &OperationKind::moved_bytes);
  return kinds;
}

// Prepares all executors, then calls them in turn: a round calls each once, and each round begins with the next
// executor.
void time_calls(IterationTimes& times, const Model& model, const IterationsJob& job,
                const BenchOptions& options, const Session& session, const ProgressOutput& output) {
  std::vector<std::unique_ptr<ExecutorRunner>>
      runners;  // stable addresses: executables keep references
  for (const std::string& executor : job.executors)
    runners.push_back(prepare_runner(model, options, find_execution_mode(executor), session));
  Progress progress("calls", job.iterations,
                    {.unit = "calls", .end = ProgressEnd::vanishes, .output = output});
  for (std::int64_t round = 0; round < job.iterations; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      ExecutorRunner& runner = *runners[(static_cast<std::size_t>(round) + i) % runners.size()];
      runner.series.calls_ms.push_back(runner.call(session.device));
    }
    progress.update(round + 1);
    stop_if_interrupted();
  }
  progress.finish();
  for (std::size_t i = 0; i < runners.size(); ++i) {
    ExecutorCalls& calls = times.executors[i];
    const BenchWork& work = runners[i]->work;
    calls.graph = kinds_of(executed_graph(runners[i]->mode, work.graph, session), work.bindings);
    if (job.process == IterationProcess::own) {
      calls.fresh = {runners[i]->series};
    } else {
      calls.warm = runners[i]->series;
    }
  }
}

void call_once(const Model& model, const IterationsJob& job, const BenchOptions& options,
               const Session& session) {
  for (const std::string& executor : job.executors)
    prepare_runner(model, options, find_execution_mode(executor), session)->call(session.device);
}

void time_fresh(ExecutorCalls& times, const IterationsJob& job, Progress& progress,
                std::int64_t& done) {
  for (std::int64_t i = 0; i < job.processes; ++i) {
    std::vector<std::string> arguments = job.arguments;
    for (const std::string& word :
         {"--executor=" + times.executor, fmt::format("--iterations={}", job.iterations),
          std::string("--process=this"), std::string("--json"), std::string("--quiet")})
      arguments.push_back(word);
    const CommandResult ending = run_own_command(arguments, fs::current_path());
    stop_if_interrupted();
    user_check(ending.code == 0, "the fresh process for {} failed: {}", times.executor,
               ending.error);
    const IterationTimes loaded =
        from_json<IterationTimes>(parse_json(ending.output, "its result"));
    times.fresh.push_back(loaded.executors.front().fresh.front());
    times.process_ms.push_back(1e3 * ending.seconds);
    progress.update(++done);
  }
}

void time_all_fresh(IterationTimes& times, const IterationsJob& job, const ProgressOutput& output) {
  Progress progress("fresh processes", job.processes * std::ssize(times.executors),
                    {.unit = "processes", .end = ProgressEnd::vanishes, .output = output});
  std::int64_t done = 0;
  for (ExecutorCalls& calls : times.executors) time_fresh(calls, job, progress, done);
  progress.finish();
}

void check_iterations(const IterationsJob& job, const Session& session) {
  for (const std::string& executor : job.executors)
    check_usable(find_execution_mode(executor), session);
  usage_check(std::set<std::string>(job.executors.begin(), job.executors.end()).size() ==
                  job.executors.size(),
              "`executor`: expected each executor once, got {}", fmt::join(job.executors, ", "));
  usage_check(job.iterations >= 2, "`iterations`: expected 2 or more, got 1");
  usage_check(job.ignored.value_or(0) < job.iterations,
              "`warmup`: {} calls of {} would leave none to count", job.ignored.value_or(0),
              job.iterations);
  usage_check(job.process != IterationProcess::own || job.executors.size() == 1,
              "`process` this: expected one executor, got {}", fmt::join(job.executors, ", "));
}

std::vector<ExecutorNotRun> not_run_on(const Session& session) {
  std::vector<ExecutorNotRun> all;
  for (const ExecutionMode& mode : execution_modes())
    if (std::string reason = objection_of(mode, session); !reason.empty())
      all.push_back({std::string(mode.name), std::move(reason)});
  return all;
}

std::int64_t ignored_of(const IterationsJob& job) {
  if (job.ignored) return *job.ignored;
  return job.iterations < kManyCalls ? job.iterations / kShareOfFew : kIgnored;
}

}  // namespace

std::string_view ExecutorCalls::summary() const { return find_execution_mode(executor).summary; }

std::int64_t ExecutorCalls::operations() const {
  std::int64_t sum = 0;
  for (const OperationKind& kind : graph) sum += kind.nodes;
  return sum;
}

std::int64_t ExecutorCalls::moved_bytes() const {
  std::int64_t sum = 0;
  for (const OperationKind& kind : graph) sum += kind.moved_bytes;
  return sum;
}

const Fields& fields_of(const OperationKind*) {
  using O = OperationKind;
  static const Fields fields =
      describe<O>("operation_kind", "All operations of a kind in a graph.",
                  field<&O::operation>("operation", "Their name."),
                  field<&O::nodes>("nodes", "How many there are."),
                  field<&O::moved_bytes>("moved_bytes", Unit::bytes,
                                         "Read and written in a call, as if no cache held "
                                         "anything; views move none."));
  return fields;
}

const Fields& fields_of(const ExecutorCalls*) {
  using E = ExecutorCalls;
  static const Fields fields = describe<E>(
      "executor_calls", "Times of an executor.", field<&E::executor>("executor", "Its name."),
      field<&E::summary>("summary", "What it does."),
      field<&E::warm>("warm", "In a warm process, where executors take turns; null: not timed."),
      field<&E::fresh>("fresh", "In new processes."),
      field<&E::process_ms>("process_ms", Unit::milliseconds,
                            "Of each new process from start to end, reading the model included."),
      field<&E::operations>("operations", "Operations of its graph."),
      field<&E::moved_bytes>("moved_bytes", Unit::bytes,
                             "Read and written in a call, as if no cache held anything."),
      field<&E::graph>("graph", "Its operations by kind, those that move most first."));
  return fields;
}

const Fields& fields_of(const ExecutorNotRun*) {
  using E = ExecutorNotRun;
  static const Fields fields =
      describe<E>("executor_not_run", "An executor that the device does not support.",
                  field<&E::executor>("executor", "Its name.", "Executor"),
                  field<&E::why_not>("why_not", "Reason.", "Reason"));
  return fields;
}

const Fields& fields_of(const ExecutorTimesResult*) {
  using E = ExecutorTimesResult;
  static const Fields fields = describe<E>(
      "executor_times",
      "An executor in one kind of process; of several new processes the medians over them.",
      field<&E::executor>("executor", "Its name.", "Executor"),
      field<&E::process>("process", "fresh: new processes; warm: this one, after a first run.",
                         "Process"),
      field<&E::processes>("processes", "Processes of that kind.", "Processes"),
      field<&E::start_ms>("start_ms", Unit::milliseconds,
                          "Until the first output: preparation and the first call.",
                          "First output (ms)"),
      field<&E::start_min_ms>("start_min_ms", Unit::milliseconds,
                              "In the fastest process; null: there was one.", "Min"),
      field<&E::start_max_ms>("start_max_ms", Unit::milliseconds,
                              "In the slowest process; null: there was one.", "Max"),
      field<&E::first_ms>("first_ms", Unit::milliseconds, "The first call.", "First call (ms)"),
      field<&E::min_ms>("min_ms", Unit::milliseconds, "Fastest counted call.", "Minimum (ms)"),
      field<&E::median_ms>("median_ms", Unit::milliseconds, "Median call.", "Median (ms)"),
      field<&E::median_low_ms>("median_low_ms", Unit::milliseconds,
                               "Low end of its interval of at least 95% in one process, or the "
                               "lowest median of several; null: fewer than six counted calls.",
                               "From"),
      field<&E::median_high_ms>("median_high_ms", Unit::milliseconds,
                                "The high end, or the highest median; null likewise.", "To"),
      field<&E::p95_ms>("p95_ms", Unit::milliseconds,
                        "95% of calls take no longer; null: fewer than 20 counted calls.",
                        "p95 (ms)"),
      field<&E::counted>("counted", "Calls after those that are ignored.", "Calls counted"),
      field<&E::calls_for_one_percent>(
          "calls_for_one_percent",
          "Calls that would make the median of one process accurate to "
          "1%; null: these do, or there are several processes.",
          "Calls for ±1%"));
  return fields;
}

const Fields& fields_of(const LoopMeanResult*) {
  using L = LoopMeanResult;
  static const Fields fields = describe<L>(
      "loop_mean", "Mean times of a loop of n calls.", field<&L::executor>("executor", "Its name."),
      field<&L::process>("process", "fresh: new processes; warm: this one, after a first run."),
      field<&L::n>("n", "Calls."),
      field<&L::with_preparation_ms>("with_ready_ms", Unit::milliseconds, "Mean with preparation."),
      field<&L::mean_ms>("mean_ms", Unit::milliseconds, "Mean from the first call on."),
      field<&L::later_ms>("later_ms", Unit::milliseconds,
                          "Mean of n calls after those that are ignored, or of all there are."),
      field<&L::with_preparation_ratio>("with_ready_ratio", Unit::ratio,
                                        "Speedup over the first executor by the first mean; null: "
                                        "not timed this way, or the only executor."),
      field<&L::mean_ratio>("mean_ratio", Unit::ratio, "The same by the second mean."),
      field<&L::later_ratio>("later_ratio", Unit::ratio, "The same by the third mean."));
  return fields;
}

const Fields& fields_of(const ExecutorComparisonResult*) {
  using E = ExecutorComparisonResult;
  static const Fields fields = describe<E>(
      "executor_comparison", "An executor compared with the first in one kind of process.",
      field<&E::executor>("executor", "Its name.", "Executor"),
      field<&E::baseline>("baseline", "The first executor.", "Baseline"),
      field<&E::process>("process", "fresh: new processes; warm: this one, after a first run.",
                         "Process"),
      inlined<&E::speedup>(),
      field<&E::rounds_to_detect>(
          "rounds_to_tell",
          "Rounds that would show a difference of this size with 80% power; "
          "null: no number would, or calls took no turns.",
          "Rounds needed"),
      field<&E::extra_ms>("extra_ms", Unit::milliseconds,
                          "How much later the first output is ready.",
                          "First output, difference (ms)"),
      field<&E::second_extra_ms>("second_extra_ms", Unit::milliseconds,
                                 "How much longer the second call, which packs weights, takes, "
                                 "beyond the usual difference.",
                                 "Second call, difference (ms)"),
      field<&E::gain_ms>("gain_ms", Unit::milliseconds, "How much less a later call takes.",
                         "Saved per call (ms)"),
      field<&E::break_even_call>("break_even_call",
                                 "The call from which on its total time is lower; null: never, or "
                                 "no difference per call is shown.",
                                 "Break-even call"),
      field<&E::break_even_low>("break_even_low", "The earliest such call; null likewise.",
                                "Earliest"),
      field<&E::break_even_high>("break_even_high", "The latest such call; null: perhaps never.",
                                 "Latest"));
  return fields;
}

const Fields& fields_of(const IterationTimes*) {
  using I = IterationTimes;
  static const Fields fields = describe<I>(
      "timed_calls", "A model timed call by call.", inlined<&I::work>(),
      field<&I::iterations>("iterations", "Calls of each executor."),
      field<&I::ignored>("ignored", "Calls at the beginning that medians leave out."),
      field<&I::executors>("executors", "Every call of each executor; the first is the baseline."),
      field<&I::not_run>("not_run", "Executors that the device does not support."),
      field<&I::times>("times", "The same in numbers."),
      field<&I::means>("means", "Means of loops of n calls."),
      field<&I::comparisons>("comparisons", "Every other executor compared with the first."),
      field<&I::findings>("findings", "The same in sentences, and what was not shown."));
  return fields;
}

IterationsResult bench_iterations(const IterationsJob& asked, Context& context) {
  const Session session = context.session();
  IterationsJob job = asked;
  if (job.executors.empty()) job.executors = usable_modes(session);
  check_iterations(job, session);
  for (const char* extension : {".svg", ".png", ".tsv", ".gp"})
    if (!job.figure.empty()) check_output_file(job.figure + extension, job.overwrite);
  BenchOptions options = job.work.options;
  const Model model =
      model_to_time(bench_model(job.work, context), job.work.model, options, context);
  const std::string what =
      bench_text(model, job.work.model, options, fmt::format("{}", fmt::join(job.executors, ", ")),
                 bench_arithmetic(model, options, session));
  IterationTimes times{.work = timed_work(job.work, options, what, context),
                       .iterations = job.iterations,
                       .ignored = ignored_of(job)};
  for (const std::string& executor : job.executors)
    times.executors.push_back({.executor = executor});
  if (asked.executors.empty()) times.not_run = not_run_on(session);
  if (job.process == IterationProcess::both) time_all_fresh(times, job, context.progress);
  if (job.process != IterationProcess::own) call_once(model, job, options, session);
  time_calls(times, model, job, options, session, context.progress);
  if (!job.figure.empty()) write_figure(iterations_figure(times), job.figure);
  IterationsResult result;
  result.fields = to_json(times);
  result.document = iterations_document(times);
  result.times = std::move(times);
  return result;
}

}  // namespace hone
