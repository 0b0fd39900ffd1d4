#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/prediction.h"
#include "hone/report/text_layout.h"

/// Output of predictions as lines of text, one by one.
namespace hone {

enum class PredictionForm {
  table,       ///< for terminals
  json_lines,  ///< an object per line, see `hone schema`
  csv
};

/// Returns the form for a file name that ends in .jsonl or .csv; empty for others.
std::optional<PredictionForm> form_of_file(std::string_view path);

class PredictionLines {
 public:
  /// JSON and CSV contain the fields called `fields` (see `choose_fields`, also for errors). JSON without chosen fields
  /// also says what the predictions are about. A table is as wide as the terminal in `style`.
  PredictionLines(PredictionForm form, PredictionSubject subject,
                  const std::vector<std::string>& fields, const TextStyle& style = {});

  /// Returns what to print before the first line.
  std::string header() const;
  std::string lines(const std::vector<Prediction>& predictions) const;

 private:
  Json to_json_line(const Prediction& prediction) const;
  std::string table_row(const Prediction& prediction) const;
  std::string label_cells(std::string_view label, std::string_view score) const;
  std::string table_line(std::string_view id, std::string_view answer, std::string_view gold,
                         std::string_view text, std::string_view pair) const;

  PredictionForm form_;
  PredictionSubject subject_;
  std::vector<PredictionField> fields_;
  bool chosen_;          ///< whether fields were chosen
  std::size_t columns_;  ///< of the terminal; 0: unlimited
  std::size_t label_width_;
};

}  // namespace hone
