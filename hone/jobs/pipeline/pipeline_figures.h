#pragma once

#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/jobs/pipeline/pipeline_studies.h"
#include "hone/report/document.h"

namespace hone {

/// The folder of figures and tables, in that of the pipeline.
inline constexpr const char* kFigures = "figures";

/// What the figures and tables of a pipeline are made of.
struct PipelineFindings {
  const Pipeline& pipeline;
  const std::vector<StageOutcome>& outcomes;  ///< as many as there are stages
  const StageStudies& studies;
  const fs::path& folder;  ///< of the pipeline
};

/// Draws the figure into `figures` of the folder and adds it to the section, with a second look at where its curves crowd. What it could
/// not draw is a line of `notes`.
///
/// With `x` "trial" a curve is of the best trial so far: of one stage, with its trials as points where it is the only curve; of several,
/// the mean over them with a band from the lowest to the highest, which the title says.
///
/// A circle marks the best measured value where it is known which end is better, but none of training loss, and none of means
/// over searches.
void draw_pipeline_figure(const PipelineFigure& described, const PipelineFindings& findings,
                          Section& section, std::vector<std::string>& notes);

}  // namespace hone
