#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/before_and_after.h"
#include "hone/jobs/shrink/shrink_findings.h"
#include "hone/jobs/size_and_time.h"

namespace hone {

/// A shrunk model that was written, measured against its baseline.
struct ShrunkModel {
  std::string name;  ///< of its folder
  Model model;
  BeforeAndAfter both;
  SizeAndTime size_and_time;
  std::string_view arithmetic;
};

/// Writes the chosen model into `output` and measures it on the reported split. The judged model comes first; with
/// `loadable` the packed one follows, if any weight is packed.
std::vector<ShrunkModel> write_shrunk(const ShrinkFindings& findings, const TextModel& made,
                                      const fs::path& output, std::vector<std::string>& notes,
                                      Context& context);

}  // namespace hone
