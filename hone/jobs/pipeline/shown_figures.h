#pragma once

#include "hone/jobs/pipeline/shown_file.h"

namespace hone {

/// Reads the figures of a pipeline: [figure.NAME].
void read_figures(const ShownFile& f);
/// Reads published numbers, [[published]], which figures that were read may mark.
void read_published(const ShownFile& f);

}  // namespace hone
