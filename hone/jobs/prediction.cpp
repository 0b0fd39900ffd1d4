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
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

using WhichRows = PredictionField::Rows;
using Labels = std::vector<std::string>;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// A number with as few digits as give back the float.
double short_number(float value) {
  char digits[32];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), value);
  double number = 0;
  std::from_chars(std::begin(digits), end, number);
  // Halfway between two floats it could be read as the other one.
  return static_cast<float>(number) == value ? number : static_cast<double>(value);
}

Json short_numbers(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(short_number(value));
  return list;
}

// A number, or of several an object.
Json value_of(const Prediction& p, const Labels& labels) {
  const auto number = [&](std::size_t i) {
    return std::isfinite(p.values[i]) ? Json(short_number(p.values[i])) : Json();
  };
  if (p.values.size() == 1) return number(0);
  Json values = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) values[labels[i]] = number(i);
  return values;
}

Json predicted_labels(const Prediction& p, const Labels& labels) {
  if (!p.has_number) return nullptr;
  Json given = Json::array();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (says_yes(p.logits[i])) given.push_back(labels[i]);
  return given;
}

}  // namespace

const std::vector<PredictionField>& prediction_fields() {
  static const std::vector<PredictionField> fields = {
      {"id", [](const Prediction& p, const Labels&) { return p.row.id; }},
      {"file", [](const Prediction& p, const Labels&) { return Json(p.row.file); },
       WhichRows::of_many_files},
      {"text", [](const Prediction& p, const Labels&) { return Json(p.row.text); }},
      {"text_pair", [](const Prediction& p, const Labels&) { return or_null(p.row.text_pair); },
       WhichRows::pairs},
      {"label",
       [](const Prediction& p, const Labels&) { return or_null(p.label); },
       WhichRows::all,
       Question::label,
       false,
       {Task::single_label}},
      {"score",
       [](const Prediction& p, const Labels&) { return or_null(p.score); },
       WhichRows::all,
       Question::label,
       false,
       {Task::single_label}},
      {"value", value_of, WhichRows::all, Question::label, false, {Task::regression}, true},
      {"predicted_labels",
       predicted_labels,
       WhichRows::all,
       Question::label,
       false,
       {Task::multi_label}},
      {"gold",
       [](const Prediction& p, const Labels&) {
         return p.row.gold_value.is_null() ? or_null(p.row.gold) : p.row.gold_value;
       },
       WhichRows::labelled,
       std::nullopt,
       false,
       {},
       true},
      {"cut", [](const Prediction& p, const Labels&) { return Json(p.cut); }},
      {"embedding", [](const Prediction& p, const Labels&) { return short_numbers(p.embedding); },
       WhichRows::all, Question::embedding},
      {"labels", [](const Prediction&, const Labels& labels) { return Json(labels); },
       WhichRows::all, Question::label, true},
      {"probabilities",
       [](const Prediction& p, const Labels&) { return Json(p.probabilities); },
       WhichRows::all,
       Question::label,
       true,
       {Task::single_label, Task::multi_label}},
      {"logits", [](const Prediction& p, const Labels&) { return Json(p.logits); }, WhichRows::all,
       Question::label, true},
      {"input_ids", [](const Prediction& p, const Labels&) { return Json(p.input_ids); },
       WhichRows::all, std::nullopt, true},
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

// An activation that changes numbers is that of all classes, or labels, each alone.
std::vector<double> probabilities_of(std::span<const float> logits, Task task,
                                     ScoreActivation activation) {
  if (!title(activation).empty()) return activated(logits, activation);
  return task == Task::multi_label ? activated(logits, ScoreActivation::sigmoid) : softmax(logits);
}

// What the answers about the rows lack for a field; "" for one that they have.
std::string lacking(const PredictionSubject& subject, const PredictionField& field) {
  if (field.answers.value_or(subject.question) != subject.question)
    return subject.question == Question::label
               ? "the embedding is there with `embed`"
               : "with `embed` there are no labels, and nothing about them";
  if (!field.tasks.empty() && std::ranges::find(field.tasks, subject.task) == field.tasks.end())
    return fmt::format("a model of {} gives no {}", to_string(subject.task), field.name);
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
  prediction.has_number = all_finite(numbers);
}

void fill_answer(Prediction& prediction, std::span<const float> logits, Task task,
                 ScoreActivation activation, const std::vector<std::string>& labels) {
  prediction.logits.assign(logits.begin(), logits.end());
  // Answers of classes and labels are those of the logits.
  for (const double score :
       activated(logits, task == Task::regression ? activation : ScoreActivation::none))
    prediction.values.push_back(static_cast<float>(score));
  prediction.has_number = all_finite(logits);
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
      question_(Question::label),
      limit_(text_limit(text_cut, source)),
      activation_(score_activation(source.model.facts)),
      batch_size_(batch_size),
      predictor_(forward_graph(source.model), source.model.parameters, context.session()) {
  check_text_room(source, limit_);
}

TextPredictor::TextPredictor(const EmbeddingModel& model, const TextCut& text_cut,
                             std::int64_t batch_size, Context& context)
    : source_(model.source),
      context_(context),
      question_(Question::embedding),
      limit_(text_limit(text_cut, model)),
      batch_size_(batch_size),
      predictor_(embedding_graph(model.source.model, model.modules), model.source.model.parameters,
                 context.session()) {
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
      if (question_ == Question::label)
        fill_answer(prediction, row, source_.model.facts.task(), activation_, labels);
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
    without_number += !prediction.has_number;
  }
  texts += set.size();
  cut += set.truncated_texts;
  replaced_bytes += set.replaced_bytes;
  return predictions;
}

// Once for what is not larger than before: answers to one text after the other do not wait for it.
void TextPredictor::check_memory_for(std::int64_t batch, std::int64_t tokens) {
  if (batch * tokens <= checked_) return;
  checked_ = batch * tokens;
  check_batches(predictor_.graph(), std::vector(static_cast<std::size_t>(batch), tokens), batch,
                context_.session(), predictor_.parameters(), "");
}

std::vector<std::string> TextPredictor::warnings() const {
  const bool classified = question_ == Question::label;
  std::vector<std::string> lines;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0)
      lines.push_back(fmt::format("{} of {} texts {}", grouped(count), grouped(texts), what));
  };
  if (std::string line = unknown_warning(unknown, tokens, "the texts"); !line.empty())
    lines.push_back(std::move(line));
  add(cut, fmt::format("were cut to {} tokens{}", limit_.tokens, reason(limit_)));
  add(empty, fmt::format("are empty; they were {} like any other",
                         classified ? "classified" : "embedded"));
  if (classified && without_number > 0)
    lines.push_back(without_prediction_text(without_number, texts));
  if (!classified) add(without_number, "have an embedding with numbers that are not finite");
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
                "`fields`: {} is there twice", name);
    chosen.push_back(field);
  }
  return chosen;
}

Json to_json(const Prediction& prediction, std::span<const PredictionField> fields,
             const std::vector<std::string>& labels) {
  Json json = Json::object();
  for (const PredictionField& field : fields)
    json[std::string(field.name)] = field.value(prediction, labels);
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
  std::vector<std::string> cells;
  for (const PredictionField& field : fields) {
    const Json value = field.value(prediction, subject.labels);
    if (!has_columns(field, subject))
      cells.push_back(csv_cell(value));
    else
      for (const std::string& label : subject.labels)
        cells.push_back(csv_cell(value_at(value, label)));
  }
  return csv_line(cells);
}

}  // namespace hone
