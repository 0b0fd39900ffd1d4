#include "hone/labs/speed_tables.h"

#include <algorithm>

#include "hone/labs/skipped_device.h"
#include "hone/labs/speed_numbers.h"

namespace hone {

namespace {

// Returns "72 (26 to ∞), extrapolated".
Cell break_even_cell(const std::optional<std::int64_t>& call,
                     const std::optional<std::int64_t>& low,
                     const std::optional<std::int64_t>& high, std::int64_t calls) {
  if (!call) return absent;
  return fmt::format("{} ({} to {}){}", grouped(*call), grouped(low.value_or(1)),
                     high ? grouped(*high) : "∞", *call > calls ? ", extrapolated" : "");
}

}  // namespace

Table overview_table(const std::vector<LabExecutorResult>& overview) {
  Table table({{"work", "Workload"},
               {"device", "Device"},
               {"executor", "Executor"},
               {"start_ms", "First output, fresh (ms)"},
               {"median_ms", "Median call, warm (ms)"},
               {"speedup", "Speedup, warm"},
               {"break_even_fresh", "Break-even call, fresh"},
               {"break_even_warm", "Break-even call, warm"},
               {"ratio_5", "n = 5, fresh"},
               {"ratio_20", "n = 20, fresh"},
               {"ratio_100", "n = 100, fresh"},
               {"ratio_100_later", "n = 100, warm, after warm-up"},
               {"why_not", "Remark"}});
  const auto text = [](const auto& value) { return value ? Cell(*value) : Cell(absent); };
  const auto ms = [](const std::optional<double>& value, int digits) {
    return value ? real(*value, digits) : Cell(absent);
  };
  const auto ratio = [](const std::optional<double>& value) {
    return value ? significant(*value) : Cell(absent);
  };
  for (const LabExecutorResult& one : overview)
    table.add_row({one.work, one.device, text(one.executor), ms(one.start_ms, 2),
                   ms(one.median_ms, 3), speedup_cell(one.speedup),
                   break_even_cell(one.break_even_fresh, one.break_even_fresh_low,
                                   one.break_even_fresh_high, one.calls.value_or(0)),
                   break_even_cell(one.break_even_warm, one.break_even_warm_low,
                                   one.break_even_warm_high, one.calls.value_or(0)),
                   ratio(one.ratio_5), ratio(one.ratio_20), ratio(one.ratio_100),
                   ratio(one.ratio_100_later), text(one.why_not)});
  return table;
}

Table preparation_table(const IterationTimes& times) {
  std::vector<Column> columns = {{"stage", "Stage"}, {"torch_compile", "In torch.compile"}};
  for (const ExecutorCalls& calls : times.executors)
    columns.push_back({calls.executor, calls.executor + " (ms)"});
  Table table(columns);
  const auto add = [&](std::string_view stage, std::string_view of_pytorch, auto&& ms_of) {
    std::vector<Cell> row = {std::string(stage), std::string(of_pytorch)};
    for (const ExecutorCalls& calls : times.executors) {
      const std::optional<double> ms = ms_of(calls);
      row.push_back(ms ? significant(*ms) : Cell(absent));
    }
    table.add_row(std::move(row));
  };
  add("reading the model, as a graph", "Dynamo: capture",
      [](const ExecutorCalls& calls) { return std::optional(model_ms(calls)); });
  for (const Counterpart& one : kCounterparts)
    if (std::ranges::any_of(times.executors, [&](const ExecutorCalls& calls) {
          return stage_ms(calls, one.stage).has_value();
        }))
      add(one.stage, one.of_pytorch,
          [&](const ExecutorCalls& calls) { return stage_ms(calls, one.stage); });
  for (const std::size_t call : {0, 1})
    add(call == 0 ? "first call" : "second call", call == 0 ? "first call" : "second call",
        [&](const ExecutorCalls& calls) { return std::optional(call_ms(calls, "fresh", call)); });
  return table;
}

Table operations_table(const IterationTimes& times) {
  std::vector<Column> columns = {{"operation", "Operation"}};
  for (const ExecutorCalls& calls : times.executors)
    columns.insert(columns.end(), {{calls.executor + "_nodes", calls.executor},
                                   {calls.executor + "_bytes", calls.executor + ", traffic"}});
  Table table(columns);
  std::vector<std::string> names;
  for (const ExecutorCalls& calls : times.executors)
    for (const OperationKind& kind : calls.graph)
      if (kind.moved_bytes > 0 && std::ranges::find(names, kind.operation) == names.end())
        names.push_back(kind.operation);
  for (const std::string& name : names) {
    std::vector<Cell> row = {name};
    for (const ExecutorCalls& calls : times.executors) {
      const OperationKind* kind = kind_of(calls, name);
      row.push_back(kind != nullptr ? Cell(kind->nodes) : Cell(absent));
      row.push_back(kind != nullptr ? bytes(kind->moved_bytes) : Cell(absent));
    }
    table.add_row(std::move(row));
  }
  std::vector<Cell> sum = {"all, views included"};
  for (const ExecutorCalls& calls : times.executors) {
    sum.emplace_back(calls.operations());
    sum.push_back(bytes(calls.moved_bytes()));
  }
  table.add_row(std::move(sum));
  return table;
}

Table executors_table(const IterationTimes& times) {
  const Table table = executor_table(times);
  std::vector<Column> columns = table.columns();
  for (Column& column : columns)
    if (column.key == "calls_for_one_percent") column.header = "Calls for a median within 1%";
  Table titled(std::move(columns));
  for (const std::vector<Cell>& row : table.rows()) titled.add_row(row);
  return titled;
}

void write_tables(const std::vector<WorkloadCalls>& calls,
                  const std::vector<WorkloadMistakes>& mistakes, const fs::path& folder) {
  using Named = std::vector<std::pair<std::string, Table>>;
  Named executors, means, comparisons, operations, naive;
  for (const WorkloadCalls& found : calls) {
    if (!found.times) continue;
    executors.emplace_back(found.work, executor_table(*found.times));
    means.emplace_back(found.work, means_table(*found.times));
    comparisons.emplace_back(found.work, comparison_table(*found.times));
    operations.emplace_back(found.work, operations_table(*found.times));
  }
  for (const WorkloadMistakes& found : mistakes)
    if (found.times) naive.emplace_back(found.work, naive_table(*found.times));
  const std::pair<const char*, const Named&> files[] = {{"executors.csv", executors},
                                                        {"means.csv", means},
                                                        {"comparisons.csv", comparisons},
                                                        {"operations.csv", operations},
                                                        {"mistakes.csv", naive}};
  for (const auto& [name, tables] : files)
    if (!tables.empty()) write_file(folder / name, to_csv(joined({"work", "Workload"}, tables)));
}

}  // namespace hone
