#include "hone/jobs/apply_pass.h"

#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded_weights.h"
#include "hone/passes/pack.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// A model folder holds the model in training mode, with a value for each parameter.
void check_whole(const Model& model, const std::string& pass) {
  for (const char* output : {"logits", "loss"})
    user_check(static_cast<bool>(model.graph.output(output)),
               "pass {}: the result has no output '{}', which a saved model needs", pass, output);
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    user_check(model.parameters.contains(parameter->name()),
               "pass {}: {} needs ranges that are calibrated on texts; use `hone quantize`", pass,
               parameter->name());
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

// Reports the findings of a pass that only inspects the graph.
JobResult inspect(const PassJob& job, const Pass& pass, Context& context) {
  user_check(job.texts.data.options.source.empty(),
             "pass {}: only inspects the model, so there is nothing to measure; leave {} out",
             pass.def->name, job.invocation.setting("data"));
  const TextModel source = open_model(job.model, context, job.seed);
  print_warnings(context, source.model.warnings);
  const std::string name = to_string(pass);
  const Attributes found = with_context(fmt::format("in the pass {}", name), [&] {
    return findings(pass, source.model.graph, source.model.parameters);
  });
  PassFindings fields{.model = job.model, .pass = name};
  Facts facts;
  for (const auto& [key, value] : found.items()) {
    fields.found[std::string(key)] = to_json(value);
    const std::string* words = std::get_if<std::string>(&value);
    facts.rows.push_back({key, words != nullptr ? *words : to_string(value)});
  }
  JobResult result{.fields = hone::to_json(fields),
                   .document = {.title = fmt::format("{}: {}", job.model, name),
                                .headline = {},
                                .sections = {{"", {std::move(facts)}}},
                                .output = job.output.folder},
                   .basis = {"none", 0, "none", "none", "nothing was chosen or evaluated"}};
  if (job.output.folder.empty()) return result;  // prints the findings alone
  result.document.headline = "The model is unchanged";
  OutputFolder output(job.output.folder, job.output.options());
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

// Every token needs a row in the embedding table.
void check_tokens(const TextModel& source, const std::string& pass) {
  if (source.images) return;
  const std::int64_t rows = source.model.facts.limits.vocabulary;
  user_check(source.tokenizer.vocabulary_size() <= rows,
             "pass {}: the embedding table would have {} rows for {} tokens; use `hone trim`, "
             "which removes tokens with their rows",
             pass, rows, source.tokenizer.vocabulary_size());
}

// Runs the pass. Returns whether it changed anything.
bool changes(TextModel& source, const PassJob& job, Context& context) {
  const std::size_t passes_before = source.model.facts.history.passes.size();
  transform(source.model, job.pass, context.session());
  return source.model.facts.history.passes.size() > passes_before;
}

// Also applies the pass to the weights that quantization-aware training stored before rounding, since training resumes
// from them. If `after` keeps its formats, its weights are rounded anew, from these or else from its own.
std::optional<Model> changed_before_rounding(const TextModel& before, Model& after,
                                             const PassJob& job, Context& context) {
  std::optional<Model> unrounded;
  Model weights = before.model;
  if (load_unrounded(weights, before.folder)) {
    transform(weights, job.pass, context.session());
    unrounded = std::move(weights);
  }
  if (after.quantization && !has_packed_weights(after.graph))
    after = round_weights(unrounded ? *unrounded : after, context);
  return unrounded;
}

}  // namespace

const Fields& fields_of(const PassFields*) {
  using P = PassFields;
  static const Fields fields =
      describe<P>("pass", "A pass that changed a model.", inlined<&P::change>(),
                  field<&P::pass>("pass", "The pass with its options."),
                  field<&P::output>("output", "The folder that was written."));
  return fields;
}

const Fields& fields_of(const PassFindings*) {
  using P = PassFindings;
  static const Fields fields = describe<P>("pass_findings", "A pass that only inspected a model.",
                                           field<&P::model>("model", "The model as it was named."),
                                           field<&P::pass>("pass", "The pass with its options."),
                                           field<&P::found>("found", "Its findings by name."));
  return fields;
}

JobResult apply_pass(const PassJob& job, Context& context) {
  const Pass pass = parse_pass(job.pass, context.library.passes, context.library.formats);
  if (pass.def->analyze != nullptr) return inspect(job, pass, context);
  user_check(!pass.def->of_runs,
             "pass {}: prepares a graph for a run, and commands apply it themselves; its result "
             "cannot be stored as a model",
             pass.def->name);
  user_check(!job.output.folder.empty(),
             "pass {}: changes the model; give `output_dir` for the changed copy", pass.def->name);
  const std::string name = to_string(pass);
  JobResult result;
  Document& document = result.document;
  document.title = fmt::format("{} after {}", job.model, name);
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  const auto data =
      load_evaluation_data(source, job.model, job.texts, job.seed, context, document.notes);
  if (!data) {
    print_warnings(context, source.model.warnings);
    document.notes = source.model.warnings;
  }
  const TextModel before = source;
  user_check(changes(source, job, context), "pass {}: changes nothing in {}; nothing was written",
             name, job.model);
  check_whole(source.model, name);
  check_tokens(source, name);
  const std::optional<Model> unrounded =
      changed_before_rounding(before, source.model, job, context);
  write_model(source, output.path());
  if (unrounded) write_unrounded(*unrounded, source.model, output.path());
  ModelChange change = measure_change(before, source, output.path(), data, job.texts.batch_size,
                                      context, document.notes);
  change.size_and_time.models =
      fmt::format("{} {}", shell_word(job.model), shell_word(job.output.folder));
  const std::vector<std::string>& labels = source.model.facts.labels;
  const ModelChangeResult changed = model_change_result(change, job.model, data, labels);
  result.fields = hone::to_json(PassFields{changed, name, job.output.folder});
  describe_change(document, name, change, data, job.invocation.setting("data"), labels);
  document.output = job.output.folder;
  result.basis = basis_of(change, job.texts.data.options.source, data);
  CardFacts facts = card_facts(changed);
  facts.origin = fmt::format("{} after the pass {}", markdown_code(job.model), markdown_code(name));
  write_model_card({job.output.name_of(output.path(), output.path()), job.invocation.command,
                    std::move(facts), lines_of(change)},
                   source.model, output.path());
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
