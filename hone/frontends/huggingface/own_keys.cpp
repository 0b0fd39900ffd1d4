#include "hone/frontends/huggingface/own_keys.h"

#include "hone/base/error.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr const char *kQuantizationKey = "quantization_config", *kNoticeKey = "hone_notice",
                     *kHistoryKey = "hone_history";

Json to_json(const QuantizationPlan& plan) {
  Json layers = Json::object();
  for (const auto& [name, formats] : plan) {
    Json& layer = layers[name] = Json::object();
    for (const Operand operand : kOperands)
      if (formats[operand]) layer[std::string(to_string(operand))] = to_string(*formats[operand]);
  }
  return layers;
}

QuantizationPlan plan_from_json(const Json& layers, const FormatTable& formats) {
  QuantizationPlan plan;
  for (const auto& [name, layer] : layers.items()) {
    LayerFormats chosen;
    for (const Operand operand : kOperands) {
      const auto found = layer.find(std::string(to_string(operand)));
      if (found != layer.end()) chosen[operand] = parse_format(found->get<std::string>(), formats);
    }
    plan.emplace_back(name, chosen);
  }
  return plan;
}

}  // namespace

std::optional<Quantization> read_quantization(const Json& config, const FormatTable& formats,
                                              std::string_view where) {
  const Json block = config.value(kQuantizationKey, Json());
  if (block.is_null()) return std::nullopt;
  user_check(block.is_object() && block.value("quant_method", Json()) == Json("hone"),
             "{}: quantization_config: only models quantized by this program (quant_method "
             "\"hone\") can be read",
             where);
  return with_context(
      fmt::format("{}: quantization_config", where), [&]() -> std::optional<Quantization> {
        try {
          return Quantization{plan_from_json(block.at("layers"), formats),
                              block.at("training").get<std::string>()};
        } catch (const Json::exception& error) {
          fail("expected \"layers\" and \"training\" as this program writes them: {}",
               error.what());
        }
      });
}

History read_history(const Json& config, bool transformed, std::string_view where) {
  if (!config.contains(kHistoryKey)) return {.complete = !transformed};
  try {
    const Json& block = config[kHistoryKey];
    return {block.at("passes").get<std::vector<std::string>>(), block.at("complete").get<bool>()};
  } catch (const Json::exception& error) {
    fail("{}: {}: expected \"passes\" and \"complete\" as this program writes them: {}", where,
         kHistoryKey, error.what());
  }
}

void write_own_keys(Json& config, const Model& model, const std::string& notice) {
  for (const char* key : {kQuantizationKey, kNoticeKey, kHistoryKey}) config.erase(key);
  if (model.quantization) {
    Json& block = config[kQuantizationKey] = {{"quant_method", "hone"},
                                              {"training", model.quantization->method},
                                              {"arithmetic", arithmetic_of(model.graph)},
                                              {"layers", to_json(model.quantization->plan)}};
    const std::string elsewhere = notice_for_other_programs(model.quantization->plan);
    if (!elsewhere.empty()) block["notice"] = elsewhere;
  }
  const History& history = model.facts.history;
  if (history != History{})
    config[kHistoryKey] = {{"passes", history.passes}, {"complete", history.complete}};
  if (!notice.empty()) config[kNoticeKey] = notice;
}

}  // namespace hone
