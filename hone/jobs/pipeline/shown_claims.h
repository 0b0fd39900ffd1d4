#pragma once

#include "hone/jobs/pipeline/shown_file.h"

/// What a pipeline picks, claims and says.
namespace hone {

/// Reads [pick.NAME].
void read_picks(const ShownFile& f);
/// Reads [claim.NAME], whose picks were read before.
void read_claims(const ShownFile& f);
/// Reads question, answer, evidence, why and key figures, whose picks and claims were read before.
void read_statements(const ShownFile& f);

}  // namespace hone
