#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/times_in_turn.h"

namespace hone {

/// A model to compile.
struct CompileJob {
  BenchJob work = {};
  bool explain = false;     ///< also time it against the interpreter
  std::int64_t runs = 40;   ///< of each for `explain`; `kFewestForMedianInterval` at least
  std::string stages = {};  ///< folder for the graphs and the generated code; empty: none
  bool overwrite = false;   ///< replace the files of that folder
};

/// Milliseconds of each stage of compilation.
struct CompileStages {
  double model_ms = 0;     ///< reading or making weights and graph
  double passes_ms = 0;    ///< gradients, fused attention and linears, memory checks
  double planning_ms = 0;  ///< fusing element-wise operations, choosing kernels
  double code_ms = 0;      ///< generating code, or reading it from the cache
  double first_run_ms = 0;
  double second_run_ms = 0;  ///< includes packing weights
};

/// Element-wise operations that were fused, or one that was not.
struct CompiledGroup {
  std::string name;                          ///< of its node
  std::vector<std::string> nodes = {};       ///< that were fused, in their order
  std::vector<std::string> operations = {};  ///< of these nodes: "add"
  std::string kernel;
  std::string reason = {};  ///< why it was not fused; empty: it was
  double bytes_apart = 0,
         bytes = 0;             ///< read and written, by the single operations and by the fused one
  double floor_us = 0;          ///< those bytes, or its operations, at the peak of this machine
  double apart_us = 0, us = 0;  ///< medians over the runs
};

/// Operations of a kind that one kernel runs, and why others did not accept them.
struct CompiledKernel {
  std::string operation;
  std::string kernel;        ///< "reference": none
  std::string refused = {};  ///< "name: reason; …", of those that were tried before; empty: none
  std::vector<std::string> nodes = {};
  double floor_us = 0;  ///< of all, as of groups
  double us = 0;        ///< of all, medians over the runs
};

struct CompileResult : JobResult {
  CompileStages stages;
  std::int64_t compiled = 0, loaded = 0;  ///< functions: generated now, and all
  std::vector<CompiledGroup> groups = {};
  std::vector<CompiledKernel> kernels =
      {};  ///< of all operations but views, the slowest first if they were timed
  std::optional<TimesInTurn> times = {};  ///< of interpreter and compiled, if they were timed
};

/// Compiles a model for the CPU, so that its code is in the cache, and lists which operations were fused and which kernels run
/// all. With `explain` it runs the model interpreted and compiled in turn, and compares times with their floors. Throws
/// `UserError` as `bench`, and if no code can be generated.
CompileResult compile(const CompileJob& job, Context& context);

}  // namespace hone
