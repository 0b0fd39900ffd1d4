#include "hone/labs/mxint8_products.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/interleaved_runs.h"
#include "hone/jobs/paired_times.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/models/memory_account.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/runtime/native_formats.h"
#include "hone/study/result.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kEvalBatch = 32;
// Linear layers whose errors make up this share of the sum keep fp32 inputs.
constexpr double kSensitiveShare = 0.5;

// ---- how a linear layer multiplies

LayerFormats formats_of(LinearMode mode, const FormatTable& formats) {
  LayerFormats chosen;
  if (mode == LinearMode::float32) return chosen;
  chosen.weight = parse_format(fmt::format("mxint(bits=8,block={})", kLabBlock), formats);
  if (mode == LinearMode::codes) chosen.input = native_input(*chosen.weight, formats);
  return chosen;
}

std::vector<const Node*> linears_of(const Graph& graph) {
  std::vector<const Node*> linears;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is(kDefaultLayer)) linears.push_back(node);
  return linears;
}

LinearModes all_in(LinearMode mode, const Graph& graph) {
  LinearModes modes;
  for (const Node* linear : linears_of(graph)) modes[linear->name()] = mode;
  return modes;
}

// Returns the packed model with its linear layers in these ways, by rounding only.
Model packed_as(const Model& model, const LinearModes& modes, Context& context) {
  CompressOptions options;
  const Graph graph = unquantized_graph(model);
  for (const Node* linear : linears_of(graph)) {
    const LinearMode mode = modes.at(linear->name());
    if (mode != LinearMode::float32)
      options.plan.emplace_back(linear->name(), formats_of(mode, context.library.formats));
  }
  if (options.plan.empty()) return model;
  Model packed = compress(model, {}, options, context);
  transform(packed, "pack", context.session());
  return packed;
}

// ---- time

NamedTensors timed_texts(const Model& model, const ProductSizes& sizes, EncodedSet& texts) {
  RandomSequence random(0, stream_of("lab 4.3"));
  const auto vocabulary = static_cast<std::uint64_t>(model.facts.limits.vocabulary);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < sizes.batch; ++row) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < sizes.tokens; ++i)
      ids.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
    texts.ids.push_back(std::move(ids));
    texts.labels.push_back(0);
    rows.push_back(row);
  }
  return text_examples(texts).batch(rows, 0);
}

/// The shape of a product: x (rows, inputs) by w (outputs, inputs).
struct ProductShape {
  std::int64_t rows = 0, outputs = 0, inputs = 0;
  auto operator<=>(const ProductShape&) const = default;
};

ProductShape shape_of(const Node& linear, const Bindings& bindings) {
  const Sizes x = resolve(linear.inputs()[0].type().shape, bindings),
              w = resolve(linear.inputs()[1].type().shape, bindings);
  return {element_count(x) / x.back(), w[0], w[1]};
}

Tensor normal_tensor(const Sizes& sizes, std::string_view stream) {
  RandomSequence random(0, stream_of(stream));
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
  return tensor;
}

// Returns the milliseconds of one product in each way, by round.
std::vector<std::vector<double>> product_times(const ProductShape& shape, std::int64_t runs,
                                               Context& context) {
  Graph graph(context.library.ops);
  const Value x = graph.add_input("x", {DType::f32, {Dim(shape.rows), Dim(shape.inputs)}});
  const Value w = graph.add_parameter("w", {DType::f32, {Dim(shape.outputs), Dim(shape.inputs)}},
                                      ParameterRole::weight, true);
  const Value b =
      graph.add_parameter("b", {DType::f32, {Dim(shape.outputs)}}, ParameterRole::bias, true);
  graph.set_output("y", graph.add(kDefaultLayer, {x, w, b}, {}, "product"));
  ParameterStore store;
  store.set("w", normal_tensor({shape.outputs, shape.inputs}, "weights of lab 4.3"));
  store.set("b", Tensor::zeros(DType::f32, {shape.outputs}));
  Race race(context);
  for (const LinearMode mode : {LinearMode::float32, LinearMode::weight_only, LinearMode::codes}) {
    Graph own = graph;
    ParameterStore parameters = store;
    if (mode != LinearMode::float32) {
      quantize(own, {{"product", formats_of(mode, context.library.formats)}});
      pack_weights(own, parameters, context.pool);
    }
    race.add(std::move(own), parameters.on(*context.device));
  }
  return race.run({{"x", normal_tensor({shape.rows, shape.inputs}, "inputs of lab 4.3")}}, runs);
}

// ---- the first stage: each linear layer alone

EncodedSet first_texts(const EncodedSet& set, std::int64_t count) {
  if (count == 0 || count >= set.size()) return set;
  EncodedSet some = set;
  const auto keep = static_cast<std::size_t>(count);
  some.ids.resize(keep);
  const auto cut = [&](auto& list, std::size_t size) {
    if (list.size() > size) list.resize(size);
  };
  cut(some.labels, keep);
  cut(some.targets, keep * static_cast<std::size_t>(set.target_width));
  cut(some.type_1_begins, keep);
  cut(some.truncated, keep);
  cut(some.text_numbers, keep);
  return some;
}

LabSensitivityResult study_linears(LabRun& run, const ProductSizes& sizes) {
  Context& context = run.context;
  const Model& model = run.subject->source.model;
  const Graph graph = unquantized_graph(model);
  const ChoiceSplit part = choice_split(run.subject->data);
  const EncodedSet texts = first_texts(part.examples, sizes.sensitivity_examples);
  const Measurement parent =
      measure(model, texts, kEvalBatch, context, "fp32", ProgressEnd::vanishes);
  const std::vector<const Node*> linears = linears_of(graph);
  std::map<ProductShape, std::vector<std::vector<double>>> times;
  LabSensitivityResult found{.split = part.name, .examples = texts.size()};
  Progress progress("linear layers", std::ssize(linears),
                    {.unit = "layers", .end = ProgressEnd::vanishes, .output = context.progress});
  for (const Node* linear : linears) {
    LinearModes modes = all_in(LinearMode::float32, graph);
    modes[linear->name()] = LinearMode::codes;
    const Model alone = packed_as(model, modes, context);
    const Measurement after =
        measure(alone, texts, kEvalBatch, context, linear->name(), ProgressEnd::vanishes);
    const TaskComparison comparison = compare(parent.view(), after.view(), truth_of(texts));
    const ProductShape shape = shape_of(*linear, {{'B', sizes.batch}, {'S', sizes.tokens}});
    auto [known, is_new] = times.try_emplace(shape);
    if (is_new) known->second = product_times(shape, sizes.runs, context);
    const std::vector<std::vector<double>>& ms = known->second;
    const TimesInTurn w8a16 = compare_rounds(ms[0], ms[1]), w8a8 = compare_rounds(ms[0], ms[2]);
    found.layers.push_back({.layer = linear->name(),
                            .rows = shape.rows,
                            .outputs = shape.outputs,
                            .inputs = shape.inputs,
                            .margin_snr_db = comparison.snr_db,
                            .fp32_ms = w8a8.before.median_ms,
                            .w8a16_ms = w8a16.after.median_ms,
                            .w8a8_ms = w8a8.after.median_ms,
                            .w8a8_speedup = w8a8.speedup,
                            .w8a8_speedup_interval = w8a8.speedup_interval});
    progress.update(std::ssize(found.layers));
  }
  progress.finish();
  return found;
}

// ---- the mixed model that follows from it

// Returns the layer's part of the whole error, if errors of linear layers add up. Without an error, the margin SNR is
// not finite.
double error_of(const LabLinearResult& layer) {
  return std::isfinite(layer.margin_snr_db) ? std::pow(10, -layer.margin_snr_db / 10) : 0;
}

}  // namespace

std::string_view to_string(LinearMode mode) {
  constexpr std::string_view kNames[] = {"fp32", "W8A16", "W8A8"};
  return kNames[static_cast<std::size_t>(mode)];
}

LinearModes mixed_modes(const LabSensitivityResult& sensitivity) {
  std::vector<const LabLinearResult*> layers;
  double whole = 0;
  for (const LabLinearResult& layer : sensitivity.layers) {
    layers.push_back(&layer);
    whole += error_of(layer);
  }
  std::ranges::stable_sort(layers, std::greater(),
                           [](const LabLinearResult* layer) { return error_of(*layer); });
  LinearModes modes;
  double counted = 0;
  for (const LabLinearResult* layer : layers) {
    const bool sensitive = counted < kSensitiveShare * whole;
    const bool slower = layer->w8a8_speedup_interval.high < 1;  // shown by the interval
    modes[layer->layer] = slower      ? LinearMode::float32
                          : sensitive ? LinearMode::weight_only
                                      : LinearMode::codes;
    counted += error_of(*layer);
  }
  return modes;
}

namespace {

// ---- the second stage: the models

struct ProductModel {
  const char* name;
  LinearModes modes;
};

std::vector<ProductModel> models_of(const Graph& graph, const LabSensitivityResult& sensitivity) {
  return {{"fp32", all_in(LinearMode::float32, graph)},
          {"W8A16", all_in(LinearMode::weight_only, graph)},
          {"W8A8", all_in(LinearMode::codes, graph)},
          {"mixed", mixed_modes(sensitivity)}};
}

/// Counts of what the linear layers of a run do; each operand is moved once.
struct ProductCounts {
  double bytes = 0, integer_macs = 0, float_macs = 0, scale_operations = 0, conversions = 0;
};

// `native`: codes are multiplied directly. Otherwise inputs are rounded first, and the values of the codes are
// multiplied.
ProductCounts counts_of(const Graph& graph, const LinearModes& modes, const Bindings& bindings,
                        bool native) {
  ProductCounts all;
  for (const Node* linear : linears_of(graph)) {
    const auto [rows, outputs, inputs] = shape_of(*linear, bindings);
    const auto m = static_cast<double>(rows), n = static_cast<double>(outputs),
               k = static_cast<double>(inputs), blocks = std::ceil(k / kLabBlock);
    all.bytes += 4 * m * (k + n);
    switch (modes.at(linear->name())) {
      case LinearMode::float32:
        all.bytes += 4 * n * k;
        all.float_macs += m * n * k;
        break;
      case LinearMode::weight_only:
        all.bytes += n * (k + blocks);
        all.float_macs += m * n * k;
        all.conversions += n * k;
        all.scale_operations += n * k;
        break;
      case LinearMode::codes:
        all.bytes += n * (k + blocks);
        if (native) {
          all.integer_macs += m * n * k;
          all.conversions += m * k;
          all.scale_operations += m * n * blocks;
        } else {
          all.bytes += 8 * m * k;  // for rounding the inputs
          all.float_macs += m * n * k;
          all.conversions += (m + n) * k;
          all.scale_operations += (m + n) * k;
        }
    }
  }
  return all;
}

LabLogitsResult output_errors(const Measurement& parent, const Measurement& model) {
  double most = 0, squares = 0, parents = 0;
  for (std::size_t i = 0; i < parent.logits.size(); ++i) {
    const double before = parent.logits[i], error = model.logits[i] - before;
    most = std::max(most, std::abs(error));
    squares += error * error;
    parents += before * before;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, parent.logits.size()));
  return {.max_error = most,
          .rms_error = std::sqrt(squares / count),
          .rms = std::sqrt(parents / count)};
}

LabProductsResult study_models(LabRun& run, const ProductSizes& sizes) {
  Context& context = run.context;
  const Model& model = run.subject->source.model;
  const Graph graph = unquantized_graph(model);
  const EncodedSet& texts = run.subject->data.test;
  const Bindings bindings = {{'B', sizes.batch}, {'S', sizes.tokens}};
  const double all_macs = cost(graph, bindings).flops / 2;
  const double linear_macs =
      counts_of(graph, all_in(LinearMode::float32, graph), bindings, false).float_macs;
  Race race(context);
  LabProductsResult found{
      .batch = sizes.batch,
      .tokens = sizes.tokens,
      .timed_runs = sizes.runs,
      .device = device_text(context.session()),
      .threads = context.pool.threads(),
      .other_multiply_adds = static_cast<std::int64_t>(std::max(0.0, all_macs - linear_macs))};
  std::optional<Measurement> parent;
  const auto sensitivity = from_json<LabSensitivityResult>(run.results.at(kSensitivityStage));
  for (const auto& [name, modes] : models_of(graph, sensitivity)) {
    const Model variant = packed_as(model, modes, context);
    Measurement measured = measure(variant, texts, kEvalBatch, context, name);
    const std::string_view arithmetic =
        arithmetic_of_run(forward_graph(variant), context.session());
    ComparedModel row{.label = name,
                      .average_weight_bits = average_weight_bits(variant),
                      .measurement = measured,
                      .comparison = {},
                      .arithmetic = arithmetic};
    if (parent) {
      row.comparison = compare(parent->view(), measured.view(), truth_of(texts));
      row.verdict = verdict(row.comparison->change);
    } else {
      parent = measured;
    }
    const ProductCounts counts = counts_of(graph, modes, bindings, arithmetic == kNative);
    LabProductModelResult result{
        .measured = measured_model(row, run.subject->source.model.facts.labels),
        .logits = output_errors(*parent, measured),
        .memory_bytes = memory_account(variant, {}, context.session()).bytes,
        .moved_bytes = static_cast<std::int64_t>(counts.bytes),
        .integer_multiply_adds = static_cast<std::int64_t>(counts.integer_macs),
        .float_multiply_adds = static_cast<std::int64_t>(counts.float_macs),
        .scale_operations = static_cast<std::int64_t>(counts.scale_operations),
        .conversions = static_cast<std::int64_t>(counts.conversions)};
    for (const LinearMode mode : {LinearMode::float32, LinearMode::weight_only, LinearMode::codes})
      result.linear_layers.emplace_back(
          to_string(mode),
          std::ranges::count(modes, mode, [](const auto& one) { return one.second; }));
    found.models.push_back(std::move(result));
    race.add(forward_graph(variant), variant.parameters.on(*context.device));
  }
  EncodedSet timed;
  const std::vector<std::vector<double>> times =
      race.run(timed_texts(model, sizes, timed), sizes.runs);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const TimesInTurn beside = compare_rounds(times[0], times[i]);
    found.models[i].times = beside.after;
    found.models[i].speedup = beside.ratio();
  }
  return found;
}

}  // namespace

const Fields& fields_of(const LabLinearResult*) {
  using L = LabLinearResult;
  static const Fields fields = describe<L>(
      "lab_linear",
      "A linear layer in MXINT8, with the others in fp32. Times are medians of alternating runs.",
      field<&L::layer>("layer", "Its name."),
      field<&L::rows>("rows", Unit::rows, "Of its input in a timed run."),
      field<&L::outputs>("outputs", "Columns of its result."),
      field<&L::inputs>("inputs", "Elements that each of them sums over."),
      field<&L::margin_snr_db>("margin_snr_db", Unit::decibels,
                               "With only this layer in W8A8; null: no margin differs.")
          .or_null(),
      field<&L::fp32_ms>("fp32_ms", Unit::milliseconds, "The product in fp32."),
      field<&L::w8a16_ms>("w8a16_ms", Unit::milliseconds, "Packed weights by fp32 inputs."),
      field<&L::w8a8_ms>("w8a8_ms", Unit::milliseconds, "Codes by codes."),
      field<&L::w8a8_speedup>(
          "w8a8_speedup", Unit::ratio,
          "Median ratio of the fp32 time to the W8A8 time, in alternating runs."),
      field<&L::w8a8_speedup_interval>(
          "w8a8_speedup_interval",
          "Its interval of at least 95%, by the sign test; below 1 the layer stays in fp32."));
  return fields;
}

const Fields& fields_of(const LabSensitivityResult*) {
  using L = LabSensitivityResult;
  static const Fields fields = describe<L>(
      "lab_sensitivity", "Each linear layer with weights and inputs in MXINT8, the others in fp32.",
      field<&L::split>("split", "Split that it was evaluated on."),
      field<&L::examples>("examples", Unit::examples, "How many of it."),
      field<&L::layers>("layers", "In the order of the graph."));
  return fields;
}

const Fields& fields_of(const LabLogitsResult*) {
  using L = LabLogitsResult;
  static const Fields fields = describe<L>(
      "lab_logits", "Outputs of a model against those of the baseline.",
      field<&L::max_error>("max_error", Unit::logits, "Largest error; null: it is no number.")
          .or_null(),
      field<&L::rms_error>("rms_error", Unit::logits, "Root mean square of the errors.").or_null(),
      field<&L::rms>("rms", Unit::logits, "Root mean square of the baseline's outputs.").or_null());
  return fields;
}

const Fields& fields_of(const LabProductModelResult*) {
  using L = LabProductModelResult;
  static const Fields fields = describe<L>(
      "lab_product_model",
      "A model, and the operations of its linear layers in one timed run. The models ran in turn.",
      inlined<&L::measured>(), field<&L::logits>("logits", "Its outputs against those of fp32."),
      field<&L::linear_layers>("linear_layers", "Number of linear layers by arithmetic."),
      field<&L::memory_bytes>("memory_bytes", Unit::bytes, "The weights."),
      field<&L::moved_bytes>("moved_bytes", Unit::bytes, "Every operand once, counted."),
      field<&L::integer_multiply_adds>("integer_multiply_adds", "Counted."),
      field<&L::float_multiply_adds>("float_multiply_adds", "Counted."),
      field<&L::scale_operations>("scale_operations",
                                  "Products with the scale of a block, of weights that are decoded "
                                  "or of sums over blocks."),
      field<&L::conversions>("conversions",
                             "Elements from codes to floats (weights) or back (inputs)."),
      inlined<&L::times>(), inlined<&L::speedup>());
  return fields;
}

const Fields& fields_of(const LabProductsResult*) {
  using L = LabProductsResult;
  static const Fields fields = describe<L>(
      "lab_products", "A model whose linear layers use several arithmetics.",
      field<&L::batch>("batch", Unit::examples, "Of a timed run."),
      field<&L::tokens>("tokens", Unit::tokens, "Of each text."),
      field<&L::timed_runs>("timed_runs", "Runs of each model."),
      field<&L::device>("device", "The device that ran them."),
      field<&L::threads>("threads", "Threads that were used."),
      field<&L::other_multiply_adds>("other_multiply_adds",
                                     "In fp32, of a run, outside linear layers."),
      field<&L::models>("models",
                        "fp32, W8A16 (packed weights, fp32 inputs), W8A8 (codes by codes), and "
                        "mixed."));
  return fields;
}

std::vector<LabStage> product_stages(const LabRun& run, const ProductSizes& given,
                                     const LabRates& rates) {
  ProductSizes sizes = given;
  const Model& model = run.subject->source.model;
  sizes.tokens = std::min(sizes.tokens, model.facts.limits.tokens);
  const Graph graph = unquantized_graph(model);
  const EncodedSplits& data = run.subject->data;
  const auto flops_of = [&](const EncodedSet& set, std::int64_t most) {
    double tokens = 0;
    const std::int64_t count = most == 0 ? set.size() : std::min(most, set.size());
    for (std::int64_t i = 0; i < count; ++i)
      tokens += static_cast<double>(set.ids[static_cast<std::size_t>(i)].size());
    return tokens * cost(graph, {{'B', 1}, {'S', sizes.tokens}}).flops /
           static_cast<double>(sizes.tokens);
  };
  const Cost timed = cost(graph, {{'B', sizes.batch}, {'S', sizes.tokens}});
  const auto linears = static_cast<double>(linears_of(graph).size());
  const double race = 3 * static_cast<double>(sizes.runs) * timed.flops / rates.flops;
  const double memory = 3 * static_cast<double>(timed.parameter_bytes) +
                        4 * static_cast<double>(timed.peak_value_bytes);
  return {
      {.name = kSensitivityStage,
       .what =
           fmt::format("evaluates each of {} linear layers in W8A8 on the {} split, and times its "
                       "product",
                       linears, choice_split(data).name),
       .cost = {.seconds = 0.5 + race +
                           (linears + 1) * flops_of(data.validation, sizes.sensitivity_examples) /
                               rates.flops,
                .memory_bytes = memory},
       .run = [sizes](LabRun& r) { return to_json(study_linears(r, sizes)); }},
      {.name = kProductsStage,
       .what = "measures and times fp32, W8A16, W8A8 and mixed",
       .cost = {.seconds = 0.5 + 4 * (race + flops_of(data.test, 0) / rates.flops),
                .memory_bytes = memory},
       .run = [sizes](LabRun& r) { return to_json(study_models(r, sizes)); }}};
}

}  // namespace hone
