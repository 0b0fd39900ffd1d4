#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/times_in_turn.h"

namespace hone {

/// Which model is to be compiled, and whether it is run to tell what that is worth.
struct CompileJob {
  BenchJob work = {};
  bool explain = false;
  std::int64_t runs = 40;   ///< of `explain`, of each; `kFewestForMedianInterval` at least
  std::string stages = {};  ///< folder for the graphs and the code; empty: none is written
  bool overwrite = false;   ///< of that folder
};

/// Milliseconds of each stage on the way to a graph that runs.
struct CompileStages {
  double model_ms = 0;     ///< weights and graph are read or made
  double passes_ms = 0;    ///< gradients, fused attention and linears, memory checks
  double planning_ms = 0;  ///< element-wise operations fused, kernels chosen
  double code_ms = 0;      ///< code made, or read from the cache
  double first_run_ms = 0;
  double second_run_ms = 0;  ///< weights are packed in it
};

/// Element-wise operations that became one, or one that did not.
struct CompiledGroup {
  std::string name;                          ///< of its node
  std::vector<std::string> nodes = {};       ///< that it stands for, in their order
  std::vector<std::string> operations = {};  ///< what each of these is: "add"
  std::string kernel;
  std::string reason = {};            ///< why it was not fused; empty: it was
  double bytes_apart = 0, bytes = 0;  ///< read and written, by its operations one by one and by it
  double floor_us = 0;  ///< those bytes, or its operations, at what this machine does at best
  double apart_us = 0, us = 0;  ///< medians over the runs
};

/// Operations of a kind that one kernel runs, and why others do not.
struct CompiledKernel {
  std::string operation;
  std::string kernel;  ///< "reference": none
  std::string refused =
      {};  ///< "name: reason; …", of those that were asked before; empty: none was
  std::vector<std::string> nodes = {};
  double floor_us = 0;  ///< of all, as of groups
  double us = 0;        ///< of all, medians over the runs
};

struct CompileResult {
  CompileStages stages;
  std::int64_t compiled = 0, loaded = 0;  ///< functions: made now, and all
  std::vector<CompiledGroup> groups = {};
  std::vector<CompiledKernel> kernels =
      {};  ///< of all operations but views, the longest first where they were run
  std::optional<TimesInTurn> times = {};  ///< of interpreter and compiled, where they were run
  Json fields = nullptr;
  std::function<std::string(const TextStyle&)> text = {};
};

/// Compiles a model for the processor, so that its code is in the cache, and tells which operations were fused and which kernels run
/// all. With `explain` it runs the model by the interpreter and compiled in turn, and sets times beside their floors. Throws
/// `UserError` as `bench`, and where no code can be generated.
CompileResult compile(const CompileJob& job, Context& context);

}  // namespace hone
