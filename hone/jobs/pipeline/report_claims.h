#pragma once

#include "hone/jobs/pipeline/report_config.h"

/// Readers of picks, claims and sentences of a pipeline.
namespace hone {

/// Reads [pick.NAME].
void read_picks(const ReportConfig& f);
/// Reads [claim.NAME]. Call after `read_picks`.
void read_claims(const ReportConfig& f);
/// Reads question, answer, evidence, why and key figures. Call after `read_picks` and `read_claims`.
void read_statements(const ReportConfig& f);

}  // namespace hone
