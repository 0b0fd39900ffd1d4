#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hone/jobs/export.h"
#include "hone/models/model_source.h"
#include "hone/models/text_limit.h"

namespace hone {

/// A model as it is exported, whatever the target.
struct ExportedModel {
  TextModel source;
  Model model;  ///< with the codes of its formats, and LoRA merged
  Graph graph;
  Graph answers;       ///< what hone computes of the source for the same output
  std::string output;  ///< its name in files: "logits" or "sentence_embedding"
  TextLimit limit;
  std::vector<std::string> notes = {};  ///< sentences: what files do not express

  bool embeds() const { return output != "logits"; }
};

/// What was written.
struct ExportedFiles {
  std::vector<std::pair<fs::path, std::uint64_t>> files;
  std::vector<ExportedWeightsResult> weights;
  std::optional<OnnxGraphResult> graph = {};
  std::optional<ExportCheckResult> check = {};
  std::optional<std::string> check_reason = {};  ///< why it did not run
  std::optional<std::vector<ExportedLayersResult>> layers = {};
  std::vector<Fact> key_figures = {};
  std::vector<Fact> facts = {};
  std::optional<Basis> basis = {};  ///< of the check
};

/// A model in the form of a target, before anything is written. It refers to the job, the model and the context.
struct ExportForm {
  std::string_view title;    ///< as people write it: "ONNX"
  std::string_view library;  ///< that loads a folder, as the hub calls it
  std::vector<std::string> engines;
  std::vector<std::string> notes;  ///< sentences: what the files do not express
  Json config = Json::object();    ///< keys of config.json
  NextCommand next;                ///< runs the result
  /// Writes into a folder, or for ONNX a file.
  std::function<ExportedFiles(const fs::path&)> write;
};

/// Whether the job writes one file and no folder.
bool is_one_file(const ExportJob& job);

ExportForm onnx_form(const ExportJob& job, ExportedModel& exported, Context& context);
ExportForm compressed_tensors_form(const ExportJob& job, ExportedModel& exported, Context& context);

}  // namespace hone
