#include "hone/jobs/apply_pass.h"

#include "hone/base/text.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"

namespace hone {
namespace {

std::int64_t operations(const Model& model) {
  return std::ssize(model.graph.of_kind(NodeKind::operation));
}

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

Json counts_of(std::int64_t operation_count, const ModelSize& size) {
  return {{"operations", operation_count}, {"parameters", size.parameters}};
}

}  // namespace

PassJobResult apply_pass(const PassJob& job, Context& context) {
  const Pass pass = parse_pass(job.pass, context.library.passes, context.library.formats);
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  Model& model = source.model;
  tell_warnings(context, model.warnings);
  const ModelSize size_before = model_size(model, {});
  const std::int64_t operations_before = operations(model);
  const std::size_t passes_before = model.facts.history.passes.size();
  transform(model, job.pass, context.session());
  const std::string name = to_string(pass);
  user_check(model.facts.history.passes.size() > passes_before,
             "pass {}: there is nothing in {} that it changes, and nothing was written", name,
             job.model);
  check_whole(model, name);
  write_model(source, output.path());
  const ModelSize size = model_size(model, output.path());
  output.commit();
  PassJobResult result;
  result.fields = {{"model", job.model},
                   {"pass", name},
                   {"before", counts_of(operations_before, size_before)},
                   {"after", counts_of(operations(model), size)},
                   {"size", to_json(size)},
                   {"output", job.output.folder}};
  result.text = [text = fmt::format(
                     "{}: {} operations, {} before; {} parameters, {} before. {}\nWritten to {}\n",
                     name, operations(model), operations_before, grouped(size.parameters),
                     grouped(size_before.parameters), to_text(size),
                     job.output.folder)](const TextStyle&) { return text; };
  return result;
}

}  // namespace hone
