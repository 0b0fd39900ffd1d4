#include "hone/models/transform.h"

#include "hone/frontends/huggingface/other_programs.h"
#include "hone/passes/quantize.h"
#include "hone/passes/smooth.h"

namespace hone {
namespace {

// The only function that changes a model permanently. `texts` are the history entries.
void change_permanently(Model& model, std::string_view name, const std::vector<std::string>& texts,
                        const std::function<bool()>& change, const Session& session) {
  if (!run_as_pass(model.graph, session, name, change)) return;
  follow_graph(model);
  std::vector<std::string>& passes = model.facts.history.passes;
  passes.insert(passes.end(), texts.begin(), texts.end());
}

}  // namespace

void transform(Model& model, std::string_view text, const Session& session) {
  const Pass pass = parse_pass(text, session.library.passes, session.library.formats);
  const auto change = [&] { return run_pass(pass, model.graph, model.parameters, session); };
  change_permanently(model, pass.def->name, {to_string(pass)}, change, session);
}

void change_model(Model& model, std::string_view name, const std::function<bool()>& change,
                  const Session& session, const std::string& text) {
  change_permanently(model, name, {text.empty() ? std::string(name) : text}, change, session);
}

void quantize_model(Model& model, const QuantizationPlan& plan, const Session& session) {
  const std::vector<std::string> texts = quantize_passes(model.graph, plan);
  change_permanently(
      model, kQuantizer, texts, [&] { return quantize(model.graph, plan); }, session);
}

Model without_quantizers(const Model& model, const Session& session) {
  Model plain = model;
  transform(plain, "remove_quantizers", session);
  return plain;
}

Model for_other_programs(const Model& model, const Session& session) {
  Model plain = model;
  plain.facts.stored_without_zeros = false;
  for (const char* pass : {"unpack", "unprune", "remove_quantizers"})
    transform(plain, pass, session);
  change_model(
      plain, "unsmooth", [&] { return unsmooth(plain.graph, plain.parameters); }, session);
  if (!transformers_loading(plain).loads()) return plain;
  plain.graph = config_graph(plain.facts, plain.graph.ops());
  std::erase(plain.facts.history.passes, "remove_dropout");
  return plain;
}

}  // namespace hone
