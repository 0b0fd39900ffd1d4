#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/classification.h"
#include "hone/report/page.h"
#include "hone/report/table.h"
#include "hone/study/result.h"

/// How well each class was told from the others, and what its texts were taken for.
namespace hone {

/// What was measured, with a name ("test", "before, test") and what it is to be read with (see data/data_facts.h).
struct NamedEvaluation {
  std::string name;
  Evaluation evaluation;
  std::vector<std::string> cautions = {};
};

/// A row per class: its texts, precision and recall (Wilson, 95 %), F1. Below them their macro and weighted means, which
/// have no interval and in which 0/0 counts as 0 (`Evaluation::macro`).
Table class_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// A row per class: how many of its texts were taken for each class.
Table confusion_table(const Evaluation& evaluation, const std::vector<std::string>& labels);

/// The only way by which commands show them in a terminal: both tables and the area under the curve of two classes, under
/// what they are of and its number of texts. Of more than a few classes the confusion is left to the page, of many more
/// the means are all.
std::string class_text(const std::vector<NamedEvaluation>& measured,
                       const std::vector<std::string>& labels, const TextStyle& style);

/// The section of a page with the same. Of very many classes, results.json has the matrix alone.
Section class_section(const std::vector<NamedEvaluation>& measured,
                      const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, whose results measured the figures called `key`: precision, recall and F1 as
/// `SeedSpread` tells them (the mean with its interval; under five seeds the values). A mean is not defined where the
/// figure of a seed is not.
Table class_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// How many texts were taken for each class: the values, and from five seeds on their mean.
Table confusion_table_of_seeds(const std::vector<Json>& results, const std::string& key);
/// Those of all `figures` that were measured, for a terminal and for a page.
std::string class_text_of_seeds(const std::vector<Json>& results,
                                const std::vector<NamedFigures>& figures, const TextStyle& style);
Section class_section_of_seeds(const std::vector<Json>& results,
                               const std::vector<NamedFigures>& figures);

}  // namespace hone
