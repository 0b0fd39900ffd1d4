#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/pipeline/pipeline_report.h"
#include "hone/labs/subject.h"

/// Predefined experiments, run by name: each a record (`Lab`) of stages that measure something and a report of the results.
///
///     run_lab(find_lab("4.3"), {.output = {.folder = "mxint8"}}, context);
namespace hone {

enum class LabInput : std::uint8_t {
  model_and_texts,  ///< `LabJob::model`, or one trained by the lab, and `LabJob::data`
  model,            ///< models with fresh weights, or `LabJob::model`; no texts
  nothing,
};

/// The options of a run of a lab.
struct LabJob {
  Fidelity fidelity = Fidelity::quick;
  std::string model = {};  ///< as for `open_model`, not quantized; empty: the lab trains one
  JobData data = {};       ///< without a source: built-in data
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
  /// Options for subprocesses that compute as this process does: "--threads=2", "--device=cuda".
  std::vector<std::string> words = {};
};

/// The state of a running lab, shared by its stages.
struct LabRun {
  const LabJob& job;
  LabSubject* subject;            ///< null: the lab uses no texts
  OutputFolder& output;           ///< temporary folder, which becomes the output at the end
  Json results = Json::object();  ///< results of the previous stages, by name
  Context& context;

  const fs::path& folder() const { return output.path(); }
};

struct LabCost {
  double seconds = 0;
  double memory_bytes = 0;
  double disk_bytes = 0;

  std::int64_t whole_memory_bytes() const { return static_cast<std::int64_t>(memory_bytes); }
  std::int64_t whole_disk_bytes() const { return static_cast<std::int64_t>(disk_bytes); }
};

const Fields& fields_of(const LabCost*);

/// A stage of a lab in results.
struct LabStageResult {
  std::string stage, what;
  LabCost estimated = {};
  double seconds = 0;
};
/// The fields that the results of all labs share, except for pipelines.
struct LabFields {
  std::string lab, title;
  Fidelity fidelity = Fidelity::quick;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::string question = {}, summary = {};
  std::vector<std::string> why = {};
  std::vector<std::string> notes = {};
  std::vector<LabStageResult> stages = {};
};
/// A number published elsewhere.
struct PublishedResult {
  std::string what, published;
  std::optional<std::string> here = {};
  std::string source;
};
/// The result of a lab that is a pipeline.
struct LabPipelineFields {
  std::string lab;
  Fidelity fidelity = Fidelity::quick;
  PipelineFields pipeline = {};
};
/// A lab in the list of them.
struct LabRowResult {
  std::string lab, title, costs;
};
/// The result of `hone lab` without NAME.
struct LabListFields {
  std::vector<LabRowResult> labs;
};
const Fields& fields_of(const LabStageResult*);
const Fields& fields_of(const LabFields*);
const Fields& fields_of(const LabPipelineFields*);
const Fields& fields_of(const PublishedResult*);
const Fields& fields_of(const LabRowResult*);
const Fields& fields_of(const LabListFields*);

/// Returns a row for each result, with a column for values measured here if there are any.
Table published_table(const std::vector<PublishedResult>& published);

/// Operations and bytes per second of the context's device, for estimates; measured in a fraction of a second.
struct LabRates {
  double flops = 0;
  double bytes = 0;  ///< moved in memory
};
LabRates measured_rates(Context& context);
/// The cost of a training step relative to a forward pass: the backward pass costs twice as much.
inline constexpr double kStepsOfTraining = 3;

/// A stage of a lab. Its result is stored until the lab is done, so that an interrupted run continues after it.
struct LabStage {
  std::string name;  ///< of its file: "decode"
  std::string what;  ///< description: "times the decoder on 9 arrays"
  LabCost cost;      ///< estimated
  std::function<Json(LabRun&)> run;
};

/// One of several results of a lab.
struct LabPart {
  std::vector<Section> sections = {};
  std::string sentence = {};  ///< the result, for headlines, without a full stop
  std::vector<Fact> key_figures = {};
  std::vector<std::string> why = {};    ///< as `LabReport::why`
  std::vector<std::string> notes = {};  ///< warnings, and figures that could not be drawn
};

/// The results of all stages of a lab. Its figures and tables are in the folder of the run.
struct LabReport {
  Document document = {};  ///< `run_lab` adds title and question
  /// Paragraphs that explain the result with its numbers; shown after the sections that are not folded.
  std::vector<std::string> why = {};
  /// Returns the JSON result with the shared fields: `results_of`.
  std::function<Json(const LabFields& lab)> results = {};
  std::string arithmetic = {};  ///< of its numbers, see `Basis`
  std::string data = {};        ///< for a lab that reads no texts: "random ids without padding"
};

/// Returns `LabReport::results` for a struct whose member `lab` they set.
template <Described Fields>
std::function<Json(const LabFields&)> results_of(Fields fields) {
  return [fields = std::move(fields)](const LabFields& lab) mutable {
    fields.lab = lab;
    return to_json(fields);
  };
}

/// One experiment: a row of `labs()`.
struct Lab {
  std::string name;           ///< "4.3"
  std::string title;          ///< "MXINT8: decoding, memory and products"
  std::string costs;          ///< cost at each fidelity, as a sentence
  std::string question = {};  ///< answered by its headline
  /// Returns its stages in order. The subject has fresh weights if a model is trained first.
  std::function<std::vector<LabStage>(const LabRun&, const LabRates&)> stages;
  std::function<LabReport(const LabRun&)> report;
  LabInput input = LabInput::model_and_texts;
};

/// All labs, in the order of their names (list.cpp).
const std::vector<Lab>& labs();
/// Returns the lab of this name. Throws `UserError`, which lists all labs.
const Lab& find_lab(std::string_view name);

/// Returns the names of all labs in order, including pipelines (labs/shipped_pipelines.h).
std::vector<std::string> lab_names();

/// Runs a lab: prints its estimated cost, runs its stages, and writes tables, figures and a report to `output`. Throws
/// `UserError`, as `lab_subject`, `begin_run` and the stages do; `Interrupted`.
JobResult run_lab(const Lab& lab, const LabJob& job, Context& context);

}  // namespace hone
