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
  // A thread works for the operation that runs at the same time.
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

double MachinePeaks::operations(PeakKind kind) const {
  const auto found = native.find(kind);
  return (found == native.end() ? fp32 : found->second).value * 1e9;
}

double MachinePeaks::compute_seconds(const OperatorTime& one) const {
  return one.flops * one.calls / operations(one.arithmetic);
}

double MachinePeaks::memory_seconds(const OperatorTime& one) const {
  return one.bytes * one.calls / (bandwidth.value * 1e9);
}

Bound MachinePeaks::bound_by(const OperatorTime& one) const {
  const double memory = memory_seconds(one), compute = compute_seconds(one);
  if (std::max(memory, compute) < kBoundShare * one.seconds) return Bound::neither;
  if (memory <= compute) return Bound::compute;
  return memory > one.seconds ? Bound::caches : Bound::memory;
}

std::span<const EnumName> enum_names(Bound) {
  static constexpr EnumName kWords[] = {{static_cast<int>(Bound::compute), "compute"},
                                        {static_cast<int>(Bound::memory), "memory"},
                                        {static_cast<int>(Bound::caches), "caches"},
                                        {static_cast<int>(Bound::neither), "neither"}};
  return kWords;
}

const Fields& fields_of(const OperatorTimeResult*) {
  using O = OperatorTimeResult;
  static const Fields fields = describe<O>(
      "operator_time", "The time of operations in a run, against the peak of this machine.",
      field<&O::operation>("operation", "Its name; of nodes theirs.", "Operation"),
      field<&O::kernel>("kernel", "Kernel that computed it; null: several.", "Kernel"),
      field<&O::calls>("calls", "In one run.", "Calls"),
      field<&O::ms>("ms", Unit::milliseconds, "In one run.", "ms"),
      field<&O::share>("share", Unit::share, "Of the time of all operations.", "Share"),
      field<&O::call_us>("call_us", Unit::microseconds, "Of one call.", "Per call (us)"),
      field<&O::gflops>("gflops", Unit::gflop_per_second,
                        "Rate of operations; null: it computes next to nothing.", "GFLOP/s"),
      field<&O::share_of_peak>("share_of_peak", Unit::ratio,
                               "Of the peak of its kernel's arithmetic; null as `gflops`.",
                               "Peak share"),
      field<&O::gbps>("gbps", Unit::gigabytes_per_second,
                      "Operands and results read and written, as if no cache held them; null: "
                      "none are.",
                      "GB/s"),
      field<&O::share_of_bandwidth>("share_of_bandwidth", Unit::ratio,
                                    "Of `copy_gbps`; above 1 with data in caches.", "Memory share"),
      field<&O::flop_per_byte>("flop_per_byte",
                               "Operations for each byte; null: no operations or no bytes.",
                               "FLOP/byte"),
      field<&O::bound_by>("bound_by",
                          "The resource that takes longer at its peak; caches: memory would take "
                          "longer than the operation did; neither: the peak time is less than a "
                          "quarter of the time; null: nothing is computed or moved.",
                          "Bound by"));
  return fields;
}

std::vector<OperatorTime> by_kernel(const std::vector<OperatorTime>& nodes) {
  std::map<std::pair<std::string, std::string>, OperatorTime> kinds;
  for (const OperatorTime& node : nodes) {
    OperatorTime& kind = kinds[{node.operation, node.kernel}];
    kind.name = kind.operation = node.operation;
    kind.kernel = node.kernel;
    kind.arithmetic = node.arithmetic;
    kind.seconds += node.seconds;
    // Averages over the calls of the kind.
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

std::vector<OperatorTimeResult> operator_results(const std::vector<OperatorTime>& operators,
                                                 const MachinePeaks& peaks, std::size_t most) {
  std::vector<OperatorTime> sorted = operators;
  std::ranges::stable_sort(sorted, std::ranges::greater(), &OperatorTime::seconds);
  double total = 0;
  for (const OperatorTime& one : sorted) total += one.seconds;
  const std::size_t shown = most > 0 ? std::min(most, sorted.size()) : sorted.size();
  std::vector<OperatorTimeResult> rows;
  const auto add = [&](const std::string& name, double seconds, double calls) {
    rows.push_back({.operation = name,
                    .calls = std::llround(calls),
                    .ms = seconds * 1e3,
                    .share = seconds / total,
                    .call_us = seconds * 1e6 / calls});
  };
  for (const OperatorTime& one : std::span(sorted).first(shown)) {
    add(one.name, one.seconds, one.calls);
    OperatorTimeResult& row = rows.back();
    row.kernel = one.kernel;
    const double flops = one.flops * one.calls, bytes = one.bytes * one.calls;
    if (flops > 0) {
      row.gflops = flops / one.seconds / 1e9;
      row.share_of_peak = peaks.compute_seconds(one) / one.seconds;
    }
    if (bytes > 0) {
      row.gbps = bytes / one.seconds / 1e9;
      row.share_of_bandwidth = peaks.memory_seconds(one) / one.seconds;
    }
    if (flops > 0 && bytes > 0) row.flop_per_byte = flops / bytes;
    if (flops + bytes > 0) row.bound_by = peaks.bound_by(one);
  }
  if (shown == sorted.size()) return rows;
  double seconds = 0, calls = 0;
  for (const OperatorTime& one : std::span(sorted).subspan(shown)) {
    seconds += one.seconds;
    calls += one.calls;
  }
  add(fmt::format("{} others", sorted.size() - shown), seconds, calls);
  return rows;
}

Table operator_table(const std::vector<OperatorTime>& operators, const MachinePeaks& peaks,
                     std::size_t most) {
  std::vector<Column> columns;
  for (const FieldDef& field : fields<OperatorTimeResult>().rows)
    columns.push_back({std::string(field.key), std::string(field.header)});
  Table table(std::move(columns));
  const auto number = [](const std::optional<double>& value, int digits) {
    return value ? real(*value, digits) : Cell(absent);
  };
  const auto share = [](const std::optional<double>& value) {
    return value ? percent(*value) : Cell(absent);
  };
  for (const OperatorTimeResult& row : operator_results(operators, peaks, most))
    table.add_row({row.operation, row.kernel ? Cell(*row.kernel) : Cell(absent), row.calls,
                   real(row.ms, 3), percent(row.share), real(row.call_us, 1), number(row.gflops, 1),
                   share(row.share_of_peak), number(row.gbps, 1), share(row.share_of_bandwidth),
                   number(row.flop_per_byte, 2),
                   row.bound_by ? Cell(std::string(enum_name(*row.bound_by))) : Cell(absent)});
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

Figure roofline(const std::vector<OperatorTime>& operators, const MachinePeaks& peaks,
                const std::string& title) {
  Panel panel{.title = "",
              .x = {.label = "FLOP per byte", .logarithmic = true},
              .y = {.label = "GFLOP/s", .logarithmic = true},
              .series = {},
              .references = {}};
  const double peak = peaks.fp32.value, bandwidth = peaks.bandwidth.value;
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
