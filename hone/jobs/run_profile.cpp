#include "hone/jobs/run_profile.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/ops/rules.h"
#include "hone/runtime/kernel.h"

namespace hone {
namespace {

constexpr std::int64_t kRunsOfTimeline = 3;

double bytes_of(const Type& type, const Bindings& bindings) {
  return elements(type, bindings) * static_cast<double>(info(type.dtype).size_bytes);
}

}  // namespace

double bytes_moved(const Node& node, const Bindings& bindings) {
  if (node.trait() == Trait::view) return 0;
  double written = 0, read = 0;
  for (const Type& type : node.types()) written += bytes_of(type, bindings);
  for (const Type& type : node.input_types()) read += bytes_of(type, bindings);
  return node.trait() == Trait::gather ? 2 * written : read + written;
}

namespace {

OperatorTime operator_of(const Node& node, std::string_view kernel, const Bindings& bindings,
                         const Session& session) {
  OperatorTime one{.name = node.name(),
                   .operation = std::string(node.op().name),
                   .kernel = std::string(kernel),
                   .bytes = bytes_moved(node, bindings)};
  const Kernel* found = find_kernel(session.library.kernels, node, session.device);
  one.flops = computed_flops(found, node, bindings);
  if (found != nullptr && found->native) one.arithmetic = *found->native;
  return one;
}

}  // namespace

double bytes_moved(const Graph& graph, const Bindings& bindings) {
  double sum = 0;
  for (const Node* node : graph.of_kind(NodeKind::operation)) sum += bytes_moved(*node, bindings);
  return sum;
}

RunProfile RunRecorder::profile(const Bindings& bindings, const Session& session,
                                std::int64_t runs) const {
  RunProfile profile{.runs = runs, .operators = {}, .timeline = {}, .lanes = {}};
  std::map<const Node*, std::size_t> index;
  for (const OperationSpan& span : of_faster_half(spans_, runs)) {
    const auto [at, is_new] = index.emplace(span.node, profile.operators.size());
    if (is_new)
      profile.operators.push_back(operator_of(*span.node, span.kernel, bindings, session));
    OperatorTime& one = profile.operators[at->second];
    one.seconds += span.seconds();
    one.calls += 1;
  }
  for (OperatorTime& one : profile.operators) {
    one.seconds /= static_cast<double>(faster_half(runs));
    one.calls /= static_cast<double>(faster_half(runs));
  }
  const std::size_t first =
      spans_.size() - spans_.size() / static_cast<std::size_t>(runs) *
                          static_cast<std::size_t>(std::min(runs, kRunsOfTimeline));
  if (first >= spans_.size()) return profile;
  const auto begin = spans_[first].begin;
  const auto microseconds = [&](auto duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
  };
  for (std::size_t i = first; i < spans_.size(); ++i)
    profile.timeline.push_back({index.at(spans_[i].node), microseconds(spans_[i].begin - begin),
                                microseconds(spans_[i].end - spans_[i].begin),
                                spans_[i].value_bytes});
  if (!threads_) return profile;
  // A thread works for the operation that runs at that time.
  for (const std::vector<WorkSpan>& lane : threads_->lanes()) {
    std::vector<TimelineSpan> own;
    for (const WorkSpan& span : lane) {
      if (span.begin < begin) continue;
      const double at = microseconds(span.begin - begin);
      const auto after =
          std::ranges::upper_bound(profile.timeline, at, {}, &TimelineSpan::begin_us);
      if (after == profile.timeline.begin()) continue;
      own.push_back({std::prev(after)->node, at, microseconds(span.end - span.begin), 0});
    }
    profile.lanes.push_back(std::move(own));
  }
  while (!profile.lanes.empty() && profile.lanes.back().empty()) profile.lanes.pop_back();
  return profile;
}

double Floors::operations(PeakKind kind) const {
  const auto found = native.find(kind);
  return (found == native.end() ? fp32 : found->second).value * 1e9;
}

double Floors::compute_seconds(const OperatorTime& one) const {
  return one.flops * one.calls / operations(one.arithmetic);
}

double Floors::memory_seconds(const OperatorTime& one) const {
  return one.bytes * one.calls / (bandwidth.value * 1e9);
}

std::string_view Floors::bound_by(const OperatorTime& one) const {
  const double memory = memory_seconds(one), compute = compute_seconds(one);
  if (std::max(memory, compute) < kBoundShare * one.seconds) return "neither";
  if (memory <= compute) return "compute";
  return memory > one.seconds ? "caches" : "memory";
}

std::vector<OperatorTime> by_kernel(const std::vector<OperatorTime>& nodes) {
  std::map<std::pair<std::string, std::string>, OperatorTime> kinds;
  for (const OperatorTime& node : nodes) {
    OperatorTime& kind = kinds[{node.operation, node.kernel}];
    kind.name = kind.operation = node.operation;
    kind.kernel = node.kernel;
    kind.arithmetic = node.arithmetic;
    kind.seconds += node.seconds;
    // For a call of the kind on average.
    const double calls = kind.calls + node.calls;
    kind.flops = (kind.flops * kind.calls + node.flops * node.calls) / calls;
    kind.bytes = (kind.bytes * kind.calls + node.bytes * node.calls) / calls;
    kind.calls = calls;
  }
  std::vector<OperatorTime> rows;
  for (auto& [key, kind] : kinds) rows.push_back(std::move(kind));
  std::ranges::stable_sort(rows, std::ranges::greater(), &OperatorTime::seconds);
  return rows;
}

Table operator_table(const std::vector<OperatorTime>& operators, const Floors& floors,
                     std::size_t most) {
  std::vector<OperatorTime> rows = operators;
  std::ranges::stable_sort(rows, std::ranges::greater(), &OperatorTime::seconds);
  double total = 0;
  for (const OperatorTime& row : rows) total += row.seconds;
  Table table({{"operation", "Operation"},
               {"kernel", "Kernel"},
               {"calls", "Calls"},
               {"ms", "ms"},
               {"share", "Share"},
               {"call_us", "Per call (us)"},
               {"gflops", "GFLOP/s"},
               {"share_of_peak", "Peak share"},
               {"gbps", "GB/s"},
               {"share_of_bandwidth", "Memory share"},
               {"flop_per_byte", "FLOP/byte"},
               {"bound_by", "Bound by"}});
  double rest_seconds = 0, rest_calls = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const OperatorTime& row = rows[i];
    if (most > 0 && i >= most) {
      rest_seconds += row.seconds;
      rest_calls += row.calls;
      continue;
    }
    const double flops = row.flops * row.calls, bytes = row.bytes * row.calls;
    const auto rate = [&](double count) { return real(count / row.seconds / 1e9, 1); };
    table.add_row({row.name, row.kernel, std::llround(row.calls), real(row.seconds * 1e3, 3),
                   percent(row.seconds / total), real(row.seconds * 1e6 / row.calls, 1),
                   flops > 0 ? rate(flops) : Cell(absent),
                   flops > 0 ? percent(floors.compute_seconds(row) / row.seconds) : Cell(absent),
                   bytes > 0 ? rate(bytes) : Cell(absent),
                   bytes > 0 ? percent(floors.memory_seconds(row) / row.seconds) : Cell(absent),
                   flops > 0 && bytes > 0 ? real(flops / bytes, 2) : Cell(absent),
                   flops + bytes == 0 ? Cell(absent) : Cell(floors.bound_by(row))});
  }
  if (rest_calls > 0)
    table.add_row({fmt::format("{} others", rows.size() - most), absent, std::llround(rest_calls),
                   real(rest_seconds * 1e3, 3), percent(rest_seconds / total),
                   real(rest_seconds * 1e6 / rest_calls, 1), absent, absent, absent, absent, absent,
                   absent});
  return table;
}

std::string timeline_json(const RunProfile& profile, const std::string& what) {
  Json events = Json::array();
  const auto named = [&](const char* kind, std::size_t lane, const std::string& name) {
    events.push_back(
        {{"name", kind}, {"ph", "M"}, {"pid", 1}, {"tid", lane}, {"args", {{"name", name}}}});
  };
  const auto counter = [&](const char* name, double at_us, double value) {
    events.push_back(
        {{"name", name}, {"ph", "C"}, {"pid", 1}, {"ts", at_us}, {"args", {{"value", value}}}});
  };
  const auto span_of = [&](const TimelineSpan& span, std::size_t lane) {
    const OperatorTime& one = profile.operators[span.node];
    return Json{{"name", one.name},    {"cat", one.operation},    {"ph", "X"},
                {"ts", span.begin_us}, {"dur", span.duration_us}, {"pid", 1},
                {"tid", lane}};
  };
  named("process_name", 0, what);
  named("thread_name", 0, "operations");
  for (const TimelineSpan& span : profile.timeline) {
    const OperatorTime& one = profile.operators[span.node];
    Json event = span_of(span, 0);
    const double gflops = span.duration_us > 0 ? one.flops / span.duration_us / 1e3 : 0;
    event["args"] = {{"operation", one.operation},
                     {"kernel", one.kernel},
                     {"MFLOP", one.flops / 1e6},
                     {"KiB", one.bytes / 1024},
                     {"GFLOP/s", gflops}};
    events.push_back(std::move(event));
    counter("GFLOP/s", span.begin_us, gflops);
    counter("values (MiB)", span.begin_us + span.duration_us,
            static_cast<double>(span.value_bytes) / (1024 * 1024));
  }
  for (std::size_t thread = 0; thread < profile.lanes.size(); ++thread) {
    named("thread_name", thread + 1, fmt::format("thread {}", thread + 1));
    for (const TimelineSpan& span : profile.lanes[thread])
      events.push_back(span_of(span, thread + 1));
  }
  return to_line({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}});
}

Figure roofline(const std::vector<OperatorTime>& operators, const Floors& floors,
                const std::string& title) {
  Panel panel{.title = "",
              .x = {.label = "FLOP per byte", .logarithmic = true},
              .y = {.label = "GFLOP/s", .logarithmic = true},
              .series = {},
              .references = {}};
  const double peak = floors.fp32.value, bandwidth = floors.bandwidth.value;
  const double ridge = peak / bandwidth;
  double least = ridge / 10, most = ridge * 10;
  Series points{.label = "operations", .draw = Draw::points, .with_names = true};
  for (const OperatorTime& one : operators) {
    if (one.flops == 0 || one.bytes == 0 || one.seconds == 0) continue;
    const double intensity = one.flops / one.bytes;
    least = std::min(least, intensity / 2);
    most = std::max(most, intensity * 2);
    points.points.push_back(
        {.x = intensity,
         .y = one.flops * one.calls / one.seconds / 1e9,
         .name = one.name,
         .detail = fmt::format("{}: {} ms per run", one.kernel, three_digits(one.seconds * 1e3))});
  }
  Series roof{.label = fmt::format("{:.0f} GFLOP/s, {:.1f} GB/s", peak, bandwidth),
              .points = {{least, least * bandwidth}, {ridge, peak}, {most, peak}},
              .draw = Draw::line};
  panel.series = {std::move(roof), std::move(points)};
  return {.title = title, .panels = {std::move(panel)}};
}

}  // namespace hone
