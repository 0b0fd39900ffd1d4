#include "hone/app/fine_tune.h"

#include "hone/app/data.h"
#include "hone/passes/freeze.h"

namespace hone {
namespace {

Json to_json(const StepRecord& record) {
  return {{"loss", record.loss},
          {"grad_norm", record.grad_norm},
          {"learning_rate", record.learning_rate},
          {"epoch", record.epoch},
          {"step", record.step}};
}

}  // namespace

TrainingResult fine_tune(Model& model, const EncodedSplits& data, std::int32_t pad_id,
                         const FineTuneOptions& options, const LogSink& log, Context& context) {
  check_labels(data.train.labels, model.config.num_labels());
  Graph graph = model_graph(model, context, {.labels = true});
  freeze(graph, options.freeze);
  Progress progress(options.title, total_steps(options.training, data.train.size()),
                    {.unit = "steps", .output = context.progress});
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const StepRecord& record) {
    progress.update(record.step, fmt::format("loss {:.3f}", record.loss));
  };
  callbacks.on_log = [&](const StepRecord& record) { log(to_json(record)); };
  callbacks.on_evaluate = [&](const StepRecord& record, const ParameterStore& parameters) {
    if (data.validation.size() == 0) return;
    Model now = model;
    now.parameters = parameters;
    Measurement measured =
        measure(now, data.validation, pad_id, options.eval_batch_size, context, "validate");
    Json line = to_json(measured, model.config.labels);
    line["epoch"] = record.epoch;
    line["step"] = record.step;
    log(line);
  };
  return train(graph, model.parameters, data.train, pad_id, options.training, callbacks,
               context.library, context.pool);
}

EncodedSplits encode_splits(const TextModel& source, const std::vector<Example>& train,
                            const std::vector<Example>& validation,
                            const std::vector<Example>& test, std::int64_t max_seq_length,
                            Context& context, std::vector<std::string>& warnings) {
  const std::size_t limit = text_limit(max_seq_length, source.model.config.max_position_embeddings);
  const auto encode = [&](const std::vector<Example>& examples, const char* name) {
    EncodedSet set = encode_examples(context.pool, source.tokenizer, examples, limit);
    if (set.truncated_texts > 0)
      warnings.push_back(fmt::format("{}: {} of {} texts were cut to {} tokens", name,
                                     set.truncated_texts, set.size(), limit));
    if (set.replaced_bytes > 0)
      warnings.push_back(
          fmt::format("{}: {} ill-formed bytes were read as U+FFFD; the texts are not UTF-8", name,
                      set.replaced_bytes));
    return set;
  };
  return {encode(train, "train"), encode(validation, "validation"), encode(test, "test")};
}

}  // namespace hone
