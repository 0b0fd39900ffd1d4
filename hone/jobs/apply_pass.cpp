#include "hone/jobs/apply_pass.h"

#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded.h"
#include "hone/passes/pack.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// A folder holds the model in training mode, with a value for each parameter.
void check_whole(const Model& model, const std::string& pass) {
  for (const char* output : {"logits", "loss"})
    user_check(static_cast<bool>(model.graph.output(output)),
               "pass {}: leaves no output '{}', which a model's folder needs", pass, output);
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    user_check(model.parameters.contains(parameter->name()),
               "pass {}: {} wants values that are calibrated on texts; `hone quantize` does that",
               pass, parameter->name());
}

Json to_json(const Attribute& value) {
  struct Write {
    Json operator()(std::monostate) const { return {}; }
    Json operator()(bool flag) const { return flag; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const Shape& shape) const { return to_string(Attribute(shape)); }
    Json operator()(const Format& format) const { return to_string(format); }
  };
  return std::visit(Write(), value);
}

void write_findings(const PassJob& job, const std::string& pass, const std::string& text,
                    const Json& fields, const Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  RunReport report{.title = fmt::format("{} by {}", job.model, pass),
                   .headline = "The pass looks and changes nothing.",
                   .invocation = job.invocation};
  report.sections = {{"What it found", {Preformatted{text}}}};
  report.basis = {"none; the graph was read", 0, "none", "no texts", "nothing was chosen"};
  report.results = fields;
  write_run_report(report, output.path(), context);
  output.commit();
}

// What a pass finds that looks and changes nothing.
PassJobResult look(const PassJob& job, const Pass& pass, Context& context) {
  user_check(job.texts.data.options.source.empty(),
             "pass {}: looks and changes nothing, so there is nothing to measure; leave {} out",
             pass.def->name, job.invocation.setting("data"));
  const TextModel source = open_model(job.model, context, job.seed);
  tell_warnings(context, source.model.warnings);
  const std::string name = to_string(pass);
  const Attributes found = with_context(fmt::format("in the pass {}", name), [&] {
    return findings(pass, source.model.graph, source.model.parameters);
  });
  Json facts = Json::object();
  std::string text;
  for (const auto& [key, value] : found.items()) {
    facts[key] = to_json(value);
    const std::string* words = std::get_if<std::string>(&value);
    text += fmt::format("{}: {}\n", key, words != nullptr ? *words : to_string(value));
  }
  PassJobResult result{.fields = {{"model", job.model}, {"pass", name}, {"found", facts}},
                       .text = [text](const TextStyle&) { return text; }};
  if (!job.output.folder.empty()) write_findings(job, name, text, result.fields, context);
  return result;
}

// Tokens without a row are none that the model could be given.
void check_tokens(const TextModel& source, const std::string& pass) {
  if (source.images) return;
  const std::int64_t rows = source.model.facts.limits.vocabulary;
  user_check(
      source.tokenizer.vocabulary_size() <= rows,
      "pass {}: leaves {} rows of embeddings for {} tokens; `hone trim` lets tokens and rows "
      "go together",
      pass, rows, source.tokenizer.vocabulary_size());
}

// Runs it, and tells whether it changed anything.
bool changes(TextModel& source, const PassJob& job, Context& context) {
  const std::size_t passes_before = source.model.facts.history.passes.size();
  transform(source.model, job.pass, context.session());
  return source.model.facts.history.passes.size() > passes_before;
}

// What training through quantizers left before it was rounded is changed alike, for training goes on from there. Where formats
// stay, the weights of `after` are rounded from these, and in any case to what they take in the formats now.
std::optional<Model> changed_before_rounding(const TextModel& before, Model& after,
                                             const PassJob& job, Context& context) {
  std::optional<Model> unrounded;
  Model weights = before.model;
  if (take_unrounded(weights, before.folder)) {
    transform(weights, job.pass, context.session());
    unrounded = std::move(weights);
  }
  if (after.quantization && !has_packed_weights(after.graph))
    after = round_weights(unrounded ? *unrounded : after, context);
  return unrounded;
}

}  // namespace

PassJobResult apply_pass(const PassJob& job, Context& context) {
  const Pass pass = parse_pass(job.pass, context.library.passes, context.library.formats);
  if (pass.def->look != nullptr) return look(job, pass, context);
  user_check(
      !pass.def->of_runs,
      "pass {}: is for graphs that are about to be run, and commands run it themselves; what it "
      "makes is no model to be kept",
      pass.def->name);
  user_check(!job.output.folder.empty(),
             "pass {}: changes the model, and the copy needs a folder: give `output_dir`",
             pass.def->name);
  const std::string name = to_string(pass);
  RunReport report{.title = fmt::format("{} after {}", job.model, name),
                   .invocation = job.invocation};
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  const auto data =
      load_answer_texts(source, job.model, job.texts, job.seed, context, report.notes);
  if (!data) {
    tell_warnings(context, source.model.warnings);
    report.notes = source.model.warnings;
  }
  const TextModel before = source;
  user_check(changes(source, job, context),
             "pass {}: there is nothing in {} that it changes, and nothing was written", name,
             job.model);
  check_whole(source.model, name);
  check_tokens(source, name);
  const std::optional<Model> unrounded =
      changed_before_rounding(before, source.model, job, context);
  write_model(source, output.path());
  if (unrounded) write_unrounded(*unrounded, source.model, output.path());
  const ModelChange change = describe_change(before, source, output.path(), data,
                                             job.texts.batch_size, context, report.notes);
  const std::vector<std::string>& labels = source.model.facts.labels;
  const ChangeSentences words = sentences_of(change, name, data, job.invocation.setting("data"));
  PassJobResult result{.fields = to_json(change, job.model, data, labels),
                       .text = text_of(change, words, data, labels, job.output.folder)};
  result.fields.update({{"pass", name}, {"output", job.output.folder}});
  report.headline = words.headline;
  report.basis = basis_of(change, job.texts.data.options.source, data);
  report.results = result.fields;
  report.sections = sections_of(change, words, data, labels);
  write_model_card({job.output.name_of(output.path(), output.path()), job.invocation.command,
                    result_of("pass", result.fields), words.takes},
                   source.model, output.path());
  write_run_report(report, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
