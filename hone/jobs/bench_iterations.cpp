#include "hone/jobs/bench_iterations.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/run_profile.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::int64_t kIgnored = 10, kManyCalls = 50, kShareOfFew = 5;

/// A way with its work, ready to be called.
struct WayRunner {
  const ExecutionWay& way;
  BenchWork work;
  std::unique_ptr<Executable> executable = nullptr;
  CallSeries series = {};

  double call(Device& device) {
    return run_ms([&] { work.run(*executable, device); });
  }
};

// Until it is called, with what that took.
std::unique_ptr<WayRunner> make_ready(const Model& model, const BenchOptions& options,
                                      const ExecutionWay& way, const Session& session) {
  auto runner = std::make_unique<WayRunner>(
      WayRunner{way, bench_work(model, model.parameters, options, way, session)});
  const double planning =
      run_ms([&] { runner->executable = runner->work.executable(way, session); });
  runner->series.stages = runner->work.stages;
  runner->series.stages.push_back({"planning", planning});
  return runner;
}

// All ways, made ready one after the other, and called in turn: a round is a call of each, and every one begins with the next.
void time_calls(IterationTimes& times, const Model& model, const IterationsJob& job,
                const BenchOptions& options, const Session& session, const ProgressOutput& output) {
  std::vector<std::unique_ptr<WayRunner>> runners;  // what an executable refers to must not move
  for (const std::string& way : job.ways)
    runners.push_back(make_ready(model, options, find_execution_way(way), session));
  Progress progress("calls", job.iterations,
                    {.unit = "calls", .end = ProgressEnd::vanishes, .output = output});
  for (std::int64_t round = 0; round < job.iterations; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      WayRunner& runner = *runners[(static_cast<std::size_t>(round) + i) % runners.size()];
      runner.series.calls_ms.push_back(runner.call(session.device));
    }
    progress.update(round + 1);
    stop_if_interrupted();
  }
  progress.finish();
  for (std::size_t i = 0; i < runners.size(); ++i) {
    WayTimes& way = times.ways[i];
    const BenchWork& work = runners[i]->work;
    way.operations = std::ssize(work.graph.of_kind(NodeKind::operation));
    way.moved_bytes = bytes_moved(work.graph, work.bindings);
    if (job.process == IterationProcess::own) {
      way.fresh = {runners[i]->series};
    } else {
      way.warm = runners[i]->series;
    }
  }
}

void call_once(const Model& model, const IterationsJob& job, const BenchOptions& options,
               const Session& session) {
  for (const std::string& way : job.ways)
    make_ready(model, options, find_execution_way(way), session)->call(session.device);
}

void time_fresh(WayTimes& times, const IterationsJob& job, Progress& progress, std::int64_t& done) {
  for (std::int64_t i = 0; i < job.processes; ++i) {
    std::vector<std::string> words = job.words;
    for (const std::string& word :
         {"--executor=" + times.way, fmt::format("--iterations={}", job.iterations),
          std::string("--process=this"), std::string("--json"), std::string("--quiet")})
      words.push_back(word);
    const CommandEnding ending = run_own_command(words, fs::current_path());
    stop_if_interrupted();
    user_check(ending.code == 0, "a process of its own for {} failed: {}", times.way, ending.error);
    const IterationTimes told = iteration_times_of(parse_json(ending.output, "its result"));
    times.fresh.push_back(told.ways.front().fresh.front());
    times.process_ms.push_back(1e3 * ending.seconds);
    progress.update(++done);
  }
}

void time_all_fresh(IterationTimes& times, const IterationsJob& job, const ProgressOutput& output) {
  Progress progress("fresh processes", job.processes * std::ssize(times.ways),
                    {.unit = "processes", .end = ProgressEnd::vanishes, .output = output});
  std::int64_t done = 0;
  for (WayTimes& way : times.ways) time_fresh(way, job, progress, done);
  progress.finish();
}

void check_iterations(const IterationsJob& job, const Session& session) {
  for (const std::string& way : job.ways) check_usable(find_execution_way(way), session);
  usage_check(std::set<std::string>(job.ways.begin(), job.ways.end()).size() == job.ways.size(),
              "`executor`: each once, got {}", fmt::join(job.ways, ", "));
  usage_check(job.iterations >= 2, "`iterations`: one call is only the first; give 2 or more");
  usage_check(job.ignored.value_or(0) < job.iterations,
              "`warmup`: {} calls of {} would leave none to count", job.ignored.value_or(0),
              job.iterations);
  usage_check(job.process != IterationProcess::own || job.ways.size() == 1,
              "`process` this: one executor has this process to itself; got {}",
              fmt::join(job.ways, ", "));
}

std::int64_t ignored_of(const IterationsJob& job) {
  if (job.ignored) return *job.ignored;
  return job.iterations < kManyCalls ? job.iterations / kShareOfFew : kIgnored;
}

Json executors_json(const IterationTimes& times) {
  Json all = Json::array();
  for (const WayTimes& way : times.ways) {
    Json fresh = Json::array();
    for (const CallSeries& series : way.fresh) fresh.push_back(to_json(series));
    all.push_back({{"executor", way.way},
                   {"summary", find_execution_way(way.way).summary},
                   {"warm", way.warm ? to_json(*way.warm) : Json()},
                   {"fresh", fresh},
                   {"process_ms", way.process_ms},
                   {"operations", way.operations},
                   {"moved_bytes", static_cast<std::int64_t>(way.moved_bytes)}});
  }
  return all;
}

Json to_json(const IterationTimes& times, const IterationsJob& job, const BenchOptions& options) {
  Json fields = {{"model", job.work.model},
                 {"what", times.what},
                 {"device", times.device},
                 {"threads", times.threads},
                 {"batch", options.batch},
                 {"tokens", options.tokens},
                 {"iterations", times.iterations},
                 {"ignored", times.ignored},
                 {"executors", executors_json(times)},
                 {"times", to_json(executor_table(times))},
                 {"means", to_json(means_table(times))},
                 {"comparisons", to_json(comparison_table(times))},
                 {"findings", iteration_sentences(times)}};
  if (!job.work.adapter.empty()) fields["adapter"] = job.work.adapter;
  return fields;
}

}  // namespace

IterationTimes iteration_times_of(const Json& fields) {
  IterationTimes times{.what = fields.at("what"),
                       .device = fields.at("device"),
                       .threads = fields.at("threads"),
                       .iterations = fields.at("iterations"),
                       .ignored = fields.at("ignored")};
  for (const Json& one : fields.at("executors")) {
    WayTimes way{.way = one.at("executor")};
    if (!one.at("warm").is_null()) way.warm = call_series_of(one.at("warm"));
    for (const Json& series : one.at("fresh")) way.fresh.push_back(call_series_of(series));
    way.process_ms = one.at("process_ms").get<std::vector<double>>();
    way.operations = one.at("operations");
    way.moved_bytes = one.at("moved_bytes").get<double>();
    times.ways.push_back(std::move(way));
  }
  return times;
}

IterationsResult bench_iterations(const IterationsJob& asked, Context& context) {
  const Session session = context.session();
  IterationsJob job = asked;
  if (job.ways.empty()) job.ways = usable_ways(session);
  check_iterations(job, session);
  for (const char* extension : {".svg", ".png", ".tsv", ".gp"})
    if (!job.figure.empty()) check_output_file(job.figure + extension, job.overwrite);
  BenchOptions options = job.work.options;
  const Model model =
      bench_subject(bench_model(job.work, context), job.work.model, options, context);
  IterationTimes times{.what = bench_text(model, job.work.model, options,
                                          fmt::format("{}", fmt::join(job.ways, ", ")),
                                          bench_arithmetic(model, options, session)),
                       .device = device_text(session),
                       .threads = context.pool.threads(),
                       .iterations = job.iterations,
                       .ignored = ignored_of(job)};
  for (const std::string& way : job.ways) times.ways.push_back({.way = way});
  if (job.process == IterationProcess::both) time_all_fresh(times, job, context.progress);
  if (job.process != IterationProcess::own) call_once(model, job, options, session);
  time_calls(times, model, job, options, session, context.progress);
  if (!job.figure.empty()) write_figure(iterations_figure(times), job.figure);
  IterationsResult result;
  result.fields = to_json(times, job, options);
  result.document = iterations_document(times);
  result.times = std::move(times);
  return result;
}

}  // namespace hone
