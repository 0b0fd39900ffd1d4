#pragma once

#include "hone/jobs/kernel_check.h"
#include "hone/labs/lab.h"
#include "hone/labs/other_device.h"

/// Lab 4.4: your own kernel, from a plugin: chosen or refused, correct or wrong, and how fast beside hone's.
namespace hone {

/// How far results are from those of the reference, at one size.
struct LabKernelErrorResult {
  std::int64_t batch = 0, tokens = 0;
  KernelError own;
  std::optional<KernelError> built_in = {};
};
/// Two kernels in turn.
struct LabKernelTimesResult {
  RoundTimes built_in, own;
  Speedup speedup;
};
/// Your kernel on operations of a model that are alike.
struct LabKernelResult {
  std::string kernel, device, graph, node, operation;
  std::int64_t nodes = 0;
  std::optional<std::string> refusal = {};
  bool chosen = false;
  std::string built_in;
  std::optional<std::string> unchecked = {};
  std::optional<bool> right = {};
  std::vector<LabKernelErrorResult> sizes = {};
  std::optional<LabKernelTimesResult> times = {};
};
/// What the lab's stage finds.
struct KernelChecks {
  std::string model, device;
  int threads = 0;
  std::int64_t batch = 0, tokens = 0, rounds = 0;
  std::vector<LabKernelResult> kernels = {};
};
/// The result for programs.
struct KernelLabFields {
  LabFields lab = {};
  std::string device;
  int threads = 0;
  std::vector<LabKernelResult> kernels = {};
  std::vector<OtherDevice> not_run = {};
};
const Fields& fields_of(const KernelError*);
const Fields& fields_of(const LabKernelErrorResult*);
const Fields& fields_of(const LabKernelTimesResult*);
const Fields& fields_of(const LabKernelResult*);
const Fields& fields_of(const KernelChecks*);
const Fields& fields_of(const KernelLabFields*);

/// The lab with the sizes that these fidelities have.
Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes);
/// With the usual ones.
Lab kernel_lab();

}  // namespace hone
