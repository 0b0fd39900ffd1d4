#include "hone/labs/mxint8_memory.h"

#include <malloc.h>

#include <algorithm>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/base/cpu.h"
#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/recipe.h"
#include "hone/models/memory_account.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kOwnShape = "model";
constexpr std::string_view kStages = "memory-";  // prefix of the stages' names
constexpr const char* kFloatFolder = "fp32";
constexpr std::int64_t kTextTokens = 128;
constexpr std::int64_t kProcesses =
    4;  // fp32, packed by each rule, and each weight decoded as a whole

/// A rule for the weights to pack.
struct PackingRule {
  PackedWeights weights;
  std::string_view name;    // of the packed weights
  std::string_view recipe;  // {} is the format
};
constexpr PackingRule kRules[] = {
    {PackedWeights::linear_layers, "linear layers only, as in the original lab",
     "[default]\nweight = \"{0}\"\n[[rule]]\nname = \"*classifier*\"\nweight = \"none\"\n"},
    {PackedWeights::embedding_tables, "linear layers and embedding tables",
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

// ---- a process that loads weights and runs on one text

NamedTensors one_text(const Model& model, std::int64_t tokens, EncodedSet& text) {
  text.ids = {std::vector<std::int32_t>()};
  for (std::int64_t i = 0; i < tokens; ++i)
    text.ids[0].push_back(static_cast<std::int32_t>((7 * i + 3) % model.facts.limits.vocabulary));
  text.labels = {0};
  const std::int64_t row = 0;
  return text_examples(text).batch(std::span(&row, 1), 0);
}

/// Memory taken since construction: the growth of the process's resident memory, or the maximum that tensors took on a
/// GPU.
class TakenMemory {
 public:
  explicit TakenMemory(Device& device) : gpu_(gpu_of(device)) {
    if (gpu_ != nullptr) {
      before_ = static_cast<std::int64_t>(gpu_->held_bytes());
      gpu_->reset_peak_held();
      return;
    }
    ::malloc_trim(0);  // returns freed memory to the system, so that its reuse is counted
    before_ = static_cast<std::int64_t>(resident_bytes());
  }
  std::int64_t bytes() const {
    const std::uint64_t now = gpu_ != nullptr ? gpu_->peak_held_bytes() : resident_bytes();
    return static_cast<std::int64_t>(now) - before_;
  }

 private:
  cuda::CudaDevice* gpu_;
  std::int64_t before_ = 0;
};

// Loads the model of `folder` as any process would, and runs it on a text. `unpack_whole`: decodes each packed weight
// as a whole before its product.
LabProcessResult process_run(const std::string& what, const fs::path& folder, bool unpack_whole,
                             Context& context) {
  const TakenMemory taken(*context.device);
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
  const auto run = [&] {
    executable->run(inputs, parameters);
    session.device.wait();
  };
  run();
  const std::int64_t resident = taken.bytes();
  // A device may also prepare itself in the runs after the first (cuda/captured.h).
  for (int i = 0; i < kTimedRuns && !session.device.host_accessible(); ++i) run();
  const double seconds = runs_ms(run, kTimedRuns).front() / 1e3;
  const Bindings bindings = {{'B', 1}, {'S', tokens}};
  return {
      .what = what,
      .tokens = tokens,
      .value_bytes = peak_value_bytes(graph, bindings),
      .workspace_bytes = workspace_bytes(session.library.kernels, graph, session.device, bindings),
      .resident_bytes = resident,
      .seconds = seconds};
}

// ---- parameters that stay in fp32, and unused words

std::vector<Fp32Parameter> fp32_parameters(const Model& packed) {
  std::vector<Fp32Parameter> rows;
  for (const Node* node : packed.graph.of_kind(NodeKind::parameter)) {
    if (!info(node->role()).counted || node->types()[0].dtype != DType::f32) continue;
    const Sizes sizes = resolve(node->types()[0].shape, {});
    rows.push_back({node->name(), {sizes.begin(), sizes.end()}, 4 * element_count(sizes)});
  }
  return rows;
}

// Returns the name of the word embedding table, and the width of its rows.
std::pair<std::string, std::int64_t> word_table(const Model& model) {
  const Graph graph = unquantized_graph(model);
  for (const std::string& name : table_parameters(graph)) {
    const Sizes sizes = resolve(graph.find(name)->types()[0].shape, {});
    if (sizes[0] == model.facts.limits.vocabulary) return {name, sizes[1]};
  }
  return {"", 0};
}

LabVocabularyResult vocabulary_use(const LabSubject& subject) {
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
  return {.embedding_table = table,
          .rows = vocabulary,
          .used_rows = rows,
          .unused_bytes = (vocabulary - rows) * row_bytes,
          .unused_packed_bytes =
              static_cast<std::int64_t>(static_cast<double>(vocabulary - rows) * packed_row),
          .test_tokens = tokens,
          .unused_test_tokens = unknown};
}

// ---- a stage

LabPackingResult packed_by(const PackingRule& rule, const fs::path& scratch, bool lists_fp32,
                           Context& context) {
  Model model = load_model(scratch / kFloatFolder, context.library.ops, context.library.formats, 0);
  CompressOptions options;
  options.plan = resolve(recipe_of(rule, context.library.formats), unquantized_graph(model));
  model = compress(model, {}, options, context);
  transform(model, "pack", context.session());
  const fs::path folder = scratch / enum_name(rule.weights);
  fs::create_directories(folder);
  save_model(model, folder);
  LabPackingResult found{
      .rule = rule.weights,
      .account = account_result(memory_account(model, folder, context.session()))};
  if (lists_fp32) found.fp32_parameters = fp32_parameters(model);
  return found;
}

LabMemoryResult study_shape(const ModelShape& shape, LabRun& run) {
  Context& context = run.context;
  const bool is_own = shape.name == kOwnShape;
  const ScratchFolder scratch(run.folder() / shape.name);
  fs::create_directories(scratch.path() / kFloatFolder);
  LabMemoryResult found{.shape = shape.name,
                        .what = shape.what,
                        .device = device_text(context.session()),
                        .threads = context.pool.threads()};
  // Initializing the weights, packing them by each rule, and loading them in each process.
  constexpr std::int64_t kSteps = 1 + std::ssize(kRules) + kProcesses;
  std::int64_t done = 0;
  Progress progress(shape.name, kSteps,
                    {.unit = "steps", .end = ProgressEnd::vanishes, .output = context.progress});
  {
    const Model fresh = new_model(shape.facts, context.library.ops, run.job.seed, &context.pool);
    found.parameters = total_parameters(fresh.graph).all();
    save_model(fresh, scratch.path() / kFloatFolder);
  }
  progress.update(++done);
  for (const PackingRule& rule : kRules) {
    stop_if_interrupted();
    found.rules.push_back(packed_by(rule, scratch.path(), is_own && &rule == kRules, context));
    progress.update(++done);
  }
  const auto add_process = [&](const char* what, std::string_view folder, bool unpack_whole) {
    stop_if_interrupted();
    found.processes.push_back(process_run(what, scratch.path() / folder, unpack_whole, context));
    progress.update(++done);
  };
  add_process("fp32", kFloatFolder, false);
  const std::string_view linear = enum_name(PackedWeights::linear_layers);
  add_process("packed, linear layers only", linear, false);
  add_process("packed, embedding tables too", enum_name(PackedWeights::embedding_tables), false);
  add_process("packed, linear layers only, each decoded as a whole", linear, true);
  progress.finish();
  if (is_own) found.vocabulary = vocabulary_use(*run.subject);
  return found;
}

LabStage shape_stage(const ModelShape& shape, double float_bytes) {
  // Weights are initialized, written, packed twice and loaded four times.
  constexpr double kSecondsOfWeight = 1.5e-7;
  const double seconds = 0.5 + kSecondsOfWeight * float_bytes / 4;
  return {.name = std::string(kStages) + shape.name,
          .what = fmt::format("packs and runs fresh weights of {}", shape.what),
          .cost = {.seconds = seconds,
                   .memory_bytes = 2.6 * float_bytes,
                   .disk_bytes = 1.6 * float_bytes},
          .run = [shape](LabRun& run) { return to_json(study_shape(shape, run)); }};
}

}  // namespace

std::span<const EnumName> enum_names(PackedWeights) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(PackedWeights::linear_layers), "linear_layers"},
      {static_cast<int>(PackedWeights::embedding_tables), "embedding_tables"}};
  return kWords;
}

std::string_view to_string(PackedWeights weights) {
  return std::ranges::find(kRules, weights, &PackingRule::weights)->name;
}

const Fields& fields_of(const Fp32Parameter*) {
  using F = Fp32Parameter;
  static const Fields fields =
      describe<F>("fp32_parameter", "A parameter that stays in fp32.",
                  field<&F::parameter>("parameter", "Its name.", "Parameter"),
                  field<&F::shape>("shape", "Its sizes.", "Shape"),
                  field<&F::bytes>("bytes", Unit::bytes, "Its size.", "Bytes"));
  return fields;
}

const Fields& fields_of(const LabPackingResult*) {
  using L = LabPackingResult;
  static const Fields fields = describe<L>(
      "lab_packing", "A shape packed in MXINT8.",
      field<&L::rule>("rule",
                      "linear_layers: all but the classifier; embedding_tables: all of them, and "
                      "the tables of words, positions and types."),
      field<&L::account>("account", "What the bytes of the weights are for."),
      field<&L::fp32_parameters>("fp32_parameters",
                                 "Parameters that stay in fp32; null unless of the lab's model and "
                                 "of linear layers alone."));
  return fields;
}

const Fields& fields_of(const LabProcessResult*) {
  using L = LabProcessResult;
  static const Fields fields = describe<L>(
      "lab_process", "A process that loads weights from a file and reads one text several times.",
      field<&L::what>("what", "How weights are stored."),
      field<&L::tokens>("tokens", Unit::tokens, "Of the text."),
      field<&L::value_bytes>("value_bytes", Unit::bytes, "Intermediate values, counted."),
      field<&L::workspace_bytes>("workspace_bytes", Unit::bytes, "Workspace of kernels, counted."),
      field<&L::resident_bytes>(
          "resident_bytes", Unit::bytes,
          "Growth of resident memory up to the end of the first run, measured; on a GPU the "
          "maximum that tensors took."),
      field<&L::seconds>("seconds", Unit::seconds, "Fastest run but the first."));
  return fields;
}

const Fields& fields_of(const LabVocabularyResult*) {
  using L = LabVocabularyResult;
  static const Fields fields = describe<L>(
      "lab_vocabulary", "Rows of the embedding table of words that the training texts read.",
      field<&L::embedding_table>("embedding_table", "The parameter."),
      field<&L::rows>("rows", Unit::rows, "All rows."),
      field<&L::used_rows>("used_rows", Unit::rows, "Rows that the training texts read."),
      field<&L::unused_bytes>("unused_bytes", Unit::bytes, "Size of the others in fp32."),
      field<&L::unused_packed_bytes>("unused_packed_bytes", Unit::bytes,
                                     "Size of the others in MXINT8."),
      field<&L::test_tokens>("test_tokens", Unit::tokens, "Of the texts that were measured."),
      field<&L::unused_test_tokens>("unused_test_tokens", Unit::tokens,
                                    "Of these, those that would be unknown without the others."));
  return fields;
}

const Fields& fields_of(const LabMemoryResult*) {
  using L = LabMemoryResult;
  static const Fields fields = describe<L>(
      "lab_memory", "Savings of packing for one model shape, with fresh weights.",
      field<&L::shape>("shape", "Its name; model: that of the lab's model."),
      field<&L::what>("what", "The same for people."),
      field<&L::device>("device", "The device that ran it."),
      field<&L::threads>("threads", "Threads that were used."),
      field<&L::parameters>("parameters", "Number of elements."),
      field<&L::rules>("rules", "Rules for which weights are packed."),
      field<&L::processes>("processes", "Processes that load the weights and read one text."),
      field<&L::vocabulary>("vocabulary",
                            "Which words are ever read; null unless of the lab's model."));
  return fields;
}

std::vector<LabMemoryResult> memory_results(const LabRun& run) {
  std::vector<LabMemoryResult> shapes;
  for (const auto& [stage, found] : run.results.items())
    if (stage.starts_with(kStages)) shapes.push_back(from_json<LabMemoryResult>(found));
  return shapes;
}

ModelShape made_up_shape(const std::string& name) {
  if (name == "bert-tiny")
    return {name, "bert-tiny: 2 layers of 128, 30,522 tokens", new_model_facts("tiny")};
  if (name == "bert-base")
    return {name, "BERT-base: 12 layers of 768, 30,522 tokens", new_model_facts("base")};
  user_check(name == "deberta-xlarge-size",
             "'{}' is no made-up shape; there are bert-tiny, bert-base, deberta-xlarge-size", name);
  // DeBERTa's 48 layers have 14 H^2 elements each in linear layers, because positions have projections of their own;
  // BERT's have 12.
  const Json config = {{"model_type", "bert"},      {"hidden_size", 1024},
                       {"num_hidden_layers", 56},   {"num_attention_heads", 16},
                       {"intermediate_size", 4096}, {"vocab_size", 50'265}};
  return {name,
          "DeBERTa-xlarge's size: 56 BERT layers of 1,024 with as many elements in linear layers "
          "as its "
          "48, 50,265 "
          "tokens",
          model_facts(config, name)};
}

std::vector<LabStage> memory_stages(const LabRun& run, const std::vector<std::string>& shapes) {
  std::vector<LabStage> stages;
  const auto add = [&](const ModelShape& shape) {
    const double float_bytes = weight_bytes(shape.facts, run.context.library.ops);
    LabStage stage = shape_stage(shape, float_bytes);
    const std::optional<std::size_t> of_device = run.context.device->free_bytes();
    const double available = std::min(
        available_bytes(), of_device ? static_cast<double>(*of_device) : available_bytes());
    if (stage.cost.memory_bytes <= available) return stages.push_back(std::move(stage));
    print_notes(run.context,
                {fmt::format("skipped: {} needs about {}, but only {} is available", shape.name,
                             human_bytes(stage.cost.memory_bytes), human_bytes(available))});
  };
  add({kOwnShape, "the model's own shape", run.subject->source.model.facts});
  for (const std::string& name : shapes) add(made_up_shape(name));
  return stages;
}

}  // namespace hone
