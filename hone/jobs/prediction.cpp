#include "hone/jobs/prediction.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/metrics/classification.h"
#include "hone/metrics/multi_label.h"
#include "hone/models/encoding.h"
#include "hone/models/vocabulary.h"
#include "hone/study/result.h"
#include "hone/text/utf8.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

using WhichRows = PredictionField::Rows;
// Returns the number with the fewest digits that round-trips to the float.
double short_number(float value) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
  double number = 0;
  std::from_chars(std::begin(digits), end, number);
  // Halfway between two floats, it could be read as the other one.
  return static_cast<float>(number) == value ? number : static_cast<double>(value);
}

template <typename T>
NumbersOrNull numbers_of(const std::vector<T>& values) {
  NumbersOrNull numbers;
  for (const T value : values)
    numbers.push_back(std::isfinite(value) ? std::optional<double>(value) : std::nullopt);
  return numbers;
}

NumbersOrNull short_numbers(const std::vector<float>& values) {
  NumbersOrNull numbers;
  for (const float value : values)
    numbers.push_back(std::isfinite(value) ? std::optional(short_number(value)) : std::nullopt);
  return numbers;
}

// A number, or an object for several outputs.
Json value_of(const Prediction& p, const std::vector<std::string>& labels) {
  const auto number = [&](std::size_t i) {
    return std::isfinite(p.values[i]) ? Json(short_number(p.values[i])) : Json();
  };
  if (p.values.size() == 1) return number(0);
  Json values = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) values[labels[i]] = number(i);
  return values;
}

std::vector<std::string> predicted_labels(const Prediction& p,
                                          const std::vector<std::string>& labels) {
  std::vector<std::string> given;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (predicts_label(p.logits[i])) given.push_back(labels[i]);
  return given;
}

ReadTextResult read_text_result(const Prediction& p, const PredictionSubject& subject) {
  ReadTextResult read{.id = p.row.id,
                      .text = p.row.text,
                      .text_pair = p.row.text_pair,
                      .gold = p.row.gold_value,
                      .cut = p.cut,
                      .input_ids = p.input_ids};
  if (subject.many_files) read.file = p.row.file;
  if (read.gold.is_null() && p.row.gold) read.gold = *p.row.gold;
  return read;
}

PredictionResult prediction_result(const Prediction& p, const PredictionSubject& subject) {
  PredictionResult result{.read = read_text_result(p, subject),
                          .label = p.label,
                          .score = p.score,
                          .labels = subject.labels,
                          .logits = numbers_of(p.logits)};
  if (subject.task == Task::regression)
    result.value = value_of(p, subject.labels);
  else
    result.probabilities = numbers_of(p.probabilities);
  if (subject.task == Task::multi_label && p.is_finite)
    result.predicted_labels = predicted_labels(p, subject.labels);
  return result;
}

}  // namespace

const Fields& fields_of(const ReadTextResult*) {
  using R = ReadTextResult;
  static const Fields fields = describe<R>(
      "read_text", "An example as a model read it.",
      field<&R::id>("id",
                    "Number of its line (a header is line 1) or of its row, from 1, or its id in "
                    "the data."),
      field<&R::file>("file", "The file of that line or row; null: there are not several."),
      field<&R::text>("text", "The text."),
      field<&R::text_pair>("text_pair", "The second text; null: not a pair."),
      field<&R::gold>("gold",
                      "The label in the data: a text, a number, an object of several numbers, or "
                      "a list of labels; null: none."),
      field<&R::cut>("cut", "Whether the example was longer than `input_ids`."),
      field<&R::input_ids>("input_ids", "Ids of its tokens."));
  return fields;
}

const Fields& fields_of(const PredictionResult*) {
  using P = PredictionResult;
  static const Fields fields = describe<P>(
      "prediction", "An example and what a model predicts for it.", inlined<&P::read>(),
      field<&P::label>("label",
                       "The class with the largest logit; null: another task, or a logit is not "
                       "finite."),
      field<&P::score>("score", Unit::share, "Its probability; null: as `label`."),
      field<&P::value>("value",
                       "The number, or an object of several by name; null: another task, or not "
                       "finite."),
      field<&P::predicted_labels>("predicted_labels",
                                  "Labels with a probability of at least one half; null: another "
                                  "task, or a logit is not finite."),
      field<&P::labels>("labels",
                        "Classes, labels or numbers, in the order of the following lists."),
      field<&P::probabilities>("probabilities",
                               "Of each class (softmax) or label (sigmoid), or by the activation "
                               "of a cross-encoder; null: a model of numbers, or not finite."),
      field<&P::logits>("logits", "Of each class, label or number; null: not finite."));
  return fields;
}

const Fields& fields_of(const EmbeddingResult*) {
  using E = EmbeddingResult;
  static const Fields fields = describe<E>(
      "embedding", "An example and its embedding.", inlined<&E::read>(),
      field<&E::embedding>(
          "embedding",
          "The vector, with enough digits to restore the fp32 values; null: not finite."));
  return fields;
}

const Fields& fields_of(const NamedDataResult*) {
  static const Fields fields = describe<NamedDataResult>(
      "named_data", "Data by its name.",
      field<&NamedDataResult::source>("source",
                                      "As it was named: a file, a folder, a glob or "
                                      "synth:NAME?…"));
  return fields;
}

const Fields& fields_of(const PredictFields*) {
  using P = PredictFields;
  static const Fields fields = describe<P>(
      "predict", "The prediction for one example; the command prints one line for each.",
      field<&P::model>("model", "The model as it was named."),
      field<&P::data>("data", "The data of the example; null: the texts were given."),
      field<&P::split>("split", "The split: train, validation, test or all; null: as `data`."),
      inlined<&P::prediction>());
  return fields;
}

const Fields& fields_of(const EmbedFields*) {
  using E = EmbedFields;
  static const Fields fields = describe<E>(
      "embed", "The embedding of one example; the command prints one line for each.",
      field<&E::model>("model", "The model as it was named."),
      field<&E::data>("data", "The data of the example; null: the texts were given."),
      field<&E::split>("split", "The split: train, validation, test or all; null: as `data`."),
      field<&E::pooling>("pooling",
                         "How hidden states become a vector: cls, max, mean, "
                         "mean_sqrt_len_tokens, or several joined, as cls+mean."),
      field<&E::normalized>("normalized", "Whether vectors are scaled to length 1."),
      inlined<&E::embedded>());
  return fields;
}

Json predict_fields(const Prediction& prediction, const PredictionSubject& subject) {
  std::optional<NamedDataResult> data;
  std::optional<std::string> split;
  if (!subject.data.empty()) {
    data = NamedDataResult{subject.data};
    split = subject.split;
  }
  if (subject.kind == PredictionKind::label)
    return to_json(PredictFields{.model = subject.model,
                                 .data = data,
                                 .split = split,
                                 .prediction = prediction_result(prediction, subject)});
  return to_json(EmbedFields{.model = subject.model,
                             .data = data,
                             .split = split,
                             .pooling = subject.pooling,
                             .normalized = subject.normalized,
                             .embedded = {.read = read_text_result(prediction, subject),
                                          .embedding = short_numbers(prediction.embedding)}});
}

const std::vector<PredictionField>& prediction_fields() {
  static const std::vector<PredictionField> fields = {
      {.name = "id"},
      {.name = "file", .of = WhichRows::of_many_files},
      {.name = "text"},
      {.name = "text_pair", .of = WhichRows::pairs},
      {.name = "label", .kind = PredictionKind::label, .tasks = {Task::single_label}},
      {.name = "score", .kind = PredictionKind::label, .tasks = {Task::single_label}},
      {.name = "value",
       .kind = PredictionKind::label,
       .tasks = {Task::regression},
       .of_outputs = true},
      {.name = "predicted_labels", .kind = PredictionKind::label, .tasks = {Task::multi_label}},
      {.name = "gold", .of = WhichRows::labelled, .of_outputs = true},
      {.name = "cut"},
      {.name = "embedding", .kind = PredictionKind::embedding},
      {.name = "labels", .kind = PredictionKind::label, .list = true},
      {.name = "probabilities",
       .kind = PredictionKind::label,
       .list = true,
       .tasks = {Task::single_label, Task::multi_label}},
      {.name = "logits", .kind = PredictionKind::label, .list = true},
      {.name = "input_ids", .list = true},
  };
  return fields;
}

namespace {

std::vector<double> softmax(std::span<const float> logits) {
  const double top = static_cast<double>(std::ranges::max(logits));
  std::vector<double> probabilities;
  double sum = 0;
  for (const float logit : logits)
    sum += probabilities.emplace_back(std::exp(static_cast<double>(logit) - top));
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

std::vector<double> activated(std::span<const float> logits, ScoreActivation activation) {
  std::vector<double> scores;
  for (const float logit : logits) scores.push_back(apply(activation, static_cast<double>(logit)));
  return scores;
}

// An activation other than the identity applies to each class or label separately.
std::vector<double> probabilities_of(std::span<const float> logits, Task task,
                                     ScoreActivation activation) {
  if (!title(activation).empty()) return activated(logits, activation);
  return task == Task::multi_label ? activated(logits, ScoreActivation::sigmoid) : softmax(logits);
}

// Says why predictions about the rows lack a field; "" if they have it.
std::string lacking(const PredictionSubject& subject, const PredictionField& field) {
  if (field.kind.value_or(subject.kind) != subject.kind)
    return subject.kind == PredictionKind::label
               ? "it is available with `embed` only"
               : "it is not available with `embed`, which predicts no labels";
  if (!field.tasks.empty() && std::ranges::find(field.tasks, subject.task) == field.tasks.end())
    return fmt::format("a model for {} has no {}", to_string(subject.task), field.name);
  switch (field.of) {
    case WhichRows::pairs:
      return subject.pairs ? ""
                           : "the data has no second texts (text_pair); give `text_pair_column`";
    case WhichRows::labelled:
      return subject.labelled ? "" : "the data has no labels (gold); give `label_column`";
    case WhichRows::of_many_files:
      return subject.many_files ? "" : "all texts come from one file";
    case WhichRows::all:
      break;
  }
  return "";
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + '"';
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  return csv_cell(value.is_string() ? std::string_view(value.get_ref<const std::string&>())
                                    : std::string_view(to_line(value)));
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

void fill_embedding(Prediction& prediction, std::span<const float> numbers) {
  prediction.embedding.assign(numbers.begin(), numbers.end());
  prediction.is_finite = all_finite(numbers);
}

void fill_prediction(Prediction& prediction, std::span<const float> logits, Task task,
                     ScoreActivation activation, const std::vector<std::string>& labels) {
  prediction.logits.assign(logits.begin(), logits.end());
  // For classes and labels, the values are the logits.
  for (const double score :
       activated(logits, task == Task::regression ? activation : ScoreActivation::none))
    prediction.values.push_back(static_cast<float>(score));
  prediction.is_finite = all_finite(logits);
  if (task == Task::regression) return;
  prediction.probabilities = probabilities_of(logits, task, activation);
  if (task != Task::single_label) return;
  const std::int32_t best = hone::prediction(logits);
  if (best == kNoPrediction) return;
  prediction.label = labels[static_cast<std::size_t>(best)];
  prediction.score = prediction.probabilities[static_cast<std::size_t>(best)];
}

}  // namespace

TextPredictor::TextPredictor(const TextModel& source, const TextCut& text_cut,
                             std::int64_t batch_size, Context& context)
    : source_(source),
      context_(context),
      kind_(PredictionKind::label),
      limit_(text_limit(text_cut, source)),
      activation_(score_activation(source.model.facts)),
      batch_size_(batch_size),
      predictor_(forward_graph(source.model), source.model.parameters, context.session()),
      runs_(repeated_runs(predictor_.graph(), context.session(), predictor_.parameters())) {
  check_text_room(source, limit_);
}

TextPredictor::TextPredictor(const EmbeddingModel& model, const TextCut& text_cut,
                             std::int64_t batch_size, Context& context)
    : source_(model.source),
      context_(context),
      kind_(PredictionKind::embedding),
      limit_(text_limit(text_cut, model)),
      batch_size_(batch_size),
      predictor_(embedding_graph(model.source.model, model.modules), model.source.model.parameters,
                 context.session()),
      runs_(repeated_runs(predictor_.graph(), context.session(), predictor_.parameters())) {
  check_text_room(source_, limit_);
}

std::vector<Prediction> TextPredictor::predict(std::vector<TextRow> rows) {
  std::vector<Example> examples;
  for (const TextRow& row : rows) {
    examples.push_back(row.example());
  }
  const EncodedSet set = encode_for(source_, examples, limit_, context_);
  const ExampleSource source = text_examples(set);
  const auto padded = [&](std::int64_t row) {
    constexpr std::int64_t kMultiple = 8;
    const std::int64_t size = source.lengths[static_cast<std::size_t>(row)];
    return std::min((size + kMultiple - 1) / kMultiple * kMultiple,
                    source_.model.facts.limits.tokens);
  };
  std::vector<std::int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, padded);

  const std::vector<std::string>& labels = source_.model.facts.labels;
  const auto width = static_cast<std::size_t>(predictor_.width());
  std::vector<Prediction> predictions(rows.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && end - begin < static_cast<std::size_t>(batch_size_) &&
           padded(order[end]) == padded(order[begin]))
      ++end;
    const std::span<const std::int64_t> batch = std::span(order).subspan(begin, end - begin);
    check_memory_for(std::ssize(batch), padded(order[begin]));
    const std::vector<float> figures = predictor_.rows(source.batch(batch, padded(order[begin])));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Prediction& prediction = predictions[static_cast<std::size_t>(batch[i])];
      const std::span<const float> row = std::span(figures).subspan(i * width, width);
      if (kind_ == PredictionKind::label)
        fill_prediction(prediction, row, source_.model.facts.task(), activation_, labels);
      else
        fill_embedding(prediction, row);
    }
    begin = end;
    stop_if_interrupted();
  }
  for (const auto& ids : set.ids) {
    unknown += source_.images ? 0 : std::ranges::count(ids, source_.tokenizer.unknown_id());
    tokens += std::ssize(ids);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Prediction& prediction = predictions[i];
    prediction.row = std::move(rows[i]);
    prediction.input_ids = set.ids[i];
    prediction.cut = set.truncated[i] != 0;
    empty += trim(prediction.row.text).empty();
    non_finite += !prediction.is_finite;
  }
  texts += set.size();
  cut += set.truncated_texts;
  replaced_bytes += set.replaced_bytes;
  return predictions;
}

// Checks only batches larger than before, so that consecutive single texts do not wait.
void TextPredictor::check_memory_for(std::int64_t batch, std::int64_t tokens) {
  if (batch * tokens <= checked_) return;
  checked_ = batch * tokens;
  check_batches(runs_, std::vector(static_cast<std::size_t>(batch), tokens), batch, "");
}

std::vector<std::string> TextPredictor::warnings() const {
  const bool classified = kind_ == PredictionKind::label;
  std::vector<std::string> lines;
  const auto add = [&](std::int64_t count, std::string_view one, std::string_view several,
                       const std::string& what) {
    if (count > 0)
      lines.push_back(fmt::format("{} of {} texts {} {}", grouped(count), grouped(texts),
                                  count == 1 ? one : several, what));
  };
  if (std::string line = unknown_warning(unknown, tokens, "the texts"); !line.empty())
    lines.push_back(std::move(line));
  add(cut, "was", "were", fmt::format("truncated to {} tokens{}", limit_.tokens, reason(limit_)));
  add(empty, "is", "are",
      fmt::format("empty and {} like any other", classified ? "classified" : "embedded"));
  if (classified && non_finite > 0) lines.push_back(without_prediction_text(non_finite, texts));
  if (!classified) add(non_finite, "has", "have", "an embedding with numbers that are not finite");
  if (replaced_bytes > 0) lines.push_back(not_utf8_warning(replaced_bytes));
  return lines;
}

const PredictionField& find_prediction_field(const std::string& name) {
  const std::vector<PredictionField>& fields = prediction_fields();
  const auto found = std::ranges::find(fields, name, &PredictionField::name);
  if (found != fields.end()) return *found;
  std::vector<std::string> known;
  for (const PredictionField& field : fields) known.emplace_back(field.name);
  fail("expected some of {}, got '{}'{}", fmt::join(known, ", "), name, did_you_mean(name, known));
}

std::vector<PredictionField> choose_fields(const std::vector<std::string>& names,
                                           const PredictionSubject& subject, bool csv) {
  std::vector<PredictionField> chosen;
  if (names.empty()) {
    for (const PredictionField& field : prediction_fields())
      if (lacking(subject, field).empty() && !(csv && field.list)) chosen.push_back(field);
    return chosen;
  }
  for (const std::string& name : names) {
    const PredictionField& field = with_context(
        "`fields`", [&]() -> const PredictionField& { return find_prediction_field(name); });
    const std::string lack = lacking(subject, field);
    user_check(lack.empty(), "`fields`: {}", lack);
    usage_check(std::ranges::find(chosen, name, &PredictionField::name) == chosen.end(),
                "`fields`: {} is listed twice", name);
    chosen.push_back(field);
  }
  return chosen;
}

Json to_json(const Prediction& prediction, std::span<const PredictionField> fields,
             const PredictionSubject& subject) {
  const Json all = predict_fields(prediction, subject);
  Json json = Json::object();
  for (const PredictionField& field : fields)
    json[std::string(field.name)] = all.at(std::string(field.name));
  return json;
}

namespace {

bool has_columns(const PredictionField& field, const PredictionSubject& subject) {
  return field.of_outputs && subject.task == Task::regression && subject.labels.size() > 1;
}

std::string csv_line(const std::vector<std::string>& cells) {
  return fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

std::string csv_header(std::span<const PredictionField> fields, const PredictionSubject& subject) {
  std::vector<std::string> cells;
  for (const PredictionField& field : fields) {
    if (!has_columns(field, subject))
      cells.emplace_back(field.name);
    else
      for (const std::string& label : subject.labels)
        cells.push_back(csv_cell(std::string_view(fmt::format("{}.{}", field.name, label))));
  }
  return csv_line(cells);
}

std::string to_csv(const Prediction& prediction, std::span<const PredictionField> fields,
                   const PredictionSubject& subject) {
  const Json values = to_json(prediction, fields, subject);
  std::vector<std::string> cells;
  for (const PredictionField& field : fields) {
    const Json& value = values.at(std::string(field.name));
    if (!has_columns(field, subject))
      cells.push_back(csv_cell(value));
    else
      for (const std::string& label : subject.labels)
        cells.push_back(csv_cell(value_at(value, label)));
  }
  return csv_line(cells);
}

}  // namespace hone
