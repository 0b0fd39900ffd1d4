#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "hone/cuda/heuristic.h"

// NVRTC and cuBLASLt of the GPU that computes nothing (driver.cpp): sources compile to empty machine code, except those
// that contain #error, and products do nothing. Built as both libraries.
namespace {

using Handle = void*;

Handle some() {
  static char one;
  return &one;
}

int give(Handle* handle) {
  *handle = some();
  return 0;
}

constexpr std::string_view kCode = "no code", kLog = "error: as its source asks for";

bool wrong = false;

using hone::cuda::Heuristic;

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 77;
  return 0;
}
int nvrtcCreateProgram(Handle* program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  wrong = std::string_view(source).find("#error") != std::string_view::npos;
  return give(program);
}
int nvrtcDestroyProgram(Handle*) { return 0; }
int nvrtcCompileProgram(Handle, int, const char* const*) { return wrong ? 6 : 0; }
int nvrtcGetProgramLogSize(Handle, std::size_t* size) {
  *size = kLog.size();
  return 0;
}
int nvrtcGetProgramLog(Handle, char* log) {
  std::memcpy(log, kLog.data(), kLog.size());
  return 0;
}
int nvrtcGetCUBINSize(Handle, std::size_t* size) {
  *size = kCode.size();
  return 0;
}
int nvrtcGetCUBIN(Handle, char* code) {
  std::memcpy(code, kCode.data(), kCode.size());
  return 0;
}

int cublasLtCreate(Handle* handle) { return give(handle); }
int cublasLtMatmulDescCreate(Handle* description, int, int) { return give(description); }
int cublasLtMatmulDescSetAttribute(Handle, int, const void*, std::size_t) { return 0; }
int cublasLtMatrixLayoutCreate(Handle* layout, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return give(layout);
}
int cublasLtMatrixLayoutSetAttribute(Handle, int, const void*, std::size_t) { return 0; }
int cublasLtMatmulPreferenceCreate(Handle* preference) { return give(preference); }
int cublasLtMatmulPreferenceSetAttribute(Handle, int, const void*, std::size_t) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int,
                                   Heuristic* found, int* count) {
  *found = {};
  *count = 1;
  return 0;
}
int cublasLtMatmul(Handle, Handle, const void*, const void*, Handle, const void*, Handle,
                   const void*, const void*, Handle, void*, Handle, const Heuristic*, void*,
                   std::size_t, Handle) {
  return 0;
}

}  // extern "C"
