#include "hone/jobs/merge_adapter.h"

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Of a batch that is timed.
constexpr std::int64_t kTexts = 8, kTokens = 128;

/// A model ready to answer a batch.
struct Ready {
  Graph graph;
  ParameterStore parameters;
  std::unique_ptr<Executable> executable;

  Ready(const Model& model, const Session& session)
      : graph(forward_graph(model)), parameters(model.parameters.on(session.device)) {
    prepare_for_inference(graph, parameters, session);
    executable = session.executable(graph);
  }
};

TimesInTurn time_both(const Model& adapted, const Model& merged, std::int64_t tokens,
                      Context& context) {
  const Session session = context.session();
  Ready before(adapted, session), after(merged, session);
  const NamedTensors inputs = text_examples(random_texts(adapted, kTexts, tokens))
                                  .batch(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}, 0);
  const auto run = [&](Ready& one) {
    one.executable->run(inputs, one.parameters);
    session.device.wait();
  };
  return time_in_turn([&] { run(before); }, [&] { run(after); });
}

Json to_json(const RoundTimes& times) {
  return {{"min_ms", times.min_ms}, {"median_ms", times.median_ms}};
}

Json to_json(const TimesInTurn& times, std::int64_t tokens) {
  return {{"batch", kTexts},
          {"tokens", tokens},
          {"with_adapter", to_json(times.before)},
          {"merged", to_json(times.after)},
          {"speedup", times.speedup},
          {"speedup_interval", {times.speedup_interval.low, times.speedup_interval.high}}};
}

constexpr std::string_view kRoundedAgain =
    "the merged weights were rounded to the model's formats again: what that changes, `hone "
    "compare` shows";

}  // namespace

MergeResult merge_adapter(const MergeJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  RunReport report{.title = fmt::format("{} merged into {}", job.adapter, job.model),
                   .invocation = job.invocation};
  report.notes = source.model.warnings;
  const AdapterSize before = adapter_size(source.model, job.adapter);
  const Model adapted = source.model;
  transform(source.model, "fuse_lora", context.session());
  const bool rounds = source.model.quantization.has_value();
  if (rounds) {
    source.model = round_weights(source.model, context);
    report.notes.emplace_back(kRoundedAgain);
  }
  stop_if_interrupted();
  write_model(source, output.path());
  const ModelSize size = model_size(source.model, output.path());
  const std::int64_t tokens = std::min(kTokens, source.model.facts.limits.tokens);
  const TimesInTurn times = time_both(adapted, source.model, tokens, context);
  MergeResult result;
  result.fields = {{"model", job.model},         {"adapter", job.adapter},
                   {"lora", to_json(before)},    {"rounded_again", rounds},
                   {"size", to_json(size)},      {"times", to_json(times, tokens)},
                   {"output", job.output.folder}};
  const std::string arithmetic(arithmetic_of_run(forward_graph(source.model), context.session()));
  const std::string parameters =
      fmt::format("{} adapters merged: {} parameters, {} before.", before.linears,
                  grouped(size.parameters), grouped(before.parameters));
  const std::string speed = fmt::format(
      "{} texts of {} tokens: {:.2f} ms at least and {:.2f} in the median, {:.2f} and {:.2f} with "
      "the adapter beside; {}.",
      kTexts, tokens, times.after.min_ms, times.after.median_ms, times.before.min_ms,
      times.before.median_ms, speedup_text(times));
  report.headline = parameters;
  report.basis = {arithmetic, 0, "none: no text was read", "none",
                  "nothing was chosen, and no answer was measured"};
  report.results = result.fields;
  report.sections = {{"Result", {Paragraph{to_text(size)}, Paragraph{speed}}}};
  write_run_report(report, output.path(), context);
  output.commit();
  tell_warnings(context, report.notes);
  result.text = [text = fmt::format("{} {}\n{}\nWritten to {}\n", parameters, to_text(size), speed,
                                    job.output.folder)](const TextStyle&) { return text; };
  return result;
}

}  // namespace hone
