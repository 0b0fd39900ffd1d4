#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/app/measure.h"
#include "hone/report/table.h"

namespace hone {

/// One line of a table of results: a model beside the parent it was made from.
struct ComparedModel {
  std::string label;
  double average_weight_bits = 32;  ///< of its quantized weights; 32: full precision
  Measurement measurement;
  std::optional<Comparison> comparison;  ///< none: it is the parent
  bool quantized = true;                 ///< its arithmetic is simulated; otherwise fp32
};

/// Accuracy with its 95 % interval, loss, flips, McNemar's p, margin SNR and bits against the parent; "arithmetic" says
/// fp32 or simulated.
Table comparison_table(const std::vector<ComparedModel>& models);

/// What has to be known before any row of the table is looked at (see `concerns` of an evaluation), with the model's
/// label in front.
std::vector<std::string> concerns(const std::vector<ComparedModel>& models,
                                  const std::vector<std::string>& labels);
/// The same of one model for programs, with its measurement and, unless it is the parent, its comparison. `labels` are
/// the names of the classes.
Json to_json(const ComparedModel& model, const std::vector<std::string>& labels);

}  // namespace hone
