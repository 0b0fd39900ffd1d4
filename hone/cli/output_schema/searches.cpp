#include "hone/cli/output_schema/output_fields.h"
#include "hone/jobs/allocation/allocation_report.h"
#include "hone/jobs/search/search.h"
#include "hone/jobs/search/study.h"
#include "hone/jobs/search/watch_study.h"
#include "hone/jobs/shrink/shrink_result.h"

// Studies, searches, allocation and shrinking.
namespace hone {
std::vector<SchemaDocument> documents_of_searches() {
  return {
      document_of<StudyFields>(),
      document_of<WatchFields>(),
      {"search",
       "A search over what can be done to a model, and its winner.",
       {form_of<SearchFields>("without --join"),
        form_of<NoWinnerFields>("where gates exclude every trial"),
        form_of<JoinedSearchFields>("with --join")}},
      document_of<ShrinkFields>(),
      document_of<AllocateFields>(),
  };
}

std::vector<Fragment> fragments_of_searches() {
  return {
      fragment_of<FinishedSearch>(),       fragment_of<SearchWinner>(),
      fragment_of<TrialCounts>(),          fragment_of<ObjectiveResult>(),
      fragment_of<StudyResult>(),          fragment_of<StudyBest>(),
      fragment_of<ParameterImportance>(),  fragment_of<StudyFamilyResult>(),
      fragment_of<StudyLeader>(),          fragment_of<AllocationBudget>(),
      fragment_of<AllocationLatency>(),    fragment_of<PredictionCheck>(),
      fragment_of<ShrunkModelResult>(),    fragment_of<TrimmedVocabulary>(),
      fragment_of<JudgedPoint>(),          fragment_of<CandidatePrediction>(),
      fragment_of<CandidateMeasurement>(), fragment_of<ShrinkShares>(),
      fragment_of<AllocatedLayer>(),       fragment_of<EvaluatedAllocation>(),
  };
}

}  // namespace hone
