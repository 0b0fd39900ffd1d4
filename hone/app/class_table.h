#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/classification.h"
#include "hone/report/page.h"
#include "hone/report/table.h"

/// How well each class was told from the others, and what its texts were taken for.
namespace hone {

/// What was measured, with a name: "test", "before, test".
using NamedEvaluation = std::pair<std::string, Evaluation>;

/// A row per class: its texts, precision and recall (Wilson, 95 %), F1, and with `confusion` how many of them were taken
/// for each class.
Table class_table(const Evaluation& evaluation, const std::vector<std::string>& labels,
                  bool confusion = true);

/// The tables for a terminal, each under what it is of and its number of texts. Of more than a few classes the
/// confusion is left to the page, of many more everything.
std::string class_text(const std::vector<NamedEvaluation>& measured,
                       const std::vector<std::string>& labels, const TextStyle& style);

/// The section of a page with the same tables. Of very many classes, results.json has the matrix alone.
Section class_section(const std::vector<NamedEvaluation>& measured,
                      const std::vector<std::string>& labels);

/// The same over the seeds of a repeated job, whose results measured `part`: precision, recall and F1 as `SeedSpread` tells
/// them (the mean with its interval; under five seeds the values), and how many texts were taken for each class on average.
/// What is 0/0 counts as 0.
Table class_table_of_seeds(const std::vector<Json>& results, const std::string& part,
                           bool confusion = true);
/// Those of all `parts` that were measured, for a terminal and for a page.
std::string class_text_of_seeds(const std::vector<Json>& results,
                                const std::vector<std::string>& parts, const TextStyle& style);
Section class_section_of_seeds(const std::vector<Json>& results,
                               const std::vector<std::string>& parts);

}  // namespace hone
