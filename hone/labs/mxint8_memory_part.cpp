#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/models/memory_account.h"

// What the stages have found, told.
namespace hone {
namespace {

// What a process takes of fewer bytes cannot be told from what the program itself takes and gives back.
constexpr std::int64_t kLeastProcessBytes = 8 << 20;

std::vector<Json> shapes_found(const LabRun& run) {
  std::vector<Json> shapes;
  for (const auto& [stage, found] : run.found.items())
    if (stage.starts_with(kMemoryStages)) shapes.push_back(found);
  return shapes;
}

double saving_of(const Json& rule, const char* key) {
  return rule.at("account").at(key).get<double>();
}

std::string rule_name(const Json& rule) {
  return std::string(packing_rule_name(rule.at("rule").get<std::string>()));
}

Table savings_table(const std::vector<Json>& shapes) {
  Table table({{"shape", "Model"},
               {"parameters", "Parameters"},
               {"rule", "Packed"},
               {"theoretical_saving", "Saved by the formula"},
               {"memory_saving", "Saved in memory"},
               {"disk_saving", "Saved on disk"},
               {"fp32_bytes", "In fp32"},
               {"memory_bytes", "Packed size"},
               {"disk_bytes", "Packed file"}});
  for (const Json& shape : shapes)
    for (const Json& rule : shape.at("rules")) {
      const Json& account = rule.at("account");
      table.add_row(
          {shape.at("shape").get<std::string>(), shape.at("parameters").get<std::int64_t>(),
           rule_name(rule), percent(saving_of(rule, "theoretical_saving"), 2),
           percent(saving_of(rule, "memory_saving"), 2), percent(saving_of(rule, "disk_saving"), 2),
           bytes(account.at("fp32_bytes").get<std::int64_t>()),
           bytes(account.at("memory_bytes").get<std::int64_t>()),
           bytes(account.at("disk_bytes").get<std::int64_t>())});
    }
  return table;
}

bool was_on_card(const Json& shape) { return shape.at("device") != to_string(cpu()); }

bool is_measurable(const Json& shape) {
  return was_on_card(shape) || 4 * shape.at("parameters").get<std::int64_t>() >= kLeastProcessBytes;
}

// The weights of a process as they are kept.
std::int64_t kept_bytes(const Json& shape, std::size_t process) {
  const Json& rules = shape.at("rules");
  if (process == 0) return rules[0].at("account").at("fp32_bytes");
  return rules[process == 2 ? 1 : 0].at("account").at("memory_bytes");
}

std::int64_t run_bytes(const Json& process) {
  return process.at("value_bytes").get<std::int64_t>() +
         process.at("workspace_bytes").get<std::int64_t>();
}

// From what is saved of the weights in memory to what a process saves that runs: what both take, what is unpacked as a whole,
// and what else was measured.
void add_process_steps(const Json& shape, std::size_t index, std::vector<SavingStep>& steps) {
  using Kind = SavingStep::Kind;
  const Json& processes = shape.at("processes");
  const auto before = static_cast<double>(kept_bytes(shape, 0)),
             kept = static_cast<double>(kept_bytes(shape, index)),
             both = static_cast<double>(run_bytes(processes[0])),
             unpacked = static_cast<double>(run_bytes(processes[index])) - both,
             resident = processes[index].at("resident_bytes").get<double>(),
             resident_before = processes[0].at("resident_bytes").get<double>();
  double saving = 1 - kept / before;
  const auto add = [&](Kind kind, const char* name, double bytes, double left) {
    steps.push_back({.kind = kind,
                     .name = name,
                     .bytes = static_cast<std::int64_t>(bytes),
                     .change = kind == Kind::reason ? left - saving : 0,
                     .saving = left});
    saving = left;
  };
  add(Kind::reason, "values of a text, packed or not", both, 1 - (kept + both) / (before + both));
  if (unpacked > 0)
    add(Kind::reason, "a weight unpacked as a whole", unpacked,
        1 - (kept + both + unpacked) / (before + both));
  const double rest = resident - kept - both - unpacked;
  add(Kind::reason, rest < 0 ? "rows never read, not loaded" : "what else the processes take", rest,
      1 - resident / resident_before);
  add(Kind::measured, "resident in a process", resident, 1 - resident / resident_before);
}

// The accounts of a shape: under each rule, and as the original runs the first, from where they part.
std::vector<NamedSteps> accounts_of(const Json& shape) {
  std::vector<NamedSteps> accounts;
  for (const Json& rule : shape.at("rules"))
    accounts.push_back({rule_name(rule), from_json<MemoryAccountResult>(rule.at("account")).steps});
  if (!is_measurable(shape)) return accounts;
  for (std::size_t i = 0; i < accounts.size(); ++i)
    add_process_steps(shape, i + 1, accounts[i].steps);
  accounts.push_back({"linears alone, unpacked as a whole", {}});
  add_process_steps(shape, accounts.size(), accounts.back().steps);
  return accounts;
}

Table steps_table(const Json& shape) {
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

Table process_table(const Json& shape) {
  Table table({{"process", "Process"},
               {"weight_bytes", "Weights"},
               {"value_bytes", "Values of the text"},
               {"workspace_bytes", "Workspace of kernels"},
               {"rest_bytes", "The rest"},
               {"unread_bytes", "Never loaded"},
               {"resident_bytes", "Resident, measured"},
               {"ms", "A run (ms)"}});
  const Json& processes = shape.at("processes");
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Json& one = processes[i];
    const std::int64_t weights = kept_bytes(shape, i), values = one.at("value_bytes"),
                       workspace = one.at("workspace_bytes"), resident = one.at("resident_bytes");
    const std::int64_t rest = resident - weights - values - workspace;
    const auto measured = [&](std::int64_t count) {
      return is_measurable(shape) ? Cell(bytes(count)) : Cell(absent);
    };
    table.add_row({one.at("what").get<std::string>(), bytes(weights), bytes(values),
                   bytes(workspace), measured(std::max<std::int64_t>(0, rest)),
                   measured(std::max<std::int64_t>(0, -rest)), measured(resident),
                   real(1e3 * one.at("seconds").get<double>(), 2)});
  }
  return table;
}

Figure steps_figure(const Json& shape) {
  return account_figure(
      accounts_of(shape),
      fmt::format("{}, packed in MXINT8, groups of {}; fresh weights{}",
                  shape.at("shape").get<std::string>(), kLabBlock,
                  is_measurable(shape)
                      ? fmt::format("; one text of {} tokens",
                                    shape.at("processes")[0].at("tokens").get<int>())
                      : ""));
}

// Resident memory of processes, as a share of the weights in fp32.
Figure process_figure(const std::vector<Json>& shapes) {
  constexpr int kAround = 170, kRow = 70;
  Panel panel{.x = {.label = "Resident memory, of the weights in fp32 (%)"}};
  std::vector<Series> series(shapes.front().at("processes").size(),
                             {.draw = Draw::bars, .with_names = true});
  double most = 0;
  for (std::size_t row = 0; row < shapes.size(); ++row) {
    const Json& shape = shapes[row];
    panel.y.ticks.push_back({-static_cast<double>(row), shape.at("shape")});
    const auto whole = static_cast<double>(kept_bytes(shape, 0));
    for (std::size_t i = 0; i < series.size(); ++i) {
      const Json& process = shape.at("processes")[i];
      const auto resident = static_cast<double>(process.at("resident_bytes").get<std::int64_t>());
      most = std::max(most, 100 * resident / whole);
      series[i].label = process.at("what");
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
                           was_on_card(shapes.front()) ? ", memory of the card" : ""),
      .panels = {panel},
      .width = 1000,
      .height = kAround + kRow * static_cast<int>(shapes.size())};
}

std::string transient_text(const Json& shape) {
  const Json& fused = shape.at("processes")[1];
  const Json& whole = shape.at("processes")[3];
  const auto more = static_cast<double>(run_bytes(whole) - run_bytes(fused));
  return fmt::format(
      "{}: unpacking each weight as a whole in front of an fp32 product, as the original does, "
      "takes {} "
      "more while it runs and {:.2f} ms a text of {} tokens; reading codes in the product {:.2f} "
      "ms.",
      shape.at("shape").get<std::string>(), human_bytes(std::max(0.0, more)),
      1e3 * whole.at("seconds").get<double>(), whole.at("tokens").get<std::int64_t>(),
      1e3 * fused.at("seconds").get<double>());
}

std::string vocabulary_text(const Json& use) {
  const auto count = [&](const char* key) { return use.at(key).get<std::int64_t>(); };
  const auto size = [&](const char* key) { return human_bytes(static_cast<double>(count(key))); };
  return fmt::format(
      "Of the {} rows of {}, the training texts read {}. Without the others the model takes {} "
      "less in "
      "fp32, {} less packed; of the {} tokens of the texts that were measured {} would be unknown "
      "then.",
      grouped(count("rows")), use.at("table").get<std::string>(), grouped(count("used_rows")),
      size("unused_bytes"), size("unused_packed_bytes"), grouped(count("test_tokens")),
      grouped(count("unused_test_tokens")));
}

Table kept_table(const Json& kept) {
  Table table({{"parameter", "Parameter"}, {"shape", "Shape"}, {"bytes", "Bytes"}});
  for (const Json& row : kept)
    table.add_row({row.at("parameter").get<std::string>(), row.at("shape").get<Cell::List>(),
                   bytes(row.at("bytes").get<std::int64_t>())});
  return table;
}

std::string tables_text(const Json& shape) {
  const Json& rules = shape.at("rules");
  return fmt::format(
      "{}: packing the tables as well takes the saving from {:.2f} to {:.2f}% in memory, {} less.",
      shape.at("shape").get<std::string>(), 100 * saving_of(rules[0], "memory_saving"),
      100 * saving_of(rules[1], "memory_saving"),
      human_bytes(
          static_cast<double>(rules[0].at("account").at("memory_bytes").get<std::int64_t>() -
                              rules[1].at("account").at("memory_bytes").get<std::int64_t>())));
}

Section account_section(const Json& shape, const fs::path& folder,
                        std::vector<std::string>& notes) {
  const std::string name = shape.at("shape");
  Section section{
      fmt::format("Memory of {}", shape.at("what").get<std::string>()), {}, /*folded=*/true};
  section.blocks.push_back(figure_block(
      steps_figure(shape), folder / ("memory_" + name),
      "From the saving of the format down to what was measured, a bar for each reason, under the "
      "sheet's rule and under ours.",
      notes));
  section.blocks.push_back(PageTable{
      steps_table(shape),
      "The same as a table. Weights left in fp32 would have been saved at the rate of the "
      "format; resident memory continues from the weights in memory."});
  section.blocks.push_back(Paragraph{tables_text(shape)});
  section.blocks.push_back(PageTable{
      process_table(shape),
      fmt::format(
          "A process that loads the weights from a file and reads one text of {} tokens. {}",
          shape.at("processes")[0].at("tokens").get<std::int64_t>(),
          was_on_card(shape)
              ? "Resident is the most of the card's memory that tensors took until the end of the "
                "first run, of " +
                    ran_on(shape) + "."
          : is_measurable(shape)
              ? "The rest is what else the process took. Rows of packed tables that the text does "
                "not read are "
                "never loaded from the file."
              : "What is resident is not shown: the model is too small to be told from what the "
                "program itself takes.")});
  section.blocks.push_back(Paragraph{transient_text(shape)});
  if (shape.contains("vocabulary"))
    section.blocks.push_back(Paragraph{vocabulary_text(shape.at("vocabulary"))});
  return section;
}

}  // namespace

LabPart memory_part(const LabRun& run) {
  const std::vector<Json> shapes = shapes_found(run);
  LabPart part;
  const fs::path& folder = run.folder();
  write_file(folder / "memory.csv", to_csv(savings_table(shapes)));
  part.blocks.push_back(PageTable{savings_table(shapes), "Memory that packing saves."});
  std::vector<Json> measurable;
  std::ranges::copy_if(shapes, std::back_inserter(measurable), is_measurable);
  if (!measurable.empty())
    part.blocks.push_back(figure_block(
        process_figure(measurable), folder / "memory_process",
        "Resident memory of processes, a bar for each way to keep the weights", part.notes));
  part.sections.push_back(
      {"Packing rules",
       {Paragraph{fmt::format(
           "Formula: (32 - (8 + 8/{})) / 32 of the packed weights. In memory and on disk: of all "
           "weights in fp32. Linears alone: without the classifier, as in the lab's sheet. Tables: "
           "of words, positions and types, and the classifier. The original packs biases too; here "
           "they stay in fp32.",
           kLabBlock)}},
       /*folded=*/true});
  Json rows = Json::array();
  for (const Json& shape : shapes) {
    const std::string name = shape.at("shape");
    part.sections.push_back(account_section(shape, folder, part.notes));
    write_file(folder / fmt::format("memory_{}.csv", name), to_csv(steps_table(shape)));
    write_file(folder / fmt::format("memory_process_{}.csv", name), to_csv(process_table(shape)));
    rows.push_back(shape);
    const Json& rules = shape.at("rules");
    if (!rules[0].contains("kept_in_fp32")) continue;
    const Table kept = kept_table(rules[0].at("kept_in_fp32"));
    write_file(folder / "fp32_parameters.csv", to_csv(kept));
    part.sections.push_back(
        {"Parameters left in fp32 by the sheet's rule", {PageTable{kept}}, true});
  }
  part.results = {{"memory", rows}};
  const Json& own = shapes.front().at("rules");
  part.sentence = fmt::format(
      "MXINT8 saves {:.1f}% of the model's memory in its linears, {:.1f}% with its tables "
      "(formula: "
      "{:.1f}%)",
      100 * saving_of(own[0], "memory_saving"), 100 * saving_of(own[1], "memory_saving"),
      100 * saving_of(own[0], "theoretical_saving"));
  return part;
}

}  // namespace hone
