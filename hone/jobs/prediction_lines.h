#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/prediction.h"
#include "hone/report/text_layout.h"

/// Predictions as lines of text, while they are made.
namespace hone {

enum class PredictionForm {
  table,       ///< for people
  json_lines,  ///< an object on each line, see `hone schema`
  csv
};

/// That of a file called so, by its ending .jsonl or .csv; none for others.
std::optional<PredictionForm> form_of_file(std::string_view path);

class PredictionLines {
 public:
  /// JSON and CSV have the fields called `fields` (see `choose_fields`, also for errors); JSON with none called says
  /// what they are about, too. A table has the columns of the terminal from `style`.
  PredictionLines(PredictionForm form, PredictionSubject subject,
                  const std::vector<std::string>& fields, const TextStyle& style = {});

  /// What stands in front of them.
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
  bool chosen_;          ///< the fields were
  std::size_t columns_;  ///< of the terminal; 0: as long as it is
  std::size_t label_width_;
};

}  // namespace hone
