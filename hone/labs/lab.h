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

/// What a lab works on.
enum class LabInput : std::uint8_t {
  model_and_texts,  ///< `LabJob::model`, trained where none is given, and `LabJob::data`
  model,            ///< models with fresh weights, or `LabJob::model` in their place; no texts
  nothing,
};

/// What a lab is asked for.
struct LabJob {
  Fidelity fidelity = Fidelity::quick;
  std::string model =
      {};  ///< as `open_model` takes it, not quantized; empty: one is trained on the spot
  JobData data = {};  ///< without a source: built-in data
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
  /// Options for processes of its own that compute as this one does: "--threads=2", "--device=cuda".
  std::vector<std::string> words = {};
};

/// What a lab works on, in all its stages.
struct LabRun {
  const LabJob& job;
  LabSubject* subject;          ///< null: the lab works on no texts
  OutputFolder& output;         ///< where it writes; the folder takes its place when all is done
  Json found = Json::object();  ///< by the stages before, by their names
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
/// What the results of all labs have that are not pipelines, beside what they measured.
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
/// A number that others have published.
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

/// A row for each of them; what is measured here has a column where any of them is.
Table published_table(const std::vector<PublishedResult>& published);

/// What the device of the context does in a second, for estimates; measured in a fraction of one.
struct LabRates {
  double flops = 0;
  double bytes = 0;  ///< moved in memory
};
LabRates measured_rates(Context& context);
/// A training step against a forward pass: the backward one takes twice as much.
inline constexpr double kStepsOfTraining = 3;

/// A piece of the work of a lab. What it finds is kept until the lab is done, so that one that was interrupted goes on
/// behind it.
struct LabStage {
  std::string name;  ///< of the file that keeps it: "decode"
  std::string what;  ///< for people: "times the decoder on 9 arrays"
  LabCost cost;      ///< estimated
  std::function<Json(LabRun&)> run;
};

/// One of several results of a lab.
struct LabPart {
  std::vector<Section> sections = {};
  std::string sentence = {};  ///< the result, for headlines; no full stop
  std::vector<Fact> key_figures = {};
  std::vector<std::string> why = {};    ///< as `LabReport::why`
  std::vector<std::string> notes = {};  ///< figures that were not drawn, and warnings
};

/// The results of all stages of a lab. Its figures and tables are in the folder of the run.
struct LabReport {
  Document document = {};  ///< `run_lab` adds title and question
  /// Paragraphs that explain the result, with its numbers; they stand behind the sections that are not folded.
  std::vector<std::string> why = {};
  /// The result for programs around what all labs have: `results_of`.
  std::function<Json(const LabFields& lab)> results = {};
  std::string arithmetic = {};  ///< of its numbers, see `Basis`
  std::string data = {};        ///< of a lab that reads no texts: "random ids without padding"
};

/// `LabReport::results` of a struct whose member `lab` they fill in.
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
  std::string costs;          ///< what it takes at each fidelity, a sentence
  std::string question = {};  ///< that its headline answers
  /// What is to be done, in order. The subject has fresh weights where a model is trained first.
  std::function<std::vector<LabStage>(const LabRun&, const LabRates&)> stages;
  std::function<LabReport(const LabRun&)> report;
  LabInput input = LabInput::model_and_texts;
};

/// All labs, in the order of their names (lab_list.cpp).
const std::vector<Lab>& labs();
/// Throws `UserError`, which names all labs that there are.
const Lab& find_lab(std::string_view name);

/// Names of all labs, in order, those that are pipelines among them (labs/shipped_pipelines.h).
std::vector<std::string> lab_names();

/// Runs an experiment: prints its estimated cost, works through its stages, and writes tables, figures and a report to `output`. Throws `UserError`, as `lab_subject`, `begin_run` and the stages do; `Interrupted`.
JobResult run_lab(const Lab& lab, const LabJob& job, Context& context);

}  // namespace hone
