#include "hone/compiler/machine_code.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <fmt/core.h>

#include <memory>
#include <type_traits>

#include "hone/base/error.h"
#include "hone/kernels/target.h"

// Uses the C interface of LLVM, which changes less between versions.
namespace hone::compiler {
namespace {

template <auto kDispose>
struct Disposer {
  template <typename T>
  void operator()(T* object) const {
    kDispose(object);
  }
};
template <typename Reference, auto kDispose>
using Owned = std::unique_ptr<std::remove_pointer_t<Reference>, Disposer<kDispose>>;

using Context = Owned<LLVMContextRef, LLVMContextDispose>;
using Module = Owned<LLVMModuleRef, LLVMDisposeModule>;
using Buffer = Owned<LLVMMemoryBufferRef, LLVMDisposeMemoryBuffer>;
using Machine = Owned<LLVMTargetMachineRef, LLVMDisposeTargetMachine>;
using Message = Owned<char*, LLVMDisposeMessage>;

void initialize() {
  static const bool failed =
      LLVMInitializeNativeTarget() != 0 || LLVMInitializeNativeAsmPrinter() != 0;
  HONE_ASSERT(!failed, "LLVM has no code generator for this processor");
}

// Targets levels of x86-64 rather than this exact CPU, so that all machines that share a cache can use the objects.
Machine machine_of(int lanes) {
  initialize();
  const Message triple(LLVMGetDefaultTargetTriple());
  LLVMTargetRef target = nullptr;
  char* error = nullptr;
  const bool missing = LLVMGetTargetFromTriple(triple.get(), &target, &error) != 0;
  const Message message(error);
  HONE_ASSERT(!missing, "LLVM: {}", message.get());
  return Machine(
      LLVMCreateTargetMachine(target, triple.get(), lanes == 16 ? "x86-64-v4" : "x86-64-v3", "",
                              LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall));
}

void check(LLVMErrorRef error, const char* what) {
  if (error == nullptr) return;
  char* const said = LLVMGetErrorMessage(error);
  const std::string message = said;
  LLVMDisposeErrorMessage(said);
  HONE_ASSERT(false, "{}: {}", what, message);
}

LLVMOrcLLJITRef jit() {
  static const LLVMOrcLLJITRef made = [] {
    initialize();
    LLVMOrcLLJITRef created = nullptr;
    check(LLVMOrcCreateLLJIT(&created, nullptr), "LLVM's linker cannot be created");
    return created;
  }();
  return made;
}

}  // namespace

std::string code_generation_missing() {
  if (vector_lanes() > 0) return "";
  return fmt::format("code is generated for AVX2 and AVX-512, this processor has {}",
                     kernels::vector_target());
}

std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

int vector_lanes() {
  const std::string target = kernels::vector_target();
  return target.starts_with("AVX3") ? 16 : target == "AVX2" ? 8 : 0;
}

std::string compile_object(std::string_view text, int lanes) {
  const Context context(LLVMContextCreate());
  // The reader owns its buffer.
  LLVMMemoryBufferRef source =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "formula");
  LLVMModuleRef parsed = nullptr;
  char* error = nullptr;
  const bool unreadable = LLVMParseIRInContext(context.get(), source, &parsed, &error) != 0;
  Message message(error);
  HONE_ASSERT(!unreadable, "LLVM cannot parse the generated code: {}\n{}", message.get(), text);
  const Module module(parsed);
  error = nullptr;
  const bool broken = LLVMVerifyModule(module.get(), LLVMReturnStatusAction, &error) != 0;
  message.reset(error);
  HONE_ASSERT(!broken, "LLVM rejects the generated code: {}\n{}", message.get(), text);
  const Machine machine = machine_of(lanes);
  LLVMMemoryBufferRef made = nullptr;
  error = nullptr;
  const bool failed = LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(),
                                                          LLVMObjectFile, &error, &made) != 0;
  message.reset(error);
  HONE_ASSERT(!failed, "LLVM cannot compile the generated code: {}\n{}", message.get(), text);
  const Buffer object(made);
  return {LLVMGetBufferStart(object.get()), LLVMGetBufferSize(object.get())};
}

void* load_object(std::string_view object, const std::string& function) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data(), object.size(), function.c_str());
  check(LLVMOrcLLJITAddObjectFile(jit(), LLVMOrcLLJITGetMainJITDylib(jit()), buffer),
        "an object cannot be loaded");
  LLVMOrcExecutorAddress address = 0;
  check(LLVMOrcLLJITLookup(jit(), &address, function.c_str()), "a function is not in its object");
  return reinterpret_cast<void*>(address);
}

}  // namespace hone::compiler
