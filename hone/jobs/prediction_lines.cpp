#include "hone/jobs/prediction_lines.h"

#include <algorithm>
#include <cmath>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/classification.h"
#include "hone/report/table.h"
#include "hone/study/prediction_text.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// A table shows the first numbers of a vector.
constexpr std::size_t kShownNumbers = 4;
std::string first_numbers(const std::vector<float>& vector) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownNumbers, vector.size()); ++i)
    text += fmt::format("{:>9.4f}", vector[i]);
  return text;
}

double norm(const std::vector<float>& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares);
}

std::string vector_cells(std::string_view norm, std::string_view numbers) {
  return fmt::format("{:>9}  {:>36}  ", norm, numbers);
}

std::string_view label_header(const PredictionSubject& subject) {
  if (subject.task != Task::regression)
    return subject.task == Task::multi_label ? "Labels" : "Label";
  return subject.activation.empty() ? std::string_view("Number") : subject.activation;
}

std::string_view score_header(const PredictionSubject& subject) {
  if (subject.task != Task::single_label) return "";
  return subject.activation.empty() ? std::string_view("Probability") : subject.activation;
}

}  // namespace

std::optional<PredictionForm> form_of_file(std::string_view path) {
  if (path.ends_with(".csv")) return PredictionForm::csv;
  if (path.ends_with(".jsonl")) return PredictionForm::json_lines;
  return std::nullopt;
}

PredictionLines::PredictionLines(PredictionForm form, PredictionSubject subject,
                                 const std::vector<std::string>& fields, const TextStyle& style)
    : form_(form),
      subject_(std::move(subject)),
      fields_(choose_fields(fields, subject_, form == PredictionForm::csv)),
      chosen_(!fields.empty()),
      columns_(style.columns),
      label_width_(label_header(subject_).size()) {
  // A single number has up to ten characters; lines with several labels or numbers need not align.
  constexpr std::size_t kNumberWidth = 10;
  if (subject_.task == Task::regression) label_width_ = std::max(label_width_, kNumberWidth);
  for (const std::string& label : subject_.labels)
    label_width_ = std::max(label_width_, character_count(shown_name(label)));
}

std::string PredictionLines::header() const {
  if (form_ == PredictionForm::json_lines) return "";
  if (form_ == PredictionForm::csv) return csv_header(fields_, subject_);
  const std::string answer =
      subject_.kind == PredictionKind::label
          ? label_cells(label_header(subject_), score_header(subject_))
          : vector_cells("Norm", fmt::format("First {} of {} numbers",
                                             std::min<std::int64_t>(kShownNumbers, subject_.width),
                                             subject_.width));
  return table_line("Row", answer, "Gold", "Text", subject_.pairs ? "Second text" : "");
}

std::string PredictionLines::lines(const std::vector<Prediction>& predictions) const {
  std::string text;
  for (const Prediction& prediction : predictions)
    text += form_ == PredictionForm::json_lines ? to_line(to_json_line(prediction)) + '\n'
            : form_ == PredictionForm::csv      ? to_csv(prediction, fields_, subject_)
                                                : table_row(prediction);
  return text;
}

Json PredictionLines::to_json_line(const Prediction& prediction) const {
  return chosen_ ? to_json(prediction, fields_, subject_)
                 : result_of("predict", predict_fields(prediction, subject_));
}

std::string PredictionLines::table_row(const Prediction& p) const {
  const std::string id = p.row.id.is_string() ? p.row.id.get<std::string>() : p.row.id.dump();
  const std::string answer =
      subject_.kind == PredictionKind::label
          ? label_cells(prediction_text({subject_.task, subject_.labels}, p.values),
                        p.score ? display_text(percent(*p.score)) : "–")
          : vector_cells(fmt::format("{:.4f}", norm(p.embedding)), first_numbers(p.embedding));
  return table_line(id, answer, p.row.gold.value_or("–"), p.row.text, p.row.text_pair.value_or(""));
}

std::string PredictionLines::label_cells(std::string_view label, std::string_view score) const {
  const std::string first = fmt::format("{:<{}}  ", shown_name(label), label_width_);
  return subject_.task == Task::single_label ? fmt::format("{}{:>11}  ", first, score) : first;
}

// Column widths are fixed, because rows are printed one by one.
std::string PredictionLines::table_line(std::string_view id, std::string_view answer,
                                        std::string_view gold, std::string_view text,
                                        std::string_view pair) const {
  constexpr std::size_t kShownCharacters = 100, kFewestColumns = 12;
  std::string line = subject_.numbered ? fmt::format("{:>6}  ", shown_name(id)) : "";
  line += answer;
  if (subject_.labelled) line += fmt::format("{:<{}}  ", shown_name(gold), label_width_);
  // On a terminal, the texts fill the rest of the line, or a new line if too little is left.
  constexpr std::string_view kBetween = "  |  ";
  const std::size_t between = subject_.pairs ? kBetween.size() : 0, texts = subject_.pairs ? 2 : 1;
  std::size_t before = display_width(line) + between;
  std::string start;
  if (columns_ > 0 && columns_ < before + texts * kFewestColumns) {
    start = "\n  ";
    before = 2 + between;
  }
  const auto shown = [&](std::string_view whole) {
    const std::string cut = one_line(whole, kShownCharacters);
    return columns_ == 0 ? cut
                         : shortened(cut, columns_ > before ? (columns_ - before) / texts : 1);
  };
  std::string shown_texts = shown(text);
  if (subject_.pairs) shown_texts.append(kBetween) += shown(pair);
  return printable(line) + start + printable(shown_texts) + '\n';
}

}  // namespace hone
