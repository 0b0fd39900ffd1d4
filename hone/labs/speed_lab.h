#pragma once

#include "hone/data/image_set.h"
#include "hone/jobs/bench_iterations.h"
#include "hone/jobs/bench_naive.h"
#include "hone/labs/lab.h"

/// Lab 4.1: operation by operation against made ready as a whole, call by call, as the reports of the lab measured it and as it
/// is measured honestly.
namespace hone {

/// A model of the lab with fresh weights, and how it is timed.
struct TimedModel {
  std::string name;                     ///< as `bench_model` takes it
  std::string what;                     ///< "BERT-tiny"
  std::vector<std::int64_t> batches;    ///< of inference; a training step has the first
  std::int64_t tokens = 128;            ///< of a text; 0: it reads images
  std::optional<ImageSize> image = {};  ///< of an image, where it reads such
  std::int64_t iterations = 110;        ///< calls: 100 behind the ten that are ignored
  std::int64_t processes = 3;           ///< fresh ones of each executor
  std::int64_t naive_rounds = 50;
  bool inference_alone = false;  ///< neither a training step nor mistakes
};

/// An executor on one work, or a device that the work was not run on.
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
/// A work, call by call.
struct LabWorkResult {
  std::string work;
  IterationTimes times = {};
};
/// The result for programs.
struct SpeedLabFields {
  LabFields lab = {};
  std::vector<LabExecutorResult> overview = {};
  std::vector<LabWorkResult> works = {};
  std::vector<NaiveTimes> naive = {};
  std::vector<PublishedResult> published = {};
};
const Fields& fields_of(const LabExecutorResult*);
const Fields& fields_of(const LabWorkResult*);
const Fields& fields_of(const SpeedLabFields*);

/// The lab with the models that these fidelities have.
Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models);
/// With the usual ones.
Lab speed_lab();

}  // namespace hone
