#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/prune/sparsify.h"
#include "hone/jobs/job_result.h"

namespace hone {

struct SparsityStudyOptions {
  std::vector<double> sparsities = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  std::vector<PruneMethod> methods = {PruneMethod::l1, PruneMethod::random};
  SparsifyOptions how =
      {};  ///< but for sparsity and method; activations go as far as weights with `both`
  bool both = false;
  /// Where the training called so ("l1-0.5") keeps its checkpoints; empty: none does.
  std::function<CheckpointOptions(const std::string&)> checkpoints_of = {};
};

struct SparsityResult {
  double sparsity = 0;
  ComparedModel model;  ///< with its verdict
};

/// One method, from the densest to the sparsest.
struct SparsityCurve {
  PruneMethod method = PruneMethod::l1;
  std::vector<SparsityResult> results;
  std::optional<std::size_t> kept = {};  ///< the sparsest that is kept as all denser ones are
};

struct SparsityStudy {
  Choice choice;
  std::vector<SparsityCurve> curves;  ///< where the choice is made
  bool trained = false;
};

/// The parent pruned to every sparsity by every method, trained where that is asked for, and measured on the part that choices
/// are made on. From the densest on, the verdicts stop at the first that is not kept. What is chosen so is measured once on
/// `data.test`. Throws `UserError` as `sparsify`, for sparsities outside (0, 1), and when there is no part to choose on.
SparsityStudy study_sparsities(const Model& parent, const EncodedSplits& data,
                               const SparsityStudyOptions& options, Context& context);

/// The parent, then all candidates.
std::vector<ComparedModel> compared_models(const SparsityStudy& study);
/// The parent and the sparsest that is kept, for every method.
std::vector<NamedEvaluation> chosen_evaluations(const SparsityStudy& study);
/// All of them as a table.
Table sparsity_table(const SparsityStudy& study);
/// The same for programs, with the choice: `models`, `kept` (a sparsity or null by the name of its method), `trained`,
/// `summary`, `findings`.
Json to_json(const SparsityStudy& study, const std::vector<std::string>& labels);
/// The same for people: tables, verdict and findings.
std::string to_text(const SparsityStudy& study, const TextStyle& style = {});

/// Up to which sparsity each method is shown to keep the accuracy, what that changes, on which part and how many texts.
std::string sparsity_verdict(const SparsityStudy& study);

/// The tables, and accuracy and flips against sparsity, one curve for each method, which is also drawn as `stem`.svg and .png.
/// A figure that could not be drawn is a line of `notes`.
Section sparsity_section(const SparsityStudy& study, const fs::path& stem,
                         std::vector<std::string>& notes);

}  // namespace hone
