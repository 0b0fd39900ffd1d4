#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/search/space.h"

/// Samplers choose the values of the next trial. A sampler is called once per trial, in `suggest`. Its draws depend
/// on its seed, the trial's number and the names of parameters, so the order of calls does not matter. In the mode
/// compatible with Optuna it draws from Optuna's sequential random streams.
namespace hone {

struct JointDraw {
  std::map<std::string, double> values = {};           ///< internal values, by name
  std::map<std::string, Json> system_attributes = {};  ///< stored with the trial
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Returns values that are drawn together, once per trial, before any other. Parameters missing from the result are
  /// sampled one by one, with the same view. `trial` has the parameters that come before the first one drawn.
  virtual JointDraw draw_jointly(const StudyView& study, const Trial& trial,
                                 const SearchSpace& space);
  /// Returns the internal value of one parameter.
  virtual double draw(const StudyView& study, const Trial& trial, const std::string& name,
                      const Distribution& distribution) = 0;
  /// Returns whether all points that it could ever suggest are among the trials of the study.
  virtual bool exhausted(const StudyView& study, const SearchSpace& space) const;
};

/// Sets the values of all active parameters of the space, in order, and the system attributes of `trial`. Its number
/// and system attributes (`fixed_params`, an object of external values) are already set. A fixed value has priority;
/// then the value of a parameter with a single one; then a joint draw within the current range; else an independent
/// draw. Throws `UserError`, naming the parameter, for a fixed value of another type.
void suggest(Sampler& sampler, const StudyView& study, const SearchSpace& space, Trial& trial);

/// Options of uniform sampling, as in Optuna's RandomSampler.
struct RandomSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< the bits of numpy's RandomState(seed)
};
std::unique_ptr<Sampler> random_sampler(const RandomSamplerOptions& options);

/// Options of grid sampling: every point of a finite space once, in a seeded random order, for spaces of any size,
/// without a list of points.
struct GridSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< Optuna's order, for at most a million points
};
std::unique_ptr<Sampler> grid_sampler(const GridSamplerOptions& options);

/// Versions of TPE in Optuna. They differ in the rules of a table in tpe_profile.cpp.
enum class TpeProfile : std::uint8_t { optuna_5, optuna_4_9, optuna_4_6, optuna_3_1 };
/// Returns "optuna-5", "optuna-4.9", "optuna-4.6", "optuna-3.1".
std::string_view to_string(TpeProfile profile);
std::vector<std::string> tpe_profile_names();
/// Throws `UserError` for an unknown name, and lists the known ones.
TpeProfile find_tpe_profile(std::string_view name);

/// Options of the tree-structured Parzen estimator (Bergstra et al. 2011; Watanabe 2023) as in Optuna.
struct TpeSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< Optuna's random streams and order of ties
  TpeProfile profile = TpeProfile::optuna_5;
  std::optional<bool> multivariate = {};   ///< as the profile has it
  std::optional<bool> constant_liar = {};  ///< as the profile has it
  bool group = false;  ///< draw parameters together that occur together (multivariate)
  std::int64_t startup_trials = 10;
  std::int64_t candidates = 24;
};
std::unique_ptr<Sampler> tpe_sampler(const TpeSamplerOptions& options);

}  // namespace hone
