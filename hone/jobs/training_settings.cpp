#include "hone/jobs/training_settings.h"

#include <cmath>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/train/optimizer.h"

namespace hone {
namespace {

double number_in(const Json& value, double least, double most) {
  const bool fits =
      value.is_number() && value.get<double>() >= least && value.get<double>() <= most;
  user_check(fits, "expected a number from {} to {}, got {}", least, most, to_line(value));
  return value.get<double>();
}

std::int64_t whole_from(const Json& value, std::int64_t least) {
  user_check(value.is_number_integer() && value.get<std::int64_t>() >= least,
             "expected a whole number from {} on, got {}", least, to_line(value));
  return value.get<std::int64_t>();
}

struct TrainingSetting {
  const char* name;
  void (*set)(FineTuneOptions& options, const Json& value);
};

const TrainingSetting kSettings[] = {
    {"learning_rate",
     [](FineTuneOptions& o, const Json& v) {
       o.training.optimizer.learning_rate = number_in(v, 0, 1e3);
     }},
    {"epochs",
     [](FineTuneOptions& o, const Json& v) { o.training.epochs = number_in(v, 0, kMostEpochs); }},
    {"max_steps",
     [](FineTuneOptions& o, const Json& v) { o.training.max_steps = whole_from(v, 0); }},
    {"batch", [](FineTuneOptions& o, const Json& v) { o.training.batch_size = whole_from(v, 1); }},
    {"eval_steps",
     [](FineTuneOptions& o, const Json& v) { o.training.eval_steps = whole_from(v, 0); }},
    {"weight_decay",
     [](FineTuneOptions& o, const Json& v) {
       o.training.optimizer.weight_decay = number_in(v, 0, 1e3);
     }},
    {"warmup_ratio",
     [](FineTuneOptions& o, const Json& v) { o.training.warmup_ratio = number_in(v, 0, 1); }},
    {"warmup_steps",
     [](FineTuneOptions& o, const Json& v) { o.training.warmup_steps = whole_from(v, 0); }},
    {"lr_scheduler_type",
     [](FineTuneOptions& o, const Json& v) {
       user_check(v.is_string(), "expected a name, got {}", to_line(v));
       o.training.lr_scheduler_type = find_schedule(v.get<std::string>()).name;
     }},
    {"gradient_accumulation_steps",
     [](FineTuneOptions& o, const Json& v) {
       o.training.gradient_accumulation_steps = whole_from(v, 1);
     }},
    {"label_smoothing_factor",
     [](FineTuneOptions& o, const Json& v) {
       o.training.label_smoothing_factor = number_in(v, 0, 1);
     }},
    {"layerwise_lr_decay",
     [](FineTuneOptions& o, const Json& v) { o.layerwise_lr_decay = number_in(v, 0, 1); }},
    {"freeze",
     [](FineTuneOptions& o, const Json& v) {
       user_check(v.is_string(), "expected globs over names of parameters, apart by commas, got {}",
                  to_line(v));
       o.freeze = split(v.get<std::string>(), ',');
     }},
};

}  // namespace

std::vector<std::string> training_setting_names() {
  std::vector<std::string> names;
  for (const TrainingSetting& setting : kSettings) names.emplace_back(setting.name);
  return names;
}

void set_training_setting(FineTuneOptions& options, const std::string& name, const Json& value) {
  for (const TrainingSetting& setting : kSettings)
    if (name == setting.name) return with_context(name, [&] { setting.set(options, value); });
  fail("no setting of a training is called '{}'", name);
}

}  // namespace hone
