#pragma once

#include "hone/data/image_set.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_naive.h"
#include "hone/labs/lab.h"

/// Lab 4.1: a model run operation by operation against one prepared as a whole, call by call. It measures both as the
/// lab's reports did, and correctly.
namespace hone {

/// A model of the lab with fresh weights, and how to time it.
struct TimedModel {
  std::string name;                     ///< as for `bench_model`
  std::string what;                     ///< "BERT-tiny"
  std::vector<std::int64_t> batches;    ///< for inference; a training step uses the first
  std::int64_t tokens = 128;            ///< per text; 0: the model reads images
  std::optional<ImageSize> image = {};  ///< size of its images, if it reads images
  std::int64_t iterations = 110;        ///< calls: 100 after the ten that are ignored
  std::int64_t processes = 3;           ///< fresh processes per executor
  std::int64_t naive_rounds = 50;
  bool inference_alone = false;  ///< no training step and no mistakes
};

/// An executor on one workload, or a device that did not run it.
struct LabExecutorResult {
  std::string work, device;
  std::optional<std::string> executor = {};
  std::optional<double> start_ms = {}, median_ms = {};
  std::optional<Speedup> speedup = {};
  std::optional<std::int64_t> break_even_fresh = {}, break_even_warm = {};
  std::optional<std::int64_t> break_even_fresh_low = {}, break_even_fresh_high = {};
  std::optional<std::int64_t> break_even_warm_low = {}, break_even_warm_high = {};
  std::optional<std::int64_t> calls = {};  ///< of each process
  std::optional<double> ratio_5 = {}, ratio_20 = {}, ratio_100 = {}, ratio_100_later = {};
  std::optional<std::string> why_not = {};
};
/// A workload, call by call.
struct LabWorkloadResult {
  std::string work;
  IterationTimes times = {};
};
struct SpeedLabFields {
  LabFields lab = {};
  std::vector<LabExecutorResult> overview = {};
  std::vector<LabWorkloadResult> works = {};
  std::vector<NaiveTimes> naive = {};
  std::vector<PublishedResult> published = {};
};
const Fields& fields_of(const LabExecutorResult*);
const Fields& fields_of(const LabWorkloadResult*);
const Fields& fields_of(const SpeedLabFields*);

/// Returns the lab with the models of each fidelity.
Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models);
/// Returns the lab with the default models.
Lab speed_lab();

}  // namespace hone
