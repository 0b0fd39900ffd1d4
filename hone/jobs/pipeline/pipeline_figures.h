#pragma once

#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/jobs/pipeline/pipeline_studies.h"
#include "hone/report/document.h"

namespace hone {

/// The subfolder for figures and tables.
inline constexpr const char* kFigures = "figures";

/// The data for the figures and tables of a pipeline.
struct PipelineFindings {
  const Pipeline& pipeline;
  const std::vector<StageOutcome>& outcomes;  ///< one for each stage
  const StageStudies& studies;
  const fs::path& folder;  ///< of the pipeline
};

/// Draws the figure into `figures` of the folder and adds it to the section, followed by a zoomed figure if its curves
/// are dense. Adds a line to `notes` for everything that could not be drawn.
///
/// With `x` "trial" a curve shows the best trial so far. A single curve of one stage also shows its trials as points. A
/// curve of several stages shows their mean, with a band from the lowest to the highest, and the title says so.
///
/// A circle marks the best measured value if the better end is known, except for training loss and means over searches.
void draw_pipeline_figure(const PipelineFigure& described, const PipelineFindings& findings,
                          Section& section, std::vector<std::string>& notes);

}  // namespace hone
