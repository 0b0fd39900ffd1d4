#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hone/jobs/export.h"
#include "hone/models/model_source.h"
#include "hone/models/text_limit.h"

namespace hone {

/// A model to export, independent of the target.
struct ExportedModel {
  TextModel source;
  Model model;  ///< with weights as codes, and LoRA merged
  Graph graph;
  Graph reference_graph;  ///< of hone's own computation of the same output
  std::string output;     ///< output name in files: "logits" or "sentence_embedding"
  TextLimit limit;
  std::vector<std::string> notes = {};  ///< what the files cannot express, in sentences

  bool embeds() const { return output != "logits"; }
};

/// The written files.
struct ExportedFiles {
  std::vector<std::pair<fs::path, std::uint64_t>> files;
  std::vector<ExportedWeightsResult> weights;
  std::optional<OnnxGraphResult> graph = {};
  std::optional<ExportCheckResult> check = {};
  std::optional<std::string> check_reason = {};  ///< why the check did not run
  std::optional<std::vector<ExportedLayersResult>> layers = {};
  std::vector<Fact> key_figures = {};
  std::vector<Fact> facts = {};
  std::optional<Basis> basis = {};  ///< of the check
};

/// A model converted to the form of a target, before anything is written. Keeps references to the job, the model and
/// the context.
struct ExportForm {
  std::string_view title;    ///< display name: "ONNX"
  std::string_view library;  ///< that loads the folder, by its name on the Hugging Face hub
  std::vector<std::string> engines;
  std::vector<std::string> notes;  ///< what the files cannot express, in sentences
  Json config = Json::object();    ///< keys of config.json
  NextCommand next;                ///< command that runs the result
  /// Writes a folder, or for ONNX a file.
  std::function<ExportedFiles(const fs::path&)> write;
};

/// Returns whether the job writes one file instead of a folder.
bool is_one_file(const ExportJob& job);

ExportForm onnx_form(const ExportJob& job, ExportedModel& exported, Context& context);
ExportForm compressed_tensors_form(const ExportJob& job, ExportedModel& exported, Context& context);

}  // namespace hone
