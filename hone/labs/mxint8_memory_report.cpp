#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/report/field_table.h"

namespace hone {
namespace {

// Below this size, the memory of weights cannot be distinguished from the program's own allocations.
constexpr std::int64_t kLeastProcessBytes = 8 << 20;

Table savings_table(const std::vector<LabMemoryResult>& shapes) {
  Table table({{"shape", "Model"},
               {"parameters", "Parameters"},
               {"rule", "Packed"},
               {"theoretical_saving", "Saved by the formula"},
               {"memory_saving", "Saved in memory"},
               {"disk_saving", "Saved on disk"},
               {"fp32_bytes", "In fp32"},
               {"memory_bytes", "Packed size"},
               {"disk_bytes", "Packed file"}});
  for (const LabMemoryResult& shape : shapes)
    for (const LabPackingResult& rule : shape.rules) {
      const MemoryAccountResult& account = rule.account;
      table.add_row({shape.shape, shape.parameters, to_string(rule.rule),
                     percent(account.theoretical_saving, 2), percent(account.memory_saving, 2),
                     percent(account.disk_saving.value(), 2), bytes(account.fp32_bytes),
                     bytes(account.memory_bytes), bytes(account.disk_bytes.value())});
    }
  return table;
}

bool was_on_gpu(const LabMemoryResult& shape) { return shape.device != to_string(cpu()); }

bool is_measurable(const LabMemoryResult& shape) {
  return was_on_gpu(shape) || 4 * shape.parameters >= kLeastProcessBytes;
}

// Returns the size of a process's weights as they are stored.
std::int64_t weight_bytes(const LabMemoryResult& shape, std::size_t process) {
  if (process == 0) return shape.rules[0].account.fp32_bytes;
  return shape.rules[process == 2 ? 1 : 0].bytes();
}

// Adds the steps from the saving of the weights in memory to that of a running process: memory that both need, weights
// decoded as a whole, and the rest of the measurement.
void add_process_steps(const LabMemoryResult& shape, std::size_t index,
                       std::vector<SavingStep>& steps) {
  using Kind = SavingStep::Kind;
  const LabProcessResult &fp32 = shape.processes[0], &packed = shape.processes[index];
  const auto before = static_cast<double>(weight_bytes(shape, 0)),
             kept = static_cast<double>(weight_bytes(shape, index)),
             both = static_cast<double>(fp32.run_bytes()),
             unpacked = static_cast<double>(packed.run_bytes()) - both,
             resident = static_cast<double>(packed.resident_bytes),
             resident_before = static_cast<double>(fp32.resident_bytes);
  double saving = 1 - kept / before;
  const auto add = [&](Kind kind, const char* name, double bytes, double left) {
    steps.push_back({.kind = kind,
                     .name = name,
                     .bytes = static_cast<std::int64_t>(bytes),
                     .change = kind == Kind::reason ? left - saving : 0,
                     .saving = left});
    saving = left;
  };
  add(Kind::reason, "intermediate results, the same in both", both,
      1 - (kept + both) / (before + both));
  if (unpacked > 0)
    add(Kind::reason, "buffer of a decoded weight", unpacked,
        1 - (kept + both + unpacked) / (before + both));
  const double rest = resident - kept - both - unpacked;
  add(Kind::reason,
      rest < 0 ? "table rows not loaded from the file" : "other memory of the process", rest,
      1 - resident / resident_before);
  add(Kind::measured, "resident memory of a process", resident, 1 - resident / resident_before);
}

// Translates the step names of all reports (models/memory_account.h) to the terms of this page.
std::string step_name(const std::string& name) {
  static const std::map<std::string, std::string> names = {
      {"by the formats", "formula, for packed weights"},
      {"head in fp32", "weights of the classifier in fp32"},
      {"norms' gains in fp32", "weights of layer norms in fp32"},
      {"in memory", "weights in memory"},
      {"names and places in the file", "header of the file"},
      {"on disk", "weights on disk"}};
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

// Returns the accounts of a shape: for each rule, and for the first one as the original runs it, from where they
// differ.
std::vector<NamedSteps> accounts_of(const LabMemoryResult& shape) {
  std::vector<NamedSteps> accounts;
  for (const LabPackingResult& rule : shape.rules)
    accounts.push_back({std::string(to_string(rule.rule)), rule.account.steps});
  for (NamedSteps& account : accounts)
    for (SavingStep& step : account.steps) step.name = step_name(step.name);
  if (!is_measurable(shape)) return accounts;
  for (std::size_t i = 0; i < accounts.size(); ++i)
    add_process_steps(shape, i + 1, accounts[i].steps);
  accounts.push_back({"linear layers only, each decoded as a whole", {}});
  add_process_steps(shape, accounts.size(), accounts.back().steps);
  return accounts;
}

Table steps_table(const LabMemoryResult& shape) {
  Table table({{"rule", "Packed"},
               {"step", "Step"},
               {"bytes", "Bytes"},
               {"change", "Points"},
               {"saving", "Left of the saving"}});
  for (const auto& [name, steps] : accounts_of(shape))
    for (const SavingStep& step : steps)
      table.add_row(
          {name, step.name, step.bytes == 0 ? Cell(absent) : bytes(std::abs(step.bytes)),
           step.kind == SavingStep::Kind::reason ? real(100 * step.change, 2) : Cell(absent),
           percent(step.saving, 2)});
  return table;
}

Table process_table(const LabMemoryResult& shape) {
  Table table({{"process", "Process"},
               {"weight_bytes", "Weights"},
               {"value_bytes", "Intermediate results"},
               {"workspace_bytes", "Workspace of kernels"},
               {"rest_bytes", "Other memory"},
               {"unread_bytes", "Rows not loaded"},
               {"resident_bytes", "Resident, measured"},
               {"ms", fmt::format("Fastest of {} runs (ms)", kTimedRuns)}});
  for (std::size_t i = 0; i < shape.processes.size(); ++i) {
    const LabProcessResult& one = shape.processes[i];
    const std::int64_t weights = weight_bytes(shape, i);
    const std::int64_t rest = one.resident_bytes - weights - one.run_bytes();
    const auto measured = [&](std::int64_t count) {
      return is_measurable(shape) ? Cell(bytes(count)) : Cell(absent);
    };
    table.add_row({one.what, bytes(weights), bytes(one.value_bytes), bytes(one.workspace_bytes),
                   measured(std::max<std::int64_t>(0, rest)),
                   measured(std::max<std::int64_t>(0, -rest)), measured(one.resident_bytes),
                   real(1e3 * one.seconds, 2)});
  }
  return table;
}

Figure steps_figure(const LabMemoryResult& shape) {
  Figure figure = account_figure(
      accounts_of(shape),
      fmt::format("{}, packed in MXINT8, groups of {}; fresh weights{}", shape.shape, kLabBlock,
                  is_measurable(shape)
                      ? fmt::format("; one text of {} tokens", shape.processes[0].tokens)
                      : ""));
  figure.note = "Each bar is the saving that is left after the step.";
  // Labels each bar with its value; the table has the differences.
  for (Series& series : figure.panels.front().series)
    for (Point& point : series.points) point.name = fmt::format("{:.2f}%", point.x);
  return figure;
}

// Explains why a bar may be shorter than its weights; empty if none is.
std::string unread_rows_text(const std::vector<LabMemoryResult>& shapes) {
  constexpr std::size_t kTables = 2;  // the process whose embedding tables are packed
  std::vector<std::string> unread;
  for (const LabMemoryResult& shape : shapes) {
    const LabProcessResult& process = shape.processes[kTables];
    const std::int64_t bytes =
        weight_bytes(shape, kTables) + process.run_bytes() - process.resident_bytes;
    if (bytes > 0 && !was_on_gpu(shape))
      unread.push_back(
          fmt::format("{} of {}", human_bytes(static_cast<double>(bytes)), shape.shape));
  }
  if (unread.empty()) return "";
  return fmt::format(
      "With packed embedding tables, rows that the text does not read are not loaded from the "
      "file: {}. So such a process can take less than its weights.",
      fmt::join(unread, ", "));
}

// Draws the resident memory of processes, relative to the weights in fp32.
Figure process_figure(const std::vector<LabMemoryResult>& shapes) {
  constexpr int kAround = 170, kRow = 70;
  Panel panel{.x = {.label = "Resident memory, of the weights in fp32 (%)"}};
  std::vector<Series> series(shapes.front().processes.size(),
                             {.draw = Draw::bars, .with_names = true});
  double most = 0;
  for (std::size_t row = 0; row < shapes.size(); ++row) {
    const LabMemoryResult& shape = shapes[row];
    panel.y.ticks.push_back({-static_cast<double>(row), shape.shape});
    const auto whole = static_cast<double>(weight_bytes(shape, 0));
    for (std::size_t i = 0; i < series.size(); ++i) {
      const LabProcessResult& process = shape.processes[i];
      const auto resident = static_cast<double>(process.resident_bytes);
      most = std::max(most, 100 * resident / whole);
      series[i].label = process.what;
      series[i].points.push_back({.x = 100 * resident / whole,
                                  .y = -static_cast<double>(row),
                                  .name = human_bytes(resident)});
    }
  }
  panel.x.range = Range{0, 1.2 * most};
  panel.y.range = Range{0.6 - static_cast<double>(shapes.size()), 0.6};
  panel.series = std::move(series);
  return {
      .title = fmt::format("A process that loads fresh weights from a file and reads one text{}",
                           was_on_gpu(shapes.front()) ? ", memory of the GPU" : ""),
      .panels = {panel},
      .width = 1000,
      .height = kAround + kRow * static_cast<int>(shapes.size()),
      .note = unread_rows_text(shapes)};
}

std::string transient_text(const LabMemoryResult& shape) {
  const LabProcessResult &fused = shape.processes[1], &whole = shape.processes[3];
  const auto more = static_cast<double>(whole.run_bytes() - fused.run_bytes());
  return fmt::format(
      "{}: decoding each weight as a whole before an fp32 product, as the original does, takes {} "
      "more memory. A run of the whole model with a text of {} tokens then takes {:.2f} ms, and "
      "{:.2f} ms if products read codes: each is the fastest of {} runs of one process.",
      shape.shape, human_bytes(std::max(0.0, more)), whole.tokens, 1e3 * whole.seconds,
      1e3 * fused.seconds, kTimedRuns);
}

std::string vocabulary_text(const LabVocabularyResult& use) {
  const auto size = [](std::int64_t count) { return human_bytes(static_cast<double>(count)); };
  return fmt::format(
      "Of the {} rows of {}, the training texts read {}. Without the others the model takes {} "
      "less in fp32, {} less packed; {} of the {} tokens measured would then be unknown.",
      grouped(use.rows), use.embedding_table, grouped(use.used_rows), size(use.unused_bytes),
      size(use.unused_packed_bytes),
      use.unused_test_tokens == 0 ? std::string("none") : grouped(use.unused_test_tokens),
      grouped(use.test_tokens));
}

std::string tables_text(const LabMemoryResult& shape) {
  const LabPackingResult &linear = shape.rules[0], &tables = shape.rules[1];
  return fmt::format(
      "{}: packing the embedding tables as well takes the saving from {:.2f} to {:.2f}% in memory, "
      "{} less.",
      shape.shape, 100 * linear.saving(), 100 * tables.saving(),
      human_bytes(static_cast<double>(linear.bytes() - tables.bytes())));
}

Block account_block(const LabMemoryResult& shape, const fs::path& folder,
                    std::vector<std::string>& notes) {
  return figure_block(steps_figure(shape), folder / ("memory_" + shape.shape),
                      "From the saving of the formula down to the measured one: what is left after "
                      "each reason, with linear layers packed and with embedding tables as well.",
                      notes);
}

// The figure of the first shape is already shown above.
Section account_section(const LabMemoryResult& shape, bool has_figure, const fs::path& folder,
                        std::vector<std::string>& notes) {
  Section section{fmt::format("Memory of {}", shape.what), {}, /*folded=*/true};
  if (has_figure) section.blocks.push_back(account_block(shape, folder, notes));
  section.blocks.push_back(PageTable{
      steps_table(shape),
      "The same as a table. Weights left in fp32 would have been saved at the rate of the "
      "format; resident memory continues from the weights in memory."});
  section.blocks.push_back(Paragraph{tables_text(shape)});
  section.blocks.push_back(PageTable{
      process_table(shape),
      fmt::format(
          "A process that loads the weights from a file and reads one text of {} tokens. {}",
          shape.processes[0].tokens,
          was_on_gpu(shape)
              ? "Resident is the maximum of GPU memory that tensors took until the end of the "
                "first run, of " +
                    processor_text(shape.device, shape.threads) + "."
          : is_measurable(shape)
              ? "Other memory is what the process took besides. Rows of packed tables that the "
                "text "
                "does not read are not loaded from the file."
              : "Resident memory is not shown: the model is small compared with the memory of the "
                "program "
                "itself.")});
  section.blocks.push_back(Paragraph{transient_text(shape)});
  if (shape.vocabulary) section.blocks.push_back(Paragraph{vocabulary_text(*shape.vocabulary)});
  return section;
}

// Returns "2.82 MiB → 1.66 MiB, 41.2% saved".
std::string saving_text(const LabPackingResult& rule) {
  return fmt::format("{} → {}, {:.1f}% saved",
                     human_bytes(static_cast<double>(rule.account.fp32_bytes)),
                     human_bytes(static_cast<double>(rule.bytes())), 100 * rule.saving());
}

// Returns "−32.6 points".
std::string points_text(double change) {
  return fmt::format("{}{} points", change < 0 ? "−" : "+", three_digits(100 * std::abs(change)));
}

// Returns the steps from the formula to the weights in memory.
std::vector<SavingStep> memory_reasons(const MemoryAccountResult& account) {
  std::vector<SavingStep> reasons;
  for (const SavingStep& step : account.steps) {
    if (step.kind == SavingStep::Kind::measured) break;
    if (step.kind == SavingStep::Kind::reason) reasons.push_back(step);
  }
  return reasons;
}

// Returns " (the largest loss: embeddings stay in fp32, −32.6 points)"; "" if nothing is lost.
std::string largest_loss_text(const MemoryAccountResult& account) {
  const std::vector<SavingStep> reasons = memory_reasons(account);
  const auto largest = std::ranges::min_element(reasons, {}, &SavingStep::change);
  if (largest == reasons.end() || largest->change >= 0) return "";
  std::string name = step_name(largest->name);
  if (const std::size_t at = name.find(" in fp32"); at != std::string::npos)
    name.insert(at, " stay");
  return fmt::format(" (the largest loss: {}, {})", name, points_text(largest->change));
}

double process_saving(const LabMemoryResult& shape, std::size_t process) {
  return 1 - static_cast<double>(shape.processes[process].resident_bytes) /
                 static_cast<double>(shape.processes[0].resident_bytes);
}

// Explains why the saving is not 86.7%.
std::string why_less_text(const std::vector<LabMemoryResult>& shapes) {
  const std::vector<LabPackingResult>& own = shapes.front().rules;
  std::string text = fmt::format(
      "Memory: 86.7% is the formula for 4-bit elements; 8 bits and 1/{} of a scale save {:.1f}% of "
      "packed weights. Embeddings, biases, norms and the classifier stay in fp32 ({}, each step in "
      "the figure): {:.1f}% are left, and {:.1f}% with packed embedding tables. In the original "
      "lab, they explain the fall from 74.2% to 69.1%; 66.4% is of the peak memory of a process, "
      "which holds more than weights.",
      kLabBlock, 100 * own[0].account.theoretical_saving,
      points_text(own[0].saving() - own[0].account.theoretical_saving), 100 * own[0].saving(),
      100 * own[1].saving());
  const LabMemoryResult& largest =
      *std::ranges::max_element(shapes, {}, &LabMemoryResult::parameters);
  if (is_measurable(largest))
    text += fmt::format(" Here, a process with {} saves {:.1f}%.", largest.shape,
                        100 * process_saving(largest, 1));
  return text;
}

}  // namespace

LabPart memory_part(const std::vector<LabMemoryResult>& shapes, const LabRun& run) {
  LabPart part;
  const fs::path& folder = run.folder();
  write_file(folder / "memory.csv", to_csv(savings_table(shapes)));
  part.sections.push_back({"Memory",
                           {account_block(shapes.front(), folder, part.notes),
                            PageTable{savings_table(shapes), "Memory that packing saves."}}});
  std::vector<LabMemoryResult> measurable;
  std::ranges::copy_if(shapes, std::back_inserter(measurable), is_measurable);
  if (!measurable.empty())
    part.sections.push_back(
        {"Memory of processes",
         {figure_block(process_figure(measurable), folder / "memory_process",
                       "Resident memory of processes, a bar for each storage of the weights",
                       part.notes)},
         /*folded=*/true});
  part.sections.push_back(
      {"Packing rules",
       {Paragraph{fmt::format(
           "Formula: (32 - (8 + 8/{})) / 32 of the packed weights. In memory and on disk: of all "
           "weights in fp32. Linear layers only: without the classifier, as in the original lab. "
           "Embedding tables: of words, positions and types, and the classifier. The original "
           "packs biases too; here "
           "they stay in fp32.",
           kLabBlock)}},
       /*folded=*/true});
  for (const LabMemoryResult& shape : shapes) {
    part.sections.push_back(account_section(shape, &shape != &shapes.front(), folder, part.notes));
    write_file(folder / fmt::format("memory_{}.csv", shape.shape), to_csv(steps_table(shape)));
    write_file(folder / fmt::format("memory_process_{}.csv", shape.shape),
               to_csv(process_table(shape)));
    const auto& in_fp32 = shape.rules[0].fp32_parameters;
    if (!in_fp32) continue;
    const Table table = headed_table(*in_fp32);
    write_file(folder / "fp32_parameters.csv", to_csv(table));
    part.sections.push_back(
        {"Parameters left in fp32, with linear layers packed", {PageTable{table}}, true});
  }
  const std::vector<LabPackingResult>& own = shapes.front().rules;
  part.sentence = fmt::format(
      "Packing the linear layers saves {:.1f}% of the weights' memory{}; the formula gives {:.1f}% "
      "for 8-bit elements, and 86.7% only for 4-bit elements",
      100 * own[0].saving(), largest_loss_text(own[0].account),
      100 * own[0].account.theoretical_saving);
  part.key_figures = {{"Weights, linear layers packed", saving_text(own[0])},
                      {"Weights, embedding tables too", saving_text(own[1])}};
  part.why = {why_less_text(shapes)};
  return part;
}

}  // namespace hone
