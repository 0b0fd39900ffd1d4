#include "hone/base/folder_record.h"
#include "hone/cli/cache.h"
#include "hone/cli/doctor.h"
#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/list_runs.h"
#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/labs/attention_lab.h"
#include "hone/labs/kernel_lab.h"
#include "hone/labs/mxint8_lab.h"
#include "hone/labs/speed_lab.h"

// Pipelines, output folders and the program itself.
namespace hone {
std::vector<SchemaDocument> documents_of_runs() {
  return {
      {"lab",
       "An experiment.",
       {form_of<LabListFields>("without NAME"), form_of<Mxint8LabFields>("4.3"),
        form_of<SpeedLabFields>("4.1"), form_of<AttentionLabFields>("4.2"),
        form_of<KernelLabFields>("4.4"),
        form_of<LabPipelineFields>("all and 0.1 to 3.4, which are pipelines")}},
      document_of<DoctorFields>(),
      {"run",
       "A pipeline.",
       {form_of<PipelinePlanFields>("with --dry_run"), form_of<PipelineFields>("without it")}},
      document_of<CacheFields>(),
      document_of<RunsFields>(),
      document_of<SchemaFields>(),
      document_of<SettingsFields>(),
      {"machine.json", "Where a job ran: in every output folder.", {form_of<Machine>()}},
      {fields<FolderRecord>().name,
       fields<FolderRecord>().meaning,
       {{"", {}, &fields<FolderRecord>()}}},
  };
}

std::vector<Fragment> fragments_of_runs() {
  return {
      fragment_of<Machine>(),      fragment_of<PlannedStage>(), fragment_of<PipelineStageResult>(),
      fragment_of<StageRecord>(),  fragment_of<TakenFinding>(), fragment_of<ClaimResult>(),
      fragment_of<StoredStage>(),  fragment_of<RunRow>(),       fragment_of<RunGroup>(),
      fragment_of<SkippedPath>(),  fragment_of<PeakResult>(),   fragment_of<SchemaDocumentResult>(),
      fragment_of<RecordedFile>(),
  };
}

}  // namespace hone
