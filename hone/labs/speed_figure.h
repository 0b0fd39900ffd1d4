#pragma once

#include "hone/labs/speed_report.h"

/// The figure of lab 4.1.
namespace hone {

/// Draws each call of a warm process, and the means of the first calls of fresh ones, into the folder of the run. Adds
/// notes about the figure to `document`.
Block calls_figure(const WorkloadCalls& found, const LabRun& run, Document& document);

}  // namespace hone
