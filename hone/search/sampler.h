#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/search/space.h"

/// Samplers choose the values of the next trial. A sampler is asked once for each trial, in `suggest`, and draws for it by
/// its seed, the trial's number and the names of parameters, so that it makes no difference who asked for another trial
/// before; in the mode that is compatible with Optuna it draws from the streams that Optuna draws from, one after the other.
namespace hone {

/// What a sampler says of a trial.
struct JointDraw {
  std::map<std::string, double> values = {};           ///< internal ones, by name
  std::map<std::string, Json> system_attributes = {};  ///< what is to be remembered with the trial
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Values that are drawn together, once for each trial, before any other; of parameters that it does not name each is drawn
  /// alone, with the same view. `trial` has the parameters that come before the first one that is drawn.
  virtual JointDraw draw_jointly(const StudyView& study, const Trial& trial,
                                 const SearchSpace& space);
  /// The internal value of one parameter.
  virtual double draw(const StudyView& study, const Trial& trial, const std::string& name,
                      const Distribution& distribution) = 0;
  /// Whether all points that it would ever give are among the trials of the study.
  virtual bool exhausted(const StudyView& study, const SearchSpace& space) const;
};

/// Fills in `trial`, whose number and system attributes (`fixed_params`, an object of external values) are known: values for
/// all active parameters of the space, in order, and system attributes. A fixed value is taken as it is; a parameter with a
/// single value takes that; then a joint draw inside of the present range; else a draw alone. Throws `UserError`, naming the parameter,
/// for a fixed value of another type.
void suggest(Sampler& sampler, const StudyView& study, const SearchSpace& space, Trial& trial);

/// Draws uniformly, as Optuna's RandomSampler does.
struct RandomSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< the bits of numpy's RandomState(seed)
};
std::unique_ptr<Sampler> random_sampler(const RandomSamplerOptions& options);

/// Visits every point of a finite space once, in an order drawn by the seed, at whatever size, without making a list of it.
struct GridSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< Optuna's order, of at most a million points
};
std::unique_ptr<Sampler> grid_sampler(const GridSamplerOptions& options);

/// Optuna's versions of TPE: they differ in the switches of a table in tpe_profile.cpp.
enum class TpeProfile : std::uint8_t { optuna_5, optuna_4_9, optuna_4_6, optuna_3_1 };
/// "optuna-5", "optuna-4.9", "optuna-4.6", "optuna-3.1".
std::string_view to_string(TpeProfile profile);
std::vector<std::string> tpe_profile_names();
/// Throws `UserError`, naming those that there are.
TpeProfile find_tpe_profile(std::string_view name);

/// Tree-structured Parzen estimator (Bergstra et al. 2011; Watanabe 2023) as Optuna has it.
struct TpeSamplerOptions {
  std::uint64_t seed = 0;
  bool compatible = false;  ///< Optuna's random streams, and its order of equal observations
  TpeProfile profile = TpeProfile::optuna_5;
  std::optional<bool> multivariate = {};   ///< as the profile has it
  std::optional<bool> constant_liar = {};  ///< as the profile has it
  bool group = false;  ///< parameters that occur together are drawn together (multivariate)
  std::int64_t startup_trials = 10;
  std::int64_t candidates = 24;
};
std::unique_ptr<Sampler> tpe_sampler(const TpeSamplerOptions& options);

}  // namespace hone
