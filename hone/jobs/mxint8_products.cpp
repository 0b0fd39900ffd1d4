#include "hone/jobs/mxint8_products.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/base/text.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/mxint8_memory.h"
#include "hone/models/memory_account.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/runtime/packed_kernels.h"
#include "hone/study/result.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kEvalBatch = 32;
// Linears whose errors make this share of all leave their inputs in fp32.
constexpr double kSensitiveShare = 0.5;
constexpr const char *kSensitivity = "sensitivity", *kProducts = "products";

// ---- how a linear multiplies

LayerFormats formats_of(LinearWay way, const FormatTable& formats) {
  LayerFormats chosen;
  if (way == LinearWay::float32) return chosen;
  chosen.weight = parse_format(fmt::format("mxint(bits=8,block={})", kLabBlock), formats);
  if (way == LinearWay::codes) chosen.input = native_input(*chosen.weight, formats);
  return chosen;
}

std::vector<const Node*> linears_of(const Graph& graph) {
  std::vector<const Node*> linears;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is(kUsualLayer)) linears.push_back(node);
  return linears;
}

LinearWays all_in(LinearWay way, const Graph& graph) {
  LinearWays ways;
  for (const Node* linear : linears_of(graph)) ways[linear->name()] = way;
  return ways;
}

// The model with its linears so, packed, by rounding alone.
Model packed_as(const Model& model, const LinearWays& ways, Context& context) {
  CompressOptions options;
  const Graph graph = plain_graph(model);
  for (const Node* linear : linears_of(graph)) {
    const LinearWay way = ways.at(linear->name());
    if (way != LinearWay::float32)
      options.plan.emplace_back(linear->name(), formats_of(way, context.library.formats));
  }
  if (options.plan.empty()) return model;
  Model packed = compress(model, {}, options, context);
  transform(packed, "pack", context.session());
  return packed;
}

// ---- time

/// Models that take turns, so that all see the same machine.
class Race {
 public:
  Race(Context& context) : session_(context.session()) {}

  void add(Graph graph, ParameterStore parameters) {
    Runner& runner = *runners_.emplace_back(
        std::make_unique<Runner>(Runner{std::move(graph), std::move(parameters), nullptr, {}}));
    prepare_for_inference(runner.graph, runner.parameters, session_);
    runner.executable = session_.executable(runner.graph);
  }

  /// The times of each in milliseconds, rising: after two that are not counted, at least `runs` and for `least_seconds`.
  std::vector<std::vector<double>> run(const NamedTensors& inputs, std::int64_t runs) {
    for (const auto& runner : runners_)
      for (int i = 0; i < 2; ++i) time(*runner, inputs);
    for (std::int64_t i = 0; i < runs; ++i) {
      for (const auto& runner : runners_) runner->times.push_back(time(*runner, inputs));
      stop_if_interrupted();
    }
    std::vector<std::vector<double>> all;
    for (const auto& runner : runners_) {
      std::ranges::sort(runner->times);
      all.push_back(runner->times);
    }
    return all;
  }

 private:
  struct Runner {
    Graph graph;
    ParameterStore parameters;
    std::unique_ptr<Executable> executable;
    std::vector<double> times;
  };
  double time(Runner& runner, const NamedTensors& inputs) {
    const auto start = std::chrono::steady_clock::now();
    runner.executable->run(inputs, runner.parameters);
    session_.device.wait();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  Session session_;
  std::vector<std::unique_ptr<Runner>> runners_;  // graphs must not move
};

double middle(const std::vector<double>& rising) {
  const std::size_t half = rising.size() / 2;
  return rising.size() % 2 == 1 ? rising[half] : (rising[half - 1] + rising[half]) / 2;
}

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

// The best time of one product each way, in milliseconds.
std::vector<double> product_times(const ProductShape& shape, std::int64_t runs, Context& context) {
  Graph graph(context.library.ops);
  const Value x = graph.add_input("x", {DType::f32, {Dim(shape.rows), Dim(shape.inputs)}});
  const Value w = graph.add_parameter("w", {DType::f32, {Dim(shape.outputs), Dim(shape.inputs)}},
                                      ParameterRole::weight, true);
  const Value b =
      graph.add_parameter("b", {DType::f32, {Dim(shape.outputs)}}, ParameterRole::bias, true);
  graph.set_output("y", graph.add(kUsualLayer, {x, w, b}, {}, "product"));
  ParameterStore store;
  store.set("w", normal_tensor({shape.outputs, shape.inputs}, "weights of lab 4.3"));
  store.set("b", Tensor::zeros(DType::f32, {shape.outputs}));
  Race race(context);
  for (const LinearWay way : {LinearWay::float32, LinearWay::weight_only, LinearWay::codes}) {
    Graph own = graph;
    ParameterStore parameters = store;
    if (way != LinearWay::float32) {
      quantize(own, {{"product", formats_of(way, context.library.formats)}});
      pack_weights(own, parameters, context.pool);
    }
    race.add(std::move(own), std::move(parameters));
  }
  std::vector<double> best;
  for (const auto& times :
       race.run({{"x", normal_tensor({shape.rows, shape.inputs}, "inputs of lab 4.3")}}, runs))
    best.push_back(times.front());
  return best;
}

// ---- the first stage: each linear alone

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

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json study_linears(LabRun& run, const ProductSizes& sizes) {
  Context& context = run.context;
  const Model& model = run.subject.source.model;
  const Graph graph = plain_graph(model);
  const ChoicePart part = choice_part(run.subject.data);
  const EncodedSet texts = first_texts(part.examples, sizes.sensitivity_texts);
  const Measurement parent =
      measure(model, texts, kEvalBatch, context, "fp32", ProgressEnd::vanishes);
  const std::vector<const Node*> linears = linears_of(graph);
  std::map<ProductShape, std::vector<double>> times;
  Json layers = Json::array();
  Progress progress("linears", std::ssize(linears),
                    {.unit = "linears", .end = ProgressEnd::vanishes, .output = context.progress});
  for (const Node* linear : linears) {
    LinearWays ways = all_in(LinearWay::float32, graph);
    ways[linear->name()] = LinearWay::codes;
    const Model alone = packed_as(model, ways, context);
    const Measurement after =
        measure(alone, texts, kEvalBatch, context, linear->name(), ProgressEnd::vanishes);
    const TaskComparison comparison = compare(parent.view(), after.view(), truth_of(texts));
    const ProductShape shape = shape_of(*linear, {{'B', sizes.batch}, {'S', sizes.tokens}});
    auto [found, is_new] = times.try_emplace(shape);
    if (is_new) found->second = product_times(shape, sizes.runs, context);
    layers.push_back({{"layer", linear->name()},
                      {"rows", shape.rows},
                      {"outputs", shape.outputs},
                      {"inputs", shape.inputs},
                      {"margin_snr_db", number_json(comparison.snr_db)},
                      {"fp32_ms", found->second[0]},
                      {"w8a16_ms", found->second[1]},
                      {"w8a8_ms", found->second[2]}});
    progress.update(std::ssize(layers));
  }
  progress.finish();
  return {{"part", part.name}, {"texts", texts.size()}, {"layers", layers}};
}

// ---- what follows from it for the mixed model

// Of the whole error, if errors of linears add up; an error of none at all is no number in decibels.
double error_of(const Json& layer) {
  const Json& snr = layer.at("margin_snr_db");
  return snr.is_null() ? 0 : std::pow(10, -snr.get<double>() / 10);
}

}  // namespace

std::string_view to_string(LinearWay way) {
  constexpr std::string_view kNames[] = {"fp32", "W8A16", "W8A8"};
  return kNames[static_cast<std::size_t>(way)];
}

LinearWays mixed_ways(const Json& sensitivity) {
  std::vector<const Json*> layers;
  double whole = 0;
  for (const Json& layer : sensitivity.at("layers")) {
    layers.push_back(&layer);
    whole += error_of(layer);
  }
  std::ranges::stable_sort(layers, std::greater(),
                           [](const Json* layer) { return error_of(*layer); });
  LinearWays ways;
  double counted = 0;
  for (const Json* layer : layers) {
    const bool sensitive = counted < kSensitiveShare * whole;
    const bool slower = layer->at("w8a8_ms") > layer->at("fp32_ms");
    ways[layer->at("layer")] = slower      ? LinearWay::float32
                               : sensitive ? LinearWay::weight_only
                                           : LinearWay::codes;
    counted += error_of(*layer);
  }
  return ways;
}

namespace {

// ---- the second stage: the models

struct Variant {
  const char* name;
  LinearWays ways;
};

std::vector<Variant> variants_of(const Graph& graph, const Json& sensitivity) {
  return {{"fp32", all_in(LinearWay::float32, graph)},
          {"W8A16", all_in(LinearWay::weight_only, graph)},
          {"W8A8", all_in(LinearWay::codes, graph)},
          {"mixed", mixed_ways(sensitivity)}};
}

/// What the linears of a run do, counted: each operand is moved once.
struct ProductCounts {
  double bytes = 0, integer_macs = 0, float_macs = 0, scale_operations = 0, conversions = 0;
};

ProductCounts counts_of(const Graph& graph, const LinearWays& ways, const Bindings& bindings) {
  ProductCounts all;
  for (const Node* linear : linears_of(graph)) {
    const auto [rows, outputs, inputs] = shape_of(*linear, bindings);
    const auto m = static_cast<double>(rows), n = static_cast<double>(outputs),
               k = static_cast<double>(inputs), blocks = std::ceil(k / kLabBlock);
    all.bytes += 4 * m * (k + n);
    switch (ways.at(linear->name())) {
      case LinearWay::float32:
        all.bytes += 4 * n * k;
        all.float_macs += m * n * k;
        break;
      case LinearWay::weight_only:
        all.bytes += n * (k + blocks);
        all.float_macs += m * n * k;
        all.conversions += n * k;
        all.scale_operations += n * k;
        break;
      case LinearWay::codes:
        all.bytes += n * (k + blocks);
        all.integer_macs += m * n * k;
        all.conversions += m * k;
        all.scale_operations += m * n * blocks;
    }
  }
  return all;
}

// The outputs of a model against those of its parent.
Json output_errors(const Measurement& parent, const Measurement& model) {
  double most = 0, squares = 0, parents = 0;
  for (std::size_t i = 0; i < parent.logits.size(); ++i) {
    const double before = parent.logits[i], error = model.logits[i] - before;
    most = std::max(most, std::abs(error));
    squares += error * error;
    parents += before * before;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, parent.logits.size()));
  return {{"max_error", number_json(most)},
          {"rms_error", number_json(std::sqrt(squares / count))},
          {"rms", number_json(std::sqrt(parents / count))}};
}

Json study_models(LabRun& run, const ProductSizes& sizes) {
  Context& context = run.context;
  const Model& model = run.subject.source.model;
  const Graph graph = plain_graph(model);
  const EncodedSet& texts = run.subject.data.test;
  const Bindings bindings = {{'B', sizes.batch}, {'S', sizes.tokens}};
  const double all_macs = cost(graph, bindings).flops / 2;
  const double linear_macs =
      counts_of(graph, all_in(LinearWay::float32, graph), bindings).float_macs;
  Race race(context);
  Json rows = Json::array();
  std::optional<Measurement> parent;
  for (const auto& [name, ways] : variants_of(graph, run.found.at(kSensitivity))) {
    const Model variant = packed_as(model, ways, context);
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
    const ProductCounts counts = counts_of(graph, ways, bindings);
    Json json = to_json(row, run.subject.source.model.facts.labels);
    json["logits"] = output_errors(*parent, measured);
    json["linears"] = Json::object();
    for (const LinearWay way : {LinearWay::float32, LinearWay::weight_only, LinearWay::codes})
      json["linears"][std::string(to_string(way))] =
          std::ranges::count(ways, way, [](const auto& one) { return one.second; });
    json["memory_bytes"] = memory_account(variant, {}, context.session()).bytes;
    json["moved_bytes"] = static_cast<std::int64_t>(counts.bytes);
    json["integer_multiply_adds"] = static_cast<std::int64_t>(counts.integer_macs);
    json["float_multiply_adds"] = static_cast<std::int64_t>(counts.float_macs);
    json["scale_operations"] = static_cast<std::int64_t>(counts.scale_operations);
    json["conversions"] = static_cast<std::int64_t>(counts.conversions);
    rows.push_back(std::move(json));
    race.add(forward_graph(variant), variant.parameters.on(*context.device));
  }
  EncodedSet timed;
  const std::vector<std::vector<double>> times =
      race.run(timed_texts(model, sizes, timed), sizes.runs);
  for (std::size_t i = 0; i < times.size(); ++i)
    rows[i].update({{"min_ms", times[i].front()}, {"median_ms", middle(times[i])}});
  return {{"batch", sizes.batch},
          {"tokens", sizes.tokens},
          {"timed_runs", sizes.runs},
          {"threads", context.pool.threads()},
          {"other_multiply_adds", static_cast<std::int64_t>(std::max(0.0, all_macs - linear_macs))},
          {"models", rows}};
}

// ---- what is told

std::string run_text(const Json& found) {
  return fmt::format("{} texts of {} tokens", found.at("batch").get<std::int64_t>(),
                     found.at("tokens").get<std::int64_t>());
}

double at_number(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_number() ? value.get<double>() : std::nan("");
}

Estimate interval_at(const Json& json, const std::string& key, Quantity of) {
  const Json& ends = json.at(key + "_interval");
  if (ends.is_null()) return {std::nan(""), std::nan(""), std::nan(""), of};
  return {at_number(json, key.c_str()), ends[0].is_number() ? ends[0].get<double>() : std::nan(""),
          ends[1].is_number() ? ends[1].get<double>() : std::nan(""), of};
}

Table answers_table(const Json& found) {
  const FigureName figure = figure_of(found.at("models")[0]);
  Table table({{"model", "Model"},
               {std::string(figure.key), figure_title(figure), false},
               {change_key(figure), "Change", false},
               {"flips", "Flips", false},
               {"verdict", "Verdict", false},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"max_error", "Logits: largest error"},
               {"rms_error", "RMS error"},
               {"rms", "RMS in fp32", false},
               {"arithmetic", "Arithmetic", false}});
  for (const Json& model : found.at("models")) {
    const Json& logits = model.at("logits");
    std::vector<Cell> row = {model.at("model").get<std::string>(), figure_estimate(model)};
    if (model.contains("comparison")) {
      const Json& c = model.at("comparison");
      row.push_back(interval_at(c, change_key(figure), Quantity::points));
      row.push_back(c.contains("flip_share")
                        ? Cell(Estimate{at_number(c, "flip_share"), c["flip_interval"][0],
                                        c["flip_interval"][1], Quantity::flips})
                        : Cell(absent));
      row.push_back(c.at("verdict").get<std::string>());
      row.push_back(real(at_number(c, "margin_snr_db"), 1));
      row.push_back(real(at_number(logits, "max_error"), 4));
      row.push_back(real(at_number(logits, "rms_error"), 4));
    } else {
      for (int i = 0; i < 6; ++i) row.emplace_back(absent);
    }
    row.push_back(real(at_number(logits, "rms"), 3));
    row.push_back(model.at("arithmetic").get<std::string>());
    table.add_row(std::move(row));
  }
  return table;
}

Table work_table(const Json& found) {
  const auto millions = [](const Json& model, const char* key) {
    return real(1e-6 * model.at(key).get<double>(), 2);
  };
  Table table({{"model", "Model"},
               {"linears_fp32", "fp32 linears", false},
               {"linears_w8a16", "W8A16 linears", false},
               {"linears_w8a8", "W8A8 linears", false},
               {"memory_bytes", "Weights"},
               {"moved_bytes", "Moved by linears"},
               {"integer_multiply_adds", "Integer multiply-adds (10^6)", false},
               {"float_multiply_adds", "Float multiply-adds (10^6)", false},
               {"scale_operations", "Scale operations (10^6)", false},
               {"conversions", "Conversions (10^6)", false},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"}});
  for (const Json& model : found.at("models")) {
    const Json& linears = model.at("linears");
    table.add_row({model.at("model").get<std::string>(), linears.at("fp32").get<std::int64_t>(),
                   linears.at("W8A16").get<std::int64_t>(), linears.at("W8A8").get<std::int64_t>(),
                   bytes(model.at("memory_bytes").get<std::int64_t>()),
                   bytes(static_cast<std::int64_t>(model.at("moved_bytes").get<double>())),
                   millions(model, "integer_multiply_adds"), millions(model, "float_multiply_adds"),
                   millions(model, "scale_operations"), millions(model, "conversions"),
                   real(model.at("min_ms").get<double>(), 3),
                   real(model.at("median_ms").get<double>(), 3)});
  }
  return table;
}

Table linears_table(const Json& sensitivity) {
  const LinearWays mixed = mixed_ways(sensitivity);
  Table table({{"layer", "Linear", false},
               {"product", "Rows x outputs x inputs", false},
               {"margin_snr_db", "Margin SNR alone in W8A8 (dB)"},
               {"fp32_us", "fp32 (µs)"},
               {"w8a16_us", "W8A16 (µs)"},
               {"w8a8_us", "W8A8 (µs)"},
               {"mixed", "In the mixed model", false}});
  for (const Json& layer : sensitivity.at("layers")) {
    const std::string name = layer.at("layer");
    const auto microseconds = [&](const char* key) {
      return real(1e3 * layer.at(key).get<double>(), 1);
    };
    table.add_row({name,
                   fmt::format("{} x {} x {}", layer.at("rows").get<std::int64_t>(),
                               layer.at("outputs").get<std::int64_t>(),
                               layer.at("inputs").get<std::int64_t>()),
                   real(at_number(layer, "margin_snr_db"), 1), microseconds("fp32_ms"),
                   microseconds("w8a16_ms"), microseconds("w8a8_ms"), to_string(mixed.at(name))});
  }
  return table;
}

Figure work_figure(const Json& found, const LabRun& run) {
  constexpr int kHeight = 260;
  const Json& models = found.at("models");
  const auto panel = [&](const char* title, const char* label, auto&& value, int digits) {
    Panel bars{.title = title, .x = {.label = label}};
    Series series{.draw = Draw::bars, .with_names = true};
    double most = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const double x = value(models[i]);
      const double y = -static_cast<double>(i);
      bars.y.ticks.push_back({y, models[i].at("model")});
      if (!std::isfinite(x)) continue;
      most = std::max(most, x);
      series.points.push_back({.x = x, .y = y, .name = fmt::format("{:.{}f}", x, digits)});
    }
    bars.x.range = Range{0, 1.25 * most};
    bars.y.range = Range{0.6 - static_cast<double>(models.size()), 0.6};
    bars.series.push_back(std::move(series));
    return bars;
  };
  const EncodedSet& test = run.subject.data.test;
  return {
      .title = fmt::format(
          "{}, in fp32, packed and native; {}; one seed", run_text(found),
          fmt::format("{}, n = {}", run.subject.data.measured.facts.part, grouped(test.size()))),
      .panels = {panel(
                     "Time of a run", "Minimum (ms)",
                     [](const Json& m) { return m.at("min_ms").get<double>(); }, 2),
                 panel(
                     "Weights in memory", "MiB",
                     [](const Json& m) { return m.at("memory_bytes").get<double>() / 0x1p20; }, 2),
                 panel(
                     "Answers against fp32", "Margin SNR (dB)",
                     [](const Json& m) {
                       return m.contains("comparison")
                                  ? at_number(m.at("comparison"), "margin_snr_db")
                                  : std::nan("");
                     },
                     1)},
      .width = 1100,
      .height = kHeight};
}

std::string rule_text(const Json& sensitivity) {
  return fmt::format(
      "Mixed: each linear was tried alone in W8A8 on the first {} texts of the {} part. Those "
      "whose errors "
      "of the margin make half of the sum, the largest first, keep inputs in fp32 (W8A16); one "
      "whose W8A8 "
      "product was measured slower than that of fp32 stays in fp32; all others are W8A8. The "
      "reported part "
      "was not looked at.",
      grouped(sensitivity.at("texts").get<std::int64_t>()),
      sensitivity.at("part").get<std::string>());
}

// "W8A16 takes 1.05 of fp32's time, W8A8 0.80, mixed 0.78": so a slower one is seen at once.
std::string speed_sentence(const Json& found) {
  const Json& models = found.at("models");
  const double whole = models[0].at("min_ms");
  std::string text;
  for (std::size_t i = 1; i < models.size(); ++i)
    text += fmt::format(fmt::runtime(i == 1 ? "{} takes {:.2f} of fp32's time" : ", {} {:.2f}"),
                        models[i].at("model").get<std::string>(),
                        models[i].at("min_ms").get<double>() / whole);
  return text;
}

// Nobody is to believe that few bits are faster where they are not.
std::vector<std::string> slower_ones(const Json& found) {
  const Json& models = found.at("models");
  const double whole = models[0].at("min_ms");
  std::vector<std::string> lines;
  for (const Json& model : models)
    if (model.at("min_ms").get<double>() > whole)
      lines.push_back(fmt::format("{} is slower than fp32 here: {:.2f} of its time for {}",
                                  model.at("model").get<std::string>(),
                                  model.at("min_ms").get<double>() / whole, run_text(found)));
  return lines;
}

}  // namespace

std::vector<LabStage> product_stages(const LabRun& run, const ProductSizes& given,
                                     const LabRates& rates) {
  ProductSizes sizes = given;
  const Model& model = run.subject.source.model;
  sizes.tokens = std::min(sizes.tokens, model.facts.limits.tokens);
  const Graph graph = plain_graph(model);
  const EncodedSplits& data = run.subject.data;
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
      {.name = kSensitivity,
       .what = fmt::format("tries each of {} linears alone in W8A8 on the {} part, and times its "
                           "product",
                           linears, choice_part(data).name),
       .cost = {.seconds = 0.5 + race +
                           (linears + 1) * flops_of(data.validation, sizes.sensitivity_texts) /
                               rates.flops,
                .memory_bytes = memory},
       .run = [sizes](LabRun& r) { return study_linears(r, sizes); }},
      {.name = kProducts,
       .what = "measures and times fp32, W8A16, W8A8 and mixed",
       .cost = {.seconds = 0.5 + 4 * (race + flops_of(data.test, 0) / rates.flops),
                .memory_bytes = memory},
       .run = [sizes](LabRun& r) { return study_models(r, sizes); }}};
}

LabPart product_part(const LabRun& run) {
  const Json &found = run.found.at(kProducts), &sensitivity = run.found.at(kSensitivity);
  const fs::path& folder = run.folder();
  LabPart part;
  const Table answers = answers_table(found), work = work_table(found),
              linears = linears_table(sensitivity);
  write_file(folder / "products.csv", to_csv(work));
  write_file(folder / "products_answers.csv", to_csv(answers));
  write_file(folder / "products_linears.csv", to_csv(linears));
  part.tables = {answers, work};
  const std::string measured_on = describe(run.subject.data.measured);
  Section section{"fp32, W8A16, W8A8, and mixed", {}};
  section.blocks = {
      figure_block(
          work_figure(found, run), folder / "products",
          "Time, bytes of the weights and what is left of the answers, a bar for each model",
          part.notes),
      PageTable{answers,
                fmt::format("On {}. W8A16: packed weights, inputs in fp32 (the A16 of others is "
                            "bfloat16); W8A8: weights and inputs in MXINT8, products of codes.",
                            measured_on)},
      PageTable{
          work,
          fmt::format(
              "Measured: times, best and median of {} runs of {} on {} threads that took turns, "
              "and "
              "bytes of the weights. Counted, for the linears of one such run: moved is every "
              "operand "
              "once; scale operations are products with the scale of a block, of a weight as it is "
              "decoded (W8A16) or of a sum over a block (W8A8); conversions are elements that go "
              "from "
              "codes to floats (weights) or from floats to codes (inputs). {} million float "
              "multiply-adds of attention and the rest come on top in all of them. No energy was "
              "measured, and none is claimed.",
              found.at("timed_runs").get<std::int64_t>(), run_text(found),
              found.at("threads").get<int>(),
              fmt::format("{:.1f}", 1e-6 * found.at("other_multiply_adds").get<double>()))},
      Paragraph{rule_text(sensitivity)}};
  part.sections.push_back(std::move(section));
  part.sections.push_back(
      {"Each linear alone",
       {PageTable{linears,
                  fmt::format("Products of {}: the best of {} runs each, which took turns.",
                              run_text(found), found.at("timed_runs").get<std::int64_t>())}},
       true});
  part.results = {{"sensitivity", sensitivity}, {"products", found}};
  part.sentence = speed_sentence(found);
  for (std::string& line : slower_ones(found)) part.notes.push_back(std::move(line));
  return part;
}

}  // namespace hone
