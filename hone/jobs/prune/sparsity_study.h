#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/prune/sparsify.h"

namespace hone {

struct SparsityStudyOptions {
  std::vector<double> sparsities = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  std::vector<PruneMethod> methods = {PruneMethod::l1, PruneMethod::random};
  SparsifyOptions how = {};        ///< sparsity and method are ignored
  bool prune_activations = false;  ///< prune activations by the same share as weights
  /// Returns where the training with this name ("l1-0.5") stores checkpoints; empty: none are stored.
  std::function<CheckpointOptions(const std::string&)> checkpoints_of = {};
};

struct SparsityResult {
  double sparsity = 0;
  ComparedModel model;  ///< with its verdict
};

/// One method, from the lowest sparsity to the highest.
struct SparsityCurve {
  PruneMethod method = PruneMethod::l1;
  std::vector<SparsityResult> results;
  std::optional<std::size_t> kept =
      {};  ///< the highest sparsity for which it and all lower ones are within the limit
};

struct SparsityStudy {
  Choice choice;
  std::vector<SparsityCurve> curves;  ///< measured on the split that decides
  bool trained = false;
};

/// Prunes the baseline to every sparsity by every method, trains the candidates if requested, and measures them on the
/// deciding split. Tests them from the lowest sparsity to the first that is not within the limit. Measures the chosen
/// ones once on `data.test`. Throws `UserError` as `sparsify` does, for sparsities outside (0, 1), and if there is no
/// split to choose on.
SparsityStudy study_sparsities(const Model& baseline, const EncodedSplits& data,
                               const SparsityStudyOptions& options, Context& context);

/// Returns the baseline, then all candidates.
std::vector<ComparedModel> compared_models(const SparsityStudy& study);
/// Returns the evaluations of the baseline and the chosen model of each method.
std::vector<NamedEvaluation> chosen_evaluations(const SparsityStudy& study);
/// Returns a table of the baseline and all candidates.
Table sparsity_table(const SparsityStudy& study);
/// "Accuracy is shown to stay within 0.5 points up to 40.0% sparsity by L1; not shown at any sparsity by random".
std::string sparsity_verdict(const SparsityStudy& study);
/// Returns sentences on limitations and on the reported models.
std::vector<std::string> sparsity_findings(const SparsityStudy& study);

/// Sets the headline, key figures, evidence and sections of a document. Draws metric and flips against sparsity as
/// `stem`.svg and .png; adds a line to `notes` if that fails.
void fill_document(const SparsityStudy& study, const fs::path& stem, Document& document,
                   std::vector<std::string>& notes);

}  // namespace hone
