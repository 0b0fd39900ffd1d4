#pragma once

#include "hone/labs/lab.h"

/// Lab 4.1: operation by operation against made ready as a whole, call by call, as the reports of the lab measured it and as it
/// is measured honestly.
namespace hone {

/// A model of the lab with fresh weights, and how it is timed.
struct TimedModel {
  std::string name;                   ///< as `bench_model` takes it
  std::string what;                   ///< "BERT-tiny"
  std::vector<std::int64_t> batches;  ///< of inference; a training step has the first
  std::int64_t tokens = 128;          ///< of a text; 0: it reads images
  std::int64_t iterations = 110;      ///< calls: 100 behind the ten that are ignored
  std::int64_t processes = 3;         ///< fresh ones of each executor
  std::int64_t naive_rounds = 50;
  bool inference_alone = false;  ///< neither a training step nor mistakes
};

/// The lab with the models that these fidelities have.
Lab speed_lab(std::function<std::vector<TimedModel>(Fidelity)> models);
/// With the usual ones.
Lab speed_lab();

}  // namespace hone
