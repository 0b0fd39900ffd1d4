#include "hone/jobs/predict.h"

#include <algorithm>
#include <memory>

#include "hone/base/output_folder.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/prediction_lines.h"
#include "hone/models/adapter.h"
#include "hone/models/encoding.h"
#include "hone/models/pair_warning.h"

namespace hone {
namespace {

// Returns few texts at first, to show results early, then more at once, which is faster.
TextStream growing_stretches(std::vector<TextRow> rows, std::size_t first) {
  const auto all = std::make_shared<std::vector<TextRow>>(std::move(rows));
  const auto next = [all, size = first, begin = std::size_t{0}](std::size_t most) mutable {
    const std::size_t end = std::min(all->size(), begin + std::min(size, most));
    std::vector<TextRow> some(
        std::make_move_iterator(all->begin() + static_cast<std::ptrdiff_t>(begin)),
        std::make_move_iterator(all->begin() + static_cast<std::ptrdiff_t>(end)));
    begin = end;
    size *= 2;
    return some;
  };
  return {.next = next};
}

/// The opened model, for labels or for embeddings.
class OpenedModel {
 public:
  OpenedModel(const PredictJob& job, Context& context) {
    if (job.kind == PredictionKind::embedding) {
      user_check(job.adapter.empty(),
                 "`adapter`: an adapter predicts labels with its own head; for embeddings, merge "
                 "it into the model first (`hone lora merge`)");
      embedder_ = open_embedding_model(job.model, context, job.seed);
      return;
    }
    classifier_ = open_with_adapter(job.model, job.adapter, context, job.seed);
    check_has_head(*classifier_, job.model);
  }
  const TextModel& model() const { return embedder_ ? embedder_->source : *classifier_; }
  /// The model's task and class names; no names without a head.
  LabelScheme scheme() const {
    const auto& facts = model().model.facts;
    return {facts.task(),
            model().model.has_untrained_head() ? std::vector<std::string>() : facts.labels};
  }
  const EmbeddingModel* embedder() const { return embedder_ ? &*embedder_ : nullptr; }
  TextLimit limit(const PredictJob& job) const {
    return embedder_ ? text_limit(job.cut, *embedder_) : text_limit(job.cut, *classifier_);
  }
  TextPredictor predictor(const PredictJob& job, Context& context) const {
    return embedder_ ? TextPredictor(*embedder_, job.cut, job.batch_size, context)
                     : TextPredictor(*classifier_, job.cut, job.batch_size, context);
  }

 private:
  std::optional<TextModel> classifier_;
  std::optional<EmbeddingModel> embedder_;
};

TextRows rows_to_predict(const PredictJob& job, const OpenedModel& opened, Context& context) {
  TextRows rows;
  if (!job.data.source.empty()) {
    rows = read_text_rows(job.data, job.split, opened.scheme(), opened.model().trained_on,
                          context.pool);
  } else if (job.stream.next) {
    rows.notes = job.stream.notes;
  } else {
    rows = given_text_rows(job.texts);
  }
  print_notes(context, rows.notes);
  print_warnings(context, rows.warnings);
  return rows;
}

PredictionSubject subject_for(const PredictJob& job, const OpenedModel& opened,
                              const TextRows& rows, std::int64_t width) {
  const bool from_data = !job.data.source.empty();
  PredictionSubject subject{.kind = job.kind,
                            .model = name_with_adapter(job.model, job.adapter),
                            .data = job.data.source,
                            .split = rows.split,
                            .pairs = rows.pairs,
                            .labelled = rows.labelled,
                            .many_files = rows.many_files,
                            .numbered = from_data || job.stream.next || rows.rows.size() > 1,
                            .task = opened.model().model.facts.task(),
                            .labels = opened.model().model.facts.labels,
                            .width = width};
  if (opened.embedder() == nullptr)
    subject.activation = title(score_activation(opened.model().model.facts));
  if (const EmbeddingModel* embedder = opened.embedder()) {
    subject.pooling = to_string(embedder->modules.pooling);
    subject.normalized = embedder->modules.normalize && !embedder->modules.kept_width;
  }
  return subject;
}

void report_model(const PredictJob& job, const OpenedModel& opened, bool pairs,
                  const Context& context) {
  const TextModel& model = opened.model();
  print_warnings(context, model.model.warnings);
  print_warnings(context,
                 {untrained_warning(model, job.model),
                  length_warning(job.cut.max_seq_length, model.model.facts.limits.tokens)});
  if (opened.embedder() != nullptr)
    return print_notes(context, embedding_notes(*opened.embedder()));
  print_warnings(
      context, {pair_warning(model, pairs, job.texts.empty() ? "text_pair_column" : "text_pair")});
  const bool several = model.model.facts.labels.size() > 1;
  if (const std::string_view activation = title(score_activation(model.model.facts));
      !activation.empty())
    print_notes(context,
                {fmt::format("the score{0} of {1} {2} the {3} of {4}, which {2} in `logits`{5}",
                             several ? "s" : "", job.model, several ? "are" : "is", activation,
                             several ? "its numbers" : "its number",
                             is_cross_encoder(model.model.facts)
                                 ? " (activation_fn)"
                                 : "; its config.json has no problem_type, and CrossEncoder and "
                                   "the pipelines of transformers do the same")});
  if (!model.prompt.empty())
    print_notes(context, {fmt::format("hone puts the model's default prompt, '{}', before every "
                                      "text, or the first text of a pair",
                                      one_line(model.prompt, 100))});
}

}  // namespace

PredictResult predict_texts(const PredictJob& job, Context& context) {
  const std::optional<PredictionForm> form = form_of_file(job.output);
  if (!job.output.empty()) {
    usage_check(form.has_value(), "`output`: expected a file that ends in .jsonl or .csv, got '{}'",
                job.output);
    check_output_file(job.output, job.overwrite);
  }
  const OpenedModel opened(job, context);
  TextRows rows = rows_to_predict(job, opened, context);
  if (rows.pairs)
    check_takes_pairs(opened.model().model.facts.limits, opened.model().tokenizer,
                      opened.limit(job));
  report_model(job, opened, rows.pairs, context);
  TextPredictor predictor = opened.predictor(job, context);
  PredictResult result{.subject = subject_for(job, opened, rows, predictor.width())};
  std::optional<PredictionLines> lines;
  if (form) lines.emplace(*form, result.subject, job.fields);

  const std::int64_t total = std::ssize(rows.rows);
  const auto first = static_cast<std::size_t>(job.batch_size), most = 32 * first;
  const bool from_stream = job.data.source.empty() && job.stream.next;
  const TextStream source =
      from_stream ? job.stream : growing_stretches(std::move(rows.rows), first);
  std::optional<Progress> progress;
  if (job.progress && total > 1)
    progress.emplace(
        "predict", total,
        ProgressOptions{.unit = opened.model().model.facts.limits.image ? "images" : "texts",
                        .output = context.progress});
  const auto predict_into = [&](const PredictionSink& sink) {
    for (std::vector<TextRow> some = source.next(most); !some.empty(); some = source.next(most)) {
      sink(predictor.predict(std::move(some)));
      if (progress) progress->update(predictor.texts);
    }
    if (progress) progress->finish();
  };
  if (lines) {
    write_file(job.output, [&](const ByteSink& sink) {
      const auto write = [&](std::string_view text) { sink(std::as_bytes(std::span(text))); };
      write(lines->header());
      predict_into([&](const std::vector<Prediction>& some) { write(lines->lines(some)); });
    });
    const bool embeds = job.kind == PredictionKind::embedding;
    print_notes(context, {fmt::format("{} {}{} written to {}", grouped(predictor.texts),
                                      embeds ? "embedding" : "prediction",
                                      predictor.texts == 1 ? "" : "s", job.output)});
  } else if (job.open_sink) {
    predict_into(job.open_sink(result.subject));
  } else {
    predict_into([&](std::vector<Prediction> some) {
      result.predictions.insert(result.predictions.end(), std::make_move_iterator(some.begin()),
                                std::make_move_iterator(some.end()));
    });
  }
  print_warnings(context, predictor.warnings());
  result.texts = predictor.texts;
  result.cut = predictor.cut;
  result.empty = predictor.empty;
  result.non_finite = predictor.non_finite;
  return result;
}

}  // namespace hone
