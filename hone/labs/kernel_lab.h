#pragma once

#include "hone/jobs/kernel_check.h"
#include "hone/labs/lab.h"
#include "hone/labs/skipped_device.h"

/// Lab 4.4: your own kernel, from a plugin: whether hone chooses it, whether it is correct, and its speed compared with
/// hone's.
namespace hone {

/// Errors against the reference, at one size.
struct LabKernelErrorResult {
  std::int64_t batch = 0, tokens = 0;
  KernelError own;
  std::optional<KernelError> built_in = {};
};
/// The times of two kernels that ran in turn.
struct LabKernelTimesResult {
  RoundTimes built_in, own;
  Speedup speedup;
};
/// Your kernel on equal operations of a model.
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
/// The result of the lab's stage.
struct KernelChecks {
  std::string model, device;
  int threads = 0;
  std::int64_t batch = 0, tokens = 0, rounds = 0;
  std::vector<LabKernelResult> kernels = {};
};
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

/// Returns the lab with the sizes of each fidelity.
Lab kernel_lab(std::function<KernelCheckJob(Fidelity)> sizes);
/// Returns the lab with the default sizes.
Lab kernel_lab();

}  // namespace hone
