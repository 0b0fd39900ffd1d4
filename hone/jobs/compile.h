#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/kernels.h"
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

/// The duration of each stage of compilation.
struct CompileStages {
  double model_ms = 0;     ///< reading or making weights and graph
  double passes_ms = 0;    ///< gradients, fused attention and linears, memory checks
  double planning_ms = 0;  ///< fusing element-wise operations, choosing kernels
  double code_ms = 0;      ///< generating code, or reading it from the cache
  double first_run_ms = 0;
  double second_run_ms = 0;  ///< includes packing weights
};
const Fields& fields_of(const CompileStages*);

/// Element-wise operations that were fused, or one that was not. What is measured is of `explain`.
struct CompiledGroup {
  std::string name;                          ///< of its node
  std::vector<std::string> nodes = {};       ///< that were fused, in their order
  std::vector<std::string> operations = {};  ///< of these nodes: "add"
  std::string kernel;
  std::optional<std::string> reason = {};  ///< why it was not fused; none: it was
  std::optional<double> bytes_saved = {};  ///< that are not read and written any more
  std::optional<double> floor_us =
      {};  ///< its bytes, or its operations, at the peak of this machine
  std::optional<double> interpreter_us = {}, compiled_us = {};  ///< medians over the runs
};
const Fields& fields_of(const CompiledGroup*);

/// Operations of a kind that one kernel runs, and why others did not accept them.
struct CompiledKernel {
  std::string operation;
  std::string kernel;  ///< "reference": none
  std::vector<std::string> nodes = {};
  std::vector<KernelRefusal> refused = {};
  std::optional<double> floor_us = {};     ///< of all, as of groups
  std::optional<double> compiled_us = {};  ///< of all, medians over the runs

  std::size_t calls() const { return nodes.size(); }
  std::optional<double> share_of_floor() const;
};
const Fields& fields_of(const CompiledKernel*);

/// The interpreter and the compiled graph in turn.
struct CompiledTimes {
  RoundTimes interpreter, compiled;
  double speedup = 1;
  Interval speedup_interval = {1, 1};
};
const Fields& fields_of(const CompiledTimes*);

/// The result for programs.
struct CompileFields {
  std::string model;
  std::int64_t batch = 0, tokens = 0;
  bool train = false;
  int threads = 0;
  std::string llvm = {};
  int vector_lanes = 0;
  std::int64_t functions = 0, functions_made = 0;
  CompileStages stages = {};
  std::vector<CompiledGroup> groups = {};
  /// Of all operations but views, the slowest first if they were timed.
  std::vector<CompiledKernel> kernels = {};
  std::optional<CompiledTimes> times = {};
};
const Fields& fields_of(const CompileFields*);

/// Compiles a model for the CPU, so that its code is in the cache, and lists which operations were fused and which kernels run
/// all. With `explain` it runs the model interpreted and compiled in turn, and compares times with their floors. Throws
/// `UserError` as `bench`, and if no code can be generated.
JobResult compile(const CompileJob& job, Context& context);

}  // namespace hone
