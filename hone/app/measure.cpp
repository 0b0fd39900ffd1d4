#include "hone/app/measure.h"

#include <chrono>
#include <cmath>

#include "hone/app/memory_check.h"
#include "hone/train/predictor.h"

namespace hone {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json interval(const Interval& i) { return Json::array({i.low, i.high}); }

}  // namespace

Measurement measure(const Model& model, const EncodedSet& data, std::int32_t pad_id,
                    std::int64_t batch_size, Context& context, const std::string& title) {
  const auto start = std::chrono::steady_clock::now();
  Graph graph = model_graph(model, context, {});
  const std::int64_t texts = std::min(batch_size, data.size()), tokens = longest_text(data);
  check_memory(graph, {{'B', texts}, {'S', tokens}},
               fmt::format("a batch of {} texts of up to {} tokens", texts, tokens));
  Predictor predictor(std::move(graph), model.parameters, context.library, context.pool);
  Progress progress(title, data.size(), {.unit = "texts", .output = context.progress});
  Measurement measured;
  measured.logits =
      predictor.logits(data, batch_size, pad_id, [&](std::int64_t done) { progress.update(done); });
  measured.classes = predictor.classes();
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured.evaluation = evaluate(measured.view(), data.labels);
  return measured;
}

Json to_json(const Measurement& measurement, const std::vector<std::string>& labels) {
  const Evaluation& e = measurement.evaluation;
  Json recall = Json::object();
  for (std::size_t i = 0; i < e.recall.size(); ++i) recall[labels[i]] = number(e.recall[i]);
  return {{"eval_loss", number(e.loss)},
          {"eval_accuracy", number(e.accuracy)},
          {"eval_accuracy_interval", interval(e.accuracy_interval)},
          {"eval_recall", recall},
          {"eval_samples", e.examples},
          {"eval_runtime", measurement.seconds},
          {"eval_samples_per_second", static_cast<double>(e.examples) / measurement.seconds}};
}

Json to_json(const Comparison& c) {
  return {{"flips", c.flips},
          {"flip_share", number(c.flip_share)},
          {"flip_interval", interval(c.flip_interval)},
          {"only_parent_right", c.only_parent},
          {"only_candidate_right", c.only_candidate},
          {"mcnemar_p", c.mcnemar.p_value},
          {"mcnemar_test", c.mcnemar.exact ? "exact" : "chi-square"},
          {"margin_snr_db", number(c.margin_snr_db)},
          {"accuracy_change", number(c.accuracy_change())},
          {"accuracy_change_interval", interval(accuracy_change_interval(c))},
          {"verdict", verdict(c)}};
}

Json to_json(const Gate& gate) {
  return {{"max_drop", gate.max_drop},
          {"drop_interval", {number(gate.drop.low), number(gate.drop.high)}},
          {"passed", gate.passed},
          {"verdict", gate.message}};
}

}  // namespace hone
