#include "hone/jobs/mxint8_memory.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/base/cpu.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/recipe.h"
#include "hone/models/memory_account.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kStageBegin = "memory-";
constexpr const char* kOwnShape = "model";
constexpr const char* kFloatFolder = "fp32";
constexpr std::int64_t kTextTokens = 128;
// What a process takes of fewer bytes cannot be told from what the program itself takes and gives back.
constexpr std::int64_t kLeastProcessBytes = 8 << 20;
constexpr int kTimedRuns = 3;
constexpr std::int64_t kProcesses = 4;  // fp32, packed by each rule, and unpacked as a whole

/// Which weights a model is packed by.
struct PackingRule {
  const char* key;
  const char* name;    // of what is packed
  const char* recipe;  // {} is the format
};
constexpr PackingRule kRules[] = {
    {"linears", "linears alone, the sheet's rule",
     "[default]\nweight = \"{0}\"\n[[rule]]\nname = \"*classifier*\"\nweight = \"none\"\n"},
    {"tables", "linears and tables",
     "[default]\nweight = \"{0}\"\n[[rule]]\nop = [\"embedding\", \"slice\"]\nweight = \"{0}\"\n"}};

Recipe recipe_of(const PackingRule& rule, const FormatTable& formats) {
  const std::string format = fmt::format("mxint(bits=8,block={})", kLabBlock);
  return parse_recipe(fmt::format(fmt::runtime(rule.recipe), format), rule.name, formats);
}

double weight_bytes(const ModelFacts& facts, const OpTable& ops) {
  const Graph graph =
      build_graph(ops, find_architecture(facts.architecture, "a model"), config_of(facts), {});
  return 4 * static_cast<double>(total_parameters(graph).all());
}

// ---- a process that loads weights and reads one text

NamedTensors one_text(const Model& model, std::int64_t tokens, EncodedSet& text) {
  text.ids = {std::vector<std::int32_t>()};
  for (std::int64_t i = 0; i < tokens; ++i)
    text.ids[0].push_back(static_cast<std::int32_t>((7 * i + 3) % model.facts.limits.vocabulary));
  text.labels = {0};
  const std::int64_t row = 0;
  return text_examples(text).batch(std::span(&row, 1), 0);
}

double seconds_of_run(Executable& executable, const NamedTensors& inputs,
                      ParameterStore& parameters) {
  const auto start = std::chrono::steady_clock::now();
  executable.run(inputs, parameters);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Loads the model of `folder` as any process would and reads a text. `unpack_whole`: each weight that is packed is unpacked as
// a whole in front of its product.
Json process_run(const fs::path& folder, bool unpack_whole, Context& context) {
  ::malloc_trim(0);  // what was freed before is not taken for what is free now
  const auto before = static_cast<std::int64_t>(resident_bytes());
  const Model model = load_model(folder, context.library.ops, context.library.formats, 0);
  const std::int64_t tokens = std::min(kTextTokens, model.facts.limits.tokens);
  PassWatch watch = context.watch;
  if (unpack_whole) watch.skipped.insert("fuse_unpack");
  Session session = context.session();
  session.watch = &watch;
  Graph graph = forward_graph(model);
  ParameterStore parameters = model.parameters.on(session.device);
  prepare_for_inference(graph, parameters, session);
  EncodedSet text;
  const NamedTensors inputs = one_text(model, tokens, text);
  const std::unique_ptr<Executable> executable = session.executable(graph);
  seconds_of_run(*executable, inputs, parameters);
  const auto after = static_cast<std::int64_t>(resident_bytes());
  double seconds = seconds_of_run(*executable, inputs, parameters);
  for (int i = 1; i < kTimedRuns; ++i)
    seconds = std::min(seconds, seconds_of_run(*executable, inputs, parameters));
  const Bindings bindings = {{'B', 1}, {'S', tokens}};
  return {{"tokens", tokens},
          {"value_bytes", peak_value_bytes(graph, bindings)},
          {"workspace_bytes",
           workspace_bytes(session.library.kernels, graph, session.device, bindings)},
          {"resident_bytes", after - before},
          {"seconds", seconds}};
}

// ---- what is kept in fp32, and what words are never read

Json kept_parameters(const Model& packed) {
  Json rows = Json::array();
  for (const Node* node : packed.graph.of_kind(NodeKind::parameter)) {
    if (!info(node->role()).counted || node->types()[0].dtype != DType::f32) continue;
    const Sizes sizes = resolve(node->types()[0].shape, {});
    rows.push_back(
        {{"parameter", node->name()}, {"shape", sizes}, {"bytes", 4 * element_count(sizes)}});
  }
  return rows;
}

// The table of words, and how wide its rows are.
std::pair<std::string, std::int64_t> word_table(const Model& model) {
  const Graph graph = plain_graph(model);
  for (const std::string& name : table_parameters(graph)) {
    const Sizes sizes = resolve(graph.find(name)->types()[0].shape, {});
    if (sizes[0] == model.facts.limits.vocabulary) return {name, sizes[1]};
  }
  return {"", 0};
}

Json vocabulary_use(const LabSubject& subject) {
  const Model& model = subject.source.model;
  const std::int64_t vocabulary = model.facts.limits.vocabulary;
  std::vector<char> used(static_cast<std::size_t>(vocabulary), 0);
  for (const auto& ids : subject.data.train.ids)
    for (const std::int32_t id : ids) used[static_cast<std::size_t>(id)] = 1;
  std::int64_t tokens = 0, unknown = 0;
  for (const auto& ids : subject.data.test.ids)
    for (const std::int32_t id : ids) {
      ++tokens;
      if (used[static_cast<std::size_t>(id)] == 0) ++unknown;
    }
  const auto rows = static_cast<std::int64_t>(std::ranges::count(used, 1));
  const auto [table, width] = word_table(model);
  const std::int64_t row_bytes = 4 * width;
  const double packed_row = static_cast<double>(width) * (8.0 + 8.0 / kLabBlock) / 8;
  return {{"table", table},
          {"rows", vocabulary},
          {"used_rows", rows},
          {"unused_bytes", (vocabulary - rows) * row_bytes},
          {"unused_packed_bytes",
           static_cast<std::int64_t>(static_cast<double>(vocabulary - rows) * packed_row)},
          {"test_tokens", tokens},
          {"unused_test_tokens", unknown}};
}

// ---- a stage

Json packed_by(const PackingRule& rule, const fs::path& scratch, bool with_kept, Context& context) {
  Model model = load_model(scratch / kFloatFolder, context.library.ops, context.library.formats, 0);
  CompressOptions options;
  options.plan = resolve(recipe_of(rule, context.library.formats), plain_graph(model));
  model = compress(model, {}, options, context);
  transform(model, "pack", context.session());
  const fs::path folder = scratch / rule.key;
  fs::create_directories(folder);
  save_model(model, folder);
  Json found = {{"rule", rule.key}, {"account", to_json(memory_account(model, folder, context.session()))}};
  if (with_kept) found["kept_in_fp32"] = kept_parameters(model);
  return found;
}

Json study_shape(const ModelShape& shape, LabRun& run) {
  Context& context = run.context;
  const bool is_own = shape.name == kOwnShape;
  const ScratchFolder scratch(run.folder() / shape.name);
  fs::create_directories(scratch.path() / kFloatFolder);
  Json found = {{"shape", shape.name}, {"what", shape.what}};
  // Weights drawn, packed by each rule, and loaded by each process.
  constexpr std::int64_t kSteps = 1 + std::ssize(kRules) + kProcesses;
  std::int64_t done = 0;
  Progress progress(shape.name, kSteps,
                    {.unit = "steps", .end = ProgressEnd::vanishes, .output = context.progress});
  {
    const Model fresh = new_model(shape.facts, context.library.ops, run.job.seed);
    found["parameters"] = total_parameters(fresh.graph).all();
    save_model(fresh, scratch.path() / kFloatFolder);
  }
  progress.update(++done);
  Json rules = Json::array();
  for (const PackingRule& rule : kRules) {
    stop_if_interrupted();
    rules.push_back(packed_by(rule, scratch.path(), is_own && &rule == kRules, context));
    progress.update(++done);
  }
  found["rules"] = rules;
  found["processes"] = Json::array();
  const auto add_process = [&](const char* what, const char* folder, bool unpack_whole) {
    stop_if_interrupted();
    Json process = process_run(scratch.path() / folder, unpack_whole, context);
    process["what"] = what;
    found["processes"].push_back(process);
    progress.update(++done);
  };
  add_process("fp32", kFloatFolder, false);
  add_process("packed, linears alone", kRules[0].key, false);
  add_process("packed, tables too", kRules[1].key, false);
  add_process("packed, linears alone, each unpacked as a whole in front of its product",
              kRules[0].key, true);
  progress.finish();
  if (is_own) found["vocabulary"] = vocabulary_use(run.subject);
  return found;
}

LabStage shape_stage(const ModelShape& shape, double float_bytes) {
  // Weights are drawn, written, packed twice and loaded four times.
  constexpr double kSecondsOfWeight = 1.5e-7;
  const double seconds = 0.5 + kSecondsOfWeight * float_bytes / 4;
  return {.name = kStageBegin + shape.name,
          .what = fmt::format("packs and runs fresh weights of {}", shape.what),
          .cost = {.seconds = seconds,
                   .memory_bytes = 2.6 * float_bytes,
                   .disk_bytes = 1.6 * float_bytes},
          .run = [shape](LabRun& run) { return study_shape(shape, run); }};
}

// ---- what is told

std::vector<Json> shapes_found(const LabRun& run) {
  std::vector<Json> shapes;
  for (const auto& [stage, found] : run.found.items())
    if (stage.starts_with(kStageBegin)) shapes.push_back(found);
  return shapes;
}

double saving_of(const Json& rule, const char* key) {
  return rule.at("account").at(key).get<double>();
}

const char* rule_name(const Json& rule) {
  return std::ranges::find(kRules, rule.at("rule").get<std::string>(), &PackingRule::key)->name;
}

Table savings_table(const std::vector<Json>& shapes) {
  Table table({{"shape", "Model", false},
               {"parameters", "Parameters", false},
               {"rule", "What is packed", false},
               {"theoretical_saving", "By the formula"},
               {"memory_saving", "In memory"},
               {"disk_saving", "On disk"},
               {"fp32_bytes", "In fp32"},
               {"memory_bytes", "Packed"},
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

bool is_measurable(const Json& shape) {
  return 4 * shape.at("parameters").get<std::int64_t>() >= kLeastProcessBytes;
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
    accounts.push_back({rule_name(rule), saving_steps(rule.at("account"))});
  if (!is_measurable(shape)) return accounts;
  for (std::size_t i = 0; i < accounts.size(); ++i)
    add_process_steps(shape, i + 1, accounts[i].steps);
  accounts.push_back({"linears alone, unpacked as a whole", {}});
  add_process_steps(shape, accounts.size(), accounts.back().steps);
  return accounts;
}

Table steps_table(const Json& shape) {
  Table table({{"rule", "What is packed", false},
               {"step", "Step", false},
               {"bytes", "Bytes"},
               {"change", "Points"},
               {"saving", "Left of the saving"}});
  for (const auto& [name, steps] : accounts_of(shape))
    for (const SavingStep& step : steps)
      table.add_row(
          {name, step.name, step.bytes == 0 ? Cell(absent) : bytes(step.bytes),
           step.kind == SavingStep::Kind::reason ? real(100 * step.change, 2) : Cell(absent),
           percent(step.saving, 2)});
  return table;
}

Table process_table(const Json& shape) {
  Table table({{"process", "Process", false},
               {"weight_bytes", "Weights"},
               {"value_bytes", "Values of the text"},
               {"workspace_bytes", "Workspace of kernels"},
               {"rest_bytes", "The rest"},
               {"resident_bytes", "Resident, measured"},
               {"ms", "A run (ms)"}});
  const Json& processes = shape.at("processes");
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Json& one = processes[i];
    const std::int64_t weights = kept_bytes(shape, i), values = one.at("value_bytes"),
                       workspace = one.at("workspace_bytes"), resident = one.at("resident_bytes");
    const auto measured = [&](std::int64_t count) {
      return is_measurable(shape) ? Cell(bytes(count)) : Cell(absent);
    };
    table.add_row({one.at("what").get<std::string>(), bytes(weights), bytes(values),
                   bytes(workspace), measured(resident - weights - values - workspace),
                   measured(resident), real(1e3 * one.at("seconds").get<double>(), 2)});
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
  return {.title = "A process that loads fresh weights from a file and reads one text",
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
      "fp32, {} less packed; of the {} tokens of the test texts {} would be unknown then.",
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
      "{}: packing the tables as well takes the saving from {:.2f} to {:.2f} % in memory, {} less.",
      shape.at("shape").get<std::string>(), 100 * saving_of(rules[0], "memory_saving"),
      100 * saving_of(rules[1], "memory_saving"),
      human_bytes(
          static_cast<double>(rules[0].at("account").at("memory_bytes").get<std::int64_t>() -
                              rules[1].at("account").at("memory_bytes").get<std::int64_t>())));
}

Section account_section(const Json& shape, const fs::path& folder,
                        std::vector<std::string>& notes) {
  const std::string name = shape.at("shape");
  Section section{fmt::format("Memory of {}", shape.at("what").get<std::string>()), {}};
  section.blocks.push_back(figure_block(
      steps_figure(shape), folder / ("memory_" + name),
      "From the saving of the format down to what was measured, a bar for each reason, under the "
      "sheet's rule and under ours.",
      notes));
  section.blocks.push_back(
      PageTable{steps_table(shape),
                "The same as a table. What stays in fp32 would have been saved at the rate of the "
                "format; what is resident goes on from what is in memory."});
  section.blocks.push_back(Paragraph{tables_text(shape)});
  section.blocks.push_back(PageTable{
      process_table(shape),
      fmt::format(
          "A process that loads the weights from a file and reads one text of {} tokens. {}",
          shape.at("processes")[0].at("tokens").get<std::int64_t>(),
          is_measurable(shape)
              ? "The rest is what else the process took; it is below zero where rows of packed "
                "tables that the text "
                "does not read were never loaded from the file."
              : "What is resident is not shown: the model is too small to be told from what the "
                "program itself takes.")});
  section.blocks.push_back(Paragraph{transient_text(shape)});
  if (shape.contains("vocabulary"))
    section.blocks.push_back(Paragraph{vocabulary_text(shape.at("vocabulary"))});
  return section;
}

}  // namespace

ModelShape made_up_shape(const std::string& name) {
  if (name == "bert-tiny")
    return {name, "bert-tiny: 2 layers of 128, 30 522 tokens", fresh_facts("tiny")};
  if (name == "bert-base")
    return {name, "BERT-base: 12 layers of 768, 30 522 tokens", fresh_facts("base")};
  user_check(name == "deberta-xlarge-size",
             "'{}' is no made-up shape; there are bert-tiny, bert-base, deberta-xlarge-size", name);
  // DeBERTa's 48 layers have 14 H^2 elements each in linears, for positions have projections of their own; BERT's have 12.
  const Json config = {{"model_type", "bert"},      {"hidden_size", 1024},
                       {"num_hidden_layers", 56},   {"num_attention_heads", 16},
                       {"intermediate_size", 4096}, {"vocab_size", 50'265}};
  return {name,
          "DeBERTa-xlarge's size: 56 BERT layers of 1 024 with as many elements in linears as its "
          "48, 50 265 "
          "tokens",
          model_facts(config, name)};
}

std::vector<LabStage> memory_stages(const LabRun& run, const std::vector<std::string>& shapes) {
  std::vector<LabStage> stages;
  const auto add = [&](const ModelShape& shape) {
    const double float_bytes = weight_bytes(shape.facts, run.context.library.ops);
    LabStage stage = shape_stage(shape, float_bytes);
    if (stage.cost.memory_bytes <= available_bytes()) return stages.push_back(std::move(stage));
    tell_notes(run.context,
               {fmt::format("left out: {} takes about {}, and {} can be had", shape.name,
                            human_bytes(stage.cost.memory_bytes), human_bytes(available_bytes()))});
  };
  add({kOwnShape, "the model's own shape", run.subject.source.model.facts});
  for (const std::string& name : shapes) add(made_up_shape(name));
  return stages;
}

LabPart memory_part(const LabRun& run) {
  const std::vector<Json> shapes = shapes_found(run);
  LabPart part;
  const fs::path& folder = run.folder();
  write_file(folder / "memory.csv", to_csv(savings_table(shapes)));
  part.tables = {savings_table(shapes)};
  Section all{"What packing saves", {}};
  all.blocks.push_back(PageTable{
      savings_table(shapes),
      fmt::format(
          "By the formula: (32 - (8 + 8/{})) / 32 of what is packed. In memory and on disk: of all "
          "weights in fp32. Linears alone: but for the classifier, as the lab's sheet packs them; "
          "tables: those of "
          "words, positions and types, and the classifier too. The original packs biases as well, "
          "which "
          "stay in fp32 here.",
          kLabBlock)});
  std::vector<Json> measurable;
  std::ranges::copy_if(shapes, std::back_inserter(measurable), is_measurable);
  if (!measurable.empty())
    all.blocks.push_back(figure_block(
        process_figure(measurable), folder / "memory_process",
        "Resident memory of processes, a bar for each way to keep the weights", part.notes));
  part.sections.push_back(std::move(all));
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
    part.sections.push_back({"What stays in fp32 under the sheet's rule", {PageTable{kept}}, true});
  }
  part.results = {{"memory", rows}};
  const Json& own = shapes.front().at("rules");
  part.sentence = fmt::format(
      "MXINT8 saves {:.1f} % of the model's memory in its linears, {:.1f} % with its tables; the "
      "formula says "
      "{:.1f} %",
      100 * saving_of(own[0], "memory_saving"), 100 * saving_of(own[1], "memory_saving"),
      100 * saving_of(own[0], "theoretical_saving"));
  return part;
}

}  // namespace hone
