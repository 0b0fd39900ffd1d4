#pragma once

#include "hone/jobs/bench.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/kernels.h"
#include "hone/jobs/paired_times.h"

namespace hone {

/// A model to compile.
struct CompileJob {
  BenchJob work = {};
  bool explain = false;     ///< also time it against the interpreter
  std::int64_t runs = 40;   ///< of each for `explain`; at least `kFewestForMedianInterval`
  std::string stages = {};  ///< folder for the graphs and the generated code; empty: none
  bool overwrite = false;   ///< replace the files in that folder
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

/// Element-wise operations that were fused, or one that was not. Measurements need `explain`.
struct CompiledGroup {
  std::string name;                          ///< of its node
  std::vector<std::string> nodes = {};       ///< that were fused, in order
  std::vector<std::string> operations = {};  ///< of these nodes: "add"
  std::string kernel;
  std::optional<std::string> reason = {};  ///< why it was not fused; empty: it was
  std::optional<double> bytes_saved = {};  ///< no longer read and written
  std::optional<double> floor_us = {};     ///< of its bytes or operations at this machine's peak
  std::optional<double> interpreter_us = {}, compiled_us = {};  ///< medians over the runs
};
const Fields& fields_of(const CompiledGroup*);

/// Operations of one kind that the same kernel runs, and why other kernels did not accept them.
struct CompiledKernel {
  std::string operation;
  std::string kernel;  ///< "reference" if there is no kernel
  std::vector<std::string> nodes = {};
  std::vector<KernelRefusal> refused = {};
  std::optional<double> floor_us = {};     ///< of all nodes, as for groups
  std::optional<double> compiled_us = {};  ///< of all nodes, medians over the runs

  std::size_t calls() const { return nodes.size(); }
  std::optional<double> share_of_floor() const;
};
const Fields& fields_of(const CompiledKernel*);

/// Times of the interpreter and the compiled graph, which take turns.
struct CompiledTimes {
  RoundTimes interpreter, compiled;
  double speedup = 1;
  Interval speedup_interval = {1, 1};
};
const Fields& fields_of(const CompiledTimes*);

/// The JSON result.
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
  /// Kernels of all operations but views, slowest first if they were timed.
  std::vector<CompiledKernel> kernels = {};
  std::optional<CompiledTimes> times = {};
};
const Fields& fields_of(const CompileFields*);

/// Compiles a model for the CPU, stores the code in the cache, and lists the fused operations and the kernels of all
/// operations. With `explain`, runs the model interpreted and compiled in turn and compares the times with their
/// floors. Throws `UserError` like `bench`, and if no code can be generated.
JobResult compile(const CompileJob& job, Context& context);

}  // namespace hone
